/* Terminal output of many storms: a progress line, a line for each failure, a summary. */
#include "storm/storm.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/sort.h"
#include "base/system_clock.h"
#include "jobs/job_pool.h"

#define LIVE_COLUMNS  78
#define EXIT_STOPPED  130 /* 128 + SIGINT, as in shells */
#define PADDING_BYTES (5u << 20)
#define SEED_MAX_S    600 /* seconds after which a seed counts as hung */

struct tally {
    const struct storm_options *options;
    double began_s;
    uint64_t seeds; /* number of seeds to play; 0 = all 2^64 */
    uint64_t done;  /* number of seeds played */
    uint64_t failed;
    uint64_t events;
    uint64_t with[FAULT_KINDS]; /* [kind] number of seeds with this kind of fault */
    double *cpu_s;              /* [done] processor time of each played seed */
    double *heal_s;             /* [healed] seconds to one version, for each seed that reached it */
    uint64_t healed;            /* number of seeds that reached one version */
    uint64_t slowest;           /* seed that took the most processor time */
    uint64_t last_healed;       /* seed that took longest to reach one version */
    double cpu_s_most;          /* processor time of seed `slowest` */
    double heal_s_most;         /* seconds that seed `last_healed` took to reach one version */
    bool is_live;               /* the progress line is on the screen */
};

static double elapsed_s(const struct tally *tally)
{
    return monotonic_s() - tally->began_s;
}

static void append(double **values, uint64_t count, double value)
{
    if ((count & (count - 1)) == 0) { /* double the capacity at each power of two */
        *values = memory_more(*values, count ? 2 * count : 1, sizeof **values);
    }
    (*values)[count] = value;
}

static void clear_live(const struct tally *tally)
{
    if (tally->is_live)
        (void)fprintf(stderr, "\r%*s\r", LIVE_COLUMNS, "");
}

static void print_failed(const struct tally *tally, const struct storm *storm)
{
    clear_live(tally);
    (void)printf("seed %" PRIu64 ": %s\n  hearsay sim --faults --seeds %" PRIu64 "..%" PRIu64
                 " --trace %" PRIu64 ".trace\n",
                 storm->seed, storm->why, storm->seed, storm->seed, storm->seed);
    (void)fflush(stdout);
}

static bool on_done(void *self, const void *result)
{
    struct tally *tally = self;
    const struct storm *storm = result;
    append(&tally->cpu_s, tally->done++, storm->cpu_s);
    if (storm->cpu_s >= tally->cpu_s_most) {
        tally->cpu_s_most = storm->cpu_s;
        tally->slowest = storm->seed;
    }
    if (!isnan(storm->heal_s)) {
        append(&tally->heal_s, tally->healed++, storm->heal_s);
        if (storm->heal_s >= tally->heal_s_most) {
            tally->heal_s_most = storm->heal_s;
            tally->last_healed = storm->seed;
        }
    }
    tally->events += storm->events;
    for (int kind = 0; kind < FAULT_KINDS; kind++)
        tally->with[kind] += storm->faults[kind] > 0;
    if (!storm->why[0])
        return true;
    tally->failed++;
    print_failed(tally, storm);
    return !tally->options->stop;
}

static bool on_lost(void *self, uint64_t seed, const char *why)
{
    struct storm storm = {.seed = seed, .heal_s = NAN};
    (void)snprintf(storm.why, sizeof storm.why, "%s", why);
    return on_done(self, &storm);
}

static void on_tick(void *self)
{
    const struct tally *tally = self;
    if (!tally->is_live)
        return;
    char line[LIVE_COLUMNS + 1];
    const double rate = (double)tally->done / elapsed_s(tally);
    const uint64_t left = tally->seeds - tally->done;
    (void)snprintf(line, sizeof line,
                   "%" PRIu64 " seeds, %" PRIu64 " failed, %.1f seeds/s, %" PRIu64 " left: %.0f s",
                   tally->done, tally->failed, rate, left, rate > 0 ? (double)left / rate : 0);
    (void)fprintf(stderr, "\r%-*s", LIVE_COLUMNS, line);
}

static void play(const struct storm_options *options, uint64_t seed, FILE *trace,
                 struct storm *storm)
{
    storm_play(seed, trace, storm);
    if (!options->twice || storm->why[0])
        return;
    struct storm again;
    /* Moves all allocations of the second run to other addresses: no result may depend on them. */
    struct arena padding;
    arena_init(&padding, PADDING_BYTES);
    storm_play(seed, NULL, &again);
    arena_release(&padding);
    if (again.trace != storm->trace || again.events != storm->events)
        (void)snprintf(storm->why, sizeof storm->why,
                       "10: two runs differ: trace %016" PRIx64 " and %016" PRIx64, storm->trace,
                       again.trace);
}

static void on_play(void *self, uint64_t seed, void *storm)
{
    play(((struct tally *)self)->options, seed, NULL, storm);
}

static void print_faults(const struct tally *tally)
{
    (void)printf("seeds with");
    for (int kind = 0; kind < FAULT_RUIN; kind++)
        (void)printf("%s %s %" PRIu64,
                     kind == 0       ? ""
                     : kind % 5 == 0 ? ",\n          "
                                     : ",",
                     fault_name((enum fault_kind)kind), tally->with[kind]);
    (void)printf("\n");
}

static void print_summary(const struct tally *tally)
{
    const double took_s = elapsed_s(tally);
    (void)printf("%" PRIu64 " seeds, %" PRIu64 " failed, in %.1f s with %u process%s\n",
                 tally->done, tally->failed, took_s, tally->options->jobs,
                 tally->options->jobs == 1 ? "" : "es");
    if (tally->done == 0)
        return;
    double cpu_s = 0;
    for (uint64_t i = 0; i < tally->done; i++)
        cpu_s += tally->cpu_s[i];
    (void)printf("%" PRIu64 " events, %.0f per second of CPU\n", tally->events,
                 (double)tally->events / cpu_s);
    (void)printf("CPU per seed: median %.3f s, most %.3f s (seed %" PRIu64 ")\n",
                 double_median_high(tally->cpu_s, tally->done), tally->cpu_s_most, tally->slowest);
    if (tally->healed > 0)
        (void)printf("one version after: median %.1f s, most %.1f s (seed %" PRIu64 ")\n",
                     double_median_high(tally->heal_s, tally->healed), tally->heal_s_most,
                     tally->last_healed);
    print_faults(tally);
}

static int play_one(struct tally *tally)
{
    const struct storm_options *options = tally->options;
    FILE *trace = options->trace ? fopen(options->trace, "w") : NULL;
    if (options->trace && !trace) {
        (void)fprintf(stderr, "hearsay sim: cannot write %s\n", options->trace);
        return EXIT_FAILURE;
    }
    struct storm storm;
    play(options, options->from, trace, &storm);
    (void)on_done(tally, &storm);
    if (!trace || fclose(trace) == 0)
        return EXIT_SUCCESS;
    (void)fprintf(stderr, "hearsay sim: cannot write all of %s\n", options->trace);
    return EXIT_FAILURE;
}

static int play_all(struct tally *tally)
{
    const struct storm_options *options = tally->options;
    const struct job_pool pool = {.from = options->from,
                                  .to = options->to,
                                  .processes = options->jobs,
                                  .seconds_max = SEED_MAX_S,
                                  .result_bytes = sizeof(struct storm),
                                  .self = tally,
                                  .play = on_play,
                                  .done = on_done,
                                  .lost = on_lost,
                                  .tick = on_tick};
    const bool finished = job_pool_run(&pool);
    clear_live(tally);
    return finished ? EXIT_SUCCESS : EXIT_STOPPED;
}

int storm_command(const struct storm_options *given)
{
    struct storm_options options = *given;
    CHECK(options.from <= options.to);
    if (options.jobs == 0)
        options.jobs = (uint32_t)sysconf(_SC_NPROCESSORS_ONLN);
    if (options.from == options.to)
        options.jobs = 1;
    struct tally tally = {.options = &options,
                          .seeds = options.to - options.from + 1,
                          .is_live = isatty(STDERR_FILENO) == 1,
                          .began_s = monotonic_s()};
    const int code = options.from == options.to ? play_one(&tally) : play_all(&tally);
    print_summary(&tally);
    free(tally.cpu_s);
    free(tally.heal_s);
    return tally.failed > 0 ? EXIT_FAILURE : code;
}
