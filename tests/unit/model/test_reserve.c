/* Memory reserved at the start, on each device: a learner with a reservation learns bit for bit as
 * one without, and allocates nothing later. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/arena.h"
#include "support/model/each_device.h"
#include "training/learner.h"

#define BATCH_MAX 64
#define PUBLISHED 4000

static struct arena arena;
static struct model *model;
static struct dataset train, test;
static size_t parameters;

static int data_begin(void **state)
{
    const struct dataset_options about = {
        .source = DATASET_GENERATED, .seed = 1, .train_count = 200, .test_count = 100, .shards = 1};
    struct problem problem = {""};
    (void)device_opens(state);
    arena_init(&arena, (size_t)1 << 24);
    assert_int_equal(dataset_load_train(&train, &about, &problem), OK);
    assert_int_equal(dataset_load_test(&test, &about, &problem), OK);
    assert_int_equal(model_new(&model, &arena, backend, "conv 4 5x5, relu, maxpool 2, dense 10",
                               train.shape, train.classes, BATCH_MAX, &problem),
                     OK);
    parameters = model_parameters(model);
    return 0;
}

static int data_end(void **state)
{
    dataset_free(&train);
    dataset_free(&test);
    model_free(model);
    arena_release(&arena);
    return device_closes(state);
}

static struct learner *learner_of(bool reserves)
{
    const struct learner_options options = {
        .optimizer = {.sgd = {.rate = 0.01f, .momentum = 0.9f}},
        .batch = 2,
        .batch_max = BATCH_MAX,
        .model_seed = 1,
        .data_seed = 1,
        .test_to = test.count,
        .density_max = PUBLISHED < parameters ? PUBLISHED : (uint32_t)parameters};
    struct learner *learner = learner_new(&arena, backend, model, &train, &test, &options);
    if (reserves)
        learner_reserve(learner);
    return learner;
}

/* Makes steps of two sizes, evaluations and a publication. */
static void work(struct learner *learner, float *host_weights)
{
    const struct publish_terms terms = {.budget_bytes = 5 * PUBLISHED, .share = 0.5, .gain = 1};
    for (uint32_t size = 2; size <= BATCH_MAX; size += BATCH_MAX - 2) {
        learner_set_batch(learner, size);
        for (int i = 0; i < 3; i++)
            (void)learner_step(learner);
    }
    assert_true(learner_losses(learner) > 0);
    assert_int_equal(learner_evaluate(learner, true).samples, test.count);
    (void)learner_publish(learner, &terms);
    learner_read_weights(learner, host_weights);
}

static void learns_the_same_with_reserved_memory(void **state)
{
    (void)state;
    float *with = arena_alloc(&arena, parameters, sizeof *with);
    float *without = arena_alloc(&arena, parameters, sizeof *without);
    struct learner *plain = learner_of(false), *reserved = learner_of(true);
    work(plain, without);
    work(reserved, with);
    assert_memory_equal(with, without, parameters * sizeof *with);
    learner_free(plain);
    learner_free(reserved);
}

static void takes_no_memory_after_the_start(void **state)
{
    (void)state;
    float *weights = arena_alloc(&arena, parameters, sizeof *weights);
    struct learner *learner = learner_of(true);
    const struct device_memory before = backend->memory(backend);
    work(learner, weights);
    assert_int_equal(backend->memory(backend).free, before.free);
    assert_int_equal(backend->memory(backend).total > 0, strcmp(backend->name, "cpu") != 0);
    learner_free(learner);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        /* must run first, because buffers never shrink */
        cmocka_unit_test(takes_no_memory_after_the_start),
        cmocka_unit_test(learns_the_same_with_reserved_memory),
    };
    RUN_ON_EACH_DEVICE(tests, data_begin, data_end);
}
