/* The best base: which file is kept, with which score, and what remains after a crash or damage. */
#include "state/best_base.h"

#include "support/state/safetensors_story.h"

static const struct evaluation SCORE = {
    .samples = 2000, .correct = 1801, .loss = 0.2718281828459045};

static struct problem problem;

static void save_base(const struct world *world, uint64_t digest)
{
    char path[BASE_PATH_BYTES];
    struct safetensors_about about = ABOUT;
    about.digest = digest;
    export_path(path, world->folder);
    assert_int_equal(safetensors_save(path, world->model, &about, world->weights, &problem), OK);
}

static int end(void **state)
{
    static const char *const names[] = {"base.safetensors", "base-best.safetensors", "best"};
    const struct world *world = *state;
    char path[128];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        (void)snprintf(path, sizeof path, "%s/%s", world->folder, names[i]);
        (void)remove(path);
    }
    return end_world(state); /* fails if another file is in the folder */
}

static void keep(const struct world *world, uint64_t digest)
{
    const struct best_base best = {.score = SCORE, .digest = digest, .saved_s = 1795617005};
    if (best_base_keep(disk_real(), world->folder, &best, &problem) != OK)
        fail_msg("%s", problem.text);
}

static enum error read_best(const struct world *world, struct best_base *best)
{
    return best_base_read(disk_real(), world->folder, best, &problem);
}

static uint64_t digest_of_file(const struct world *world)
{
    char path[BASE_PATH_BYTES];
    struct safetensors_about about;
    best_base_path(path, world->folder);
    assert_int_equal(safetensors_read_about(path, &about, &problem), OK);
    return about.digest;
}

static void write_score(const struct world *world, const char *text)
{
    char path[128];
    (void)snprintf(path, sizeof path, "%s/best", world->folder);
    write_file(path, text, strlen(text));
}

static void a_folder_without_one_has_none(void **state)
{
    struct best_base best;
    assert_int_equal(read_best(*state, &best), MISSING);
}

static void the_best_base_stays_while_new_ones_are_saved(void **state)
{
    struct world *world = *state;
    struct best_base best;
    save_base(world, 7);
    keep(world, 7);
    save_base(world, 8);
    assert_int_equal(read_best(world, &best), OK);
    assert_int_equal(best.digest, 7);
    assert_int_equal(digest_of_file(world), 7);
    assert_int_equal(best.saved_s, 1795617005);
    assert_int_equal(best.score.correct, 1801);
    assert_true(best.score.loss == SCORE.loss);
    assert_false(best.score.is_sequence || best.score.is_regression);
    keep(world, 8);
    assert_int_equal(read_best(world, &best), OK);
    assert_int_equal(digest_of_file(world), 8);
}

static void the_same_base_may_be_kept_twice(void **state)
{
    struct world *world = *state;
    struct best_base best;
    save_base(world, 7);
    keep(world, 7);
    const int files = files_in(world->folder);
    keep(world, 7);
    assert_int_equal(files_in(world->folder), files);
    assert_int_equal(read_best(world, &best), OK);
}

/* The power failed between the writes of the two files. */
static void a_score_of_another_base_is_not_known(void **state)
{
    struct world *world = *state;
    struct best_base best;
    save_base(world, 7);
    keep(world, 9);
    assert_int_equal(read_best(world, &best), MISSING);
}

static void a_damaged_score_is_named_with_the_remedy(void **state)
{
    static const char *const damaged[] = {
        "",
        "{",
        "[]",
        "{\"samples\": 5}",
        "{\"samples\": 5, \"correct\": 6, \"loss\": 1.0, \"variance\": 0.0, \"regression\": false, "
        "\"sequence\": false, \"digest\": \"0000000000000007\", \"saved_s\": 1}",
        "{\"samples\": 5, \"correct\": 4, \"loss\": 1.0, \"variance\": 0.0, \"regression\": false, "
        "\"sequence\": false, \"digest\": \"000000000000000x\", \"saved_s\": 1}",
        "{\"samples\": -5, \"correct\": 4, \"loss\": 1.0, \"variance\": 0.0, \"regression\": "
        "false, "
        "\"sequence\": false, \"digest\": \"0000000000000007\", \"saved_s\": 1}"};
    struct world *world = *state;
    struct best_base best;
    save_base(world, 7);
    keep(world, 7);
    for (size_t i = 0; i < sizeof damaged / sizeof *damaged; i++) {
        write_score(world, damaged[i]);
        assert_int_equal(read_best(world, &best), MALFORMED);
        assert_non_null(strstr(problem.text, "/best: is damaged; remove it"));
    }
}

static void a_base_that_is_not_there_cannot_be_kept(void **state)
{
    const struct world *world = *state;
    const struct best_base best = {.score = SCORE, .digest = 7};
    assert_int_equal(best_base_keep(disk_real(), world->folder, &best, &problem), FAILED);
    assert_non_null(strstr(problem.text, "set node.best_base = no"));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, make_world, end)
    const struct CMUnitTest tests[] = {
        TEST(a_folder_without_one_has_none),
        TEST(the_best_base_stays_while_new_ones_are_saved),
        TEST(the_same_base_may_be_kept_twice),
        TEST(a_score_of_another_base_is_not_known),
        TEST(a_damaged_score_is_named_with_the_remedy),
        TEST(a_base_that_is_not_there_cannot_be_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
