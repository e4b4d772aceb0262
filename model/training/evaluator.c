#include "training/evaluator.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "data/device_dataset.h"

struct evaluator {
    struct backend *backend;    /* not owned */
    struct model *model;        /* not owned */
    struct device_dataset test; /* on the backend */
    struct score *score;        /* on the backend: sums over the samples scored so far */
    uint32_t *each;             /* [samples], on the backend: positions of all samples in order */
    float *weights;             /* [P], on the backend */
    double variance;            /* variance of the test set's targets; 0 without targets */
    void (*watch)(void *context, uint32_t done, uint32_t all); /* NULL = no calls */
    void *watcher;
};

static uint32_t *count_up(struct backend *backend, uint32_t count, uint32_t stride)
{
    uint32_t *host = memory_new(count, sizeof *host);
    for (uint32_t i = 0; i < count; i++)
        host[i] = i * stride;
    uint32_t *each = backend->alloc(backend, count * sizeof *each);
    backend->upload(backend, each, host, count * sizeof *each);
    free(host);
    return each;
}

/* Returns the variance of each output's targets, averaged over the outputs; 0 without targets. */
static double variance_of(const struct dataset *test)
{
    const size_t width = (size_t)test->classes;
    double sum = 0;
    for (size_t k = 0; test->targets && k < width; k++) {
        double mean = 0, squares = 0; /* mean and sum of squared deviations (Welford 1962) */
        for (uint32_t i = 0; i < test->count; i++) {
            const double number = test->targets[i * width + k], apart = number - mean;
            mean += apart / (i + 1.0);
            squares += apart * (number - mean);
        }
        sum += squares / test->count;
    }
    return sum / (double)width;
}

double evaluation_r2(const struct evaluation *evaluation)
{
    return evaluation->variance > 0 ? 1 - evaluation->loss / evaluation->variance : NAN;
}

double evaluation_accuracy(const struct evaluation *evaluation)
{
    CHECK(evaluation->correct <= evaluation->samples);
    if (evaluation->samples == 0)
        return NAN;
    if (evaluation->is_regression)
        return fmax(evaluation_r2(evaluation), 0);
    return (double)evaluation->correct / evaluation->samples;
}

struct evaluator *evaluator_new(struct arena *arena, struct backend *backend, struct model *model,
                                const struct dataset *test)
{
    struct evaluator *evaluator = arena_alloc(arena, 1, sizeof *evaluator);
    *evaluator = (struct evaluator){
        .backend = backend,
        .model = model,
        .weights = backend->alloc(backend, model_parameters(model) * sizeof *evaluator->weights),
        .score = backend->alloc(backend, sizeof *evaluator->score),
        .each = count_up(backend, test->count, dataset_stride(test)),
        .variance = variance_of(test),
    };
    const uint32_t most = (uint32_t)model_batch_max(model);
    device_dataset_init(&evaluator->test, backend, test, u32_min(test->count, most));
    return evaluator;
}

/* Adds the results of the test samples from .. from+size-1 to evaluator->score. */
static void run_batch(struct evaluator *evaluator, uint32_t from, uint32_t size)
{
    CHECK(from <= evaluator->test.count && size <= evaluator->test.count - from);
    const struct device_dataset *test = &evaluator->test;
    device_dataset_gather(&evaluator->test, evaluator->each + from, size);
    const struct model_part part = {.x = test->x,
                                    .labels = test->y_numbers ? NULL : test->y,
                                    .numbers = test->y_numbers,
                                    .samples = (int)size,
                                    .of = (int)size};
    model_score_part(evaluator->model, evaluator->weights, &part, evaluator->score);
}

void evaluator_set_part(struct evaluator *evaluator, size_t first, size_t count,
                        const float *host_weights)
{
    const size_t parameters = model_parameters(evaluator->model);
    CHECK(first <= parameters && count <= parameters - first);
    evaluator->backend->upload(evaluator->backend, evaluator->weights + first, host_weights,
                               count * sizeof *host_weights);
}

const float *evaluator_weights(const struct evaluator *evaluator)
{
    return evaluator->weights;
}

struct evaluation evaluator_run(struct evaluator *evaluator, const float *host_weights,
                                uint32_t from, uint32_t to)
{
    if (from < to)
        evaluator_set_part(evaluator, 0, model_parameters(evaluator->model), host_weights);
    return evaluator_score(evaluator, from, to);
}

struct evaluation evaluator_score(struct evaluator *evaluator, uint32_t from, uint32_t to)
{
    CHECK(to <= evaluator->test.count);
    struct backend *backend = evaluator->backend;
    struct score score = {0};
    if (from >= to)
        return (struct evaluation){0};
    backend->upload(backend, evaluator->score, &score, sizeof score);
    const uint32_t batch_max = evaluator->test.batch_max, all = to - from;
    while (from < to) {
        const uint32_t size = u32_min(to - from, batch_max);
        run_batch(evaluator, from, size);
        from += size;
        if (evaluator->watch)
            evaluator->watch(evaluator->watcher, all - (to - from), all);
    }
    backend->download(backend, &score, evaluator->score, sizeof score);
    CHECK(score.labels > 0 && score.correct <= score.labels);
    return (struct evaluation){.loss = score.loss / score.labels,
                               .correct = score.correct,
                               .samples = score.labels,
                               .is_regression = evaluator->test.y_numbers != NULL,
                               .is_sequence = evaluator->test.token_bytes > 0,
                               .variance = evaluator->variance};
}

void evaluator_reserve(struct evaluator *evaluator)
{
    if (evaluator->test.count > 0)
        run_batch(evaluator, 0, evaluator->test.batch_max);
}

void evaluator_watch(struct evaluator *evaluator,
                     void (*watch)(void *context, uint32_t done, uint32_t all), void *context)
{
    evaluator->watch = watch;
    evaluator->watcher = context;
}

#define PREDICT_MAX 64u /* maximum number of samples to predict at once */

static void predict_batch(struct evaluator *evaluator, const uint8_t *samples, uint32_t count,
                          float *host_x, float *numbers)
{
    struct backend *backend = evaluator->backend;
    struct device_dataset *test = &evaluator->test;
    const size_t all = count * test->sample_size;
    if (test->is_floats)
        memcpy(host_x, samples, all * sizeof *host_x);
    for (size_t i = 0; i < all && !test->is_floats; i++)
        host_x[i] = ((float)samples[i] - test->mean) * test->scale;
    backend->upload(backend, test->x, host_x, all * sizeof *host_x);
    const float *y = model_forward(evaluator->model, evaluator->weights, test->x, (int)count);
    backend->download(backend, numbers, y,
                      count * (size_t)model_outputs(evaluator->model) * sizeof *y);
}

void evaluator_predict(struct evaluator *evaluator, const uint8_t *samples, uint32_t count,
                       float *numbers)
{
    const struct device_dataset *test = &evaluator->test;
    const uint32_t most = u32_min(test->batch_max, PREDICT_MAX);
    const size_t each = test->sample_size * (test->is_floats ? sizeof(float) : 1);
    const size_t outputs = (size_t)model_outputs(evaluator->model);
    float *host_x = memory_new(most * test->sample_size, sizeof *host_x);
    for (uint32_t from = 0; from < count; from += most)
        predict_batch(evaluator, samples + from * each, u32_min(count - from, most), host_x,
                      numbers + from * outputs);
    free(host_x);
}

const struct device_dataset *evaluator_test(const struct evaluator *evaluator)
{
    return &evaluator->test;
}

uint32_t evaluator_samples(const struct evaluator *evaluator)
{
    return evaluator->test.count;
}

void evaluator_free(struct evaluator *evaluator)
{
    device_dataset_free(&evaluator->test);
    evaluator->backend->free(evaluator->backend, evaluator->each);
    evaluator->backend->free(evaluator->backend, evaluator->weights);
    evaluator->backend->free(evaluator->backend, evaluator->score);
}
