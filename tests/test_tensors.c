#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "tensors.h"

#define LINE      "conv 2 3x3, relu, dense 2"
#define LINE_SAME "conv   2 3x3 ,relu,dense 2"
#define LINE_MORE LINE ", relu, dense 2"

/* Two models in one folder: the other is the first with one layer more. */
struct world {
    char folder[64];
    char path[96];
    struct arena arena;
    struct model *model;
    struct model *other;
    float weights[64];
};

/* The bytes of a file. */
struct bytes {
    size_t count;
    char at[4096];
};

static const struct tensors_about ABOUT = {.layers = "not used by a save",
                                           .classes = 2,
                                           .mean = 72.9403381f,
                                           .scale = 1 / 90.0211f,
                                           .digest = 0x00FEDCBA98765432u,
                                           .samples = UINT64_MAX,
                                           .version = "a1/0:17 b2/3:4"};

static struct world the_world;

static void *take(struct backend *backend, size_t bytes)
{
    (void)backend;
    return arena_take(&the_world.arena, bytes, 1);
}

/* Nothing is computed here: a backend that can give memory is enough. */
static struct model *model_of(const char *line, struct shape in)
{
    static struct backend storage = {.name = "storage", .take = take};
    struct model *model;
    struct problem problem;
    if (model_new(&model, &the_world.arena, &storage, line, in, 2, 4, &problem) != OK)
        fail_msg("%s", problem.text);
    return model;
}

static int make_world(void **state)
{
    struct world *world = &the_world;
    *world = (struct world){.folder = "/tmp/hearsay-tensors-XXXXXX"};
    if (!mkdtemp(world->folder))
        return -1;
    (void)snprintf(world->path, sizeof world->path, "%.63s/model.safetensors", world->folder);
    arena_init(&world->arena, 16 * 1024 * 1024);
    world->model = model_of(LINE_SAME, (struct shape){1, 4, 4});
    world->other = model_of(LINE_MORE, (struct shape){1, 4, 4});
    for (size_t i = 0; i < model_parameters(world->model); i++)
        world->weights[i] = (float)i / 3 - 5;
    *state = world;
    return 0;
}

static int end_world(void **state)
{
    struct world *world = *state;
    arena_release(&world->arena);
    (void)remove(world->path);
    return rmdir(world->folder);
}

static void save(const struct world *world)
{
    struct problem problem;
    if (tensors_save(world->path, world->model, &ABOUT, world->weights, &problem) != OK)
        fail_msg("%s", problem.text);
}

static struct bytes read_file(const char *path)
{
    struct bytes bytes;
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    bytes.count = fread(bytes.at, 1, sizeof bytes.at, file);
    assert_true(bytes.count < sizeof bytes.at);
    assert_int_equal(fclose(file), 0);
    return bytes;
}

static void write_file(const char *path, const void *bytes, size_t count)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, count, file), count);
    assert_int_equal(fclose(file), 0);
}

/* The load must leave the weights alone unless it says OK. */
static enum status load(const struct world *world, float weights[static 64])
{
    struct problem problem;
    for (size_t i = 0; i < 64; i++)
        weights[i] = -99;
    enum status status = tensors_load(world->path, world->model, weights, &problem);
    if (status != OK && strstr(problem.text, world->path) != problem.text)
        fail_msg("no path in: %s", problem.text);
    for (size_t i = 0; status != OK && i < 64; i++)
        assert_true(weights[i] == -99);
    return status;
}

static enum status read_about(const struct world *world, struct tensors_about *about)
{
    struct problem problem;
    return tensors_read_about(world->path, about, &problem);
}

/* Its first `from` gives way to `to`, which is as long. */
static void replace(struct bytes *bytes, const char *from, const char *to)
{
    assert_int_equal(strlen(from), strlen(to));
    char *found = memmem(bytes->at, bytes->count, from, strlen(from));
    if (!found)
        fail_msg("the header does not hold: %s", from);
    memcpy(found, to, strlen(to));
}

/* The saved file with `from` in its header replaced by `to`, which is as long. */
static void write_changed(const struct world *world, const char *from, const char *to)
{
    save(world);
    struct bytes bytes = read_file(world->path);
    replace(&bytes, from, to);
    write_file(world->path, bytes.at, bytes.count);
}

static uint64_t header_length(const struct bytes *bytes)
{
    uint64_t length;
    memcpy(&length, bytes->at, sizeof length);
    return length;
}

static int files_in(const char *folder)
{
    int count = 0;
    DIR *listing = opendir(folder);
    assert_non_null(listing);
    while (readdir(listing))
        count++;
    assert_int_equal(closedir(listing), 0);
    return count - 2;
}

static void a_model_comes_back_as_it_was_saved(void **state)
{
    struct world *world = *state;
    float weights[64];
    world->weights[3] = NAN;
    world->weights[4] = -INFINITY;
    world->weights[5] = -0.0f;
    save(world);
    assert_int_equal(load(world, weights), OK);
    assert_memory_equal(weights, world->weights, model_parameters(world->model) * sizeof(float));
}

static void what_was_said_about_it_comes_back_too(void **state)
{
    const struct world *world = *state;
    struct tensors_about about;
    save(world);
    assert_int_equal(read_about(world, &about), OK);
    assert_string_equal(about.layers, model_line(world->model));
    assert_int_equal(about.in.channels, 1);
    assert_int_equal(about.in.height, 4);
    assert_int_equal(about.in.width, 4);
    assert_int_equal(about.classes, 2);
    assert_true(about.mean == ABOUT.mean && about.scale == ABOUT.scale);
    assert_true(about.digest == ABOUT.digest && about.samples == ABOUT.samples);
    assert_null(about.version);
}

static void the_file_is_laid_out_as_others_expect(void **state)
{
    const struct world *world = *state;
    static const char metadata[] =
        "{\"__metadata__\":{\"format\":\"hearsay\",\"layers\":\"conv 2 3x3, relu, dense 2\","
        "\"input\":\"1x4x4\",\"classes\":\"2\",\"mean\":\"72.9403381\",\"scale\":\"0.0111085065\","
        "\"digest\":\"00fedcba98765432\",\"samples\":\"18446744073709551615\","
        "\"version\":\"a1/0:17 b2/3:4\"},";
    static const char tensor[] =
        "\"0.conv.weight\":{\"dtype\":\"F32\",\"shape\":[2,1,3,3],\"data_offsets\":[0,72]},"
        "\"0.conv.bias\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[72,80]},";
    save(world);
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
    struct tensors_about about = ABOUT;
    struct problem problem;
    float weights[64];
    char *version = calloc(TENSORS_VERSION_MAX + 1, 1);
    assert_non_null(version);
    memset(version, 'v', TENSORS_VERSION_MAX);
    about.version = version;
    assert_int_equal(tensors_save(world->path, world->model, &about, world->weights, &problem), OK);
    free(version);
    assert_int_equal(load(world, weights), OK);
    assert_int_equal(read_about(world, &about), OK);
    assert_null(about.version);
}

static void tensors_may_lie_in_any_order(void **state)
{
    const struct world *world = *state;
    float weights[64];
    save(world);
    struct bytes bytes = read_file(world->path);
    char *data = bytes.at + 8 + header_length(&bytes);
    replace(&bytes, "[0,72]", "[8,80]");
    replace(&bytes, "[72,80]", "[0,8]  ");
    memmove(data + 8, data, 72);
    memcpy(data, world->weights + 18, 8);
    write_file(world->path, bytes.at, bytes.count);
    assert_int_equal(load(world, weights), OK);
    assert_memory_equal(weights, world->weights, model_parameters(world->model) * sizeof(float));
}

static void every_truncation_is_refused(void **state)
{
    const struct world *world = *state;
    struct tensors_about about;
    float weights[64];
    save(world);
    const struct bytes bytes = read_file(world->path);
    for (size_t length = 0; length < bytes.count; length++) {
        write_file(world->path, bytes.at, length);
        assert_int_equal(load(world, weights), MALFORMED);
        assert_int_equal(read_about(world, &about), MALFORMED);
    }
    write_file(world->path, bytes.at, bytes.count + 1);
    assert_int_equal(load(world, weights), MALFORMED);
}

/* A flipped bit in a name or a number may still be a good file; the tensors must then be whole. */
static void no_flipped_bit_of_the_header_does_harm(void **state)
{
    const struct world *world = *state;
    struct tensors_about about;
    float weights[64];
    size_t refused = 0;
    save(world);
    struct bytes bytes = read_file(world->path);
    const size_t bits = 8 * (8 + header_length(&bytes));
    for (size_t bit = 0; bit < bits; bit++) {
        bytes.at[bit / 8] = (char)(bytes.at[bit / 8] ^ 1 << bit % 8);
        write_file(world->path, bytes.at, bytes.count);
        bytes.at[bit / 8] = (char)(bytes.at[bit / 8] ^ 1 << bit % 8);
        refused += load(world, weights) != OK || read_about(world, &about) != OK;
    }
    assert_true(refused > bits / 2);
}

static void a_header_that_lies_is_refused(void **state)
{
    const struct world *world = *state;
    static const struct {
        const char *from, *to;
        enum status status;
    } lies[] = {
        {"[0,72]", "[0,73]", MALFORMED},
        {"[0,72]", "[4,72]", MALFORMED},
        {"[0,72]", "[72,0]", MALFORMED},
        {"[0,72]", "[0072]", MALFORMED},
        {"[72,80]", "[-4, 4]", MALFORMED},
        {"[0,72]", "\"0,72\"", MALFORMED},
        {"[72,80]", "[7e1,8]", MALFORMED},
        {"[2,1,3,3]", "[2,1,9,1]", MISMATCH},
        {"[2,1,3,3]", "[2,1,3.0]", MISMATCH},
        {"\"F32\"", "\"F16\"", MISMATCH},
        {"0.conv.bias", "0.conv.bait", MISMATCH},
        {"{\"dtype\"", "{\"shape\"", MALFORMED},
        {"{\"__metadata__", "[\"__metadata__", MALFORMED},
        {"__metadata__", "__metabata__", MALFORMED},
        {"\"data_offsets\"", "\"date_offsets\"", MALFORMED},
    };
    for (size_t i = 0; i < sizeof lies / sizeof lies[0]; i++) {
        float weights[64];
        write_changed(world, lies[i].from, lies[i].to);
        if (load(world, weights) != lies[i].status)
            fail_msg("lie %zu: %s", i, lies[i].to);
    }
}

static void a_length_beyond_the_file_or_the_limit_is_refused(void **state)
{
    const struct world *world = *state;
    static const uint64_t lengths[] = {0, 2, 1024 * 1024 + 1, 1ull << 63, UINT64_MAX};
    float weights[64];
    save(world);
    const struct bytes saved = read_file(world->path);
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        struct bytes bytes = saved;
        memcpy(bytes.at, &lengths[i], 8);
        write_file(world->path, bytes.at, bytes.count);
        assert_int_equal(load(world, weights), MALFORMED);
    }
}

/* The saved file with spaces behind its header, up to this length. */
static enum status load_padded(const struct world *world, uint64_t length)
{
    float weights[64];
    save(world);
    const struct bytes saved = read_file(world->path);
    const uint64_t before = header_length(&saved);
    char *padded = malloc(length + sizeof saved.at);
    assert_non_null(padded);
    memset(padded, ' ', length + sizeof saved.at);
    memcpy(padded, &length, 8);
    memcpy(padded + 8, saved.at + 8, before);
    memcpy(padded + 8 + length, saved.at + 8 + before, saved.count - 8 - before);
    write_file(world->path, padded, saved.count - before + length);
    free(padded);
    return load(world, weights);
}

static void a_header_of_one_mebibyte_is_the_longest(void **state)
{
    assert_int_equal(load_padded(*state, 1024 * 1024), OK);
    assert_int_equal(load_padded(*state, 1024 * 1024 + 1), MALFORMED);
}

static void metadata_that_makes_no_sense_is_refused(void **state)
{
    const struct world *world = *state;
    static const char *const wrongs[][2] = {
        {"\"1x4x4\"", "\"1x4x0\""},
        {"\"1x4x4\"", "\"1x4+4\""},
        {"\"1x4x4\"", "\"99999\""},
        {"\"classes\":\"2\"", "\"classes\":\"1\""},
        {"72.9403381", "72.94033i1"},
        {"72.9403381", "       nan"},
        {"72.9403381", "9e99999999"},
        {"00fedcba98765432", "00fedcba9876543G"},
        {"00fedcba98765432", "-0fedcba98765432"},
        {"18446744073709551615", "18446744073709551616"},
        {"\"samples\"", "\"sampled\""},
        {"18446744073709551615", "1844674407370955161x"},
        {"\"layers\"", "\"player\""},
    };
    for (size_t i = 0; i < sizeof wrongs / sizeof wrongs[0]; i++) {
        struct tensors_about about = {.classes = 77};
        write_changed(world, wrongs[i][0], wrongs[i][1]);
        if (read_about(world, &about) != MALFORMED)
            fail_msg("wrong %zu: %s", i, wrongs[i][1]);
        assert_int_equal(about.classes, 77);
    }
}

static void a_file_of_somebody_else_is_called_so(void **state)
{
    const struct world *world = *state;
    struct tensors_about about;
    write_changed(world, "\"hearsay\"", "\"pytorch\"");
    assert_int_equal(read_about(world, &about), MISMATCH);
}

static void a_file_of_another_model_is_refused(void **state)
{
    const struct world *world = *state;
    float weights[64];
    struct problem problem;
    assert_true(model_parameters(world->other) <= 64);
    save(world);
    assert_int_equal(tensors_load(world->path, world->other, weights, &problem), MISMATCH);
    assert_int_equal(tensors_save(world->path, world->other, &ABOUT, world->weights, &problem), OK);
    assert_int_equal(load(world, weights), MISMATCH);
}

static void what_is_not_there_is_missing(void **state)
{
    struct tensors_about about;
    float weights[64];
    assert_int_equal(load(*state, weights), MISSING);
    assert_int_equal(read_about(*state, &about), MISSING);
}

static void a_saved_file_is_for_everyone_to_read(void **state)
{
    const struct world *world = *state;
    struct stat about;
    const mode_t mask = umask(077); /* as a service has it */
    save(world);
    (void)umask(mask);
    assert_int_equal(stat(world->path, &about), 0);
    assert_int_equal(about.st_mode & 0777, 0644);
    assert_int_equal(files_in(world->folder), 1);
}

static void refuse_to_save(const struct world *world, const char *path)
{
    struct problem problem;
    assert_int_equal(tensors_save(path, world->model, &ABOUT, world->weights, &problem), FAILED);
    assert_ptr_equal(strstr(problem.text, path), problem.text);
}

/* Root may write anywhere, and so sees nothing of the first case. */
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
    save(world);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    const struct rlimit limit = {.rlim_cur = 300, .rlim_max = before.rlim_max};
    assert_true(signal(SIGXFSZ, SIG_IGN) != SIG_ERR);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    world->weights[0] = 1234;
    struct problem problem;
    const enum status status =
        tensors_save(world->path, world->model, &ABOUT, world->weights, &problem);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_equal(status, FAILED);
    assert_non_null(strstr(problem.text, "File too large"));
    assert_int_equal(files_in(world->folder), 1);
    assert_int_equal(load(world, weights), OK);
    assert_true(weights[0] == -5);
}

static void a_save_onto_a_folder_leaves_no_temporary_file(void **state)
{
    const struct world *world = *state;
    assert_int_equal(mkdir(world->path, 0755), 0);
    refuse_to_save(world, world->path);
    assert_int_equal(files_in(world->folder), 1);
}

#define IN_WORLD(test) cmocka_unit_test_setup_teardown(test, make_world, end_world)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_WORLD(a_model_comes_back_as_it_was_saved),
        IN_WORLD(what_was_said_about_it_comes_back_too),
        IN_WORLD(the_file_is_laid_out_as_others_expect),
        IN_WORLD(the_longest_version_fits),
        IN_WORLD(tensors_may_lie_in_any_order),
        IN_WORLD(every_truncation_is_refused),
        IN_WORLD(no_flipped_bit_of_the_header_does_harm),
        IN_WORLD(a_header_that_lies_is_refused),
        IN_WORLD(a_length_beyond_the_file_or_the_limit_is_refused),
        IN_WORLD(a_header_of_one_mebibyte_is_the_longest),
        IN_WORLD(metadata_that_makes_no_sense_is_refused),
        IN_WORLD(a_file_of_somebody_else_is_called_so),
        IN_WORLD(a_file_of_another_model_is_refused),
        IN_WORLD(what_is_not_there_is_missing),
        IN_WORLD(a_saved_file_is_for_everyone_to_read),
        IN_WORLD(a_folder_that_cannot_be_written_is_reported),
        IN_WORLD(a_save_that_fails_leaves_the_old_file_and_no_other),
        IN_WORLD(a_save_onto_a_folder_leaves_no_temporary_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
