/* Event files for TensorBoard: the bytes of a record. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "commands/plot/event_file.h"

static uint8_t bytes[512];

static size_t written(void (*write)(FILE *out))
{
    memset(bytes, 0, sizeof bytes);
    FILE *out = fmemopen(bytes, sizeof bytes, "w");
    assert_non_null(out);
    write(out);
    const long count = ftell(out);
    assert_int_equal(fclose(out), 0);
    return (size_t)count;
}

static void the_crc_is_that_of_castagnoli(void **state)
{
    (void)state;
    uint8_t zeros[32] = {0}, ones[32];
    memset(ones, 0xff, sizeof ones);
    assert_int_equal(event_file_crc("123456789", 9), 0xe3069283);
    assert_int_equal(event_file_crc(zeros, 32), 0x8a9136aa); /* test vector of RFC 3720, B.4 */
    assert_int_equal(event_file_crc(ones, 32), 0x62a8ab43);
}

static void add(FILE *out)
{
    event_file_add(out, 1.0, 300, "loss", 0.5F);
}

static void a_number_is_an_event(void **state)
{
    (void)state;
    static const uint8_t event[] = {
        0x09, 0,    0,    0,   0,    0,   0, 0xf0, 0x3f, /* wall_time: 1.0 */
        0x10, 0xac, 0x02,                                /* step: 300 */
        0x2a, 13,                                        /* summary, 13 bytes */
        0x0a, 11,                                        /* value, 11 bytes */
        0x0a, 4,    'l',  'o', 's',  's',                /* tag, 4 bytes */
        0x15, 0,    0,    0,   0x3f,                     /* simple_value: 0.5 */
    };
    assert_int_equal(written(add), sizeof event + 16);
    assert_int_equal(bytes[0], sizeof event);
    assert_memory_equal(bytes + 12, event, sizeof event);
}

static void add_long(FILE *out)
{
    char tag[4 * EVENT_TAG_BYTES];
    memset(tag, 'a', sizeof tag - 1);
    tag[sizeof tag - 1] = 0;
    event_file_add(out, 1.0, INT64_MAX, tag, 0.5F);
}

static void a_long_tag_is_cut(void **state)
{
    (void)state;
    assert_true(written(add_long) < EVENT_TAG_BYTES + 64);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_crc_is_that_of_castagnoli),
        cmocka_unit_test(a_number_is_an_event),
        cmocka_unit_test(a_long_tag_is_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
