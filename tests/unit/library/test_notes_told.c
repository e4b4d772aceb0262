/* A program reads its node's notes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "library/note_queue.h"
#include "support/library/program.h"

static struct note_queue queue;

static int queue_begins(void **state)
{
    (void)state;
    note_queue_init(&queue);
    return 0;
}

static int queue_ends(void **state)
{
    (void)state;
    note_queue_free(&queue);
    return 0;
}

static void put(enum note_level level, int number)
{
    struct note note = {.level = level};
    (void)snprintf(note.text, sizeof note.text, "%d", number);
    note_queue_put(&queue, &note);
}

static void must_take(enum note_level level, const char *text)
{
    struct queued_note note;
    assert_true(note_queue_take(&queue, &note));
    assert_int_equal(note.level, level);
    assert_string_equal(note.text, text);
}

static void must_be_empty(void)
{
    struct queued_note note;
    assert_false(note_queue_take(&queue, &note));
}

static void notes_come_in_their_order_with_who_and_where(void **state)
{
    (void)state;
    struct note note = {.level = LEVEL_WARNING, .who = "3f2a9c01", .where = "192.0.2.7:7770"};
    (void)snprintf(note.text, sizeof note.text, "is gone");
    put(LEVEL_INFO, 1);
    put(LEVEL_DEBUG, 2);
    note_queue_put(&queue, &note);
    must_take(LEVEL_INFO, "1");
    must_take(LEVEL_WARNING, "3f2a9c01 192.0.2.7:7770 is gone");
    must_be_empty();
}

static void a_full_queue_keeps_warnings_and_says_what_was_lost(void **state)
{
    (void)state;
    for (int i = 0; i < NOTE_QUEUE_MAX; i++)
        put(LEVEL_INFO, i);
    put(LEVEL_INFO, 1000);
    put(LEVEL_ERROR, 2000);
    must_take(LEVEL_WARNING,
              "2 notes of the node were lost because the program made no call for too long");
    must_take(LEVEL_INFO, "1");
    for (int i = 2; i < NOTE_QUEUE_MAX; i++) {
        struct queued_note note;
        assert_true(note_queue_take(&queue, &note));
    }
    must_take(LEVEL_ERROR, "2000");
    must_be_empty();
}

static void the_longest_note_fits(void **state)
{
    (void)state;
    struct note note = {.level = LEVEL_ERROR};
    memset(note.who, 'a', sizeof note.who - 1);
    memset(note.where, 'b', sizeof note.where - 1);
    memset(note.text, 'c', sizeof note.text - 1);
    note_queue_put(&queue, &note);
    struct queued_note out;
    assert_true(note_queue_take(&queue, &out));
    assert_int_equal(strlen(out.text),
                     strlen(note.who) + strlen(note.where) + strlen(note.text) + 2);
}

static bool says(struct program *program, int level, const char *words)
{
    char text[600];
    int got;
    while (hearsay_note(program->node, &got, text, sizeof text) == HEARSAY_OK &&
           got != HEARSAY_NONE)
        if (got == level && strstr(text, words))
            return true;
    return false;
}

static void a_program_is_told_of_weights_that_are_no_numbers(void **state)
{
    (void)state;
    struct program program;
    program_init(&program, "told", 11);
    program_must_open(&program);
    assert_int_equal(hearsay_join(program.node, PROGRAM_FOREVER), HEARSAY_OK);
    program.bias[0] = (float)(0.0 / 0.0);
    assert_int_equal(hearsay_step(program.node, 1, 0, NULL), HEARSAY_OK);
    assert_int_equal(hearsay_settle(program.node, PROGRAM_FOREVER), HEARSAY_OK);
    assert_true(says(&program, HEARSAY_ERROR,
                     "by step 1: plane.bias has weights that are NaN or infinite"));
    assert_int_equal(hearsay_close(program.node, 0), HEARSAY_OK);
    assert_int_equal(hearsay_free(program.node), HEARSAY_OK);
}

static void a_program_is_told_of_a_loss_that_is_no_number(void **state)
{
    (void)state;
    struct program program;
    program_init(&program, "loss", 11);
    program_must_open(&program);
    assert_int_equal(hearsay_join(program.node, PROGRAM_FOREVER), HEARSAY_OK);
    assert_int_equal(hearsay_step(program.node, 1, 0.5, NULL), HEARSAY_OK);
    assert_int_equal(hearsay_step(program.node, 1, (double)NAN, NULL), HEARSAY_OK);
    assert_int_equal(hearsay_settle(program.node, PROGRAM_FOREVER), HEARSAY_OK);
    assert_true(
        says(&program, HEARSAY_WARNING,
             "the loss on this node was NaN or infinite by step 2, and is not counted. Lower "
             "the learning rate"));
    assert_int_equal(hearsay_close(program.node, 0), HEARSAY_OK);
    assert_int_equal(hearsay_free(program.node), HEARSAY_OK);
}

static void wrong_arguments_are_refused(void **state)
{
    (void)state;
    struct program program;
    char text[8];
    int level;
    program_init(&program, "wrong", 12);
    program_must_open(&program);
    assert_int_equal(hearsay_note(NULL, &level, text, sizeof text), HEARSAY_ARGUMENT);
    assert_int_equal(hearsay_note(program.node, NULL, text, sizeof text), HEARSAY_ARGUMENT);
    assert_int_equal(hearsay_note(program.node, &level, NULL, 8), HEARSAY_ARGUMENT);
    assert_int_equal(hearsay_note(program.node, &level, text, 0), HEARSAY_ARGUMENT);
    assert_int_equal(hearsay_note(program.node, &level, text, sizeof text), HEARSAY_OK);
    assert_int_equal(level, HEARSAY_INFO); /* the first note: the node has started */
    assert_int_equal(strlen(text), sizeof text - 1);
    assert_int_equal(hearsay_free(program.node), HEARSAY_OK);
}

#define QUEUE(test) cmocka_unit_test_setup_teardown(test, queue_begins, queue_ends)

int main(void)
{
    const struct CMUnitTest tests[] = {
        QUEUE(notes_come_in_their_order_with_who_and_where),
        QUEUE(a_full_queue_keeps_warnings_and_says_what_was_lost),
        QUEUE(the_longest_note_fits),
        cmocka_unit_test(a_program_is_told_of_weights_that_are_no_numbers),
        cmocka_unit_test(a_program_is_told_of_a_loss_that_is_no_number),
        cmocka_unit_test(wrong_arguments_are_refused),
    };
    return cmocka_run_group_tests(tests, programs_begin, programs_end);
}
