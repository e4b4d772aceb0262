/* Saving a model: what is written, and what remains if saving fails. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "support/state/safetensors_story.h"

static void the_file_is_laid_out_as_others_expect(void **state)
{
    const struct world *world = *state;
    static const char metadata[] =
        "{\"__metadata__\":{\"format\":\"hearsay\",\"layers\":\"conv 2 3x3, relu, dense 2\","
        "\"input\":\"1x4x4\",\"classes\":\"2\",\"mean\":\"72.9403381\",\"scale\":\"0.0111085065\","
        "\"digest\":\"00fedcba98765432\",\"samples\":\"18446744073709551615\","
        "\"checksum\":\"7a0111e40bb61d44\",\"version\":\"a1/0:17 b2/3:4\"},";
    static const char tensor[] =
        "\"0.conv.weight\":{\"dtype\":\"F32\",\"shape\":[2,1,3,3],\"data_offsets\":[0,72]},"
        "\"2.dense.weight\":{\"dtype\":\"F32\",\"shape\":[2,8],\"data_offsets\":[72,136]},"
        "\"0.conv.bias\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[136,144]},";
    save_model(world);
    const struct bytes bytes = read_file(world->path);
    const uint64_t length = header_length(&bytes);
    const size_t data_bytes = model_parameters(world->model) * sizeof(float);
    assert_int_equal(length % 8, 0);
    assert_int_equal(bytes.count, 8 + length + data_bytes);
    assert_memory_equal(bytes.at + 8, metadata, strlen(metadata));
    assert_memory_equal(bytes.at + 8 + strlen(metadata), tensor, strlen(tensor));
    assert_memory_equal(bytes.at + 8 + length, world->weights, data_bytes);
}

static void the_longest_version_fits(void **state)
{
    const struct world *world = *state;
    struct safetensors_about about = ABOUT;
    struct problem problem;
    float weights[64];
    char *version = calloc(SAFETENSORS_VERSION_MAX + 1, 1);
    assert_non_null(version);
    memset(version, 'v', SAFETENSORS_VERSION_MAX);
    about.version = version;
    assert_int_equal(safetensors_save(world->path, world->model, &about, world->weights, &problem),
                     OK);
    free(version);
    assert_int_equal(load_model(world, weights), OK);
    assert_int_equal(read_about(world, &about), OK);
    assert_null(about.version);
}

/* Loads a saved file. *said: the checksum in the file. *found: the checksum of its weights. */
static void load_both(const struct world *world, uint64_t *said, uint64_t *found)
{
    struct safetensors_about about;
    float weights[64];
    assert_int_equal(load_model(world, weights), OK);
    assert_int_equal(read_about(world, &about), OK);
    *said = about.checksum;
    *found = safetensors_checksum(weights, model_parameters(world->model));
}

static void no_flipped_bit_of_a_weight_goes_unseen(void **state)
{
    const struct world *world = *state;
    uint64_t said, found;
    save_model(world);
    struct bytes bytes = read_file(world->path);
    load_both(world, &said, &found);
    assert_true(said == found);
    for (size_t bit = 8 * (8 + (size_t)header_length(&bytes)); bit < 8 * bytes.count; bit++) {
        bytes.at[bit / 8] ^= (char)(1 << bit % 8);
        write_file(world->path, bytes.at, bytes.count);
        load_both(world, &said, &found);
        assert_true(said != found);
        bytes.at[bit / 8] ^= (char)(1 << bit % 8);
    }
}

static void a_saved_file_is_for_everyone_to_read(void **state)
{
    const struct world *world = *state;
    struct stat about;
    const mode_t mask = umask(077); /* the umask of a service */
    save_model(world);
    (void)umask(mask);
    assert_int_equal(stat(world->path, &about), 0);
    assert_int_equal(about.st_mode & 0777, 0640);
    assert_int_equal(files_in(world->folder), 1);
}

static void refuse_to_save(const struct world *world, const char *path)
{
    struct problem problem;
    assert_int_equal(safetensors_save(path, world->model, &ABOUT, world->weights, &problem),
                     FAILED);
    assert_ptr_equal(strstr(problem.text, path), problem.text);
}

/* Root may write everywhere, so the first case is skipped for root. */
static void a_folder_that_cannot_be_written_is_reported(void **state)
{
    const struct world *world = *state;
    assert_int_equal(chmod(world->folder, 0555), 0);
    if (geteuid() != 0)
        refuse_to_save(world, world->path);
    assert_int_equal(chmod(world->folder, 0755), 0);
    refuse_to_save(world, "/nonexistent/model.safetensors");
    assert_int_equal(files_in(world->folder), 0);
}

static void a_save_that_fails_leaves_the_old_file_and_no_other(void **state)
{
    struct world *world = *state;
    struct rlimit before;
    float weights[64];
    save_model(world);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    const struct rlimit limit = {.rlim_cur = 300, .rlim_max = before.rlim_max};
    assert_true(signal(SIGXFSZ, SIG_IGN) != SIG_ERR);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    world->weights[0] = 1234;
    struct problem problem;
    const enum error error =
        safetensors_save(world->path, world->model, &ABOUT, world->weights, &problem);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_equal(error, FAILED);
    assert_non_null(strstr(problem.text, "File too large"));
    assert_int_equal(files_in(world->folder), 1);
    assert_int_equal(load_model(world, weights), OK);
    assert_true(weights[0] == -5);
}

static void a_save_onto_a_folder_leaves_no_temporary_file(void **state)
{
    const struct world *world = *state;
    assert_int_equal(mkdir(world->path, 0755), 0);
    refuse_to_save(world, world->path);
    assert_int_equal(files_in(world->folder), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_WORLD(the_file_is_laid_out_as_others_expect),
        IN_WORLD(the_longest_version_fits),
        IN_WORLD(no_flipped_bit_of_a_weight_goes_unseen),
        IN_WORLD(a_saved_file_is_for_everyone_to_read),
        IN_WORLD(a_folder_that_cannot_be_written_is_reported),
        IN_WORLD(a_save_that_fails_leaves_the_old_file_and_no_other),
        IN_WORLD(a_save_onto_a_folder_leaves_no_temporary_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
