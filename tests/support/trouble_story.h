/* A list of faults happens in a small swarm (swarm_world.h): five nodes that know each other, and a
 * place for a twin of the first. Times are seconds since the world began. Include cmocka.h first.
 */
#ifndef HEARSAY_TESTS_SUPPORT_TROUBLE_STORY_H
#define HEARSAY_TESTS_SUPPORT_TROUBLE_STORY_H

#include "support/swarm_world.h"
#include "faults/fault_injector.h"

#define NODES 5
#define TWIN  NODES /* another process with the identity of node 0 */

static struct fault_injector *injector;

static inline void on_user(void *self, uint64_t subject, uint64_t amount)
{
    (void)self;
    assert_true(fault_injector_owns(subject));
    fault_injector_on_event(injector, subject, amount);
}

static inline struct node_options fault_injector_options(void)
{
    struct node_options options = usual_options();
    options.bytes_per_s = 400;
    options.interval_ns = SECOND_NS;
    options.beta = 0;
    options.limits.half_open_per_net_max = 8;
    options.limits.notes_per_s = 100;
    return options;
}

static inline void begin(const struct fault *faults, uint32_t count, uint64_t seed)
{
    const struct node_options options = fault_injector_options();
    begin_world(seed);
    world.on_user = on_user;
    paths[HERE][HERE].jitter_ns = 2 * MILLI_NS;
    for (uint32_t i = 0; i <= TWIN; i++) {
        (void)add_as(&options, i == TWIN ? 1 : i + 1);
        world.nodes[i].step_ns = 50 * MILLI_NS;
        for (uint32_t k = 0; k < i; k++)
            world_introduce(&world, i, k);
    }
    injector = fault_injector_new(&world, faults, count, seed);
    for (uint32_t i = 0; i < NODES; i++)
        world_start(&world, i);
}

static inline uint64_t seconds(double s)
{
    return (uint64_t)(s * (double)SECOND_NS);
}

static inline void run_to(double s)
{
    const uint64_t until_ns = WORLD_BEGIN_NS + seconds(s);
    if (world_now_ns(&world) < until_ns)
        run(until_ns - world_now_ns(&world));
}

/* All is well at `s`; everybody runs, and some time later all hold one version. */
static inline void heal(double s)
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

static inline void leave_world(void)
{
    fault_injector_free(injector);
    world_free(&world);
}

static inline void end_well(double s)
{
    heal(s);
    leave_world();
}

static inline struct fault fault(enum fault_kind kind, double from_s, double to_s, uint32_t victim)
{
    struct fault made = {
        .kind = kind, .from_ns = seconds(from_s), .to_ns = seconds(to_s), .seed = 7};
    node_set_add(&made.a, victim);
    return made;
}

#endif
