/* Plays a scenario, or storms. */
#include "commands/commands.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/amount.h"
#include "base/memory.h"
#include "base/system_clock.h"
#include "crypto/secret.h"
#include "experiment/interrupt.h"
#include "options/sim_command.h"
#include "report/report.h"
#include "storm/storm.h"
#include "strategies/strategy.h"

#define BAR_WIDTH 16

enum { EXIT_OK = 0, EXIT_FAILED = 1, EXIT_USAGE = 2, EXIT_SIGNAL = 128 };

struct live {
    FILE *out;
    bool terminal;
    double begin_s;
};

static double last_accuracy(const struct outcome *outcome)
{
    for (uint32_t i = outcome->moments_count; i-- > 0;)
        if (isfinite(outcome->moments[i].accuracy))
            return outcome->moments[i].accuracy;
    return NAN;
}

static void say_moment(const struct live *live, const struct outcome *outcome, double progress)
{
    char accuracy[24] = "", sent[AMOUNT_BYTES], flying[AMOUNT_BYTES], bar[BAR_WIDTH + 1];
    const struct moment *moment = &outcome->moments[outcome->moments_count - 1];
    const double known = last_accuracy(outcome), used_s = monotonic_s() - live->begin_s;
    if (isfinite(known))
        (void)snprintf(accuracy, sizeof accuracy, "%6.2f %%  ", 100 * known);
    for (int i = 0; i < BAR_WIDTH; i++)
        bar[i] = i < progress * BAR_WIDTH ? '#' : '.';
    bar[BAR_WIDTH] = 0;
    (void)fprintf(live->out, "%s%5.0f s  %sbehind %" PRIu64 "  sent %s  flying %s  [%s] %.0f s%s",
                  live->terminal ? "\r" : "", moment->at_s, accuracy, moment->behind,
                  amount_bytes((double)moment->sent_bytes, sent),
                  amount_bytes((double)moment->in_flight, flying), bar,
                  progress > 0 ? used_s / progress - used_s : 0, live->terminal ? "\033[K" : "\n");
    (void)fflush(live->out);
}

/* Prints progress. On a terminal it overwrites its previous line. Otherwise it prints a line at
 * each evaluation and every ten seconds. */
static void on_moment(void *watcher, const struct outcome *outcome, double progress)
{
    const struct live *live = watcher;
    const struct moment *moment = &outcome->moments[outcome->moments_count - 1];
    if (progress > 1)
        progress = 1;
    if (live->terminal || isfinite(moment->accuracy) || (uint64_t)moment->at_s % 10 == 0)
        say_moment(live, outcome, progress);
}

static bool is_stopped(void *watcher)
{
    (void)watcher;
    return interrupt_signal() != 0;
}

/* Plays a scenario for a curve in the report. Returns false if interrupted or impossible. */
static bool play_one_beside(struct live *live, const struct scenario *scenario,
                            struct outcome *outcome)
{
    struct experiment experiment;
    struct problem problem;
    const bool is_open = experiment_open(&experiment, scenario, &problem) == OK;
    experiment.watcher = live;
    experiment.on_moment = on_moment;
    experiment.is_stopped = is_stopped;
    outcome_init(outcome, scenario);
    if (is_open)
        experiment_finish(&experiment, outcome, strategy_play(&experiment, outcome));
    else
        (void)fprintf(stderr, "hearsay: %s\n", problem.text);
    experiment_close(&experiment);
    if (live->terminal)
        (void)fputs("\r\033[K", stderr);
    return is_open && !outcome_is_stopped(outcome);
}

/* If the outcome is of gossip with learned updates, also plays each node alone (single) and all
 * nodes as one machine (ideal). */
static void play_beside(const struct outcome *outcome, const struct live *live,
                        struct report_beside *beside)
{
    static const enum strategy_kind KINDS[REPORT_BESIDE_MAX] = {STRATEGY_SINGLE, STRATEGY_IDEAL};
    const struct scenario *played = outcome->scenario;
    if (played->strategy != STRATEGY_GOSSIP || played->made_up || outcome_is_stopped(outcome))
        return;
    for (uint32_t i = 0; i < REPORT_BESIDE_MAX && !interrupt_signal(); i++) {
        struct live another = {
            .out = live->out, .terminal = live->terminal, .begin_s = monotonic_s()};
        struct scenario *scenario = &beside->scenarios[beside->count];
        *scenario = *played;
        scenario->strategy = KINDS[i];
        scenario->expects_count = 0;
        (void)scenario_leave_out(scenario);
        (void)fprintf(stderr, "for the report, the same with %s (--only leaves it out):\n",
                      scenario_strategy_name(KINDS[i]));
        if (play_one_beside(&another, scenario, &beside->outcomes[beside->count]))
            beside->count++;
        else
            outcome_free(&beside->outcomes[beside->count]);
    }
    if (interrupt_signal())
        (void)fprintf(stderr,
                      "hearsay: interrupted; the other strategies of the report are incomplete\n");
}

static enum error play_opened(struct experiment *experiment, const struct sim_options *options,
                              struct outcome *outcome, struct problem *problem)
{
    const struct live *live = experiment->watcher;
    const float *weights = strategy_play(experiment, outcome);
    experiment_finish(experiment, outcome, weights);
    if (live->terminal)
        (void)fputs("\r\033[K", stderr);
    if (outcome->moments_count == 0)
        return OK;
    (options->as_json ? report_json : report_print)(stdout, outcome);
    if (options->no_report)
        return OK;
    struct report_beside beside = {.scenarios =
                                       memory_new(REPORT_BESIDE_MAX, sizeof *outcome->scenario)};
    (void)fflush(stdout);
    if (!options->only)
        play_beside(outcome, live, &beside);
    const enum error error = report_write(options->out, outcome, &beside, problem);
    for (uint32_t i = 0; i < beside.count; i++)
        outcome_free(&beside.outcomes[i]);
    free(beside.scenarios);
    if (error == OK)
        (void)fprintf(options->as_json ? stderr : stdout, "The report is in %s/report.html\n",
                      options->out);
    return error;
}

static void say_interrupted(const struct sim_options *options, const struct outcome *outcome)
{
    (void)fflush(stdout);
    (void)fprintf(stderr, "hearsay: interrupted after %.6g of %.6g virtual seconds; %s\n",
                  outcome_span_s(outcome), (double)outcome->scenario->span_ns * 1e-9,
                  outcome->moments_count == 0 ? "there is nothing to report"
                  : options->no_report        ? "the figures cover only that part"
                                              : "the report covers only that part");
}

/* Plays a scenario and reports it. Sets *code to the exit code if it returns OK. */
static enum error play(const struct scenario *scenario, const struct sim_options *options,
                       const char *command, int *code, struct problem *problem)
{
    struct live live = {
        .out = stderr, .terminal = isatty(STDERR_FILENO) == 1, .begin_s = monotonic_s()};
    struct experiment experiment;
    enum error error = experiment_open(&experiment, scenario, problem);
    experiment.watcher = &live;
    experiment.on_moment = on_moment;
    experiment.is_stopped = is_stopped;
    if (error == OK && options->trace && !(experiment.trace = fopen(options->trace, "w")))
        error = problem_set(problem, FAILED, "--trace %s: cannot be written", options->trace);
    if (error == OK) {
        struct outcome outcome;
        outcome_init(&outcome, scenario);
        outcome.command = command;
        error = play_opened(&experiment, options, &outcome, problem);
        *code = outcome_is_met(&outcome) ? EXIT_OK : EXIT_FAILED;
        if (outcome_is_stopped(&outcome))
            say_interrupted(options, &outcome);
        if (interrupt_signal())
            *code = EXIT_SIGNAL + interrupt_signal();
        outcome_free(&outcome);
    }
    if (experiment.trace && (ferror(experiment.trace) || fclose(experiment.trace) != 0) &&
        error == OK)
        error = problem_set(problem, FAILED, "--trace %s: could not be written", options->trace);
    experiment_close(&experiment);
    return error;
}

/* Writes the command that repeats this run. */
static void write_command(char *out, size_t bytes, const struct sim_options *options)
{
    int used = snprintf(out, bytes, "hearsay sim %s", options->file);
    for (int i = 0; i < options->sets.count && used >= 0 && (size_t)used < bytes; i++)
        used += snprintf(out + used, bytes - (size_t)used, " --set '%s'", options->sets.set[i]);
}

static int run_scenario(struct sim_options *options)
{
    char folder[128], command[2048];
    struct problem problem;
    struct scenario *scenario = memory_new(1, sizeof *scenario);
    bool made = false;
    int code = EXIT_USAGE;
    interrupt_watch();
    enum error error =
        scenario_load(scenario, options->file, options->sets.set, options->sets.count, &problem);
    if (error == OK) {
        scenario_warn(scenario);
        (void)snprintf(folder, sizeof folder, "report-%s", scenario->name);
        write_command(command, sizeof command, options);
        if (!options->out)
            options->out = folder;
        if (!options->no_report)
            error = report_ready(options->out, &made, &problem);
    }
    if (error == OK) {
        interrupt_remove(made ? options->out : NULL);
        code = EXIT_FAILED;
        error = play(scenario, options, command, &code, &problem);
        code = error == WRONG_SETTING ? EXIT_USAGE : code;
        interrupt_remove(NULL);
    }
    if (made)
        /* rmdir removes the folder only if no file was written to it. */
        (void)rmdir(options->out);
    free(scenario);
    return error == OK ? code : command_complain(&problem, code);
}

/* Parses a range of seeds: FIRST, FIRST..LAST or FIRST+COUNT. */
static enum error parse_seeds(const char *text, struct storm_options *storms,
                              struct problem *problem)
{
    char first[128];
    const char *dots = strstr(text, ".."), *plus = strchr(text, '+');
    const size_t length = dots ? (size_t)(dots - text) : strcspn(text, "+");
    (void)snprintf(first, sizeof first, "%.*s", (int)size_min(length, 127), text);
    uint64_t count = 1;
    bool holds = storm_seed_of(first, &storms->from);
    storms->to = storms->from;
    if (dots)
        holds = holds && storm_seed_of(dots + 2, &storms->to);
    else if (plus)
        holds = holds && storm_seed_of(plus + 1, &count) && count > 0;
    storms->to += count - 1;
    if (!holds || storms->to < storms->from)
        return problem_set(problem, MALFORMED,
                           "--seeds %.80s: give one number or commit hash, FIRST..LAST, or "
                           "FIRST+COUNT",
                           text);
    return OK;
}

static int run_storms(const struct sim_options *options)
{
    struct problem problem;
    struct storm_options storms = {.from = 1,
                                   .to = 100,
                                   .jobs = options->jobs,
                                   .trace = options->trace,
                                   .twice = options->twice,
                                   .stop = options->stop};
    if (options->seeds && parse_seeds(options->seeds, &storms, &problem) != OK)
        return command_complain(&problem, EXIT_USAGE);
    if (options->trace && storms.from != storms.to) {
        (void)problem_set(&problem, MALFORMED, "--trace needs one seed: --seeds N..N");
        return command_complain(&problem, EXIT_USAGE);
    }
    return storm_command(&storms);
}

int play_scenario(int argc, char **argv)
{
    struct sim_options options = {0};
    const int code = command_read(&sim_command, &options, argc, argv);
    if (code != COMMAND_RUNS)
        return code;
    secret_start();
    return options.faults ? run_storms(&options) : run_scenario(&options);
}
