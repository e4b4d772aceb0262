/* Scenario files: the meaning of every line. Any bytes are accepted, or rejected with a message. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "events/event_queue.h"
#include "scenario/scenario.h"
#include "support/sim/scenario_taken.h"
#include "support/sim/scenario_text.h"

static void single_values_have_documented_defaults(void **state)
{
    (void)state;
    const struct scenario *scenario = played(SCENARIO_BASE);
    assert_true(scenario->seed == 1);
    assert_true(scenario->span_ns == 120 * SECOND_NS && scenario->settle_ns == 60 * SECOND_NS);
    assert_true(scenario->evaluate_ns == 5 * SECOND_NS);
    assert_int_equal(scenario->evaluate_samples, 2000);
    assert_int_equal(scenario->settings.local_steps, 50);
    assert_true(scenario->settings.outer_rate == CONFIG_AUTO_REAL &&
                scenario->settings.outer_momentum == CONFIG_AUTO_REAL);
    assert_int_equal(scenario->parameters, 1000);
    assert_true(scenario->skew == 0 && !scenario->made_up);
}

static void single_values_are_read(void **state)
{
    (void)state;
    const struct scenario *scenario = played(
        SCENARIO_BASE "about = Two rooms\nsource = nobody; knows\nseconds = 2.5\nseed = 7\n"
                      "strategy = localsgd\nskew = 0.5\nevaluate_s = 0.25\nevaluate_samples = 100\n"
                      "settle_s = 3\n"
                      "[strategy]\nlocal_steps = 9\nouter_rate = 1\nouter_momentum = 0\n"
                      "[train]\nbatch = 8\nthreads = 1\n[node]\ngrace_s = 4\n");
    assert_string_equal(scenario->about, "Two rooms");
    assert_string_equal(scenario->source, "nobody; knows");
    assert_true(scenario->span_ns == 2500 * MS_NS && scenario->seed == 7);
    assert_int_equal(scenario->strategy, STRATEGY_LOCALSGD);
    assert_true(scenario->skew == 0.5 && scenario->evaluate_ns == 250 * MS_NS);
    assert_int_equal(scenario->evaluate_samples, 100);
    assert_true(scenario->settle_ns == 3 * SECOND_NS);
    assert_int_equal(scenario->settings.local_steps, 9);
    assert_true(scenario->settings.outer_rate == 1 && scenario->settings.outer_momentum == 0);
    assert_int_equal(scenario->config.train.batch, 8);
    assert_true(scenario->config.node.grace_s == 4);
    scenario = played(SCENARIO_BASE "updates = made up\nparameters = 16\n");
    assert_true(scenario->made_up && scenario->parameters == 16);
    assert_int_equal(played(SCENARIO_BASE "strategy = single\n")->strategy, STRATEGY_SINGLE);
    assert_int_equal(played(SCENARIO_BASE "strategy = ideal\n")->strategy, STRATEGY_IDEAL);
    assert_int_equal(played(SCENARIO_BASE "strategy = diloco\n")->strategy, STRATEGY_DILOCO);
    assert_int_equal(played(SCENARIO_BASE "strategy = gasloc\n")->strategy, STRATEGY_GASLOC);
    assert_int_equal(played(SCENARIO_BASE "strategy = noloco\n")->strategy, STRATEGY_NOLOCO);
    scenario = played(SCENARIO_BASE "strategy = streaming_diloco\n[strategy]\nfragments = 2\n"
                                    "overlap_steps = 25\nmixing = 1\nwire_precision = float32\n");
    assert_int_equal(scenario->strategy, STRATEGY_STREAMING_DILOCO);
    assert_true(scenario->settings.fragments == 2 && scenario->settings.overlap_steps == 25);
    assert_true(scenario->settings.mixing == 1 &&
                scenario->settings.wire_precision == WIRE_FLOAT32);
    scenario = played(SCENARIO_BASE "strategy = powersgd\n[strategy]\nrank = 3\n");
    assert_true(scenario->strategy == STRATEGY_POWERSGD && scenario->settings.rank == 3);
    scenario =
        played(SCENARIO_BASE "strategy = allreduce\n[strategy]\ngradient_precision = float16\n");
    assert_true(scenario->strategy == STRATEGY_ALLREDUCE &&
                scenario->settings.gradient_precision == GRADIENT_FLOAT16);
    scenario = played(SCENARIO_BASE "strategy = dgc\n[strategy]\nwarmup_epochs = 0\n");
    assert_true(scenario->strategy == STRATEGY_DGC && scenario->settings.warmup_epochs == 0);
    scenario = played(SCENARIO_BASE "strategy = demo\n[strategy]\nsign_rate = 0.5\n");
    assert_true(scenario->strategy == STRATEGY_DEMO && scenario->settings.sign_rate == 0.5);
    scenario = played(SCENARIO_BASE "strategy = admm\n[strategy]\nrho = 2\n");
    assert_true(scenario->strategy == STRATEGY_ADMM && scenario->settings.rho == 2);
    scenario = played(SCENARIO_BASE
                      "strategy = sparseloco\n[strategy]\ntop_part = 0.5\nerror_decay = 1\n");
    assert_int_equal(scenario->strategy, STRATEGY_SPARSELOCO);
    assert_true(scenario->settings.top_part == 0.5 && scenario->settings.error_decay == 1);
}

static void every_clause_of_a_nodes_line_is_read(void **state)
{
    (void)state;
    const struct scenario *scenario = played(
        "[scenario]\nnodes = 1 core\n"
        "nodes = 12 desk-1 , 0.5 samples/s,up 10 Mbit/s, down 2kB/s, region west, from 1 min, "
        "until 90 s, stall 300 ms every 2 s, memory 1500000 kB, data 2.5, dials only, "
        "at 10 s up 80 kbit/s, at 10 s down unlimited, at 20 s up 1 Gbit/s, "
        "set exchange.beta=0, set limits.peers = 4\n");
    const struct group *group = &scenario->groups[1];
    assert_string_equal(group->name, "desk-1");
    assert_string_equal(group->region, "west");
    assert_int_equal(group->first, 1);
    assert_int_equal(group->count, 12);
    assert_true(group->samples_per_s == 0.5 && group->data == 2.5);
    assert_true(group->up.bytes_per_s == 1250000 && group->down.bytes_per_s == 2000);
    assert_true(group->start_ns == 60 * SECOND_NS && group->stop_ns == 90 * SECOND_NS);
    assert_true(group->stall_ns == 300 * MS_NS && group->stall_every_ns == 2 * SECOND_NS);
    assert_true(group->memory_bytes == 1500000000);
    assert_true(group->dials_only);
    assert_int_equal(group->up.changes, 2);
    assert_int_equal(group->down.changes, 1);
    assert_true(rate_at(&group->up, 10 * SECOND_NS - 1) == 1250000);
    assert_true(rate_at(&group->up, 10 * SECOND_NS) == 10000);
    assert_true(rate_at(&group->up, 30 * SECOND_NS) == 125000000);
    assert_true(rate_at(&group->down, 10 * SECOND_NS) == 0);
    assert_int_equal(group->sets, 2);
    assert_string_equal(group->set[1], "limits.peers=4");
}

static void omitted_clauses_of_a_nodes_line_have_defaults(void **state)
{
    (void)state;
    const struct scenario *scenario = played("[scenario]\nnodes = 1 core\n");
    const struct group *group = &scenario->groups[0];
    assert_string_equal(group->region, "core");
    assert_true(group->samples_per_s == 0 && group->data == 1);
    assert_true(group->up.bytes_per_s == 0 && group->memory_bytes == 0 && group->stop_ns == 0);
    assert_false(group->dials_only);
}

static void nodes_are_numbered_through_all_groups(void **state)
{
    (void)state;
    char name[64];
    const struct scenario *scenario =
        played("[scenario]\nnodes = 2 desk, region west\nnodes = 3 lab\n"
               "nodes = 1 old, region west\n");
    assert_int_equal(scenario->nodes_count, 6);
    assert_int_equal(scenario->regions_count, 2);
    scenario_node_name(scenario, 1, name, sizeof name);
    assert_string_equal(name, "desk/2");
    scenario_node_name(scenario, 2, name, sizeof name);
    assert_string_equal(name, "lab/1");
    assert_string_equal(scenario_group(scenario, 4)->name, "lab");
    assert_int_equal(scenario_region(scenario, 4), 1);
    assert_int_equal(scenario_region(scenario, 5), 0);
}

static void a_group_sets_keys_only_for_its_nodes(void **state)
{
    (void)state;
    struct config config;
    const struct scenario *scenario =
        played("[scenario]\nnodes = 1 desk, set exchange.bytes_per_s=5000, "
               "set exchange.bytes_per_s=6000\nnodes = 1 lab\n[exchange]\nbytes_per_s = 9000\n");
    assert_int_equal(scenario->groups[0].sets, 1);
    scenario_node_config(scenario, 0, &config);
    assert_true(config.exchange.bytes_per_s == 6000);
    scenario_node_config(scenario, 1, &config);
    assert_true(config.exchange.bytes_per_s == 9000);
}

static void links_apply_to_two_directions_one_or_all_others(void **state)
{
    (void)state;
    const struct scenario *scenario = played(
        "[scenario]\nnodes = 1 a\nnodes = 1 b\nnodes = 1 c\n"
        "link = a b, rtt 80 ms, jitter 5 ms, loss 0.1 %, rate 20 Mbit/s, at 60 s rate 5 MB/s\n"
        "link = all, delay 3 ms\n"
        "link = c > a, delay 9 ms\n"
        "link = a > c, delay 7 ms, rate unlimited\n"
        "link = b b, rtt 1 ms\n");
    for (int i = 0; i < 2; i++) {
        const struct path *path = i ? &scenario->paths[1][0] : &scenario->paths[0][1];
        assert_true(path->delay_ns == 40 * MS_NS && path->jitter_ns == 5 * MS_NS);
        assert_true(path->loss == 0.001);
        assert_true(rate_at(&path->rate, 59 * SECOND_NS) == 2500000);
        assert_true(rate_at(&path->rate, 60 * SECOND_NS) == 5000000);
    }
    assert_true(scenario->paths[0][2].delay_ns == 7 * MS_NS);
    assert_true(scenario->paths[2][0].delay_ns == 9 * MS_NS);
    assert_true(scenario->paths[1][2].delay_ns == 3 * MS_NS);
    assert_true(scenario->paths[0][0].delay_ns == 3 * MS_NS);
    assert_true(scenario->paths[1][1].delay_ns == 500000);
}

static void a_link_may_carry_more_one_way_than_the_other(void **state)
{
    (void)state;
    const struct scenario *scenario =
        played("[scenario]\nnodes = 1 a\nnodes = 1 b\nnodes = 1 c\n"
               "link = a b, rtt 80 ms, up 2 MB/s, down 20 MB/s, at 60 s up 1 MB/s\n"
               "link = b c, at 60 s down 3 MB/s, rate 4 MB/s, at 70 s rate 5 MB/s\n");
    const struct rate *up = &scenario->paths[0][1].rate, *down = &scenario->paths[1][0].rate;
    assert_true(rate_at(up, 59 * SECOND_NS) == 2000000 && rate_at(up, 60 * SECOND_NS) == 1000000);
    assert_true(rate_at(down, 0) == 20000000 && rate_at(down, 60 * SECOND_NS) == 20000000);
    assert_true(scenario->paths[1][0].delay_ns == 40 * MS_NS);
    up = &scenario->paths[1][2].rate;
    down = &scenario->paths[2][1].rate;
    assert_true(rate_at(up, 60 * SECOND_NS) == 4000000 && rate_at(up, 70 * SECOND_NS) == 5000000);
    assert_true(rate_at(down, 0) == 4000000 && rate_at(down, 60 * SECOND_NS) == 3000000);
    assert_true(rate_at(down, 70 * SECOND_NS) == 5000000);
}

/* Checks the nodes that the fault strikes. digits: as in scenario_taken.h. */
static void assert_strikes(const struct fault *fault, const char *digits)
{
    for (uint32_t i = 0; i < FAULT_NODES_MAX; i++) {
        int in = node_set_has(&fault->a, i) + 2 * node_set_has(&fault->b, i);
        assert_int_equal(in, i < strlen(digits) ? digits[i] - '0' : 0);
    }
}

static void assert_lasts(const struct fault *fault, double from_s, double to_s)
{
    assert_true((double)fault->from_ns == from_s * 1e9);
    assert_true((double)fault->to_ns == to_s * 1e9);
}

static void every_fault_is_read(void **state)
{
    (void)state;
    for (size_t i = 0; i < taken_faults_count; i++) {
        char text[256];
        (void)snprintf(text, sizeof text, SCENARIO_BASE "fault = %s\n", taken_faults[i].line);
        const struct scenario *scenario = played(text);
        const struct fault *fault = &scenario->faults[0];
        assert_int_equal(scenario->faults_count, 1);
        assert_int_equal(fault->kind, taken_faults[i].kind);
        assert_lasts(fault, taken_faults[i].from_s, taken_faults[i].to_s);
        assert_strikes(fault, taken_faults[i].strikes);
        assert_false(fault->any || fault->one_way);
    }
}

static void the_details_of_faults_are_read(void **state)
{
    (void)state;
    const struct scenario *scenario = played(
        SCENARIO_BASE "fault = partition desk > lab, from 1 s to 9 s, every 2 s\n"
                      "fault = churn any lab, every 10 s, away 15 s\n"
                      "fault = crash any, at 5 s\n"
                      "fault = clock desk, at 4 s, by -30 s\n"
                      "fault = clock desk, at 4 s, by -30 s\n"
                      "fault = crash desk, at 5 s, disk rots, silently\n"
                      "fault = churn, every 9 s, away 1 s, disk lost\n"
                      "fault = pause any lab, every 9 s, for 0.1 s to 30 s, from 1 s to 9 s\n");
    const struct fault *faults = scenario->faults;
    assert_true(faults[0].one_way && faults[0].every_ns == 2 * SECOND_NS);
    assert_true(faults[1].any && faults[1].every_ns == 10 * SECOND_NS);
    assert_true(faults[1].away_ns == 15 * SECOND_NS);
    assert_strikes(&faults[1], "00111");
    assert_true(faults[2].any);
    assert_strikes(&faults[2], "11111");
    assert_true(faults[3].value == -30);
    assert_true(faults[3].seed != faults[4].seed);
    assert_true(faults[2].disk == FAULT_DISK_KEPT && faults[2].value == 0);
    assert_true(faults[5].disk == FAULT_DISK_ROTS && faults[5].value == 1);
    assert_true(faults[6].disk == FAULT_DISK_LOST);
    assert_true(faults[7].any && faults[7].every_ns == 9 * SECOND_NS);
    assert_true(faults[7].least_ns == 100 * MS_NS && faults[7].most_ns == 30 * SECOND_NS);
    uint64_t seed = faults[0].seed;
    assert_true(played_set(SCENARIO_BASE "fault = crash any, at 5 s\n", "scenario.seed=2")
                    ->faults[0]
                    .seed != seed);
}

static void a_name_is_a_group_or_a_region_and_never_both_with_other_nodes(void **state)
{
    (void)state;
    assert_strikes(played("[scenario]\nnodes = 1 a, region west\nnodes = 1 b, region west\n"
                          "nodes = 1 c\nfault = crash west, at 1 s\n")
                       ->faults,
                   "110");
    assert_refused("[scenario]\nnodes = 1 west\nnodes = 1 b, region west\n"
                   "fault = crash west, at 1 s\n",
                   "west is a group and a region with other nodes; rename one of them");
}

static void every_fault_has_a_unique_name(void **state)
{
    (void)state;
    for (unsigned int i = 0; i < FAULT_KINDS; i++)
        for (unsigned int j = 0; j < i; j++)
            assert_string_not_equal(fault_name((enum fault_kind)i), fault_name((enum fault_kind)j));
}

static void every_poison_has_a_unique_name_and_amount(void **state)
{
    (void)state;
    for (unsigned int i = 0; i < POISONS; i++)
        for (unsigned int j = 0; j < i; j++)
            assert_string_not_equal(poison_name((enum poison)i), poison_name((enum poison)j));
    const struct fault *faults = played(SCENARIO_BASE "fault = poison desk, with claims\n"
                                                      "fault = poison lab, with a little 0.2\n")
                                     ->faults;
    assert_int_equal(faults[0].poison, POISON_CLAIMS);
    assert_true(faults[0].value == 100);
    assert_int_equal(faults[1].poison, POISON_LITTLE);
    assert_true(faults[1].value == 0.2);
}

static void every_expectation_is_read(void **state)
{
    (void)state;
    for (size_t i = 0; i < taken_expects_count; i++) {
        char text[256];
        (void)snprintf(text, sizeof text,
                       SCENARIO_BASE "fault = partition desk | lab, from 10 s to 30 s\n"
                                     "expect = %s\n",
                       taken_expects[i].line);
        const struct expect *expect = &played(text)->expects[0];
        assert_int_equal(expect->metric, taken_expects[i].metric);
        assert_int_equal(expect->at_least, taken_expects[i].at_least);
        assert_float_equal(expect->value, taken_expects[i].value, 1e-12);
        assert_true((double)expect->by_ns == taken_expects[i].by_s * 1e9);
        assert_true((double)expect->from_ns == taken_expects[i].from_s * 1e9);
        assert_int_equal(expect->bound, taken_expects[i].bound);
        assert_int_equal(expect->once, taken_expects[i].once);
        assert_int_equal(expect->group, taken_expects[i].group);
        assert_string_equal(expect->text, taken_expects[i].line);
    }
}

static void assignments_override_the_file_and_later_ones_win(void **state)
{
    (void)state;
    const char *sets[] = {
        "scenario.seconds=60", "scenario.seed=5", "scenario.seed=6", "desk.count=4",
        "desk.up=5 Mbit/s",    "lab.samples/s=7", "lab.dials=only",  "lab.set=train.batch=9",
        "train.rate=0.5",      "desk.region = x", "desk.up=6 MB/s",  "desk.at 9 s down=1 MB/s",
    };
    int count = (int)(sizeof sets / sizeof sets[0]);
    const struct scenario *scenario =
        played_with("[scenario]\nnodes = 2 desk, up 1 kB/s, at 9 s up 2 kB/s, 1 samples/s\n"
                    "nodes = 3 lab, 100 samples/s\nseconds = 9\nfault = crash lab, at 50 s\n"
                    "link = x lab, delay 1 ms\n",
                    sets, count);
    assert_true(scenario->span_ns == 60 * SECOND_NS && scenario->seed == 6);
    assert_int_equal(scenario->nodes_count, 7);
    assert_true(scenario->groups[0].up.bytes_per_s == 6000000);
    assert_int_equal(scenario->groups[0].up.changes, 0);
    assert_true(rate_at(&scenario->groups[0].down, 9 * SECOND_NS) == 1000000);
    assert_true(scenario->groups[1].samples_per_s == 7 && scenario->groups[1].dials_only);
    assert_string_equal(scenario->groups[1].set[0], "train.batch=9");
    assert_true(scenario->config.train.rate == 0.5);
    assert_strikes(&scenario->faults[0], "0000111");
    assert_true(scenario->paths[0][1].delay_ns == MS_NS);
}

/* Checks that any bytes are accepted, or rejected with a message. */
static void assert_bearable(const char *bytes, size_t count)
{
    static struct scenario scenario;
    struct problem problem = {""};
    enum error error = load_bytes(&scenario, bytes, count, NULL, 0, &problem);
    if (error == OK)
        assert_true(scenario.nodes_count > 0);
    else
        assert_true(strlen(problem.text) > strlen("/tmp/hearsay-test-XXXXXX: "));
}

static void every_truncation_is_accepted_or_refused_with_a_sentence(void **state)
{
    (void)state;
    const char *text = everything();
    assert_non_null(played(text));
    for (size_t count = 0; count < strlen(text); count++)
        assert_bearable(text, count);
}

static void altered_and_random_bytes_are_accepted_or_refused_with_a_sentence(void **state)
{
    (void)state;
    static const char alphabet[] = " ,=./|><%-0123456789abstrxyz\n[]";
    char bytes[1024];
    size_t length = strlen(everything());
    assert_true(length < sizeof bytes);
    struct rng rng = rng_new(1, 0);
    for (int round = 0; round < 1000; round++) {
        memcpy(bytes, everything(), length);
        for (uint32_t k = 1 + rng_below(&rng, 4); k > 0; k--)
            bytes[rng_below(&rng, (uint32_t)length)] =
                round % 4 == 0 ? (char)rng_next(&rng)
                               : alphabet[rng_below(&rng, sizeof alphabet - 1)];
        assert_bearable(bytes, length);
    }
    for (int round = 0; round < 200; round++) {
        size_t count = rng_below(&rng, sizeof bytes);
        for (size_t i = 0; i < count; i++)
            bytes[i] = (char)rng_next(&rng);
        assert_bearable(bytes, count);
    }
}

static void regions_without_a_link_are_named(void **state)
{
    (void)state;
    static const char nodes[] = "[scenario]\nupdates = made up\nnodes = 1 a, region west\n"
                                "nodes = 1 b, region east\nnodes = 1 c, region north\n";
    char text[512];
    (void)snprintf(text, sizeof text,
                   "%slink = west east, rtt 9 ms\nlink = west > north, delay 1 ms\n", nodes);
    assert_string_equal(played(text)->unlinked, "east north, north > west");
    (void)snprintf(text, sizeof text, "%slink = west east, rtt 9 ms\nlink = all, rtt 1 ms\n",
                   nodes);
    assert_string_equal(played(text)->unlinked, "");
    assert_string_equal(played(SCENARIO_BASE)->unlinked, "desk lab");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(single_values_have_documented_defaults),
        cmocka_unit_test(single_values_are_read),
        cmocka_unit_test(every_clause_of_a_nodes_line_is_read),
        cmocka_unit_test(omitted_clauses_of_a_nodes_line_have_defaults),
        cmocka_unit_test(nodes_are_numbered_through_all_groups),
        cmocka_unit_test(a_group_sets_keys_only_for_its_nodes),
        cmocka_unit_test(links_apply_to_two_directions_one_or_all_others),
        cmocka_unit_test(a_link_may_carry_more_one_way_than_the_other),
        cmocka_unit_test(every_fault_is_read),
        cmocka_unit_test(the_details_of_faults_are_read),
        cmocka_unit_test(a_name_is_a_group_or_a_region_and_never_both_with_other_nodes),
        cmocka_unit_test(every_fault_has_a_unique_name),
        cmocka_unit_test(every_poison_has_a_unique_name_and_amount),
        cmocka_unit_test(every_expectation_is_read),
        cmocka_unit_test(regions_without_a_link_are_named),
        cmocka_unit_test(assignments_override_the_file_and_later_ones_win),
        cmocka_unit_test(every_truncation_is_accepted_or_refused_with_a_sentence),
        cmocka_unit_test(altered_and_random_bytes_are_accepted_or_refused_with_a_sentence),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
