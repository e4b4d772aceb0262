/* Loading a saved model: its values, and which files are rejected. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "support/state/safetensors_story.h"

static void a_model_comes_back_as_it_was_saved(void **state)
{
    struct world *world = *state;
    float weights[64];
    world->weights[3] = NAN;
    world->weights[4] = -INFINITY;
    world->weights[5] = -0.0f;
    save_model(world);
    assert_int_equal(load_model(world, weights), OK);
    assert_memory_equal(weights, world->weights, model_parameters(world->model) * sizeof(float));
}

static void metadata_loads_unchanged(void **state)
{
    const struct world *world = *state;
    struct safetensors_about about;
    save_model(world);
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

static void a_model_of_sequences_says_how_long_they_are(void **state)
{
    const struct world *world = *state;
    struct safetensors_about about = ABOUT;
    struct problem problem;
    float weights[64];
    const size_t count = model_parameters(world->sequences);
    about.classes = 50257; /* classes of the data, more than 256 */
    about.mean = 0;
    about.scale = 1;
    assert_int_equal(
        safetensors_save(world->path, world->sequences, &about, world->weights, &problem), OK);
    const struct bytes bytes = read_file(world->path);
    assert_non_null(memmem(bytes.at, bytes.count, "\"input\":\"24 tokens\"", 19));
    assert_int_equal(read_about(world, &about), OK);
    assert_int_equal(about.in.length, 24);
    assert_int_equal(shape_size(about.in), 24);
    assert_int_equal(about.classes, 50257);
    assert_string_equal(about.layers, model_line(world->sequences));
    assert_int_equal(safetensors_load(world->path, world->sequences, weights, &problem), OK);
    assert_memory_equal(weights, world->weights, count * sizeof *weights);
}

static void a_sequence_of_no_length_is_refused(void **state)
{
    const struct world *world = *state;
    static const char *const wrongs[] = {" 0 tokens\"", "1 tokens\" ", "-4 tokens\"",
                                         "24 tokenz\"", "24tokens\" ", "99999 tok\""};
    struct problem problem;
    for (size_t i = 0; i < sizeof wrongs / sizeof wrongs[0]; i++) {
        struct safetensors_about about = {.classes = 77};
        assert_int_equal(
            safetensors_save(world->path, world->sequences, &ABOUT, world->weights, &problem), OK);
        struct bytes bytes = read_file(world->path);
        replace(&bytes, "24 tokens\"", wrongs[i]);
        write_file(world->path, bytes.at, bytes.count);
        assert_int_equal(read_about(world, &about), MALFORMED);
        assert_int_equal(about.classes, 77);
    }
}

static void tensors_may_lie_in_any_order(void **state)
{
    const struct world *world = *state;
    float weights[64];
    save_model(world);
    struct bytes bytes = read_file(world->path);
    char *data = bytes.at + 8 + header_length(&bytes);
    replace(&bytes, "[0,72]", "[8,80]");
    replace(&bytes, "[72,136]", "[80,144]");
    replace(&bytes, "[136,144]", "[0,8]    ");
    memmove(data + 8, data, 136);
    memcpy(data, world->weights + 34, 8);
    write_file(world->path, bytes.at, bytes.count);
    assert_int_equal(load_model(world, weights), OK);
    assert_memory_equal(weights, world->weights, model_parameters(world->model) * sizeof(float));
}

static void every_truncation_is_refused(void **state)
{
    const struct world *world = *state;
    struct safetensors_about about;
    float weights[64];
    save_model(world);
    const struct bytes bytes = read_file(world->path);
    for (size_t length = 0; length < bytes.count; length++) {
        write_file(world->path, bytes.at, length);
        assert_int_equal(load_model(world, weights), MALFORMED);
        assert_int_equal(read_about(world, &about), MALFORMED);
    }
    write_file(world->path, bytes.at, bytes.count + 1);
    assert_int_equal(load_model(world, weights), MALFORMED);
}

/* A file with a flipped bit in a name or number may still be valid. */
static void no_flipped_bit_of_the_header_does_harm(void **state)
{
    const struct world *world = *state;
    struct safetensors_about about;
    float weights[64];
    size_t refused = 0;
    save_model(world);
    struct bytes bytes = read_file(world->path);
    const size_t bits = 8 * (8 + header_length(&bytes));
    for (size_t bit = 0; bit < bits; bit++) {
        bytes.at[bit / 8] = (char)(bytes.at[bit / 8] ^ 1 << bit % 8);
        write_file(world->path, bytes.at, bytes.count);
        bytes.at[bit / 8] = (char)(bytes.at[bit / 8] ^ 1 << bit % 8);
        refused += load_model(world, weights) != OK || read_about(world, &about) != OK;
    }
    assert_true(refused > bits / 2);
}

static void a_header_that_lies_is_refused(void **state)
{
    const struct world *world = *state;
    static const struct {
        const char *from, *to;
        enum error error;
    } lies[] = {
        {"[0,72]", "[0,73]", MALFORMED},
        {"[0,72]", "[4,72]", MALFORMED},
        {"[0,72]", "[72,0]", MALFORMED},
        {"[0,72]", "[0072]", MALFORMED},
        {"[136,144]", "[-4,   4]", MALFORMED},
        {"[0,72]", "\"0,72\"", MALFORMED},
        {"[136,144]", "[13e1,14]", MALFORMED},
        {"[2,1,3,3]", "[2,1,9,1]", MISMATCH},
        {"[2,1,3,3]", "[2,1,3.0]", MISMATCH},
        {"\"F32\"", "\"I32\"", MISMATCH},
        {"\"F32\"", "\"F16\"", MALFORMED},
        {"0.conv.bias", "0.conv.bait", MISMATCH},
        {"{\"dtype\"", "{\"shape\"", MALFORMED},
        {"{\"__metadata__", "[\"__metadata__", MALFORMED},
        {"__metadata__", "__metabata__", MALFORMED},
        {"\"data_offsets\"", "\"date_offsets\"", MALFORMED},
    };
    for (size_t i = 0; i < sizeof lies / sizeof lies[0]; i++) {
        float weights[64];
        write_changed(world, lies[i].from, lies[i].to);
        if (load_model(world, weights) != lies[i].error)
            fail_msg("lie %zu: %s", i, lies[i].to);
    }
}

static void a_length_beyond_the_file_or_the_limit_is_refused(void **state)
{
    const struct world *world = *state;
    static const uint64_t lengths[] = {0, 2, 1024 * 1024 + 1, 1ull << 63, UINT64_MAX};
    float weights[64];
    save_model(world);
    const struct bytes saved = read_file(world->path);
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        struct bytes bytes = saved;
        memcpy(bytes.at, &lengths[i], 8);
        write_file(world->path, bytes.at, bytes.count);
        assert_int_equal(load_model(world, weights), MALFORMED);
    }
}

/* Loads the saved file with spaces behind its header, up to `length` bytes. */
static enum error load_padded(const struct world *world, uint64_t length)
{
    float weights[64];
    save_model(world);
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
    return load_model(world, weights);
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
        {"\"checksum\"", "\"chucksum\""},
    };
    for (size_t i = 0; i < sizeof wrongs / sizeof wrongs[0]; i++) {
        struct safetensors_about about = {.classes = 77};
        write_changed(world, wrongs[i][0], wrongs[i][1]);
        if (read_about(world, &about) != MALFORMED)
            fail_msg("wrong %zu: %s", i, wrongs[i][1]);
        assert_int_equal(about.classes, 77);
    }
}

static void a_file_of_somebody_else_is_called_so(void **state)
{
    const struct world *world = *state;
    struct safetensors_about about;
    write_changed(world, "\"hearsay\"", "\"pytorch\"");
    assert_int_equal(read_about(world, &about), MISMATCH);
}

static void a_file_of_another_model_is_refused(void **state)
{
    const struct world *world = *state;
    float weights[64];
    struct problem problem;
    assert_true(model_parameters(world->other) <= 64);
    save_model(world);
    assert_int_equal(safetensors_load(world->path, world->other, weights, &problem), MISMATCH);
    assert_int_equal(safetensors_save(world->path, world->other, &ABOUT, world->weights, &problem),
                     OK);
    assert_int_equal(load_model(world, weights), MISMATCH);
}

/* Returns the message of loading the file as `model`, which must fail. */
static const char *refusal(const struct world *world, const struct model *model)
{
    static struct problem problem;
    float weights[64];
    assert_int_equal(safetensors_load(world->path, model, weights, &problem), MISMATCH);
    return problem.text;
}

static void a_refusal_lists_what_the_file_holds_and_what_is_needed(void **state)
{
    const struct world *world = *state;
    save_model(world);
    assert_non_null(strstr(refusal(world, world->other),
                           ": has no tensor 4.dense.weight: it holds 0.conv.weight F32 [2,1,3,3], "
                           "2.dense.weight F32 [2,8], 0.conv.bias F32 [2], ... of 4; the model "
                           "needs 0.conv.weight F32 [2,1,3,3], 2.dense.weight F32 [2,8], "
                           "4.dense.weight F32 [2,2], ... of 6; name a file of this model"));
    write_changed(world, "0.conv.bias\":{\"dtype\":\"F32\"", "0.conv.b\\ta\":{\"dtype\":\"F\\t\"");
    assert_non_null(strstr(refusal(world, world->model), ", 0.conv.b?a F? [2], "));
    write_changed(world, "[2,1,3,3]", "[2,[],33]");
    assert_non_null(strstr(refusal(world, world->model), "holds 0.conv.weight F32 [2,0,33], "));
}

static void a_missing_file_is_reported_as_missing(void **state)
{
    struct safetensors_about about;
    float weights[64];
    assert_int_equal(load_model(*state, weights), MISSING);
    assert_int_equal(read_about(*state, &about), MISSING);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_WORLD(a_model_comes_back_as_it_was_saved),
        IN_WORLD(metadata_loads_unchanged),
        IN_WORLD(a_model_of_sequences_says_how_long_they_are),
        IN_WORLD(a_sequence_of_no_length_is_refused),
        IN_WORLD(tensors_may_lie_in_any_order),
        IN_WORLD(every_truncation_is_refused),
        IN_WORLD(no_flipped_bit_of_the_header_does_harm),
        IN_WORLD(a_header_that_lies_is_refused),
        IN_WORLD(a_length_beyond_the_file_or_the_limit_is_refused),
        IN_WORLD(a_header_of_one_mebibyte_is_the_longest),
        IN_WORLD(metadata_that_makes_no_sense_is_refused),
        IN_WORLD(a_file_of_somebody_else_is_called_so),
        IN_WORLD(a_file_of_another_model_is_refused),
        IN_WORLD(a_refusal_lists_what_the_file_holds_and_what_is_needed),
        IN_WORLD(a_missing_file_is_reported_as_missing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
