#include "options/comparison_command.h"

static enum error finish(void *self, int count, char **words, struct problem *problem)
{
    struct comparison_options *options = self;
    if (count == 0)
        return problem_set(problem, MISSING,
                           "name a scenario, such as configs/sim-dlion-sys.conf; see: hearsay "
                           "compare --help");
    if (options->tune && options->settings)
        return problem_set(problem, MALFORMED, "--tune and --settings: choose one of them");
    options->file = words[0];
    if (count > 1)
        return problem_set(problem, MALFORMED, "one scenario at a time: \"%.80s\" is too much",
                           words[1]);
    return OK;
}

const struct command comparison_command = {
    .name = "compare",
    .summary = "play every strategy of the field on the same links, and say who wins",
    .forms = {{"hearsay compare SCENARIO [options]",
               "play every strategy under the same nodes, links, data\n"
               "and computing, and report which is best"}},
    .options =
        (const struct command_option[]){
            {"--strategies", "A,B", "strategies to play; default: all (see sim/README.md)",
             .member = offsetof(struct comparison_options, strategies)},
            {"--seeds", "N", "plays of each strategy (default 3)",
             COMMAND_WHOLE(struct comparison_options, seeds, 1, COMPARISON_SEEDS_MAX)},
            {"--targets", "X,Y",
             "up to three levels, such as 0.8,0.85; default: near the best result",
             .member = offsetof(struct comparison_options, targets)},
            {"--metric", "WORD",
             "accuracy or loss (default: loss of a language model, else accuracy)",
             .member = offsetof(struct comparison_options, metric)},
            {"--tune", NULL, "first try nine settings of each strategy: main setting and rate",
             .member = offsetof(struct comparison_options, tune)},
            {"--settings", "FILE", "settings found by another comparison: its compare.json",
             .member = offsetof(struct comparison_options, settings)},
            {"--seconds", "S", "virtual seconds of training",
             .member = offsetof(struct comparison_options, sets), .set = assignments_set_seconds},
            {"--set", "KEY=VALUE", "change the scenario; may be repeated",
             .member = offsetof(struct comparison_options, sets), .set = assignments_add},
            {"--jobs", "N", "processes (default: one per processor)",
             COMMAND_WHOLE(struct comparison_options, jobs, 1, 1024)},
            {"--out", "DIR", "folder of plays and report (default: compare-NAME)",
             .member = offsetof(struct comparison_options, dir)},
            {"--json", NULL, "print the content of compare.json",
             .member = offsetof(struct comparison_options, as_json)},
            {0}},
    .column = 21,
    .notes =
        "Finished plays of the same scenario and program are kept: after Ctrl+C the same command\n"
        "continues.",
    .exit_codes = "0 all was played, 1 some plays failed, 2 wrong usage or scenario,\n"
                  "130 interrupted.",
    .takes_operands = true,
    .finish = finish,
};
