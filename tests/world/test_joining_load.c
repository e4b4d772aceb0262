/* Bandwidth for joiners: blocks get the capacity that rumors leave free, on links and within the
 * user's limits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define PARAMETERS 20000

#include "support/sim/puppet.h"
#include "support/sim/swarm_world.h"

#define NODES       4
#define JOINERS_MAX 2
#define SPAN_BLOCKS 4 /* blocks in one request */
#define ASKED_MAX   4 /* maximum open requests of a joiner */
#define SPAN_S      30

static struct puppet joiners[JOINERS_MAX];
/* true: all joiners use node 0 as donor; false: joiner k uses node k. */
static bool are_of_one_donor;

/* Options of nodes that publish as much as their links carry. */
static struct node_options eager_options(void)
{
    struct node_options options = usual_options();
    options.bytes_per_s = 0;
    options.interval_ns = SECOND_NS / 4;
    options.log_bytes = 16 << 20;
    options.limits.send_queue_bytes = 1 << 20;
    options.limits.silence_ns = 600 * SECOND_NS; /* puppets do not answer PING */
    options.block_entries = 4096;
    options.serve_bytes_per_s = NODE_SERVE_AUTO;
    return options;
}

static void start_eager(const struct node_options *options, uint64_t uplink)
{
    density_max = PARAMETERS;
    start_swarm(NODES, options);
    run(SECOND_NS); /* lets nodes meet while their links are still free */
    for (uint32_t k = 0; k < JOINERS_MAX; k++) {
        puppet_init(&joiners[k], are_of_one_donor ? 0 : k, (uint8_t)(k + 1));
        puppet_meet(&joiners[k]);
        puppet_hello(&joiners[k]);
    }
    for (uint32_t i = 0; i < NODES; i++) {
        world.nodes[i].step_ns = MS_NS;
        if (uplink)
            limit_up(i, uplink);
    }
    run(30 * SECOND_NS);
}

struct load {
    double published, served, sent; /* bytes per second, over all nodes */
};

static struct load load_now(void)
{
    struct load sum = {0};
    for (uint32_t i = 0; i < NODES; i++) {
        const struct node_stats stats = stats_of(i);
        sum.published += (double)stats.rumor_bytes_published / SPAN_S;
        sum.served += (double)stats.served_bytes / SPAN_S;
        sum.sent += (double)stats.sent_bytes / SPAN_S;
    }
    return sum;
}

/* Runs `count` joiners for SPAN_S seconds, each of which continuously requests blocks from its
 * donor. Returns the load in that time. */
static struct load play(const struct node_options *options, uint64_t uplink, uint32_t count)
{
    uint32_t asked[JOINERS_MAX] = {0};
    start_eager(options, uplink);
    const struct load before = load_now();
    const uint64_t end_ns = world_now_ns(&world) + SPAN_S * SECOND_NS;
    while (world_now_ns(&world) < end_ns) {
        for (uint32_t k = 0; k < count; k++)
            for (; asked[k] * SPAN_BLOCKS < joiners[k].heard[BLOCK] + ASKED_MAX * SPAN_BLOCKS;
                 asked[k]++)
                puppet_say(&joiners[k],
                           &(struct message){.kind = FETCH, .block = 0, .count = SPAN_BLOCKS});
        run(5 * MS_NS);
    }
    const struct load after = load_now();
    for (uint32_t k = 0; k < JOINERS_MAX; k++)
        puppet_free(&joiners[k]);
    return (struct load){.published = after.published - before.published,
                         .served = after.served - before.served,
                         .sent = after.sent - before.sent};
}

struct both {
    struct load without, with; /* loads without and with joiners */
};

static void add_load(struct load *sum, const struct load *load)
{
    sum->published += load->published;
    sum->served += load->served;
    sum->sent += load->sent;
}

/* Returns the loads without and with joiners, each summed over `worlds` worlds. */
static struct both play_both(const struct node_options *options, uint64_t uplink, uint32_t count,
                             uint64_t worlds)
{
    struct both both = {0};
    for (uint64_t i = 0; i < 2 * worlds; i++) {
        world_free(&world);
        begin_world(1 + i / 2);
        const struct load load = play(options, uplink, i % 2 ? count : 0);
        add_load(i % 2 ? &both.with : &both.without, &load);
    }
    print_message("published %.0f B/s, with %u joiners %.0f; served %.0f; sent %.0f and %.0f\n",
                  both.without.published, count, both.with.published, both.with.served,
                  both.without.sent, both.with.sent);
    return both;
}

static void publishing_continues_when_rumors_fill_the_lines(void **state)
{
    (void)state;
    const struct node_options options = eager_options();
    const struct both both = play_both(&options, 60000, 1, 4);
    assert_true(both.with.published > 0.9 * both.without.published);
    /* the sum over worlds; a single world may serve little by chance */
    assert_true(both.with.served > 4 * 1000);
}

static void below_a_cap_rumors_go_first(void **state)
{
    (void)state;
    struct node_options options = eager_options();
    options.uplink_max = 60000;
    const struct both both = play_both(&options, 0, 1, 1);
    assert_true(both.with.published > 0.9 * both.without.published);
    assert_true(both.with.served > 25000);
    assert_true(both.with.sent < 1.02 * NODES * 60000);
}

static void a_joiner_gets_nearly_all_of_an_idle_line(void **state)
{
    (void)state;
    struct node_options options = eager_options();
    options.bytes_per_s = 2000;
    const struct both both = play_both(&options, 300000, 1, 1);
    assert_true(both.with.published > 0.99 * both.without.published);
    assert_true(both.with.served > 0.9 * 300000);
}

static void joiners_get_nearly_all_of_idle_caps(void **state)
{
    (void)state;
    struct node_options options = eager_options();
    options.bytes_per_s = 2000;
    options.uplink_max = 300000;
    const struct both both = play_both(&options, 0, 2, 1);
    assert_true(both.with.published > 0.99 * both.without.published);
    assert_true(both.with.served > 0.9 * 2 * 300000);
    assert_true(both.with.sent < 1.02 * NODES * 300000);
}

static void joiners_share_one_donor_equally(void **state)
{
    (void)state;
    struct node_options options = eager_options();
    options.bytes_per_s = 2000;
    are_of_one_donor = true;
    const struct load load = play(&options, 300000, 2);
    print_message("served %.0f B/s in all; blocks: %u and %u\n", load.served,
                  joiners[0].heard[BLOCK], joiners[1].heard[BLOCK]);
    assert_true(load.served > 0.9 * 300000);
    assert_near(joiners[0].heard[BLOCK], joiners[1].heard[BLOCK], 0.2 * joiners[0].heard[BLOCK]);
}

static void over_a_fast_line_a_donor_spares_its_processor(void **state)
{
    (void)state;
    struct node_options options = eager_options();
    options.bytes_per_s = 2000;
    const struct load load = play(&options, 0, 1);
    print_message("served %.0f B/s; links carry %.0f\n", load.served, stats_of(0).uplink);
    assert_true(load.served > 0.8 * 12.5e6 && load.served < 1.01 * 12.5e6);
}

int main(void)
{
    parameters = PARAMETERS;
    const struct CMUnitTest tests[] = {
        STORY(publishing_continues_when_rumors_fill_the_lines),
        STORY(below_a_cap_rumors_go_first),
        STORY(a_joiner_gets_nearly_all_of_an_idle_line),
        STORY(joiners_get_nearly_all_of_idle_caps),
        STORY(joiners_share_one_donor_equally),
        STORY(over_a_fast_line_a_donor_spares_its_processor),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
