/* NumPy files are read as they were written, or rejected with the reason. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "data/npy_file.h"
#include "support/model/data_folder.h"

static const float NUMBERS[] = {1, -2.5f, 3e30f, 0, 5, 6};

#define HEADER(descr, order, shape)                                                                \
    "{'descr': " descr ", 'fortran_order': " order ", 'shape': " shape ", }"

/* Returns the message of a rejected file, or "" if it opened. */
static const char *refusal(const char *name, struct npy_file *file)
{
    static struct problem problem;
    static struct data_path path;
    path = data_path(name);
    if (npy_file_open(file, path.text, &problem) == OK)
        return "";
    assert_int_equal(strncmp(problem.text, path.text, strlen(path.text)), 0);
    assert_true(strlen(problem.text) < sizeof problem.text - 1); /* the message was not truncated */
    return problem.text + strlen(path.text);
}

static void must_refuse(const char *name, const char *words)
{
    struct npy_file file;
    const char *why = refusal(name, &file);
    if (strncmp(why, words, strlen(words)) != 0)
        fail_msg("\"%s\" does not begin with \"%s\"", why, words);
    assert_non_null(strchr(why, ';')); /* the message says what to do */
}

static void refuse_header(int version, const char *header, const char *words)
{
    write_npy_header("a.npy", version, header, NUMBERS, sizeof NUMBERS);
    must_refuse("a.npy", words);
}

static void check_numbers(const char *name)
{
    struct npy_file file;
    struct problem problem;
    float read[6];
    assert_string_equal(refusal(name, &file), "");
    assert_true(file.kind == 'f' && file.bytes == 4 && file.rank == 2 && file.size == 2);
    assert_true(file.dims[0] == 3 && file.dims[1] == 2);
    for (int i = 0; i < 3; i++)
        assert_int_equal(npy_file_read(&file, read + (ptrdiff_t)2 * i, 1, &problem), OK);
    assert_memory_equal(read, NUMBERS, sizeof read);
    npy_file_close(&file);
}

static void all_versions_and_spellings_are_read(void **state)
{
    (void)state;
    static const char *const headers[] = {
        HEADER("'<f4'", "False", "(3, 2)") "          \n",
        HEADER("'<f4'", "False", "(3, 2,)"),
        HEADER("'<f4'", "False", "(3L, 2L)"),
        "{\"shape\":(3,2),\"fortran_order\":False,\"descr\":\"<f4\"}",
        " { 'shape' : ( 3 , 2 ) , 'descr' : '<f4' , 'fortran_order' : False }\n",
    };
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++)
        for (int version = 1; version <= 3; version++) {
            write_npy_header("a.npy", version, headers[i], NUMBERS, sizeof NUMBERS);
            check_numbers("a.npy");
        }
}

static void the_types_of_numbers_are_known(void **state)
{
    (void)state;
    static const struct {
        const char *descr, *name;
        int bytes;
    } types[] = {{"|b1", "bool", 1},    {"|u1", "uint8", 1},  {"|i1", "int8", 1},
                 {"<u2", "uint16", 2},  {"<i2", "int16", 2},  {"<u4", "uint32", 4},
                 {"<i4", "int32", 4},   {"<u8", "uint64", 8}, {"<i8", "int64", 8},
                 {"<f4", "float32", 4}, {"<f8", "float64", 4}};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        struct npy_file file;
        char name[NPY_NAME_BYTES];
        const bool is_double = strcmp(types[i].name, "float64") == 0;
        write_npy("a.npy", types[i].descr, "(2,)", NUMBERS,
                  is_double ? 2 * sizeof(double) : 2 * (size_t)types[i].bytes);
        assert_string_equal(refusal("a.npy", &file), "");
        assert_int_equal(file.bytes, types[i].bytes);
        assert_string_equal(npy_file_type(name, &file), types[i].name);
        npy_file_close(&file);
    }
}

static void doubles_are_read_as_floats(void **state)
{
    static const double doubles[] = {0.1, -2.5, 1e300, 7};
    (void)state;
    struct npy_file file;
    struct problem problem;
    float read[2];
    write_npy("a.npy", "<f8", "(2, 2)", doubles, sizeof doubles);
    assert_string_equal(refusal("a.npy", &file), "");
    assert_int_equal(npy_file_skip(&file, 1, &problem), OK);
    assert_int_equal(npy_file_read(&file, read, 1, &problem), OK);
    assert_true(isinf(read[0]) && read[1] == 7); /* infinity is rejected later */
    npy_file_close(&file);
}

/* Two samples of 8 x 9 with 3 channels. Each number is its index. */
static void images_with_their_channels_last_are_read_with_them_first(void **state)
{
    (void)state;
    struct npy_file file;
    struct problem problem;
    static float stored[2][8][9][3], read[2][3][8][9];
    for (int i = 0; i < 2 * 8 * 9 * 3; i++)
        (&stored[0][0][0][0])[i] = (float)i;
    write_npy("a.npy", "<f4", "(2, 8, 9, 3)", stored, sizeof stored);
    assert_string_equal(refusal("a.npy", &file), "");
    assert_int_equal(npy_file_order(&file, NPY_CHANNELS_AUTO, &problem), OK);
    assert_true(file.channels_last && file.dims[1] == 3 && file.dims[2] == 8 && file.dims[3] == 9);
    assert_int_equal(npy_file_read(&file, read, 2, &problem), OK);
    for (int i = 0; i < 2; i++)
        for (int c = 0; c < 3; c++)
            for (int y = 0; y < 8; y++)
                for (int x = 0; x < 9; x++)
                    assert_true(read[i][c][y][x] == stored[i][y][x][c]);
    npy_file_close(&file);
}

static void channels_are_found_where_they_can_be_nothing_else(void **state)
{
    static const struct {
        const char *shape;
        enum npy_channels asked;
        int last; /* 1 = read with channels last; 0 = first; -1 = rejected as ambiguous */
    } cases[] = {
        {"(1, 28, 28, 1)", NPY_CHANNELS_AUTO, 1},  {"(1, 32, 40, 3)", NPY_CHANNELS_AUTO, 1},
        {"(1, 32, 32, 4)", NPY_CHANNELS_AUTO, 1},  {"(1, 16, 8, 4)", NPY_CHANNELS_AUTO, -1},
        {"(1, 16, 8, 2)", NPY_CHANNELS_AUTO, -1},  {"(1, 3, 32, 32)", NPY_CHANNELS_AUTO, 0},
        {"(1, 3, 32, 3)", NPY_CHANNELS_AUTO, 0},   {"(1, 64, 7, 3)", NPY_CHANNELS_AUTO, -1},
        {"(1, 64, 2, 2)", NPY_CHANNELS_AUTO, 0},   {"(1, 28, 28, 5)", NPY_CHANNELS_AUTO, -1},
        {"(1, 12, 12, 5)", NPY_CHANNELS_AUTO, -1}, {"(1, 20, 20, 6)", NPY_CHANNELS_AUTO, -1},
        {"(1, 4, 6, 3)", NPY_CHANNELS_AUTO, -1},   {"(1, 5, 16, 16)", NPY_CHANNELS_AUTO, 0},
        {"(1, 64, 7, 7)", NPY_CHANNELS_AUTO, 0},   {"(1, 12, 12, 5)", NPY_CHANNELS_LAST, 1},
        {"(1, 28, 3)", NPY_CHANNELS_AUTO, 0},      {"(1, 16, 8, 4)", NPY_CHANNELS_LAST, 1},
        {"(1, 16, 8, 4)", NPY_CHANNELS_FIRST, 0},  {"(1, 28, 28, 3)", NPY_CHANNELS_FIRST, 0},
        {"(1, 2, 2, 2, 3)", NPY_CHANNELS_LAST, 0},
    };
    static const uint8_t zeros[64 * 64 * 3];
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct npy_file file;
        struct problem problem;
        unsigned sides[4] = {1, 1, 1, 1};
        (void)sscanf(cases[i].shape, "(1, %u, %u, %u, %u", &sides[0], &sides[1], &sides[2],
                     &sides[3]);
        write_npy("a.npy", "|u1", cases[i].shape, zeros,
                  (size_t)sides[0] * sides[1] * sides[2] * sides[3]);
        assert_string_equal(refusal("a.npy", &file), "");
        const enum error error = npy_file_order(&file, cases[i].asked, &problem);
        if ((error == OK ? file.channels_last : -1) != cases[i].last)
            fail_msg("%s", cases[i].shape);
        if (error != OK)
            assert_non_null(strstr(problem.text, "data.channels = first, or last"));
        npy_file_close(&file);
    }
}

static void samples_can_be_left_out(void **state)
{
    (void)state;
    struct npy_file file;
    struct problem problem;
    float read[2];
    write_npy("a.npy", "<f4", "(3, 2)", NUMBERS, sizeof NUMBERS);
    assert_string_equal(refusal("a.npy", &file), "");
    assert_int_equal(npy_file_skip(&file, 2, &problem), OK);
    assert_int_equal(npy_file_read(&file, read, 1, &problem), OK);
    assert_memory_equal(read, NUMBERS + 4, sizeof read);
    npy_file_close(&file);
}

static void rejects_a_file_that_is_no_array(void **state)
{
    (void)state;
    must_refuse("nowhere.npy", ": cannot be opened: No such file");
    write_data("a.npy", "", 0);
    must_refuse("a.npy", ": is not a .npy file");
    write_data("a.npy", "\x93NUMPX\1\0v\0{'descr'", 18);
    must_refuse("a.npy", ": is not a .npy file");
    write_data("a.npy", "PK\3\4 and so on", 14);
    must_refuse("a.npy", ": is a .npz, an archive");
    must_refuse("", ": is not a file");
}

static void every_truncation_is_refused(void **state)
{
    (void)state;
    char whole[512];
    write_npy("a.npy", "<f4", "(3, 2)", NUMBERS, sizeof NUMBERS);
    FILE *file = fopen(data_path("a.npy").text, "rb");
    assert_non_null(file);
    const size_t bytes = fread(whole, 1, sizeof whole, file);
    assert_int_equal(fclose(file), 0);
    for (size_t length = 0; length < bytes; length++) {
        write_data("a.npy", whole, length);
        must_refuse("a.npy", length < 6                        ? ": is not a .npy file"
                             : length < bytes - sizeof NUMBERS ? ": ends within its header"
                                                               : ": announces 24 bytes of numbers");
    }
    whole[bytes] = 0;
    write_data("a.npy", whole, bytes + 1);
    must_refuse("a.npy", ": announces 24 bytes of numbers and holds 25: it goes on behind them");
}

static void versions_to_come_are_refused(void **state)
{
    (void)state;
    refuse_header(0, HEADER("'<f4'", "False", "(3, 2)"), ": is of version 0.0 of the format");
    refuse_header(4, HEADER("'<f4'", "False", "(3, 2)"), ": is of version 4.0 of the format");
}

static void other_orders_are_refused(void **state)
{
    (void)state;
    refuse_header(1, HEADER("'<f4'", "True", "(3, 2)"), ": lies in Fortran order; ");
    refuse_header(1, HEADER("'>f4'", "False", "(3, 2)"), ": is big endian; ");
    refuse_header(1, HEADER("'>i8'", "False", "(3,)"), ": is big endian; ");
    struct npy_file file;
    write_npy_header("a.npy", 1, HEADER("'<f4'", "True", "(6,)"), NUMBERS, sizeof NUMBERS);
    /* With one dimension, Fortran order does not matter. */
    assert_string_equal(refusal("a.npy", &file), "");
    npy_file_close(&file);
}

static void types_that_cannot_be_learned_are_refused(void **state)
{
    (void)state;
    refuse_header(1, HEADER("'<f2'", "False", "(3,)"), ": holds float16, and of floats float32");
    refuse_header(1, HEADER("'>f2'", "False", "(3,)"), ": holds float16, and of floats float32");
    refuse_header(1, HEADER("'<c8'", "False", "(3,)"), ": holds complex64, and no complex");
    refuse_header(1, HEADER("'|O'", "False", "(3,)"), ": holds Python objects (|O)");
    refuse_header(1, HEADER("'<U5'", "False", "(3,)"), ": holds text (<U5)");
    refuse_header(1, HEADER("'|S5'", "False", "(3,)"), ": holds text (|S5)");
    refuse_header(1, HEADER("'<M8[ns]'", "False", "(3,)"), ": holds what are no plain numbers");
    refuse_header(1, HEADER("[('a', '<f4'), ('b', '<i8', (2,))]", "False", "(3,)"),
                  ": holds records of several fields (records)");
    refuse_header(1, HEADER("'<i3'", "False", "(8,)"), ": holds what are no plain numbers (<i3)");
    refuse_header(1, HEADER("'<'", "False", "(8,)"), ": holds what are no plain numbers (<)");
    refuse_header(1, HEADER("'<i99999999999999999999'", "False", "(8,)"), ": holds what are no");
}

static void headers_that_are_nonsense_are_refused(void **state)
{
    (void)state;
    static const char *const headers[] = {
        "",
        "{",
        "{}",
        "{'descr': '<f4', 'fortran_order': False}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 2)",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 2}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (3, -2)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (3.0, 2)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999, 2)}",
        "{'descr': '<f4', 'fortran_order': 0, 'shape': (3, 2)}",
        "{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (3, 2)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 2), 'more': 1}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 2)} and more",
        "{'descr': '<f4, 'fortran_order': False, 'shape': (3, 2)}",
        "{'descr': [('a', '<f4'), 'fortran_order': False, 'shape': (3, 2)}",
        "{'descr': '<f4<f4<f4<f4<f4<f4<f4<f4<f4<f4<f4', 'fortran_order': False, 'shape': (3, 2)}",
    };
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++)
        refuse_header(1, headers[i], ": its header does not say type, order and shape");
    char deep[1024] = "{'descr': '<f4', 'fortran_order': False, 'shape': (";
    for (int i = 0; i <= NPY_RANK_MAX; i++)
        strcat(deep, "1, ");
    refuse_header(1, strcat(deep, ")}"), ": its header does not say type, order and shape");
    write_data("a.npy", "\x93NUMPY\2\0\xff\xff\xff\x7f{'descr': '<f4'", 26);
    must_refuse("a.npy", ": announces a header of 2147483647 bytes");
}

static void shapes_that_cannot_be_are_refused(void **state)
{
    (void)state;
    refuse_header(1, HEADER("'<f4'", "False", "()"), ": is one number without a dimension");
    refuse_header(1, HEADER("'<f4'", "False", "(0,)"), ": is empty: its dimension 1 of 1 is 0");
    refuse_header(1, HEADER("'<f4'", "False", "(3, 0)"), ": is empty: its dimension 2 of 2 is 0");
    refuse_header(1, HEADER("'<f4'", "False", "(4294967296, 4294967296, 4294967296)"),
                  ": announces more numbers than can be counted");
    refuse_header(1, HEADER("'<f4'", "False", "(4294967296, 4294967296)"),
                  ": announces more numbers than can be counted");
    /* 4 times this is 0 in 64 bits. */
    refuse_header(1, HEADER("'<f4'", "False", "(4611686018427387904,)"),
                  ": announces more numbers than can be counted");
    refuse_header(1, HEADER("'<f4'", "False", "(3, 1000000000000)"), ": announces 12000000000000 ");
}

static void a_file_that_shrinks_is_noticed(void **state)
{
    (void)state;
    struct npy_file file;
    struct problem problem;
    float read[6];
    write_npy("a.npy", "<f4", "(3, 2)", NUMBERS, sizeof NUMBERS);
    assert_string_equal(refusal("a.npy", &file), "");
    stretch_data("a.npy", 80);
    assert_int_equal(npy_file_read(&file, read, 3, &problem), MALFORMED);
    assert_non_null(strstr(problem.text, "became shorter while it was read"));
    npy_file_close(&file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_DATA_FOLDER(all_versions_and_spellings_are_read),
        IN_DATA_FOLDER(the_types_of_numbers_are_known),
        IN_DATA_FOLDER(samples_can_be_left_out),
        IN_DATA_FOLDER(doubles_are_read_as_floats),
        IN_DATA_FOLDER(images_with_their_channels_last_are_read_with_them_first),
        IN_DATA_FOLDER(channels_are_found_where_they_can_be_nothing_else),
        IN_DATA_FOLDER(rejects_a_file_that_is_no_array),
        IN_DATA_FOLDER(every_truncation_is_refused),
        IN_DATA_FOLDER(versions_to_come_are_refused),
        IN_DATA_FOLDER(other_orders_are_refused),
        IN_DATA_FOLDER(types_that_cannot_be_learned_are_refused),
        IN_DATA_FOLDER(headers_that_are_nonsense_are_refused),
        IN_DATA_FOLDER(shapes_that_cannot_be_are_refused),
        IN_DATA_FOLDER(a_file_that_shrinks_is_noticed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
