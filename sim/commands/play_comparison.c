#include "commands/commands.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/words.h"
#include "comparison/comparison_report.h"
#include "crypto/secret.h"
#include "options/comparison_command.h"
#include "report/report_folder.h"

_Static_assert(ASSIGNMENTS_MAX <= PLAN_SETS_MAX && COMPARISON_SEEDS_MAX <= PLAN_SEEDS_MAX,
               "a plan holds what its options allow");

enum { EXIT_OK = 0, EXIT_FAILED = 1, EXIT_USAGE = 2, EXIT_STOPPED = 130 };

/* A comparison and the options that it was started with. */
struct comparison_play {
    struct comparison_options options;
    struct plan plan;
    struct comparison comparison;
};

/* Calls `with` for each part of a comma-separated list. Stops when a call fails, and returns its
 * error. */
static enum error each_part(const char *list, void *self,
                            enum error (*with)(void *self, const char *part,
                                               struct problem *problem),
                            struct problem *problem)
{
    char part[TUNING_BYTES];
    while (list) {
        const char *comma = strchr(list, ',');
        const size_t length = comma ? (size_t)(comma - list) : strlen(list);
        (void)snprintf(part, sizeof part, "%.*s", (int)size_min(length, 60), list);
        const enum error error = with(self, part, problem);
        if (error != OK)
            return error;
        list = comma ? comma + 1 : NULL;
    }
    return OK;
}

static enum error add_strategy(void *self, const char *name, struct problem *problem)
{
    struct plan *plan = self;
    const char *known[STRATEGIES_COUNT];
    for (uint32_t kind = 0; kind < STRATEGIES_COUNT; kind++) {
        known[kind] = scenario_strategy_name((enum strategy_kind)kind);
        if (strcmp(known[kind], name) != 0)
            continue;
        for (uint32_t i = 0; i < plan->kinds_count; i++)
            if (plan->kinds[i] == kind)
                return problem_set(problem, MALFORMED, "--strategies: %s is named twice", name);
        plan->kinds[plan->kinds_count++] = (enum strategy_kind)kind;
        return OK;
    }
    return problem_set(problem, MALFORMED, "--strategies: there is no strategy \"%.40s\"; %s", name,
                       words_hint(name, known, STRATEGIES_COUNT).text);
}

static enum error add_target(void *self, const char *text, struct problem *problem)
{
    struct comparison *comparison = self;
    char *end;
    const double target = strtod(text, &end);
    const bool is_percent = strcmp(end, "%") == 0;
    if (!text[0] || (*end && !is_percent) || !(target > 0) || target > 1e6)
        return problem_set(problem, MALFORMED, "--targets: \"%s\" is not a level such as 0.85",
                           text);
    if (comparison->targets_count == TARGETS_MAX)
        return problem_set(problem, TOO_BIG, "--targets: more than %d", TARGETS_MAX);
    comparison->targets[comparison->targets_count++] = is_percent ? target / 100 : target;
    return OK;
}

/* Sorts the targets, easiest first. Returns an error if a target is an accuracy above 1. */
static enum error order_targets(struct comparison *comparison, enum measure measure,
                                struct problem *problem)
{
    double *targets = comparison->targets;
    for (uint32_t i = 0; i < comparison->targets_count; i++) {
        if (measure == MEASURE_ACCURACY && targets[i] > 1)
            return problem_set(problem, MALFORMED,
                               "--targets %g: an accuracy is 1 at most; in percent: %g%%",
                               targets[i], targets[i]);
        for (uint32_t k = i; k > 0 && score_is_better(measure, targets[k - 1], targets[k]); k--) {
            const double easier = targets[k];
            targets[k] = targets[k - 1];
            targets[k - 1] = easier;
        }
    }
    return OK;
}

static enum error choose_measure(struct comparison_play *play, struct problem *problem)
{
    const bool is_language = dataset_is_sequences(play->plan.scenario->config.data.source);
    const char *word = play->options.metric;
    if (!word)
        word = is_language ? "loss" : "accuracy";
    if (strcmp(word, "accuracy") != 0 && strcmp(word, "loss") != 0)
        return problem_set(problem, MALFORMED, "--metric %.40s: allowed: accuracy, loss", word);
    play->plan.measure = word[0] == 'a' ? MEASURE_ACCURACY : MEASURE_LOSS;
    return OK;
}

/* Reads scenario and options into the plan of the comparison. Plays nothing. */
static enum error prepare(struct comparison_play *play, struct scenario *scenario,
                          struct problem *problem)
{
    struct plan *plan = &play->plan;
    enum error error = scenario_load(scenario, plan->file, plan->sets, plan->sets_count, problem);
    plan->scenario = scenario;
    if (error == OK)
        scenario_warn(scenario);
    if (error == OK && scenario_leave_out(scenario))
        (void)fprintf(stderr, "hearsay: faults, and nodes that start late or leave, are left out: "
                              "only gossip plays them\n");
    if (error == OK)
        error = choose_measure(play, problem);
    if (error == OK && play->options.strategies)
        error = each_part(play->options.strategies, plan, add_strategy, problem);
    for (uint32_t kind = 0; kind < STRATEGIES_COUNT && !play->options.strategies; kind++)
        plan->kinds[plan->kinds_count++] = (enum strategy_kind)kind;
    if (error == OK && play->options.settings)
        error = plan_settings(plan, play->options.settings, problem);
    if (error == OK && play->options.targets)
        error = each_part(play->options.targets, &play->comparison, add_target, problem);
    if (error == OK)
        error = order_targets(&play->comparison, plan->measure, problem);
    return error;
}

static enum error make_folders(struct plan *plan, char *usual, size_t bytes,
                               struct problem *problem)
{
    char plays[CONFIG_PATH_BYTES + 16];
    bool made;
    (void)snprintf(usual, bytes, "compare-%s", plan->scenario->name);
    if (!plan->dir)
        plan->dir = usual;
    enum error error = report_folder_make(plan->dir, &made, problem);
    if (error == OK)
        error = report_folder_lock(plan->dir, problem);
    (void)snprintf(plays, sizeof plays, "%s/plays", plan->dir);
    return error == OK ? report_folder_make(plays, &made, problem) : error;
}

static bool play_all(struct comparison_play *play)
{
    struct plan *plan = &play->plan;
    if (play->options.tune) {
        plan_trials(plan);
        if (!plan_play(plan))
            return false;
        plan_choose(plan);
    }
    plan_plays(plan);
    if (plan->kept > 0)
        (void)fprintf(stderr, "hearsay: %u of %u plays are already finished\n", plan->kept,
                      plan->plays_count);
    return plan_play(plan);
}

/* Writes the command that repeats this comparison. */
static void describe(char *out, size_t bytes, int argc, char **argv)
{
    size_t used = (size_t)snprintf(out, bytes, "hearsay compare");
    for (int i = 1; i < argc && used < bytes; i++) {
        const char *quote = strpbrk(argv[i], " '\"$;|&<>*?()") ? "'" : "";
        used += (size_t)snprintf(out + used, bytes - used, " %s%s%s", quote, argv[i], quote);
    }
}

static enum error write_report(struct comparison_play *play, struct problem *problem)
{
    struct comparison *comparison = &play->comparison;
    const struct plan *plan = &play->plan;
    comparison->plan = plan;
    comparison->is_tuned = play->options.tune || play->options.settings;
    if (!play->options.targets)
        comparison->targets_count = score_targets(plan, comparison->targets);
    (play->options.as_json ? comparison_json : comparison_print)(stdout, comparison);
    const enum error error = comparison_write(comparison, problem);
    if (error == OK)
        (void)fprintf(play->options.as_json ? stderr : stdout, "The report is in %s/report.html\n",
                      plan->dir);
    return error;
}

int play_comparison(int argc, char **argv)
{
    struct comparison_play *play = memory_new(1, sizeof *play);
    const struct comparison_options *options = &play->options;
    struct problem problem;
    char folder[CONFIG_PATH_BYTES], command[2048];
    describe(command, sizeof command, argc, argv);
    int code = command_read(&comparison_command, &play->options, argc, argv);
    if (code != COMMAND_RUNS) {
        free(play);
        return code;
    }
    struct scenario *scenario = memory_new(1, sizeof *scenario);
    play->comparison.command = command;
    play->plan.file = options->file;
    play->plan.sets = options->sets.set;
    play->plan.sets_count = options->sets.count;
    play->plan.dir = options->dir;
    play->plan.jobs = options->jobs;
    play->plan.seeds = options->seeds > 0 ? options->seeds : COMPARISON_SEEDS_USUAL;
    secret_start();
    code = EXIT_USAGE;
    enum error error = prepare(play, scenario, &problem);
    if (error == OK)
        error = make_folders(&play->plan, folder, sizeof folder, &problem);
    if (error == OK && !play_all(play)) {
        (void)fprintf(stderr, "hearsay: interrupted; %s\n",
                      play->plan.finished > 0 ? "the same command continues from here"
                                              : "no play was finished, so nothing is kept");
        code = EXIT_STOPPED;
    } else if (error == OK) {
        code = EXIT_FAILED;
        error = write_report(play, &problem);
        if (error == OK && play->plan.failed == 0)
            code = EXIT_OK;
    }
    plan_free(&play->plan);
    free(scenario);
    free(play);
    return error == OK ? code : command_complain(&problem, code);
}
