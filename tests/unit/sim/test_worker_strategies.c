/* Strategies of workers, played over the simulated network with real learners: each learns, and the
 * same way again. Their rules are held by a test of the name of each. */
#include <math.h>

#include "crypto/secret.h"
#include "support/sim/strategy_play.h"

struct entry {
    const char *strategy;
    const char *set; /* NULL: nothing */
    bool waits;      /* for others: the fast one makes fewer steps than it could */
};

static const struct entry entries[] = {
    {"ako", NULL, false},
    {"adpsgd", NULL, false},
    {"gosgd", NULL, false},
    {"sgp", NULL, true},
    {"strom", NULL, false},
    {"threshold", "strategy.threshold=0.05", false},
    {"gaia", "strategy.significance=3", true},
    {"downpour", "strategy.push_steps=4", false},
    {"downpour", "strategy.average=yes", true},
};

#define ENTRIES (sizeof entries / sizeof entries[0])

/* A tenth is right by chance; one node alone gets to 0.39. */
static void each_learns_and_makes_the_steps_that_others_leave_it(void **state)
{
    (void)state;
    for (size_t i = 0; i < ENTRIES; i++) {
        struct played played = play(entries[i].strategy, entries[i].set);
        const struct node_total *nodes = played.outcome.nodes;
        print_message("%s %s: accuracy %g, %u and %u steps, %g bytes\n", entries[i].strategy,
                      entries[i].set ? entries[i].set : "", played.outcome.accuracy,
                      (unsigned)nodes[0].steps, (unsigned)nodes[2].steps,
                      (double)last_moment(&played)->sent_bytes);
        assert_true(played.outcome.accuracy > 0.35 && last_moment(&played)->sent_bytes > 0);
        if (entries[i].waits)
            assert_true(nodes[2].steps < 100 && nodes[0].steps >= 10);
        else
            assert_true(nodes[0].steps == 50 && nodes[2].steps == 100);
        play_end(&played);
    }
}

static void the_same_seed_is_the_same_run(void **state)
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_learns_and_makes_the_steps_that_others_leave_it),
        cmocka_unit_test(the_same_seed_is_the_same_run),
    };
    secret_start();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
