#include "support/sim/fault_story.h"

struct fault_injector *injector;

static void on_user(void *self, uint64_t subject, uint64_t amount)
{
    (void)self;
    assert_true(fault_injector_owns(subject));
    fault_injector_on_event(injector, subject, amount);
}

static struct node_options fault_injector_options(void)
{
    struct node_options options = usual_options();
    options.bytes_per_s = 400;
    options.interval_ns = SECOND_NS;
    options.beta = 0;
    options.limits.half_open_per_net_max = 8;
    options.limits.notes_per_s = 100;
    return options;
}

void begin_faults(const struct fault *faults, uint32_t count, uint64_t seed)
{
    const struct node_options options = fault_injector_options();
    begin_world(seed);
    world.on_user = on_user;
    paths[HERE][HERE].jitter_ns = 2 * MS_NS;
    for (uint32_t i = 0; i <= TWIN; i++) {
        (void)add_as(&options, i == TWIN ? 1 : i + 1);
        world.nodes[i].step_ns = 50 * MS_NS;
        for (uint32_t k = 0; k < i; k++)
            world_introduce(&world, i, k);
    }
    injector = fault_injector_new(&world, faults, count, seed);
    for (uint32_t i = 0; i < NODES; i++)
        world_start(&world, i);
}

uint64_t seconds(double s)
{
    return (uint64_t)(s * (double)SECOND_NS);
}

void run_to(double s)
{
    const uint64_t until_ns = WORLD_BEGIN_NS + seconds(s);
    if (world_now_ns(&world) < until_ns)
        run(until_ns - world_now_ns(&world));
}

void heal(double s)
{
    run_to(s);
    fault_injector_end(injector);
    run_to(s + 20);
    world_rest(&world);
    for (double t = s + 20; t < s + 80 && !world_is_one_version(&world); t += 1)
        run_to(t);
    assert_one_version();
    for (uint32_t i = 0; i < NODES; i++)
        assert_true(world_is_running(&world, i));
    assert_false(world_is_running(&world, TWIN));
}

void leave_world(void)
{
    fault_injector_free(injector);
    world_free(&world);
}

void end_well(double s)
{
    heal(s);
    leave_world();
}

struct fault fault(enum fault_kind kind, double from_s, double to_s, uint32_t victim)
{
    struct fault made = {
        .kind = kind, .from_ns = seconds(from_s), .to_ns = seconds(to_s), .seed = 7};
    node_set_add(&made.a, victim);
    return made;
}
