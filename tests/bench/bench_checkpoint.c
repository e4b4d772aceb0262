/* Measures how long a checkpoint delays training. The saver's thread writes to a disk while the
 * learner copies the parts. Compares the copy of a part with a memcpy of all saved memory and with
 * a training step, in milliseconds. Also prints how many steps a save takes, how much slower these
 * steps are, and how long a load takes. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/sort.h"
#include "base/system_clock.h"
#include "state/saver.h"
#include "training/learner.h"

#define ROUNDS    41
#define PARTS_MAX 400
#define STEPS_MAX 100000
#define BATCH     32
#define DENSITY   0.1

static void remove_one(void *context, const char *name)
{
    char path[DISK_PATH_MAX];
    const char *folder = context;
    if (disk_path(path, folder, name, "") == 0)
        (void)unlink(path);
}

static void take(void *learner, struct learner_state *part)
{
    learner_save(learner, part);
}

/* Does nothing, because the learner polls for results. */
static void no_wake(void *waker)
{
    (void)waker;
}

/* Cost of one save. */
struct cost {
    double hold[PARTS_MAX]; /* milliseconds to copy each part */
    int parts;
    double step; /* median time of a step during the save, in milliseconds */
    int steps;   /* number of steps during the save */
    double span; /* milliseconds from the first part until checkpoint and base are written */
};

/* Makes steps until the save is done. Between steps, copies the next part if the saver has written
 * the previous one. */
static void measure_save(struct saver *saver, struct learner *learner, struct cost *cost)
{
    static double step[STEPS_MAX];
    struct saver_result result;
    const double began = 1e3 * monotonic_s();
    cost->parts = cost->steps = 0;
    saver_begin(saver);
    while (!saver_took(saver, &result)) {
        size_t first;
        double from = 1e3 * monotonic_s();
        if (saver_next(saver, &first)) {
            const size_t taken = snapshot_take(saver_queue(saver), first, take, learner);
            CHECK(cost->parts < PARTS_MAX);
            cost->hold[cost->parts++] = 1e3 * monotonic_s() - from;
            if (saver_on_taken(saver, taken) == SAVER_WHOLE)
                saver_end(saver, 0, 1, NULL);
        }
        from = 1e3 * monotonic_s();
        (void)learner_step(learner);
        CHECK(cost->steps < STEPS_MAX);
        step[cost->steps++] = 1e3 * monotonic_s() - from;
    }
    CHECK(result.error == OK);
    cost->span = 1e3 * monotonic_s() - began;
    cost->step = double_median_high(step, (size_t)cost->steps);
}

static double largest(const double *of, int count)
{
    double most = 0;
    for (int i = 0; i < count; i++)
        most = of[i] > most ? of[i] : most;
    return most;
}

/* Measures a step and a memcpy of `bytes` bytes alternately, and sets their medians. */
static void measure_alone(struct learner *learner, size_t bytes, double *step_ms, double *copy_ms)
{
    double step[ROUNDS], copy[ROUNDS];
    unsigned char *from = malloc(bytes), *to = malloc(bytes);
    CHECK(from && to);
    memset(from, 2, bytes);
    memset(to, 3, bytes);
    for (int i = 0; i < ROUNDS; i++) {
        double at = 1e3 * monotonic_s();
        (void)learner_step(learner);
        step[i] = 1e3 * monotonic_s() - at;
        at = 1e3 * monotonic_s();
        memcpy(to, from, bytes);
        copy[i] = 1e3 * monotonic_s() - at;
    }
    *step_ms = double_median_high(step, ROUNDS);
    *copy_ms = double_median_high(copy, ROUNDS);
    free(from);
    free(to);
}

static void measure_with(struct saver *saver, struct learner *learner, size_t bytes)
{
    static struct cost cost;
    const struct checkpoint_refusal refusal = {0};
    struct problem problem;
    const uint8_t *own;
    size_t own_bytes;
    double step_ms, copy_ms;
    CHECK(saver_load(saver, learner, &refusal, &own, &own_bytes, &problem) == MISSING);
    measure_save(saver, learner, &cost); /* the first save touches the queue's memory */
    measure_alone(learner, bytes, &step_ms, &copy_ms);
    measure_save(saver, learner, &cost);
    const double from = 1e3 * monotonic_s();
    CHECK(saver_load(saver, learner, &refusal, &own, &own_bytes, &problem) == OK);
    (void)printf("%10zu %8.1f %5d %9.3f %9.3f %9.3f %9.3f %9.3f %6d %9.1f %9.1f\n",
                 learner_parameters(learner), (double)bytes / 1e6, cost.parts,
                 double_median_high(cost.hold, (size_t)cost.parts), largest(cost.hold, cost.parts),
                 copy_ms, step_ms, cost.step, cost.steps, cost.span, 1e3 * monotonic_s() - from);
}

static void measure(struct backend *backend, const struct dataset *train, const char *line)
{
    struct arena arena;
    struct problem problem;
    struct model *model;
    char folder[] = "/tmp/hearsay-bench-XXXXXX";
    arena_init(&arena, (size_t)1 << 30);
    CHECK(model_new(&model, &arena, backend, line, train->shape, train->classes, BATCH, &problem) ==
          OK);
    const size_t parameters = model_parameters(model);
    const struct learner_options options = {.optimizer = {.sgd = {.rate = 0.01f, .momentum = 0.9f}},
                                            .batch = BATCH,
                                            .density_max = 1000};
    struct learner *learner = learner_new(&arena, backend, model, train, NULL, &options);
    struct saver_options saver_options = {
        .disk = disk_real(),
        .folder = folder,
        .model = "bench",
        .base = {.model = model, .about = {.classes = train->classes, .scale = 1}},
        .parameters = parameters,
        .moments = 1,
        .part_parameters = snapshot_part_parameters(parameters, 1),
        .entries = (size_t)(DENSITY * (double)parameters),
        .wake = no_wake};
    CHECK(mkdtemp(folder));
    export_path(saver_options.base.path, folder);
    struct saver *saver = saver_new(&saver_options);
    measure_with(saver, learner, learner_state_bytes(parameters, 1));
    saver_free(saver);
    CHECK(disk_real()->list(NULL, folder, remove_one, folder) == 0);
    (void)rmdir(folder);
    learner_free(learner);
    model_free(model);
    arena_release(&arena);
}

int main(void)
{
    struct dataset train;
    struct problem problem;
    const struct dataset_options options = {
        .source = DATASET_GENERATED, .seed = 1, .train_count = 640, .test_count = 10, .shards = 1};
    CHECK(dataset_load_train(&train, &options, &problem) == OK);
    struct backend *backend = backend_cpu(1);
    (void)printf("milliseconds; medians, but for the longest; a step: batch %d, one thread\n"
                 "%10s %8s %5s %9s %9s %9s %9s %9s %6s %9s %9s\n",
                 BATCH, "parameters", "MB", "parts", "a part", "longest", "memcpy", "step",
                 "meanwhile", "steps", "saved", "loaded");
    measure(backend, &train, model_preset("mlp"));
    measure(backend, &train, "dense 3000, relu, dense 2500, relu, dense 10");
    measure(backend, &train, "dense 12000, relu, dense 7500, relu, dense 10");
    backend->close(backend);
    dataset_free(&train);
    return 0;
}
