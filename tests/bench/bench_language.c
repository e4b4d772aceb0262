/* Times a training step of a language model on a CPU: forward, backward, clipping, AdamW.
 *
 *   bench_language [MODEL [LENGTH [BATCH [STEPS]]]]     gpt-char 64 12 40
 *
 * Uses one thread. Prints the fastest and the median time of a step. To measure the same in
 * PyTorch: bench_language.py --step, or --compiled. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "base/sort.h"
#include "base/system_clock.h"
#include "layers/model.h"

#define TOKENS 256

struct training {
    struct backend *backend;
    struct model *model;
    float *weights, *gradients, *mean, *square; /* [P] */
    float *x;                                   /* tokens of the batch */
    int32_t *labels;
    int batch;
};

static void step(const struct training *training, uint64_t number)
{
    struct backend *backend = training->backend;
    const size_t parameters = model_parameters(training->model);
    const float most = 1;
    const struct adam adam = {.rate = 1e-3f,
                              .beta1 = 0.9f,
                              .beta2 = 0.99f,
                              .epsilon = 1e-8f,
                              .weight_decay = 0.1f,
                              .decayed = model_decayed(training->model),
                              .step = number};
    struct score score = {0};
    model_learn(training->model, training->weights, training->gradients, training->x,
                training->labels, training->batch, &score);
    float factor;
    backend->optimize->clip(backend, &most, parameters, training->gradients, &factor);
    backend->optimize->adam(backend, &adam, &factor, parameters, training->weights,
                            training->gradients, training->mean, training->square);
}

static void draw(const struct training *training, size_t count)
{
    struct rng rng = rng_new(1, 1);
    for (size_t i = 0; i < count; i++) {
        const int32_t token = (int32_t)rng_below(&rng, TOKENS);
        memcpy(&training->x[i], &token, sizeof token);
        training->labels[i] = (int32_t)rng_below(&rng, TOKENS);
    }
}

int main(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "gpt-char";
    const int length = argc > 2 ? atoi(argv[2]) : 64, steps = argc > 4 ? atoi(argv[4]) : 40;
    struct training training = {.backend = backend_cpu(1), .batch = argc > 3 ? atoi(argv[3]) : 12};
    struct backend *backend = training.backend;
    struct arena arena;
    struct problem problem;
    arena_init(&arena, 1 << 20);
    CHECK(length > 0 && steps > 0 && training.batch > 0);
    if (model_new(&training.model, &arena, backend, model_preset(name) ? model_preset(name) : name,
                  (struct shape){1, 1, 1, length}, TOKENS, training.batch, &problem) != OK) {
        (void)fprintf(stderr, "%s\n", problem.text);
        return 1;
    }
    const size_t bytes = model_parameters(training.model) * sizeof(float);
    const size_t count = (size_t)training.batch * (size_t)length;
    float **vectors[] = {&training.weights, &training.gradients, &training.mean, &training.square};
    for (size_t i = 0; i < sizeof vectors / sizeof vectors[0]; i++)
        *vectors[i] = backend->alloc(backend, bytes);
    training.x = backend->alloc(backend, count * sizeof *training.x);
    training.labels = backend->alloc(backend, count * sizeof *training.labels);
    double *took = calloc((size_t)steps, sizeof *took);
    CHECK(took);
    model_init(training.model, 1, training.weights);
    draw(&training, count);
    for (int i = 0; i < steps; i++) {
        const double began = monotonic_s();
        step(&training, (uint64_t)i + 1);
        took[i] = monotonic_s() - began;
    }
    double_sort(took, (size_t)steps);
    printf("%s, %d sequences of %d: fastest step %.1f ms, middle %.1f ms\n", name, training.batch,
           length, 1e3 * took[0], 1e3 * took[steps / 2]);
    return 0;
}
