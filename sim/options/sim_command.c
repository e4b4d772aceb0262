#include "options/sim_command.h"

static enum error finish(void *self, int count, char **words, struct problem *problem)
{
    struct sim_options *options = self;
    options->file = words[0];
    if (count > 1)
        return problem_set(problem, MALFORMED, "one scenario at a time: \"%.80s\" is unexpected",
                           words[1]);
    if (options->faults && (options->file || options->sets.count > 0 || options->out))
        return problem_set(problem, MALFORMED,
                           "--faults draws its own swarms: it takes --seeds, --jobs, --twice, "
                           "--stop and --trace only");
    if (!options->faults && !options->file)
        return problem_set(problem, MISSING,
                           "name a scenario, such as configs/sim-home-swarm.conf; see: hearsay "
                           "sim --help");
    if (options->faults && options->as_json)
        return problem_set(problem, MALFORMED, "--json needs a scenario, not --faults");
    if (!options->faults && (options->seeds || options->twice || options->stop))
        return problem_set(problem, MALFORMED, "--seeds, --twice and --stop need --faults");
    return OK;
}

const struct command sim_command = {
    .name = "sim",
    .summary = "play a swarm under virtual time, on any links, with any faults",
    .forms = {{"hearsay sim FILE [options]",
               "play a scenario: the same nodes and learners, virtual time"},
              {"hearsay sim --faults [options]", "play storms of faults, each drawn from a seed"}},
    .options =
        (const struct command_option[]){
            {"--seed", "N", "another random seed for the same scenario",
             .member = offsetof(struct sim_options, sets), .set = assignments_set_seed},
            {"--seconds", "S", "virtual seconds of training",
             .member = offsetof(struct sim_options, sets), .set = assignments_set_seconds},
            {"--set", "KEY=VALUE",
             "change the scenario: exchange.beta=0, scenario.strategy=ideal,\n"
             "desk.up=5 Mbit/s (a group's clause); may be repeated",
             .member = offsetof(struct sim_options, sets), .set = assignments_add},
            {"--out", "DIR", "the report's folder (default: report-NAME)",
             .member = offsetof(struct sim_options, out)},
            {"--no-report", NULL, "print only", .member = offsetof(struct sim_options, no_report)},
            {"--only", NULL,
             "play no other strategy for the report's figure: with gossip, single\n"
             "and ideal are played, too, and take about as long each",
             .member = offsetof(struct sim_options, only)},
            {"--json", NULL, "print the content of summary.json",
             .member = offsetof(struct sim_options, as_json)},
            {"--trace", "FILE", "write a line for every action of a node",
             .member = offsetof(struct sim_options, trace)},
            {"--faults", NULL, "play storms instead of a scenario",
             .member = offsetof(struct sim_options, faults)},
            {"--seeds", "A..B",
             "seeds to play (default 1..100); or A+COUNT; A may be any text, such as a\n"
             "commit's hash",
             .member = offsetof(struct sim_options, seeds)},
            {"--jobs", "N", "processes (default: one per processor)",
             COMMAND_WHOLE(struct sim_options, jobs, 1, 1024)},
            {"--twice", NULL, "play each storm twice and compare",
             .member = offsetof(struct sim_options, twice)},
            {"--stop", NULL, "begin no storm after the first that fails",
             .member = offsetof(struct sim_options, stop)},
            {0}},
    .column = 21,
    .notes =
        "Ready scenarios are in configs/sim-*.conf, strategies in sim/README.md. Ctrl+C ends a\n"
        "scenario early, with a report of what was played; a second one ends at once.",
    .exit_codes = "0 every expectation is met and no invariant is violated, 1 otherwise,\n"
                  "2 wrong usage or scenario, 128 + signal interrupted.",
    .takes_operands = true,
    .finish = finish,
};
