/* A file with a list of members: which lines are accepted, and which line an error names. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "state/member_list.h"
#include "support/state/memory_disk.h"

#define FIRST  "40cc5690477b48d76af0997975c237a107d95d2370ad4e4cfaa4171bdca18218"
#define SECOND "a8b84d5ab57230587aac9c3d5a766a1218bf45a714dd9221873bc8db3209b9fd"

static struct member_list list;
static struct memory_disk disk;

static void must_refuse(const char *text, size_t bytes, const char *why)
{
    struct problem problem;
    assert_int_equal(member_list_parse(&list, text, bytes, &problem), MALFORMED);
    if (!strstr(problem.text, why))
        fail_msg("\"%s\" does not say \"%s\"", problem.text, why);
}

#define REFUSED(text, why) must_refuse(text, sizeof(text) - 1, why)

static void must_take(const char *text)
{
    struct problem problem;
    assert_int_equal(member_list_parse(&list, text, strlen(text), &problem), OK);
}

static void ids_and_names_are_read(void **state)
{
    (void)state;
    uint8_t id[ID_BYTES];
    must_take("# who may be here\n\n  \t\n" FIRST "\tward 3, the old machine  # since May\r\n"
              "   " SECOND "\n");
    assert_int_equal(list.count, 2);
    assert_int_equal(key_from_hex(id, FIRST), OK);
    assert_string_equal(member_list_name(&list, id), "ward 3, the old machine");
    assert_int_equal(key_from_hex(id, SECOND), OK);
    assert_string_equal(member_list_name(&list, id), "");
    id[0] ^= 1;
    assert_null(member_list_name(&list, id));
}

static void digits_may_be_capital_and_the_last_line_unended(void **state)
{
    (void)state;
    uint8_t id[ID_BYTES];
    must_take("40CC5690477B48D76AF0997975C237A107D95D2370AD4E4CFAA4171BDCA18218 a#b");
    assert_int_equal(key_from_hex(id, FIRST), OK);
    assert_string_equal(member_list_name(&list, id), "a");
}

static void the_line_that_is_wrong_is_named(void **state)
{
    (void)state;
    REFUSED("", "the list is empty");
    REFUSED("# nobody yet\n", "the list is empty");
    REFUSED(FIRST "\nsomebody\n", "line 2: the line does not begin with an id");
    REFUSED("\n\n40cc5690\n", "line 3: the line does not begin with an id");
    REFUSED("g" FIRST, "line 1: the line does not begin with an id");
    REFUSED(FIRST "0 name", "line 1: the line must be an id of 64 hex digits, a blank and a name");
    REFUSED(FIRST ",name", "line 1: the line must be an id of 64 hex digits, a blank and a name");
    REFUSED(FIRST "\n" SECOND "\n" FIRST " again", "line 3: this id is already in an earlier line");
    REFUSED(FIRST " caf\xc3\xa9", "line 1: the name has characters that are not printable ASCII");
    REFUSED(FIRST " a\0b", "line 1: the name has characters that are not printable ASCII");
    REFUSED(FIRST "\0", "line 1: the line must be an id of 64 hex digits");
    REFUSED(FIRST " 1234567890123456789012345678901234567890123456789",
            "line 1: the name is longer than 48 characters");
}

static void a_name_may_have_48_characters(void **state)
{
    (void)state;
    must_take(FIRST " 123456789012345678901234567890123456789012345678");
    assert_int_equal(strlen(list.names[0]), MEMBER_NAME_MAX);
}

static void a_list_has_room_for_so_many_and_no_more(void **state)
{
    (void)state;
    static char text[(NODE_LISTED_MAX + 1) * KEY_HEX_BYTES + 1];
    for (int i = 0; i <= NODE_LISTED_MAX; i++)
        (void)snprintf(text + (size_t)i * KEY_HEX_BYTES, KEY_HEX_BYTES + 1, "%064x\n", i);
    must_refuse(text, sizeof text - 1, "line 1025: the list has more than 1024 members");
    text[NODE_LISTED_MAX * KEY_HEX_BYTES] = '\0';
    must_take(text);
    assert_int_equal(list.count, NODE_LISTED_MAX);
}

static void every_truncation_is_read_or_refused(void **state)
{
    (void)state;
    static const char text[] = FIRST " a # b\n\r\n" SECOND "\tc\n";
    struct problem problem;
    for (size_t bytes = 0; bytes <= sizeof text; bytes++) {
        const enum error error = member_list_parse(&list, text, bytes, &problem);
        assert_true(error == OK || error == MALFORMED);
    }
}

static void put_file(const char *path, const char *text, size_t bytes)
{
    const int handle = disk.table.create(disk.table.self, path, 0644);
    assert_true(handle >= 0);
    assert_int_equal(disk_write_all(&disk.table, handle, text, bytes), 0);
    assert_int_equal(disk.table.close(disk.table.self, handle), 0);
}

static void a_file_is_named_with_its_line(void **state)
{
    (void)state;
    struct problem problem;
    memory_disk_init(&disk);
    put_file(FOLDER "/good", FIRST "\n", sizeof FIRST);
    put_file(FOLDER "/bad", "\nx\n", 3);
    assert_int_equal(member_list_load(&list, &disk.table, FOLDER "/good", &problem), OK);
    assert_int_equal(list.count, 1);
    assert_int_equal(member_list_load(&list, &disk.table, FOLDER "/bad", &problem), MALFORMED);
    assert_non_null(strstr(problem.text, FOLDER "/bad: line 2: "));
    assert_int_equal(member_list_load(&list, &disk.table, FOLDER "/none", &problem), MISSING);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ids_and_names_are_read),
        cmocka_unit_test(digits_may_be_capital_and_the_last_line_unended),
        cmocka_unit_test(the_line_that_is_wrong_is_named),
        cmocka_unit_test(a_name_may_have_48_characters),
        cmocka_unit_test(a_list_has_room_for_so_many_and_no_more),
        cmocka_unit_test(every_truncation_is_read_or_refused),
        cmocka_unit_test(a_file_is_named_with_its_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
