#include "support/sim/scenario_play.h"

void play_out(struct outcome *outcome, const char *lines)
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
