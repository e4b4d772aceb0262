/* The averaged base on disk: what a later start continues from, and what it rejects. */
#include "state/averaged_base.h"

#include "support/state/safetensors_story.h"

#define P_MAX 64

static struct problem problem;
static struct backend *backend;
static float mean[P_MAX], loaded[P_MAX];
static bool has; /* the last loaded learner has an average, which is in loaded[] */

static int begin(void **state)
{
    if (make_world(state) != 0)
        return 1;
    backend = backend_cpu(1);
    for (size_t c = 0; c < P_MAX; c++)
        mean[c] = 0.01f * (float)c;
    return 0;
}

static int end(void **state)
{
    const struct world *world = *state;
    char path[BASE_PATH_BYTES];
    averaged_base_path(path, world->folder);
    (void)remove(path);
    backend->close(backend);
    return end_world(state); /* fails if another file is in the folder */
}

static void save(const struct world *world, uint64_t samples)
{
    const struct export base = {.model = world->model, .about = ABOUT};
    assert_int_equal(averaged_base_save(&base, world->folder, mean, samples, &problem), OK);
}

/* Loads the file into a new learner of this model, whose swarm has trained on `samples` samples. */
static enum error load(struct world *world, struct model *model, uint64_t samples)
{
    static const float start[P_MAX];
    const struct learner_options options = {.start = start, .density_max = 8, .averages = true};
    struct learner *learner = learner_new(&world->arena, backend, model, NULL, NULL, &options);
    learner_follow(learner, samples);
    const enum error error = averaged_base_load(world->folder, learner, &problem);
    has = learner_average(learner) != NULL;
    if (has)
        memcpy(loaded, learner_average(learner), learner_parameters(learner) * sizeof *loaded);
    learner_free(learner);
    return error;
}

static void a_saved_average_is_loaded_bit_for_bit(void **state)
{
    struct world *world = *state;
    save(world, 1000);
    assert_int_equal(load(world, world->model, 1000), OK);
    assert_true(has);
    assert_memory_equal(loaded, mean, model_parameters(world->model) * sizeof *mean);
}

static void an_average_that_does_not_fit_is_not_used(void **state)
{
    struct world *world = *state;
    assert_int_equal(load(world, world->model, 1000), OK);
    assert_false(has); /* there is no file yet */
    save(world, 1001);
    assert_int_equal(load(world, world->model, 1000), OK);
    assert_false(has); /* the base was rewound to fewer samples */
    assert_int_equal(load(world, world->other, 1001), OK);
    assert_false(has); /* the file is of another model */
    assert_int_equal(load(world, world->model, 1001), OK);
    assert_true(has);
}

static void changed_weights_are_refused(void **state)
{
    struct world *world = *state;
    char path[BASE_PATH_BYTES];
    save(world, 1000);
    averaged_base_path(path, world->folder);
    struct bytes file = read_file(path);
    file.at[file.count - 2] ^= 1;
    write_file(path, file.at, file.count);
    assert_int_equal(load(world, world->model, 1000), FORGED);
    assert_false(has);
    assert_non_null(strstr(problem.text, "the average restarts from the base"));
}

static void a_torn_file_is_refused(void **state)
{
    struct world *world = *state;
    char path[BASE_PATH_BYTES];
    save(world, 1000);
    averaged_base_path(path, world->folder);
    const struct bytes file = read_file(path);
    write_file(path, file.at, file.count - 3);
    const enum error error = load(world, world->model, 1000);
    assert_true(error != OK && error != MISSING && !has);
}

static void a_folder_that_cannot_be_written_to_is_named_with_the_remedy(void **state)
{
    const struct world *world = *state;
    const struct export base = {.model = world->model, .about = ABOUT};
    assert_int_equal(averaged_base_save(&base, "/nowhere", mean, 1, &problem), FAILED);
    assert_non_null(strstr(problem.text, "set node.averaged_base = no"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_saved_average_is_loaded_bit_for_bit),
        TEST(an_average_that_does_not_fit_is_not_used),
        TEST(changed_weights_are_refused),
        TEST(a_torn_file_is_refused),
        TEST(a_folder_that_cannot_be_written_to_is_named_with_the_remedy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
