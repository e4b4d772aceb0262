/* Changed, truncated, invented or replayed bytes never produce a message that was not sent. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "support/node/peer_pair.h"

/* Fails if the receiver has all messages although a byte on the way to it was changed. */
static void must_notice(int direction, size_t at)
{
    const struct side *receiver = direction == 0 ? &acceptor : &dialer;
    if (receiver->heard >= SAID)
        fail_msg("byte %zu of direction %d was changed and not noticed", at, direction);
    if (!receiver->met)
        assert_int_equal(receiver->heard, 0);
}

static void every_changed_byte_is_noticed_and_nothing_false_is_heard(void **state)
{
    (void)state;
    converse();
    const size_t bytes[2] = {dialer.out_bytes, acceptor.out_bytes};
    struct rng rng = rng_new(1, 1);
    for (int direction = 0; direction < 2; direction++)
        for (size_t at = 0; at < bytes[direction]; at++) {
            begin_again();
            way.flip[direction] = at;
            way.mask = (uint8_t)(1u << rng_below(&rng, 8));
            converse(); /* apply() compares every received message with the sent one */
            must_notice(direction, at);
            way.flip[direction] = NEVER;
        }
}

static void a_truncated_stream_is_parsed_up_to_its_end(void **state)
{
    (void)state;
    converse();
    const size_t bytes[2] = {dialer.out_bytes, acceptor.out_bytes};
    const size_t last = bytes[0] - LENGTH_BYTES - TAG_BYTES;
    for (int direction = 0; direction < 2; direction++)
        for (size_t at = 0; at < bytes[direction]; at += at < last ? 5 : 1) {
            begin_again();
            way.cut[direction] = at;
            converse();
            must_notice(direction, at);
            assert_false(dialer.refused || acceptor.refused);
            way.cut[direction] = NEVER;
        }
}

static void frames_of_impossible_size_are_refused_at_once(void **state)
{
    (void)state;
    static const uint8_t frames[][LENGTH_BYTES] = {{0, 0}, {2, 1}, {0xFF, 0xFF}};
    for (size_t i = 0; i < sizeof frames / sizeof frames[0]; i++) {
        begin_again();
        take(&acceptor, frames[i], LENGTH_BYTES);
        assert_true(acceptor.refused);
        assert_non_null(strstr(acceptor.problem.text, "invalid size"));
        begin_again();
        take(&dialer, frames[i], LENGTH_BYTES);
        assert_true(dialer.refused);
    }
    static const uint8_t largest[LENGTH_BYTES] = {2, 0};
    begin_again();
    take(&acceptor, largest, LENGTH_BYTES);
    assert_false(acceptor.refused);
}

static void a_greeting_of_another_size_is_refused(void **state)
{
    (void)state;
    static uint8_t frame[LENGTH_BYTES + GREETING_MAX];
    for (size_t content = 1; content <= GREETING_MAX; content++) {
        begin_again();
        frame[0] = (uint8_t)(content >> 8);
        frame[1] = (uint8_t)content;
        take(&acceptor, frame, LENGTH_BYTES + content);
        assert_true(acceptor.refused);
        assert_true(peer_is_flushed(&acceptor.peer));
    }
    begin_again(); /* a valid greeting with an additional byte */
    const uint8_t *greeting;
    size_t count;
    assert_true(peer_next_send(&dialer.peer, SIZE_MAX, true, &greeting, &count));
    memcpy(frame, greeting, count);
    frame[1]++;
    take(&acceptor, frame, count + 1);
    assert_true(acceptor.refused);
}

static void in_a_session_frames_without_a_tag_are_refused(void **state)
{
    (void)state;
    uint8_t frame[LENGTH_BYTES + TAG_BYTES + 1] = {0};
    for (uint8_t content = 0; content <= TAG_BYTES + 1; content++) {
        begin_again();
        converse();
        frame[1] = content;
        take(&dialer, frame, LENGTH_BYTES + (size_t)content);
        assert_true(dialer.refused);
        assert_int_equal(dialer.heard, SAID);
    }
}

/* Delivers the next bytes of one peer, and copies them to `out`. Returns their number. */
static size_t record(struct side *from, struct side *to, uint8_t *out)
{
    const uint8_t *bytes;
    size_t count;
    assert_true(peer_next_send(&from->peer, SIZE_MAX, true, &bytes, &count));
    memcpy(out, bytes, count);
    carry(from, to, bytes, count);
    peer_on_sent(&from->peer);
    return count;
}

static void a_record_said_twice_is_refused(void **state)
{
    (void)state;
    uint8_t said[1024];
    converse();
    const struct message message = message_number(SAID);
    assert_true(peer_say(&dialer.peer, &message));
    const size_t count = record(&dialer, &acceptor, said);
    assert_int_equal(acceptor.heard, SAID + 1);
    take(&acceptor, said, count);
    assert_true(acceptor.refused);
    assert_int_equal(acceptor.heard, SAID + 1);
}

static void a_conversation_said_again_to_another_gets_nowhere(void **state)
{
    (void)state;
    uint8_t said[3][1024];
    size_t count[3];
    for (int i = 0; i < 2; i++) {
        count[i] = record(&dialer, &acceptor, said[i]);
        (void)send_once(&acceptor, &dialer);
    }
    assert_true(acceptor.met);
    (void)pair_end(NULL);
    side_init(&dialer, 1, &USUAL);
    side_init(&acceptor, 3, &USUAL);
    peer_start(&acceptor.peer, 2, false, &ADDRESS, NOW_NS);
    take(&acceptor, said[0], count[0]);
    take(&acceptor, said[1], count[1]);
    assert_true(acceptor.refused);
    assert_false(acceptor.met);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(every_changed_byte_is_noticed_and_nothing_false_is_heard),
        TEST(a_truncated_stream_is_parsed_up_to_its_end),
        TEST(frames_of_impossible_size_are_refused_at_once),
        TEST(a_greeting_of_another_size_is_refused),
        TEST(in_a_session_frames_without_a_tag_are_refused),
        TEST(a_record_said_twice_is_refused),
        TEST(a_conversation_said_again_to_another_gets_nowhere),
    };
    return cmocka_run_group_tests(tests, open_pair, close_pair);
}
