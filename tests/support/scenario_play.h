/* Scenarios given as text, played to their end, for tests of what comes out. Include cmocka.h and
 * scenario_text.h first.
 */
#ifndef HEARSAY_TESTS_SUPPORT_SCENARIO_PLAY_H
#define HEARSAY_TESTS_SUPPORT_SCENARIO_PLAY_H

#include "scenario/experiment.h"
#include "crypto/secret.h"
#include "strategies/strategy.h"

/* Four nodes, and four elsewhere; nothing is learned. */
#define PLAY_BASE                                                                                  \
    "[scenario]\nseconds = 40\nupdates = made up\nparameters = 200\n"                              \
    "nodes = 4 west, 64 samples/s\nnodes = 4 east, 64 samples/s\nlink = all, rtt 20 ms\n"
#define PLAY_REST "[train]\nbatch = 8\n[exchange]\nbytes_per_s = 2000\n"

/* What came out, judged; the caller frees it. Its scenario is that of the last call. */
static inline void play_out(struct outcome *outcome, const char *lines)
{
    static struct scenario scenario;
    char text[4096];
    struct experiment experiment;
    struct problem problem = {""};
    (void)snprintf(text, sizeof text, "%s%s%s", PLAY_BASE, lines, PLAY_REST);
    scenario = *played(text);
    secret_start();
    assert_int_equal(experiment_open(&experiment, &scenario, &problem), OK);
    outcome_init(outcome, &scenario);
    experiment_finish(&experiment, outcome, gossip_play(&experiment, outcome));
    experiment_close(&experiment);
    assert_string_equal(outcome->violation, "");
}

#endif
