/* First weights from a file, with valid and invalid contents. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "config/initial_weights.h"
#include "state/safetensors.h"
#include "training/learner.h"

#define LINE "dense 5, relu, dense 2"

struct world {
    char folder[64];
    char path[96];
    struct arena arena;
    struct backend *backend;
    struct model *model;
    float *weights;
};

static struct world the_world;

static int begin(void **state)
{
    struct world *world = *state = &the_world;
    struct problem problem;
    const struct shape in = {.channels = 1, .height = 1, .width = 3};
    (void)snprintf(world->folder, sizeof world->folder, "/tmp/hearsay-start-XXXXXX");
    assert_non_null(mkdtemp(world->folder));
    (void)snprintf(world->path, sizeof world->path, "%.63s/it.safetensors", world->folder);
    arena_init(&world->arena, 64u << 20);
    world->backend = backend_cpu(1);
    assert_int_equal(
        model_new(&world->model, &world->arena, world->backend, LINE, in, 2, 4, &problem), OK);
    const size_t parameters = model_parameters(world->model);
    world->weights = arena_alloc(&world->arena, parameters, sizeof *world->weights);
    model_init(world->model, 7, world->weights);
    return 0;
}

static int end(void **state)
{
    struct world *world = *state;
    (void)unlink(world->path);
    assert_int_equal(rmdir(world->folder), 0);
    model_free(world->model);
    world->backend->close(world->backend);
    arena_release(&world->arena);
    return 0;
}

static void save(const struct world *world)
{
    struct problem problem;
    const struct safetensors_about about = {.mean = 0, .scale = 1, .version = ""};
    assert_int_equal(safetensors_save(world->path, world->model, &about, world->weights, &problem),
                     OK);
}

static struct learner *learner_from(struct world *world, const float *start)
{
    const struct learner_options options = {
        .batch = 1, .model_seed = 3, .start = start, .density_max = 4};
    return learner_new(&world->arena, world->backend, world->model, NULL, NULL, &options);
}

static void a_learner_begins_with_what_was_saved(void **state)
{
    struct world *world = *state;
    struct problem problem;
    uint64_t digest;
    const size_t parameters = model_parameters(world->model);
    float *read = arena_alloc(&world->arena, parameters, sizeof *read);
    float *base = arena_alloc(&world->arena, parameters, sizeof *base);
    float *held = arena_alloc(&world->arena, parameters, sizeof *held);

    struct learner *first = learner_from(world, world->weights);
    learner_read_base(first, base);
    for (size_t c = 0; c < parameters; c++)
        assert_true(fabsf(base[c] - world->weights[c]) <= QUANTUM / 2);
    memcpy(world->weights, base, parameters * sizeof *base);
    save(world);

    assert_int_equal(initial_weights_load(world->path, world->model, read, &digest, &problem), OK);
    struct learner *second = learner_from(world, read);
    learner_read_base(second, held);
    assert_memory_equal(held, base, parameters * sizeof *held);
    learner_read_weights(second, held);
    assert_memory_equal(held, base, parameters * sizeof *held);
    assert_true(learner_digest(second) == digest);
    assert_true(learner_digest(first) == digest);

    struct learner *drawn = learner_from(world, NULL);
    assert_true(learner_digest(drawn) != digest);
    learner_free(first);
    learner_free(second);
    learner_free(drawn);
}

/* Checks that the file is rejected with these words, and that no weight is written. */
static void must_refuse(const struct world *world, enum error want, const char *words)
{
    struct problem problem = {""};
    uint64_t digest = 0;
    float read[64] = {0};
    const float nothing[64] = {0};
    assert_true(model_parameters(world->model) <= 64);
    assert_int_equal(initial_weights_load(world->path, world->model, read, &digest, &problem),
                     want);
    if (!strstr(problem.text, words))
        fail_msg("\"%s\" does not say \"%s\"", problem.text, words);
    assert_memory_equal(read, nothing, sizeof read);
    assert_int_equal(digest, 0);
}

static void weights_that_no_base_can_hold_are_refused(void **state)
{
    struct world *world = *state;
    static const float wrong[] = {NAN, INFINITY, -INFINITY, 1e19f, -1e30f};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        world->weights[model_parameters(world->model) - 1] = wrong[i];
        save(world);
        must_refuse(world, MALFORMED, "a weight of ");
    }
    world->weights[model_parameters(world->model) - 1] = -1e18f;
    save(world);
    struct problem problem;
    uint64_t digest;
    float read[64];
    assert_int_equal(initial_weights_load(world->path, world->model, read, &digest, &problem), OK);
    assert_true(read[model_parameters(world->model) - 1] == -1e18f);
}

/* A float32 has a mantissa of 24 bits, so it cannot represent all bits of a base entry above 1. */
static void a_base_beyond_one_is_started_from_as_near_as_a_float_is(void **state)
{
    struct world *world = *state;
    struct problem problem;
    uint64_t digest;
    float read[64], held[64];
    uint32_t index[] = {0};
    int8_t level[] = {1};
    world->weights[0] = 1.5f;
    struct learner *first = learner_from(world, world->weights);
    const struct update update = {
        .amount = 1, .tau = 0.1f, .count = 1, .index = index, .level = level};
    learner_apply(first, &update, 0);
    learner_read_base(first, world->weights);
    save(world);
    assert_int_equal(initial_weights_load(world->path, world->model, read, &digest, &problem), OK);
    assert_true(learner_digest(first) != digest);
    struct learner *second = learner_from(world, read);
    assert_true(learner_digest(second) == digest);
    learner_read_base(second, held);
    assert_memory_equal(held, world->weights, model_parameters(world->model) * sizeof *held);
    learner_free(first);
    learner_free(second);
}

static void tensors_of_another_shape_are_refused(void **state)
{
    struct world *world = *state;
    struct problem problem;
    struct model *ours = world->model;
    const struct shape in = {.channels = 1, .height = 1, .width = 3};
    save(world);
    assert_int_equal(model_new(&world->model, &world->arena, world->backend,
                               "dense 4, relu, dense 2", in, 2, 4, &problem),
                     OK);
    must_refuse(world, MISMATCH, "another shape");
    model_free(world->model);
    world->model = ours;
}

static void a_file_that_is_not_there_is_named(void **state)
{
    const struct world *world = *state;
    must_refuse(world, MISSING, world->path);
}

int main(void)
{
    const struct CMUnitTest stories[] = {
        cmocka_unit_test_setup_teardown(a_learner_begins_with_what_was_saved, begin, end),
        cmocka_unit_test_setup_teardown(weights_that_no_base_can_hold_are_refused, begin, end),
        cmocka_unit_test_setup_teardown(a_base_beyond_one_is_started_from_as_near_as_a_float_is,
                                        begin, end),
        cmocka_unit_test_setup_teardown(tensors_of_another_shape_are_refused, begin, end),
        cmocka_unit_test_setup_teardown(a_file_that_is_not_there_is_named, begin, end),
    };
    return cmocka_run_group_tests(stories, NULL, NULL);
}
