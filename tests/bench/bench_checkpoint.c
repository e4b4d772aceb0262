/* How long saving holds up who trains: learner_save against a memcpy of the same bytes and against
 * training steps, medians in milliseconds; and what the saving thread then needs for the file. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "state/checkpoint.h"
#include "support/base/timing.h"
#include "training/learner.h"

#define ROUNDS 41
#define BATCH  32

static double now_ms(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
}

static void remove_one(void *context, const char *name)
{
    char path[DISK_PATH_MAX];
    const char *folder = context;
    if (disk_path(path, folder, name, "") == 0)
        (void)unlink(path);
}

/* One save and one load of the file, here in the folder of temporary files. */
static void measure_file(struct learner_state *state, double *save_ms, double *load_ms)
{
    char folder[] = "/tmp/hearsay-bench-XXXXXX";
    uint8_t *own = calloc(1, CHECKPOINT_OWN_MAX);
    struct checkpoint checkpoint = {.model = "bench", .state = *state, .own = own};
    struct checkpoint_series series = {.next = 1};
    const struct checkpoint_refusal refusal = {0};
    struct problem problem;
    CHECK(own && mkdtemp(folder));
    const double from = now_ms();
    CHECK(checkpoint_save(disk_real(), folder, &checkpoint, &series, &problem) == OK);
    const double saved = now_ms();
    CHECK(checkpoint_load(disk_real(), folder, &checkpoint, &series, &refusal, &problem) == OK);
    *save_ms = saved - from;
    *load_ms = now_ms() - saved;
    CHECK(disk_real()->list(NULL, folder, remove_one, folder) == 0);
    (void)rmdir(folder);
    free(own);
}

static void measure(struct backend *backend, const struct dataset *train, const char *line)
{
    struct arena arena;
    struct problem problem;
    struct model *model;
    struct learner_state state;
    double save[ROUNDS], copy[ROUNDS], step[ROUNDS], file_save, file_load;
    arena_init(&arena, (size_t)1 << 30);
    CHECK(model_new(&model, &arena, backend, line, train->shape, train->classes, BATCH, &problem) ==
          OK);
    const size_t parameters = model_parameters(model);
    const struct learner_options options = {.optimizer = {.sgd = {.rate = 0.01f, .momentum = 0.9f}},
                                            .batch = BATCH,
                                            .density_max = 1000};
    struct learner *learner = learner_new(&arena, backend, model, train, NULL, &options);
    const size_t bytes = learner_state_bytes(parameters, 1);
    unsigned char *to = malloc(bytes), *from = malloc(bytes), *there = malloc(bytes);
    CHECK(to && from && there);
    memset(to, 1, bytes);
    memset(from, 2, bytes);
    memset(there, 3, bytes);
    learner_state_init(&state, to, parameters, 1);
    for (int i = 0; i < ROUNDS; i++) {
        double at = now_ms();
        (void)learner_step(learner);
        step[i] = now_ms() - at;
        at = now_ms();
        learner_save(learner, &state);
        save[i] = now_ms() - at;
        at = now_ms();
        memcpy(there, from, bytes);
        copy[i] = now_ms() - at;
    }
    measure_file(&state, &file_save, &file_load);
    (void)printf("%10zu %8.1f %10.3f %10.3f %10.3f %11.1f %11.1f\n", parameters,
                 (double)bytes / 1e6, median(save, ROUNDS), median(copy, ROUNDS),
                 median(step, ROUNDS), file_save, file_load);
    free(to);
    free(from);
    free(there);
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
    (void)printf("medians of %d, milliseconds; a step: batch %d, one thread\n"
                 "%10s %8s %10s %10s %10s %11s %11s\n",
                 ROUNDS, BATCH, "parameters", "MB", "save", "memcpy", "step", "file saved",
                 "file loaded");
    measure(backend, &train, model_preset("mlp"));
    measure(backend, &train, "dense 3000, relu, dense 2500, relu, dense 10");
    backend->close(backend);
    dataset_free(&train);
    return 0;
}
