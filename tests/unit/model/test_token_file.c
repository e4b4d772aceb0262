/* Token files are read as they were written, or rejected with the reason. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "data/token_file.h"
#include "support/model/data_folder.h"

#define SHORT_MAGIC 20240520
#define LONG_MAGIC  20240801

static const char TEXT[] = "Whoever reads this reads all of it, and in its order.";
static const uint16_t SHORTS[] = {1, 65535, 300, 0, 2};
static const uint32_t LONGS[] = {1, 128255, 70000, 0};

/* Returns the message of a rejected file, or "" if its tokens are as expected. */
static const char *refusal(const char *name, bool is_text, int token_bytes, const void *tokens,
                           size_t count)
{
    static struct problem problem;
    const struct data_path path = data_path(name);
    struct token_file file;
    uint64_t counted = 0;
    enum error error = token_file_open(&file, path.text, is_text, &problem);
    if (error == OK) {
        error = token_file_count(&file, &counted, &problem);
        unsigned char *read = malloc(counted * 4 + 1);
        assert_non_null(read);
        for (uint64_t at = 0; at < counted && error == OK; at++) /* one token at a time */
            error = token_file_read(&file, read + at * (size_t)file.token_bytes, 1, &problem);
        if (error == OK) {
            assert_int_equal(file.token_bytes, token_bytes);
            assert_int_equal(counted, count);
            assert_memory_equal(read, tokens, count * (size_t)token_bytes);
        }
        free(read);
        token_file_close(&file);
    }
    if (error == OK)
        return "";
    assert_int_equal(strncmp(problem.text, path.text, strlen(path.text)), 0);
    return problem.text + strlen(path.text);
}

static void must_refuse(const char *name, bool is_text, const char *words)
{
    const char *why = refusal(name, is_text, 0, "", 0);
    if (strncmp(why, words, strlen(words)) != 0)
        fail_msg("\"%s\" does not begin with \"%s\"", why, words);
    assert_non_null(strchr(why, ';')); /* the message says what to do */
}

static void text_is_its_bytes_plain_or_packed(void **state)
{
    (void)state;
    write_data("plain.txt", TEXT, sizeof TEXT);
    write_packed("packed.dz", TEXT, sizeof TEXT);
    assert_string_equal(refusal("plain.txt", true, 1, TEXT, sizeof TEXT), "");
    assert_string_equal(refusal("packed.dz", true, 1, TEXT, sizeof TEXT), "");
    write_data("one.txt", "\x1f", 1);
    assert_string_equal(refusal("one.txt", true, 1, "\x1f", 1), "");
}

static void tokens_of_each_format_are_told_apart(void **state)
{
    (void)state;
    write_llmc("short.bin", SHORT_MAGIC, 1, 5, SHORTS, sizeof SHORTS);
    write_llmc("long.bin", LONG_MAGIC, 7, 4, LONGS, sizeof LONGS);
    write_data("bare.bin", SHORTS, sizeof SHORTS);
    assert_string_equal(refusal("short.bin", false, 2, SHORTS, 5), "");
    assert_string_equal(refusal("long.bin", false, 4, LONGS, 4), "");
    assert_string_equal(refusal("bare.bin", false, 2, SHORTS, 5), "");
    write_data("bare.bin", SHORTS, 2); /* shorter than a magic number */
    assert_string_equal(refusal("bare.bin", false, 2, SHORTS, 1), "");
}

static void rejects_a_missing_or_empty_file(void **state)
{
    (void)state;
    for (int is_text = 0; is_text < 2; is_text++) {
        must_refuse("nowhere", is_text, ": cannot be opened: No such file or directory; ");
        must_refuse(".", is_text, ": is not a file; ");
        write_data("empty", "", 0);
        must_refuse("empty", is_text, ": is empty; ");
    }
    write_packed("empty.gz", "", 0);
    must_refuse("empty.gz", true, ": is empty; ");
    write_llmc("none.bin", SHORT_MAGIC, 1, 0, "", 0);
    must_refuse("none.bin", false, ": is empty; ");
}

static void a_length_that_is_not_as_announced_is_refused(void **state)
{
    (void)state;
    write_llmc("cut.bin", SHORT_MAGIC, 1, 6, SHORTS, sizeof SHORTS);
    must_refuse("cut.bin", false, ": announces 6 tokens of 2 bytes and holds 10 bytes: it is cut");
    write_llmc("more.bin", LONG_MAGIC, 7, 3, LONGS, sizeof LONGS);
    must_refuse("more.bin", false, ": announces 3 tokens of 4 bytes and holds 16 bytes: ");
    write_llmc("huge.bin", LONG_MAGIC, 7, UINT32_MAX, LONGS, sizeof LONGS);
    must_refuse("huge.bin", false, ": announces 4294967295 tokens of 4 bytes and holds 16 bytes: ");
    write_data("odd.bin", SHORTS, 9);
    must_refuse("odd.bin", false,
                ": has no header, so its tokens are of 2 bytes, but its length "
                "is odd (9); ");
}

static void every_truncation_of_a_header_is_refused(void **state)
{
    (void)state;
    for (uint64_t bytes = 4; bytes < TOKEN_FILE_HEADER_BYTES; bytes++) {
        write_llmc("cut.bin", SHORT_MAGIC, 1, 5, SHORTS, sizeof SHORTS);
        stretch_data("cut.bin", bytes);
        must_refuse("cut.bin", false, ": ends within its header; ");
    }
}

static void another_version_or_format_is_refused(void **state)
{
    (void)state;
    write_llmc("old.bin", SHORT_MAGIC, 7, 5, SHORTS, sizeof SHORTS);
    must_refuse("old.bin", false, ": is of version 7 of format 20240520, and only version 1 can");
    write_llmc("big.bin", __builtin_bswap32(SHORT_MAGIC), 1, 5, SHORTS, sizeof SHORTS);
    must_refuse("big.bin", false, ": is big endian, and llm.c's files are little endian; ");
    write_llmc("old.bin", LONG_MAGIC, 1, 4, LONGS, sizeof LONGS);
    must_refuse("old.bin", false, ": is of version 1 of format 20240801, and only version 7 can");
    write_llmc("model.bin", 20240326, 3, 4, LONGS, sizeof LONGS);
    must_refuse("model.bin", false, ": begins with 20240326, which is not the number of a file of");
}

static void every_truncation_of_a_packed_file_is_refused(void **state)
{
    (void)state;
    const size_t length = write_packed("cut.gz", TEXT, sizeof TEXT);
    for (size_t bytes = length - 1; bytes >= 2; bytes--) {
        stretch_data("cut.gz", bytes);
        must_refuse("cut.gz", true, ": is ");
    }
}

static void a_damaged_packed_file_never_gives_other_text(void **state)
{
    (void)state;
    static uint8_t packed[4096];
    const size_t length = write_packed("whole.gz", TEXT, sizeof TEXT);
    assert_true(length < sizeof packed);
    FILE *file = fopen(data_path("whole.gz").text, "rb");
    assert_non_null(file);
    assert_int_equal(fread(packed, 1, length, file), length);
    assert_int_equal(fclose(file), 0);
    int refused = 0;
    for (size_t i = 10; i < length; i++) { /* all bytes behind the gzip header */
        packed[i] ^= 0x40;
        write_data("damaged.gz", packed, length);
        packed[i] ^= 0x40;
        refused += refusal("damaged.gz", true, 1, TEXT, sizeof TEXT)[0] != '\0';
    }
    assert_true(refused > (int)sizeof TEXT / 2);
    packed[length - 8] ^= 1;
    write_data("damaged.gz", packed, length);
    must_refuse("damaged.gz", true, ": is damaged: its compressed data or their checksum");
}

static void a_file_that_becomes_shorter_is_refused(void **state)
{
    (void)state;
    struct token_file file;
    struct problem problem;
    uint64_t count;
    char read[sizeof TEXT];
    write_data("plain.txt", TEXT, sizeof TEXT);
    const struct data_path path = data_path("plain.txt");
    assert_int_equal(token_file_open(&file, path.text, true, &problem), OK);
    assert_int_equal(token_file_count(&file, &count, &problem), OK);
    stretch_data("plain.txt", 5);
    assert_int_equal(token_file_read(&file, read, count, &problem), MALFORMED);
    assert_non_null(strstr(problem.text, "became shorter while it was read; "));
    token_file_close(&file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_DATA_FOLDER(text_is_its_bytes_plain_or_packed),
        IN_DATA_FOLDER(tokens_of_each_format_are_told_apart),
        IN_DATA_FOLDER(rejects_a_missing_or_empty_file),
        IN_DATA_FOLDER(a_length_that_is_not_as_announced_is_refused),
        IN_DATA_FOLDER(every_truncation_of_a_header_is_refused),
        IN_DATA_FOLDER(another_version_or_format_is_refused),
        IN_DATA_FOLDER(every_truncation_of_a_packed_file_is_refused),
        IN_DATA_FOLDER(a_damaged_packed_file_never_gives_other_text),
        IN_DATA_FOLDER(a_file_that_becomes_shorter_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
