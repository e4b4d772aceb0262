/* Sessions and frames: records arrive once, in order and unaltered, or the session ends. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "crypto/session.h"
#include "frame/frame.h"

static const uint8_t key_there[KEY_BYTES] = {1};
static const uint8_t key_back[KEY_BYTES] = {2};

#define SMALL 40

struct ends {
    struct session here;
    struct session there;
};

static struct ends ends_new(void)
{
    struct ends ends;
    session_init(&ends.here, key_there, key_back);
    session_init(&ends.there, key_back, key_there);
    return ends;
}

/* Encrypts record `number`, whose SMALL bytes all have that value. */
static void seal_small(struct session *session, uint8_t number, uint8_t *record)
{
    uint8_t message[SMALL];
    memset(message, number, sizeof message);
    session_seal(session, message, sizeof message, record);
}

static enum error open_small(struct session *session, const uint8_t *record, uint8_t *number)
{
    uint8_t frame[SMALL + TAG_BYTES];
    size_t bytes;
    memcpy(frame, record + LENGTH_BYTES, sizeof frame);
    enum error error = session_open(session, frame, sizeof frame, &bytes);
    if (error == OK) {
        assert_int_equal(bytes, SMALL);
        *number = frame[SMALL - 1];
    }
    return error;
}

static void assert_dead(struct session *session)
{
    static const uint8_t zero[KEY_BYTES];
    uint8_t frame[SMALL + TAG_BYTES] = {0};
    size_t bytes = 12345;
    assert_true(session->dead);
    assert_memory_equal(session->receive_key, zero, KEY_BYTES);
    assert_int_equal(session_open(session, frame, sizeof frame, &bytes), FORGED);
    assert_int_equal(bytes, 12345);
}

static void records_arrive_in_order_in_both_directions(void **state)
{
    (void)state;
    uint8_t record[SMALL + RECORD_OVERHEAD];
    uint8_t number;
    struct ends ends = ends_new();
    for (uint8_t i = 0; i < 100; i++) {
        seal_small(&ends.here, i, record);
        assert_int_equal(open_small(&ends.there, record, &number), OK);
        assert_int_equal(number, i);
        seal_small(&ends.there, (uint8_t)(100 + i), record);
        assert_int_equal(open_small(&ends.here, record, &number), OK);
        assert_int_equal(number, 100 + i);
    }
}

static void a_record_is_a_frame_sealed_under_its_number(void **state)
{
    (void)state;
    uint8_t record[SMALL + RECORD_OVERHEAD];
    uint8_t message[SMALL] = {5};
    uint8_t expected[SMALL + TAG_BYTES];
    struct ends ends = ends_new();
    for (uint64_t number = 0; number < 3; number++) {
        size_t content_bytes;
        session_seal(&ends.here, message, sizeof message, record);
        secret_seal(expected, key_there, number, NULL, 0, message, sizeof message);
        assert_int_equal(frame_first(record, sizeof record, FRAME_MAX, &content_bytes), OK);
        assert_int_equal(content_bytes, sizeof expected);
        assert_memory_equal(record + LENGTH_BYTES, expected, sizeof expected);
    }
}

static void the_smallest_and_the_largest_message_arrive(void **state)
{
    (void)state;
    static const size_t sizes[] = {1, MESSAGE_MAX};
    uint8_t *message = malloc(MESSAGE_MAX);
    uint8_t *record = malloc(MESSAGE_MAX + RECORD_OVERHEAD);
    assert_non_null(message);
    assert_non_null(record);
    memset(message, 9, MESSAGE_MAX);
    struct ends ends = ends_new();
    for (int i = 0; i < 2; i++) {
        size_t bytes;
        size_t frame_bytes;
        session_seal(&ends.here, message, sizes[i], record);
        assert_int_equal(frame_first(record, sizes[i] + RECORD_OVERHEAD, FRAME_MAX, &frame_bytes),
                         OK);
        assert_int_equal(session_open(&ends.there, record + LENGTH_BYTES, frame_bytes, &bytes), OK);
        assert_int_equal(bytes, sizes[i]);
        assert_memory_equal(record + LENGTH_BYTES, message, sizes[i]);
    }
    free(message);
    free(record);
}

static void a_repeated_record_ends_the_session(void **state)
{
    (void)state;
    uint8_t record[SMALL + RECORD_OVERHEAD];
    uint8_t number;
    struct ends ends = ends_new();
    seal_small(&ends.here, 1, record);
    assert_int_equal(open_small(&ends.there, record, &number), OK);
    assert_int_equal(open_small(&ends.there, record, &number), FORGED);
    assert_dead(&ends.there);
}

static void a_lost_or_overtaken_record_ends_the_session(void **state)
{
    (void)state;
    uint8_t records[2][SMALL + RECORD_OVERHEAD];
    uint8_t number;
    struct ends ends = ends_new();
    seal_small(&ends.here, 1, records[0]);
    seal_small(&ends.here, 2, records[1]);
    assert_int_equal(open_small(&ends.there, records[1], &number), FORGED);
    assert_int_equal(open_small(&ends.there, records[0], &number), FORGED);
    assert_dead(&ends.there);
}

static void refuses_a_record_reflected_to_its_sender(void **state)
{
    (void)state;
    uint8_t record[SMALL + RECORD_OVERHEAD];
    uint8_t number;
    struct ends ends = ends_new();
    seal_small(&ends.here, 1, record);
    assert_int_equal(open_small(&ends.here, record, &number), FORGED);
}

static void refuses_every_bit_flip(void **state)
{
    (void)state;
    uint8_t record[SMALL + RECORD_OVERHEAD];
    uint8_t number;
    struct ends ends = ends_new();
    seal_small(&ends.here, 1, record);
    for (size_t bit = 8 * LENGTH_BYTES; bit < 8 * sizeof record; bit++) {
        struct session there = ends.there;
        record[bit / 8] ^= (uint8_t)(1 << bit % 8);
        assert_int_equal(open_small(&there, record, &number), FORGED);
        assert_dead(&there);
        record[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    assert_int_equal(open_small(&ends.there, record, &number), OK);
}

static void refuses_every_truncation(void **state)
{
    (void)state;
    uint8_t record[SMALL + RECORD_OVERHEAD];
    struct ends ends = ends_new();
    seal_small(&ends.here, 1, record);
    for (size_t length = 0; length < SMALL + TAG_BYTES; length++) {
        uint8_t frame[SMALL + TAG_BYTES];
        size_t bytes = 12345;
        struct session there = ends.there;
        memcpy(frame, record + LENGTH_BYTES, sizeof frame);
        assert_int_equal(session_open(&there, frame, length, &bytes),
                         length <= TAG_BYTES ? MALFORMED : FORGED);
        assert_int_equal(bytes, 12345);
        assert_dead(&there);
    }
}

static void after_a_changed_record_the_reason_can_still_be_sent(void **state)
{
    (void)state;
    uint8_t record[SMALL + RECORD_OVERHEAD];
    uint8_t number = 0;
    struct ends ends = ends_new();
    seal_small(&ends.here, 1, record);
    record[LENGTH_BYTES] ^= 1;
    assert_int_equal(open_small(&ends.there, record, &number), FORGED);
    seal_small(&ends.there, 2, record);
    assert_int_equal(open_small(&ends.here, record, &number), OK);
    assert_int_equal(number, 2);
}

static void a_session_is_worn_out_at_its_limit_in_either_direction(void **state)
{
    (void)state;
    uint8_t record[1 + RECORD_OVERHEAD];
    size_t bytes;
    struct ends ends = ends_new();
    ends.here.sent_bytes = SESSION_BYTES_MAX - 1;
    ends.there.received_bytes = SESSION_BYTES_MAX - 1;
    assert_false(session_worn_out(&ends.here));
    assert_false(session_worn_out(&ends.there));
    session_seal(&ends.here, (const uint8_t *)"x", 1, record);
    assert_true(session_worn_out(&ends.here));
    assert_int_equal(session_open(&ends.there, record + LENGTH_BYTES, 1 + TAG_BYTES, &bytes), OK);
    assert_true(session_worn_out(&ends.there));
}

static void a_wiped_session_keeps_no_key(void **state)
{
    (void)state;
    struct ends ends = ends_new();
    static const uint8_t zero[KEY_BYTES];
    session_wipe(&ends.here);
    assert_memory_equal(ends.here.send_key, zero, KEY_BYTES);
    assert_dead(&ends.here);
}

/* Runs a forbidden action in a child process. Returns true if it aborts. */
static bool aborts(void (*forbidden)(void))
{
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        (void)signal(SIGABRT, SIG_DFL);
        (void)close(STDERR_FILENO);
        forbidden();
        _exit(0);
    }
    int how;
    assert_int_equal(waitpid(child, &how, 0), child);
    return WIFSIGNALED(how) && WTERMSIG(how) == SIGABRT;
}

static void seal_past_the_last_nonce(void)
{
    uint8_t record[SMALL + RECORD_OVERHEAD];
    struct ends ends = ends_new();
    ends.here.sent_records = UINT64_MAX;
    seal_small(&ends.here, 1, record);
}

static void open_past_the_last_nonce(void)
{
    uint8_t record[SMALL + RECORD_OVERHEAD] = {0};
    uint8_t number;
    struct ends ends = ends_new();
    ends.there.received_records = UINT64_MAX;
    (void)open_small(&ends.there, record, &number);
}

static void seal_with_a_wiped_session(void)
{
    uint8_t record[SMALL + RECORD_OVERHEAD];
    struct ends ends = ends_new();
    session_wipe(&ends.here);
    seal_small(&ends.here, 1, record);
}

static void seal_once(void)
{
    uint8_t record[SMALL + RECORD_OVERHEAD];
    struct ends ends = ends_new();
    seal_small(&ends.here, 1, record);
}

static void a_nonce_never_wraps_and_a_wiped_session_never_seals(void **state)
{
    (void)state;
    assert_false(aborts(seal_once));
    assert_true(aborts(seal_past_the_last_nonce));
    assert_true(aborts(open_past_the_last_nonce));
    assert_true(aborts(seal_with_a_wiped_session));
}

static void finds_a_frame_once_it_is_complete(void **state)
{
    (void)state;
    uint8_t stream[2 + 300 + 1];
    memset(stream, 7, sizeof stream);
    frame_head(stream, 300);
    assert_int_equal(stream[0], 1);
    assert_int_equal(stream[1], 44);
    for (size_t have = 0; have < 302; have++) {
        size_t content_bytes = 12345;
        assert_int_equal(frame_first(stream, have, FRAME_MAX, &content_bytes), MISSING);
        assert_int_equal(content_bytes, 12345);
    }
    for (size_t have = 302; have <= sizeof stream; have++) {
        size_t content_bytes;
        assert_int_equal(frame_first(stream, have, FRAME_MAX, &content_bytes), OK);
        assert_int_equal(content_bytes, 300);
    }
}

static void refuses_an_empty_or_too_long_frame_at_its_length(void **state)
{
    (void)state;
    static const uint8_t empty[2] = {0, 0};
    static const uint8_t longer[2] = {0x01, 0x01};
    static const uint8_t longest[2] = {0xFF, 0xFF};
    size_t content_bytes;
    assert_int_equal(frame_first(empty, 2, FRAME_MAX, &content_bytes), TOO_BIG);
    assert_int_equal(frame_first(longer, 2, 256, &content_bytes), TOO_BIG);
    assert_int_equal(frame_first(longer, 2, 257, &content_bytes), MISSING);
    assert_int_equal(frame_first(longest, 2, FRAME_MAX, &content_bytes), MISSING);
}

int main(void)
{
    secret_start();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records_arrive_in_order_in_both_directions),
        cmocka_unit_test(a_record_is_a_frame_sealed_under_its_number),
        cmocka_unit_test(the_smallest_and_the_largest_message_arrive),
        cmocka_unit_test(a_repeated_record_ends_the_session),
        cmocka_unit_test(a_lost_or_overtaken_record_ends_the_session),
        cmocka_unit_test(refuses_a_record_reflected_to_its_sender),
        cmocka_unit_test(refuses_every_bit_flip),
        cmocka_unit_test(refuses_every_truncation),
        cmocka_unit_test(after_a_changed_record_the_reason_can_still_be_sent),
        cmocka_unit_test(a_session_is_worn_out_at_its_limit_in_either_direction),
        cmocka_unit_test(a_wiped_session_keeps_no_key),
        cmocka_unit_test(a_nonce_never_wraps_and_a_wiped_session_never_seals),
        cmocka_unit_test(finds_a_frame_once_it_is_complete),
        cmocka_unit_test(refuses_an_empty_or_too_long_frame_at_its_length),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
