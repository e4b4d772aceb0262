#include "comparison/comparison.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "comparison/comparison_report.h"
#include "crypto/secret.h"
#include "report/report_folder.h"

enum { EXIT_OK = 0, EXIT_FAILED = 1, EXIT_USAGE = 2, EXIT_STOPPED = 130 };

#define SEEDS_USUAL 3

struct comparison_options {
    struct plan plan;
    struct comparison comparison;
    const char *strategies; /* comma-separated names; NULL = all */
    const char *targets;    /* comma-separated levels; NULL = derived from the final results */
    const char *metric;     /* "accuracy" or "loss"; NULL = chosen by the data */
    const char *settings;   /* path of another comparison's compare.json; NULL = none */
    char seconds[64];       /* option --seconds in the form that --set takes */
    bool tune;
    bool as_json;
};

static enum error add_set(void *self, const struct command_option *option, const char *set,
                          struct problem *problem)
{
    struct plan *plan = &((struct comparison_options *)self)->plan;
    (void)option;
    if (plan->sets_count == PLAN_SETS_MAX)
        return problem_set(problem, TOO_BIG, "more than %d times --set; use a file", PLAN_SETS_MAX);
    plan->sets[plan->sets_count++] = set;
    return OK;
}

static enum error set_seconds(void *self, const struct command_option *option, const char *seconds,
                              struct problem *problem)
{
    struct comparison_options *options = self;
    (void)snprintf(options->seconds, sizeof options->seconds, "scenario.seconds=%.40s", seconds);
    return add_set(self, option, options->seconds, problem);
}

static enum error finish(void *self, int count, char **words, struct problem *problem)
{
    struct comparison_options *options = self;
    if (count == 0)
        return problem_set(problem, MISSING,
                           "name a scenario, such as configs/sim-dlion-sys.conf; see: hearsay "
                           "compare --help");
    if (options->tune && options->settings)
        return problem_set(problem, MALFORMED, "--tune and --settings: choose one of them");
    options->plan.file = words[0];
    if (count > 1)
        return problem_set(problem, MALFORMED, "one scenario at a time: \"%.80s\" is too much",
                           words[1]);
    return OK;
}

/* Calls `with` for each part of a comma-separated list, up to the first failure, which it returns.
 */
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
    for (uint32_t kind = 0; kind < STRATEGIES_COUNT; kind++) {
        if (strcmp(scenario_strategy_name((enum strategy_kind)kind), name) != 0)
            continue;
        for (uint32_t i = 0; i < plan->kinds_count; i++)
            if (plan->kinds[i] == kind)
                return problem_set(problem, MALFORMED, "--strategies: %s is named twice", name);
        plan->kinds[plan->kinds_count++] = (enum strategy_kind)kind;
        return OK;
    }
    return problem_set(problem, MALFORMED,
                       "--strategies: there is no strategy \"%s\"; known: " STRATEGY_WORDS, name);
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

/* Sorts the targets, easiest first. Returns MALFORMED if a target is an accuracy above 1. */
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

static enum error choose_measure(struct comparison_options *options, struct problem *problem)
{
    const enum dataset_source source = options->plan.scenario->config.data.source;
    const bool is_language = source == DATASET_TEXT || source == DATASET_TOKENS;
    const char *word = options->metric;
    if (!word)
        word = is_language ? "loss" : "accuracy";
    if (strcmp(word, "accuracy") != 0 && strcmp(word, "loss") != 0)
        return problem_set(problem, MALFORMED, "--metric %.40s: allowed: accuracy, loss", word);
    options->plan.measure = word[0] == 'a' ? MEASURE_ACCURACY : MEASURE_LOSS;
    return OK;
}

static enum error prepare(struct comparison_options *options, struct scenario *scenario,
                          struct problem *problem)
{
    struct plan *plan = &options->plan;
    enum error error = scenario_load(scenario, plan->file, plan->sets, plan->sets_count, problem);
    plan->scenario = scenario;
    if (error == OK)
        scenario_warn(scenario);
    if (error == OK && scenario_leave_out(scenario))
        (void)fprintf(stderr, "hearsay: faults, and nodes that start late or leave, are left out: "
                              "only gossip plays them\n");
    if (error == OK)
        error = choose_measure(options, problem);
    if (error == OK && options->strategies)
        error = each_part(options->strategies, plan, add_strategy, problem);
    for (uint32_t kind = 0; kind < STRATEGIES_COUNT && !options->strategies; kind++)
        plan->kinds[plan->kinds_count++] = (enum strategy_kind)kind;
    if (error == OK && options->settings)
        error = plan_settings(plan, options->settings, problem);
    if (error == OK && options->targets)
        error = each_part(options->targets, &options->comparison, add_target, problem);
    if (error == OK)
        error = order_targets(&options->comparison, plan->measure, problem);
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

static bool play_all(struct comparison_options *options)
{
    struct plan *plan = &options->plan;
    if (options->tune) {
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

static enum error write_report(struct comparison_options *options, struct problem *problem)
{
    struct comparison *comparison = &options->comparison;
    const struct plan *plan = &options->plan;
    comparison->plan = plan;
    comparison->is_tuned = options->tune || options->settings;
    if (!options->targets)
        comparison->targets_count = score_targets(plan, comparison->targets);
    (options->as_json ? comparison_json : comparison_print)(stdout, comparison);
    const enum error error = comparison_write(comparison, problem);
    if (error == OK)
        (void)fprintf(options->as_json ? stderr : stdout, "The report is in %s/report.html\n",
                      plan->dir);
    return error;
}

static int run(int argc, char **argv)
{
    struct comparison_options options = {.plan.seeds = SEEDS_USUAL};
    struct problem problem;
    char folder[CONFIG_PATH_BYTES], command[2048];
    describe(command, sizeof command, argc, argv);
    options.comparison.command = command;
    int code = command_read(&comparison_command, &options, argc, argv);
    if (code != COMMAND_RUNS)
        return code;
    struct scenario *scenario = memory_new(1, sizeof *scenario);
    secret_start();
    code = EXIT_USAGE;
    enum error error = prepare(&options, scenario, &problem);
    if (error == OK)
        error = make_folders(&options.plan, folder, sizeof folder, &problem);
    if (error == OK && !play_all(&options)) {
        (void)fprintf(stderr, "hearsay: interrupted; the same command continues from here\n");
        code = EXIT_STOPPED;
    } else if (error == OK) {
        code = EXIT_FAILED;
        error = write_report(&options, &problem);
        if (error == OK && options.plan.failed == 0)
            code = EXIT_OK;
    }
    plan_free(&options.plan);
    free(scenario);
    return error == OK ? code : command_complain(&problem, code);
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
             COMMAND_WHOLE(struct comparison_options, plan.seeds, 1, PLAN_SEEDS_MAX)},
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
            {"--seconds", "S", "virtual seconds of training", .set = set_seconds},
            {"--set", "KEY=VALUE", "change the scenario; may be repeated", .set = add_set},
            {"--jobs", "N", "processes (default: one per processor)",
             COMMAND_WHOLE(struct comparison_options, plan.jobs, 1, 1024)},
            {"--out", "DIR", "folder of plays and report (default: compare-NAME)",
             .member = offsetof(struct comparison_options, plan.dir)},
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
    .run = run,
};
