/* Notes are in order and limited in number. Strangers cannot flood them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/time_units.h"
#include "node/notes.h"

#define MAX 8

static struct arena arena;
static struct notes notes;

static int start(void **state)
{
    (void)state;
    arena_init(&arena, 1 << 20);
    notes_init(&notes, &arena, MAX, 3);
    return 0;
}

static int stop(void **state)
{
    (void)state;
    arena_release(&arena);
    return 0;
}

static void add(uint64_t number)
{
    (void)notes_add(&notes, number, NOTE_STATUS, LEVEL_DEBUG, "number %d", (int)number);
}

static uint32_t allowed(uint64_t now_ns, uint32_t asked)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < asked; i++)
        count += notes_allow(&notes, now_ns);
    return count;
}

static void notes_come_out_as_they_went_in(void **state)
{
    (void)state;
    struct note note;
    for (uint64_t i = 1; i <= 3; i++)
        add(i);
    for (uint64_t i = 1; i <= 3; i++) {
        char text[32];
        (void)snprintf(text, sizeof text, "number %d", (int)i);
        assert_true(notes_next(&notes, &note));
        assert_string_equal(note.text, text);
        assert_true(note.at_ns == i && note.kind == NOTE_STATUS && note.level == LEVEL_DEBUG);
        assert_string_equal(note.who, "");
        assert_string_equal(note.where, "");
    }
    assert_false(notes_next(&notes, &note));
}

static void a_note_can_name_node_and_address(void **state)
{
    (void)state;
    struct note *made = notes_add(&notes, 1, NOTE_REFUSED, LEVEL_WARNING, "was refused");
    (void)snprintf(made->who, sizeof made->who, "3f2a9c01");
    (void)snprintf(made->where, sizeof made->where, "192.0.2.7:7770");
    struct note note;
    assert_true(notes_next(&notes, &note));
    assert_string_equal(note.who, "3f2a9c01");
    assert_string_equal(note.where, "192.0.2.7:7770");
}

static void a_long_text_is_cut(void **state)
{
    (void)state;
    char text[1000];
    memset(text, 'x', sizeof text);
    text[sizeof text - 1] = 0;
    (void)notes_add(&notes, 1, NOTE_REFUSED, LEVEL_WARNING, "%s", text);
    struct note note;
    assert_true(notes_next(&notes, &note));
    assert_int_equal(strlen(note.text), sizeof note.text - 1);
}

static void the_ring_forgets_the_oldest_and_says_how_many(void **state)
{
    (void)state;
    struct note note;
    for (uint64_t i = 1; i <= MAX + 5; i++)
        add(i);
    assert_true(notes_next(&notes, &note));
    assert_true(note.at_ns == 6);
    while (notes_next(&notes, &note))
        ;
    assert_true(note.at_ns == MAX + 5);
    assert_int_equal(allowed(SECOND_NS, 1), 1);
    assert_true(notes_next(&notes, &note));
    assert_int_equal(note.kind, NOTE_SUPPRESSED);
    assert_string_equal(note.text,
                        "5 notes about other nodes were suppressed (limits.notes_per_s)");
}

static void strangers_cause_so_many_notes_a_second(void **state)
{
    (void)state;
    assert_int_equal(allowed(100 * SECOND_NS, 50), 3);
    assert_int_equal(allowed(100 * SECOND_NS + SECOND_NS / 3 + 1, 50), 1);
    assert_int_equal(allowed(101 * SECOND_NS + SECOND_NS / 3 + 2, 50), 3);
}

static void a_long_silence_saves_nothing_up(void **state)
{
    (void)state;
    assert_int_equal(allowed(SECOND_NS, 50), 3);
    assert_int_equal(allowed(1000 * SECOND_NS, 50), 3);
}

static void a_clock_that_stands_gives_nothing(void **state)
{
    (void)state;
    assert_int_equal(allowed(5 * SECOND_NS, 50), 3);
    assert_int_equal(allowed(5 * SECOND_NS, 50), 0);
    assert_int_equal(allowed(4 * SECOND_NS, 50), 0);
}

static void counts_suppressed_notes_once(void **state)
{
    (void)state;
    struct note note;
    assert_int_equal(allowed(SECOND_NS, 10), 3);
    assert_false(notes_next(&notes, &note));
    assert_int_equal(allowed(2 * SECOND_NS, 1), 1);
    assert_true(notes_next(&notes, &note));
    assert_int_equal(note.kind, NOTE_SUPPRESSED);
    assert_string_equal(note.text,
                        "7 notes about other nodes were suppressed (limits.notes_per_s)");
    assert_int_equal(allowed(2 * SECOND_NS, 1), 1);
    assert_false(notes_next(&notes, &note));
}

static bool allows_once(uint64_t now_ns, const char *who, const char *text)
{
    return notes_allow_once(&notes, now_ns, NOTE_REFUSED, who, text);
}

static void repeats_a_note_of_one_cause_rarely(void **state)
{
    (void)state;
    assert_true(allows_once(SECOND_NS, "192.0.2.1", "other key"));
    assert_false(allows_once(2 * SECOND_NS, "192.0.2.1", "other key"));
    assert_true(allows_once(2 * SECOND_NS, "192.0.2.2", "other key"));
    assert_true(allows_once(2 * SECOND_NS, "192.0.2.1", "other model"));
    assert_true(notes_allow_once(&notes, 3 * SECOND_NS, NOTE_FULL, "192.0.2.1", "other key"));
    assert_int_equal(notes.suppressed, 0);
    assert_false(allows_once(NOTES_AGAIN_NS, "192.0.2.1", "other key"));
    assert_true(allows_once(SECOND_NS + NOTES_AGAIN_NS, "192.0.2.1", "other key"));
    assert_false(allows_once(2 * SECOND_NS + NOTES_AGAIN_NS, "192.0.2.1", "other key"));
}

static void a_suppressed_note_may_come_later(void **state)
{
    (void)state;
    assert_int_equal(allowed(SECOND_NS, 3), 3);
    assert_false(allows_once(SECOND_NS, "192.0.2.1", "other key"));
    assert_true(allows_once(2 * SECOND_NS, "192.0.2.1", "other key"));
}

static void a_new_cause_replaces_the_oldest(void **state)
{
    (void)state;
    char who[16];
    for (uint64_t i = 0; i < NOTES_CAUSES; i++) {
        (void)snprintf(who, sizeof who, "host %d", (int)i);
        assert_true(allows_once((i + 1) * SECOND_NS, who, ""));
    }
    const uint64_t now_ns = (NOTES_CAUSES + 1) * SECOND_NS;
    assert_false(allows_once(now_ns, "host 0", ""));
    assert_true(allows_once(now_ns, "another host", ""));
    assert_false(allows_once(now_ns, "host 1", ""));
    assert_true(allows_once(now_ns, "host 0", ""));
}

static void every_kind_has_its_name(void **state)
{
    (void)state;
    for (int kind = 0; kind < NOTE_KINDS; kind++) {
        const char *name = note_kind_name((enum note_kind)kind);
        assert_non_null(name);
        for (int other = 0; other < kind; other++)
            assert_string_not_equal(name, note_kind_name((enum note_kind)other));
    }
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, start, stop)
    const struct CMUnitTest tests[] = {
        TEST(notes_come_out_as_they_went_in),
        TEST(a_note_can_name_node_and_address),
        TEST(a_long_text_is_cut),
        TEST(the_ring_forgets_the_oldest_and_says_how_many),
        TEST(strangers_cause_so_many_notes_a_second),
        TEST(a_long_silence_saves_nothing_up),
        TEST(a_clock_that_stands_gives_nothing),
        TEST(counts_suppressed_notes_once),
        TEST(repeats_a_note_of_one_cause_rarely),
        TEST(a_suppressed_note_may_come_later),
        TEST(a_new_cause_replaces_the_oldest),
        TEST(every_kind_has_its_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
