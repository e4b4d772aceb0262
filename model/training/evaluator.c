#include "training/evaluator.h"

#include <stdlib.h>

#include "data/device_dataset.h"
#include "base/error.h"

struct exam {
    struct backend *backend;
    struct model *model;
    struct shelf test;
    uint32_t *each; /* [samples]: 0, 1, 2, ... */
    float *weights; /* [P], those being marked */
    struct score *score;
};

static uint32_t *count_up(struct backend *backend, uint32_t count)
{
    uint32_t *host = malloc(count * sizeof *host);
    CHECK(host);
    for (uint32_t i = 0; i < count; i++)
        host[i] = i;
    uint32_t *each = backend->take(backend, count * sizeof *each);
    backend->upload(backend, each, host, count * sizeof *each);
    free(host);
    return each;
}

struct exam *exam_new(struct arena *arena, struct backend *backend, struct model *model,
                      const struct dataset *test)
{
    struct exam *exam = arena_take(arena, 1, sizeof *exam);
    *exam = (struct exam){
        .backend = backend,
        .model = model,
        .weights = backend->take(backend, model_parameters(model) * sizeof *exam->weights),
        .score = backend->take(backend, sizeof *exam->score),
        .each = count_up(backend, test->count),
    };
    shelf_init(&exam->test, backend, test, (uint32_t)model_batch_max(model));
    return exam;
}

/* Adds the test samples from .. from+size-1. */
static void mark_batch(struct exam *exam, uint32_t from, uint32_t size)
{
    shelf_gather(&exam->test, exam->each + from, size);
    model_score(exam->model, exam->weights, exam->test.x, exam->test.y, (int)size, exam->score);
}

struct evaluation exam_mark(struct exam *exam, const float *host_weights, uint32_t from,
                            uint32_t to)
{
    CHECK(to <= exam->test.count);
    struct backend *backend = exam->backend;
    struct score score = {0};
    if (from >= to)
        return (struct evaluation){0};
    backend->upload(backend, exam->weights, host_weights,
                    model_parameters(exam->model) * sizeof *host_weights);
    backend->upload(backend, exam->score, &score, sizeof score);
    const uint32_t batch_max = exam->test.batch_max;
    while (from < to) {
        const uint32_t size = to - from < batch_max ? to - from : batch_max;
        mark_batch(exam, from, size);
        from += size;
    }
    backend->download(backend, &score, exam->score, sizeof score);
    return (struct evaluation){
        .loss = score.loss / score.samples, .correct = score.correct, .samples = score.samples};
}

uint32_t exam_samples(const struct exam *exam)
{
    return exam->test.count;
}

void exam_free(struct exam *exam)
{
    shelf_free(&exam->test);
    exam->backend->give(exam->backend, exam->each);
    exam->backend->give(exam->backend, exam->weights);
    exam->backend->give(exam->backend, exam->score);
}
