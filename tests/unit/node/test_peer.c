/* Two honest peers complete a conversation however the bytes arrive. Peers of different swarms
 * refuse each other. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "support/node/peer_pair.h"

static void both_must_have_met_and_heard(uint32_t messages)
{
    assert_true(dialer.met && acceptor.met);
    assert_false(dialer.refused || acceptor.refused);
    assert_int_equal(dialer.heard, messages);
    assert_int_equal(acceptor.heard, messages);
    assert_memory_equal(dialer.peer.id, acceptor.identity.id, ID_BYTES);
    assert_memory_equal(acceptor.peer.id, dialer.identity.id, ID_BYTES);
    assert_true(peer_is_flushed(&dialer.peer) && peer_is_flushed(&acceptor.peer));
}

static void they_meet_however_the_bytes_are_cut(void **state)
{
    (void)state;
    const size_t chunks[] = {NEVER, 1, 2, 3, 7, 64, 113};
    for (size_t i = 0; i < sizeof chunks / sizeof chunks[0]; i++) {
        begin_again();
        way.chunk = chunks[i];
        converse();
        both_must_have_met_and_heard(SAID);
    }
}

static void an_answer_may_come_before_the_question_is_reported_as_sent(void **state)
{
    (void)state;
    const uint8_t *question, *answer, *proof;
    size_t count, answer_count, proof_count;
    uint8_t copy[GREETING_MAX];
    assert_true(peer_next_send(&dialer.peer, SIZE_MAX, true, &question, &count));
    memcpy(copy, question, count);
    carry(&dialer, &acceptor, question, count);
    assert_true(peer_next_send(&acceptor.peer, SIZE_MAX, true, &answer, &answer_count));
    carry(&acceptor, &dialer, answer, answer_count);
    assert_true(dialer.met);
    assert_memory_equal(question, copy, count); /* the bytes must stay valid until they are sent */
    assert_false(peer_next_send(&dialer.peer, SIZE_MAX, true, &proof, &proof_count));
    peer_on_sent(&dialer.peer);
    assert_true(peer_next_send(&dialer.peer, SIZE_MAX, true, &proof, &proof_count));
    carry(&dialer, &acceptor, proof, proof_count);
    assert_true(acceptor.met);
    peer_on_sent(&acceptor.peer);
    peer_on_sent(&dialer.peer);
    converse();
    both_must_have_met_and_heard(SAID);
}

static void a_stranger_without_the_key_gets_no_byte(void **state)
{
    (void)state;
    struct introduced other = USUAL;
    other.key = 2;
    (void)pair_end(NULL);
    begin_as(&other, &USUAL);
    converse();
    assert_true(acceptor.refused);
    assert_int_equal(acceptor.out_bytes, 0);
    assert_non_null(strstr(acceptor.problem.text, "did not prove the swarm key"));
    assert_false(dialer.met || dialer.refused);
}

static void must_refuse_each_other(const struct introduced *other, const char *why)
{
    (void)pair_end(NULL);
    begin_as(other, &USUAL);
    converse();
    assert_true(dialer.refused && acceptor.refused);
    assert_false(dialer.met || acceptor.met);
    assert_int_equal(acceptor.out_bytes, LENGTH_BYTES + REFUSAL_BYTES);
    assert_non_null(strstr(acceptor.problem.text, why));
    assert_non_null(strstr(dialer.problem.text, why));
}

static void those_who_differ_tell_each_other_how(void **state)
{
    (void)state;
    struct introduced other = USUAL;
    other.swarm = "another";
    must_refuse_each_other(&other, "other swarm id");
    other = USUAL;
    other.model = "dense 11";
    other.parameters = 1100;
    must_refuse_each_other(&other, "other model");
    assert_non_null(strstr(acceptor.problem.text, "theirs has 1,100"));
    assert_non_null(strstr(dialer.problem.text, "ours 1,100"));
    other = USUAL;
    other.protocol = PROTOCOL_NEWEST + 1;
    must_refuse_each_other(&other, "other protocol version");
}

static void begin_with(uint16_t ones, uint8_t ones_newer, uint16_t others, uint8_t others_newer)
{
    struct introduced one = USUAL, other = USUAL;
    one.protocol = ones;
    one.newer = ones_newer;
    other.protocol = others;
    other.newer = others_newer;
    (void)pair_end(NULL);
    begin_as(&one, &other);
}

/* Checks that both peers speak this protocol version. bytes: payload of handshake message 2, which
 * also names the version if that is newer than the dialer's oldest one. */
static void must_speak(uint16_t protocol, size_t bytes)
{
    const uint8_t *said;
    size_t count;
    assert_true(send_once(&dialer, &acceptor));
    assert_true(peer_next_send(&acceptor.peer, SIZE_MAX, true, &said, &count));
    assert_int_equal(count, LENGTH_BYTES + HANDSHAKE_2_BYTES + bytes);
    carry(&acceptor, &dialer, said, count);
    peer_on_sent(&acceptor.peer);
    converse();
    both_must_have_met_and_heard(SAID);
    assert_int_equal(dialer.peer.protocol, protocol);
    assert_int_equal(acceptor.peer.protocol, protocol);
}

static void neighbours_speak_the_newest_version_that_both_know(void **state)
{
    (void)state;
    begin_with(11, 1, 11, 1);
    must_speak(12, CERTIFICATE_BYTES + 2);
    begin_with(11, 1, 11, 0); /* the acceptor is of a release without a newer version */
    must_speak(11, CERTIFICATE_BYTES);
    begin_with(11, 0, 11, 1);
    must_speak(11, CERTIFICATE_BYTES);
    begin_with(11, 1, 12, 1); /* the acceptor is of a future release */
    must_speak(12, CERTIFICATE_BYTES + 2);
    begin_with(12, 1, 11, 1);
    must_speak(12, CERTIFICATE_BYTES);
}

static void two_releases_apart_they_refuse_each_other(void **state)
{
    (void)state;
    struct introduced older = USUAL;
    older.protocol = PROTOCOL_OLDEST - 1;
    older.newer = 0;
    must_refuse_each_other(&older, "other protocol version");
    assert_string_equal(acceptor.problem.text,
                        "other protocol version: theirs is 10, ours 11 to 12");
    assert_string_equal(dialer.problem.text, "other protocol version: theirs is 11 to 12, ours 10");
}

static void an_older_version_lacks_newer_message_kinds(void **state)
{
    (void)state;
    begin_with(11, 1, 11, 0);
    converse();
    assert_true(peer_knows(&dialer.peer, VOTES));
    assert_false(peer_knows(&dialer.peer, INFERENCE) || peer_knows(&acceptor.peer, INFERENCE));
    begin_again();
    converse();
    assert_true(peer_knows(&dialer.peer, INFERENCE) && peer_knows(&acceptor.peer, INFERENCE));
}

/* Dials, and replaces the offered protocol versions on the path. An attacker with the swarm key can
 * rewrite the gate. */
static void offer_on_the_way(uint16_t protocol, uint8_t newer)
{
    const uint8_t *said;
    size_t count;
    uint8_t copy[LENGTH_BYTES + GATE_BYTES + HANDSHAKE_1_BYTES];
    struct gate gate = dialer.credentials.keys[0].gate;
    gate.ours.protocol = protocol;
    gate.ours.newer = newer;
    assert_true(peer_next_send(&dialer.peer, SIZE_MAX, true, &said, &count));
    assert_int_equal(count, sizeof copy);
    memcpy(copy, said, count);
    gate_create(&gate, copy + LENGTH_BYTES, copy + LENGTH_BYTES + GATE_BYTES, HANDSHAKE_1_BYTES);
    carry(&dialer, &acceptor, copy, count);
    peer_on_sent(&dialer.peer);
    converse();
}

/* If the replaced offer names versions that both peers speak, the session detects it
 * (tests/world/test_protocols.c). */
static void nobody_on_the_way_makes_them_speak_what_was_not_offered(void **state)
{
    (void)state;
    begin_with(11, 0, 11, 1);
    offer_on_the_way(11, 1); /* a newer version than the dialer speaks */
    assert_true(dialer.refused);
    assert_false(dialer.met || acceptor.met);
    begin_with(11, 1, 11, 1);
    offer_on_the_way(12, 0); /* the handshake's prologue differs */
    assert_true(acceptor.refused);
    assert_false(dialer.met || acceptor.met);
}

/* Without the swarm key no bit of the offer can be changed unnoticed. */
static void no_stranger_on_the_way_changes_what_is_offered(void **state)
{
    (void)state;
    for (size_t bit = 0; bit < 8 * GATE_BYTES; bit++) {
        begin_again();
        way.flip[0] = LENGTH_BYTES + bit / 8;
        way.mask = (uint8_t)(1 << bit % 8);
        converse();
        assert_true(acceptor.refused);
        assert_int_equal(acceptor.out_bytes, 0);
        assert_false(dialer.met || acceptor.met);
    }
}

/* Sends what the dialer may send, and returns how many messages arrive. kinds: their kinds. */
static uint32_t arrive(bool is_open, enum message_kind kinds[static 8])
{
    const uint8_t *bytes;
    size_t count;
    uint32_t heard = 0;
    while (peer_next_send(&dialer.peer, SIZE_MAX, is_open, &bytes, &count)) {
        while (peer_take(&acceptor.peer, &acceptor.credentials, NOW_NS, &bytes, &count,
                         &acceptor.problem) == PEER_SAID) {
            size_t message_bytes;
            struct message message;
            const uint8_t *at = peer_message(&acceptor.peer, &message_bytes);
            assert_int_equal(message_decode(reader, at, message_bytes, &message), OK);
            kinds[heard++] = message.kind;
        }
        peer_on_sent(&dialer.peer);
    }
    return heard;
}

static void say_kind(enum message_kind kind)
{
    static const uint8_t bulk[100];
    assert_true(peer_say(&dialer.peer, &(struct message){.kind = kind, .bulk = {bulk, 100}}));
}

static void urgent_messages_go_first_and_blocks_last(void **state)
{
    (void)state;
    enum message_kind kinds[8];
    converse();
    say_kind(HELLO);
    assert_int_equal(arrive(true, kinds), 1);
    say_kind(BLOCK);
    say_kind(RUMOR);
    say_kind(PING);
    /* While too many bytes are unacknowledged, only PING may be sent. */
    assert_int_equal(arrive(false, kinds), 1);
    assert_int_equal(kinds[0], PING);
    say_kind(ACK);
    assert_int_equal(arrive(true, kinds), 3);
    assert_int_equal(kinds[0], ACK);
    assert_int_equal(kinds[1], RUMOR);
    assert_int_equal(kinds[2], BLOCK);
}

static void no_more_is_handed_over_than_may_be(void **state)
{
    (void)state;
    const uint8_t *bytes;
    size_t count;
    converse();
    say_kind(RUMOR);
    assert_false(peer_next_send(&dialer.peer, 0, true, &bytes, &count));
    assert_true(peer_next_send(&dialer.peer, 10, true, &bytes, &count));
    assert_int_equal(count, 10);
}

static void a_full_queue_says_no_and_loses_nothing(void **state)
{
    (void)state;
    converse();
    static uint8_t bulk[5000];
    uint32_t said = 0;
    const struct message heavy = {.kind = RUMOR, .bulk = {bulk, sizeof bulk}};
    while (peer_say(&dialer.peer, &heavy))
        said++;
    assert_in_range(said, QUEUE_MAX / (sizeof bulk + 64) - 1, QUEUE_MAX / sizeof bulk);
    assert_false(peer_say(&dialer.peer, &heavy));
    assert_false(dialer.refused);
    const uint8_t *bytes;
    size_t count;
    uint32_t heard = 0;
    while (peer_next_send(&dialer.peer, SIZE_MAX, true, &bytes, &count)) {
        size_t left = count;
        while (peer_take(&acceptor.peer, &acceptor.credentials, NOW_NS, &bytes, &left,
                         &acceptor.problem) == PEER_SAID) {
            size_t message_bytes;
            struct message message;
            const uint8_t *at = peer_message(&acceptor.peer, &message_bytes);
            assert_int_equal(message_decode(reader, at, message_bytes, &message), OK);
            assert_int_equal(message.bulk.count, sizeof bulk);
            if (++heard == 5) /* the queue has space again while it drains */
                said += peer_say(&dialer.peer, &heavy);
        }
        peer_on_sent(&dialer.peer);
    }
    assert_int_equal(heard, said);
    assert_int_equal(peer_queued_bytes(&dialer.peer), 0);
}

/* On a slow link a frame may take longer than the silence timeout. Each byte shows that the peer is
 * alive, up to a time limit for the frame. */
static void every_byte_that_comes_is_a_sign_of_life(void **state)
{
    (void)state;
    converse();
    say_some(&dialer, 1);
    const uint8_t *bytes;
    size_t count;
    assert_true(peer_next_send(&dialer.peer, SIZE_MAX, true, &bytes, &count));
    for (uint64_t now_ns = NOW_NS + 1; now_ns <= NOW_NS + 5; now_ns++) {
        size_t one = 1;
        assert_int_equal(peer_take(&acceptor.peer, &acceptor.credentials, now_ns, &bytes, &one,
                                   &acceptor.problem),
                         PEER_NOTHING);
        assert_int_equal(acceptor.peer.heard_ns, now_ns);
    }
    size_t one = 1;
    assert_int_equal(peer_take(&acceptor.peer, &acceptor.credentials, NOW_NS + FRAME_NS, &bytes,
                               &one, &acceptor.problem),
                     PEER_NOTHING);
    assert_int_equal(acceptor.peer.heard_ns, NOW_NS + 5); /* this byte came too late to count */
}

static void the_largest_message_passes(void **state)
{
    (void)state;
    static uint8_t bulk[65000];
    way.chunk = 1000;
    converse();
    memset(bulk, 0xA7, sizeof bulk);
    const struct message large = {.kind = RUMOR, .bulk = {bulk, sizeof bulk}};
    assert_true(peer_say(&dialer.peer, &large));
    const uint8_t *bytes;
    size_t count, message_bytes;
    assert_true(peer_next_send(&dialer.peer, SIZE_MAX, true, &bytes, &count));
    assert_int_equal(
        peer_take(&acceptor.peer, &acceptor.credentials, NOW_NS, &bytes, &count, &acceptor.problem),
        PEER_SAID);
    struct message message;
    const uint8_t *at = peer_message(&acceptor.peer, &message_bytes);
    assert_int_equal(message_decode(reader, at, message_bytes, &message), OK);
    assert_int_equal(message.bulk.count, sizeof bulk);
    assert_memory_equal(message.bulk.at, bulk, sizeof bulk);
    peer_on_sent(&dialer.peer);
}

static void a_closing_peer_ignores_input(void **state)
{
    (void)state;
    converse();
    peer_move(&acceptor.peer, PEER_CLOSING, NOW_NS);
    say_some(&dialer, 1);
    converse();
    assert_int_equal(acceptor.heard, SAID);
    assert_false(acceptor.refused);
}

static void a_slot_is_as_new_when_its_conversation_has_ended(void **state)
{
    (void)state;
    static const struct session none;
    converse();
    say_some(&dialer, 2);
    peer_end(&dialer.peer);
    assert_int_equal(dialer.peer.state, PEER_FREE);
    assert_memory_equal(dialer.peer.keys->session.send_key, none.send_key, KEY_BYTES);
    assert_int_equal(peer_queued_bytes(&dialer.peer), 0);
    dialer.met = acceptor.met = false;
    dialer.heard = acceptor.heard = 0;
    peer_end(&acceptor.peer);
    peer_start(&dialer.peer, 3, true, &ADDRESS, NOW_NS);
    peer_start(&acceptor.peer, 4, false, &ADDRESS, NOW_NS);
    peer_on_connected(&dialer.peer, &dialer.credentials, 0, NOW_NS);
    converse();
    both_must_have_met_and_heard(SAID);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(they_meet_however_the_bytes_are_cut),
        TEST(an_answer_may_come_before_the_question_is_reported_as_sent),
        TEST(a_stranger_without_the_key_gets_no_byte),
        TEST(those_who_differ_tell_each_other_how),
        TEST(neighbours_speak_the_newest_version_that_both_know),
        TEST(two_releases_apart_they_refuse_each_other),
        TEST(an_older_version_lacks_newer_message_kinds),
        TEST(nobody_on_the_way_makes_them_speak_what_was_not_offered),
        TEST(no_stranger_on_the_way_changes_what_is_offered),
        TEST(urgent_messages_go_first_and_blocks_last),
        TEST(no_more_is_handed_over_than_may_be),
        TEST(a_full_queue_says_no_and_loses_nothing),
        TEST(every_byte_that_comes_is_a_sign_of_life),
        TEST(the_largest_message_passes),
        TEST(a_closing_peer_ignores_input),
        TEST(a_slot_is_as_new_when_its_conversation_has_ended),
    };
    return cmocka_run_group_tests(tests, open_pair, close_pair);
}
