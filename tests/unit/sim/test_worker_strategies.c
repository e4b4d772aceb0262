/* Strategies of workers over the simulated network with real learners: each learns, reproducibly.
 * Other files test their rules. */
#include <math.h>

#include "crypto/secret.h"
#include "support/sim/strategy_play.h"

struct entry {
    const char *strategy;
    const char *set;     /* assignment to set; NULL = none */
    uint64_t slow_steps; /* steps of a slow worker, at most 50; 0 = unknown */
    uint64_t fast_steps; /* steps of the fast worker, at most 100 */
};

static const struct entry entries[] = {
    {"ako", NULL, 50, 100},
    {"adpsgd", NULL, 50, 100},
    {"gosgd", NULL, 50, 100},
    {"sgp", NULL, 40, 40},
    {"strom", NULL, 50, 100},
    {"threshold", "strategy.threshold=0.05", 50, 100},
    {"gaia", "strategy.significance=3", 0, 0},
    {"downpour", "strategy.push_steps=4", 50, 100},
    {"downpour", "strategy.average=yes", 11, 11},
    {"dlion", NULL, 66, 66},
    {"gossipgrad", NULL, 21, 22},
    {"gossip_sgd", NULL, 0, 0},
    {"gossip_sgd", "strategy.gossip_by=pull", 0, 0},
    {"choco", NULL, 39, 39},
    {"mlnet", NULL, 13, 13},
};

#define ENTRIES (sizeof entries / sizeof entries[0])

/* Guessing gives an accuracy of 0.1. A single node reaches 0.39. */
static void each_strategy_learns_with_the_expected_steps(void **state)
{
    (void)state;
    for (size_t i = 0; i < ENTRIES; i++) {
        struct played played = play(entries[i].strategy, entries[i].set);
        const struct node_total *nodes = played.outcome.nodes;
        assert_true(played.outcome.accuracy > 0.35 && last_moment(&played)->sent_bytes > 0);
        assert_true(entries[i].slow_steps == 0 || nodes[0].steps == entries[i].slow_steps);
        assert_true(entries[i].fast_steps == 0 || nodes[2].steps == entries[i].fast_steps);
        play_end(&played);
    }
}

static void a_seed_determines_the_run(void **state)
{
    (void)state;
    for (size_t i = 0; i < ENTRIES; i++) {
        struct played first = play(entries[i].strategy, entries[i].set);
        struct played again = play(entries[i].strategy, entries[i].set);
        assert_true(first.outcome.loss == again.outcome.loss && isfinite(first.outcome.loss));
        assert_int_equal(first.outcome.events, again.outcome.events);
        play_end(&first);
        play_end(&again);
    }
}

/* Of 96 samples the slow workers get 24 each and the fast one 48, so all make a step in 0.15 s. */
static void dlion_divides_batches_by_speed(void **state)
{
    (void)state;
    struct played played = play("dlion", NULL);
    assert_int_equal(played.outcome.nodes[1].samples, 66 * 24);
    assert_int_equal(played.outcome.nodes[2].samples, 66 * 48);
    play_end(&played);
    played = play("dlion", "strategy.batch_by_speed=no");
    assert_int_equal(played.outcome.nodes[1].samples, 50 * 32);
    assert_int_equal(played.outcome.nodes[2].samples, 100 * 32);
    play_end(&played);
}

/* With Adam and a schedule, and without another worker, messages change nothing. Strom is excluded,
 * because its messages never quite match the progress. */
static void one_worker_equals_a_single_node(void **state)
{
    (void)state;
    struct played alone = play_text(strategy_one, "single", NULL, 0);
    for (size_t i = 0; i < ENTRIES; i++) {
        const char *set = entries[i].set;
        if (strcmp(entries[i].strategy, "strom") == 0)
            continue;
        struct played played = play_text(strategy_one, entries[i].strategy, &set, set ? 1 : 0);
        assert_int_equal(played.outcome.nodes[0].steps, 50);
        assert_int_equal(last_moment(&played)->sent_bytes, 0);
        assert_same_weights(&played, &alone, 5e-4f); /* a step of Adam is 1e-3 */
        play_end(&played);
    }
    play_end(&alone);
}

static uint64_t sent_by_dlion(const char *set, const char *other)
{
    const char *sets[] = {set, other};
    struct played played = play_with("dlion", sets, 2);
    const uint64_t bytes = last_moment(&played)->sent_bytes;
    assert_true(played.outcome.nodes[0].steps == 66 && played.outcome.nodes[2].steps == 66);
    play_end(&played);
    return bytes;
}

/* A node can send 125,000 bytes per second. A node that can receive only 25,000 limits two senders.
 * In each of three transfers, two nodes receive the weights of the third. */
static void dlion_fills_its_links_and_sends_the_best_weights(void **state)
{
    (void)state;
    const uint64_t all = sent_by_dlion("strategy.transfer_steps=0", "scenario.seed=1");
    const uint64_t less = sent_by_dlion("strategy.transfer_steps=0", "fast.down=0.2 Mbit/s");
    const uint64_t few = sent_by_dlion("strategy.transfer_steps=0", "strategy.max_n=0.85");
    const uint64_t best = sent_by_dlion("strategy.transfer_steps=20", "strategy.max_n=0.85");
    assert_true(all <= 3 * 10 * 125000 && all > 3 * 9 * 125000);
    assert_true(less <= 250000 + 1250000 + 2 * 5 * 125000 && less > all / 2);
    assert_true(fabs((double)(best - few) - 3 * 2 * 4 * PARAMETERS) < 1000);
}

/* The four cases as arrays, because shards divide arrays but not source = xor. */
#define CASES "/tmp/test_worker_strategies"

static const char xor_of_four[] = "[scenario]\n"
                                  "seconds = 20\n"
                                  "nodes = 4 replica, 100 samples/s, up 1 Mbit/s, down 1 Mbit/s\n"
                                  "link = all, rtt 80 ms\n"
                                  "[model]\n"
                                  "layers = dense 8, sigmoid, dense 2\n"
                                  "[data]\n"
                                  "source = npy\n"
                                  "x = " CASES "-x.npy\n"
                                  "y = " CASES "-y.npy\n"
                                  "test_x = " CASES "-test-x.npy\n"
                                  "test_y = " CASES "-test-y.npy\n"
                                  "[train]\n"
                                  "batch = 1\n"
                                  "rate = 1\n"
                                  "momentum = 0\n"
                                  "weight_decay = 0\n"
                                  "[strategy]\n"
                                  "gain = 4\n"
                                  "threshold = 0.1\n"
                                  "significance = 0.1\n"
                                  "top_part = 0.3\n"
                                  "consensus = 1\n";

static void write_npy(const char *path, const char *shape, const char *bytes, size_t count)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    char header[128];
    (void)snprintf(header, sizeof header, "{'descr': '|u1', 'fortran_order': False, 'shape': %s, }",
                   shape);
    (void)fprintf(file, "\x93NUMPY%c%c%c%c%-117s\n", 1, 0, 118, 0, header);
    assert_int_equal(fwrite(bytes, 1, count, file), count);
    assert_int_equal(fclose(file), 0);
}

/* Each worker has one of the four cases. A worker that trains alone predicts one label for all
 * cases. */
static void four_workers_with_one_case_each_learn_exclusive_or(void **state)
{
    (void)state;
    static const char *const xs[] = {CASES "-x.npy", CASES "-test-x.npy"};
    static const char *const ys[] = {CASES "-y.npy", CASES "-test-y.npy"};
    for (int i = 0; i < 2; i++) {
        write_npy(xs[i], "(4, 1, 1, 2)", "\0\0\0\377\377\0\377\377", 8);
        write_npy(ys[i], "(4,)", "\0\1\1\0", 4);
    }
    struct played alone = play_text(xor_of_four, "single", NULL, 0);
    assert_true(alone.outcome.accuracy == 0.5);
    play_end(&alone);
    for (size_t i = 0; i < ENTRIES; i++) {
        const char *set = entries[i].set;
        struct played played = play_text(xor_of_four, entries[i].strategy, &set, set ? 1 : 0);
        assert_true(played.outcome.accuracy == 1 && played.outcome.loss < 0.1);
        play_end(&played);
    }
    for (int i = 0; i < 2; i++)
        assert_true(unlink(xs[i]) == 0 && unlink(ys[i]) == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_strategy_learns_with_the_expected_steps),
        cmocka_unit_test(a_seed_determines_the_run),
        cmocka_unit_test(one_worker_equals_a_single_node),
        cmocka_unit_test(dlion_divides_batches_by_speed),
        cmocka_unit_test(dlion_fills_its_links_and_sends_the_best_weights),
        cmocka_unit_test(four_workers_with_one_case_each_learn_exclusive_or),
    };
    secret_start();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
