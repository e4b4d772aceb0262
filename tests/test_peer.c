/* Two conversations joined by arrays of bytes: however the bytes come, the same is said and heard;
 * and whatever is done to them, nothing is heard that was not said. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "peer.h"
#include "rng.h"

#define NOW_NS    1000u
#define QUEUE_MAX (1u << 18)
#define SAID      3 /* messages each side says when it has met the other */
#define NEVER     SIZE_MAX

struct side {
    struct arena arena;
    struct identity identity;
    struct entropy entropy;
    struct club club;
    struct peer peer;
    bool met, refused;
    uint32_t heard; /* all of them as the other said them, in order */
    struct problem problem;
    uint64_t out_bytes; /* on the way to the other so far */
};

static struct side dialer, acceptor;
static struct message_reader *reader;

/* What happens on the way from the dialer [0] and from the acceptor [1]. */
static struct {
    size_t chunk;   /* bytes at once */
    size_t flip[2]; /* the byte changed */
    size_t cut[2];  /* the first byte lost, and all after it */
    uint8_t mask;
} way;

static const struct address ADDRESS = {.host = "10.0.0.1", .port = 7000};

struct introduced {
    const char *swarm, *model;
    uint64_t parameters;
    uint16_t protocol;
    uint8_t key;
};

static const struct introduced USUAL = {"swarm", "dense 10", 1000, PROTOCOL_VERSION, 1};

static void side_init(struct side *side, uint8_t seed, const struct introduced *as)
{
    *side = (struct side){.peer = {.state = PEER_FREE}};
    const uint8_t bytes[SEED_BYTES] = {seed};
    const uint8_t key[KEY_BYTES] = {as->key};
    identity_from_seed(&side->identity, bytes);
    entropy_from_seed(&side->entropy, bytes);
    struct introduction ours;
    introduction_make(&ours, as->swarm, as->model, as->parameters);
    ours.protocol = as->protocol;
    side->club.identity = &side->identity;
    side->club.entropy = &side->entropy;
    gate_init(&side->club.gate, key, &ours);
    introduction_encode(side->club.prologue, &ours);
    memcpy(side->club.psk, key, KEY_BYTES);
    arena_init(&side->arena, peer_arena_bytes(QUEUE_MAX, 64) + 1024);
    peer_init(&side->peer, &side->arena, QUEUE_MAX, 64);
}

static void begin_as(const struct introduced *one, const struct introduced *other)
{
    side_init(&dialer, 1, one);
    side_init(&acceptor, 2, other);
    peer_start(&dialer.peer, 1, true, &ADDRESS, NOW_NS);
    peer_start(&acceptor.peer, 2, false, &ADDRESS, NOW_NS);
    peer_on_connected(&dialer.peer, &dialer.club, NOW_NS);
}

static int begin(void **state)
{
    (void)state;
    way.chunk = NEVER;
    way.flip[0] = way.flip[1] = way.cut[0] = way.cut[1] = NEVER;
    begin_as(&USUAL, &USUAL);
    return 0;
}

static int end(void **state)
{
    (void)state;
    peer_end(&dialer.peer);
    peer_end(&acceptor.peer);
    arena_release(&dialer.arena);
    arena_release(&acceptor.arena);
    return 0;
}

static void begin_again(void)
{
    (void)end(NULL);
    begin_as(&USUAL, &USUAL);
}

/* Message number i: WANT 0 i, WANT 1 i + 1, ... */
static struct message message_number(uint32_t i)
{
    return (struct message){.kind = WANT, .tag = i, .seq = 1000 + i};
}

static void say_some(struct side *side, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct message message = message_number(i);
        assert_true(peer_say(&side->peer, &message));
    }
}

static void hear(struct side *side)
{
    size_t bytes;
    const uint8_t *at = peer_message(&side->peer, &bytes);
    struct message message;
    assert_int_equal(message_decode(reader, at, bytes, &message), OK);
    const struct message expected = message_number(side->heard++);
    assert_int_equal(message.kind, expected.kind);
    assert_int_equal(message.tag, expected.tag);
    assert_int_equal(message.seq, expected.seq);
}

static void take(struct side *side, const uint8_t *bytes, size_t count)
{
    while (count > 0 && !side->refused) {
        switch (peer_take(&side->peer, &side->club, NOW_NS, &bytes, &count, &side->problem)) {
        case PEER_NOTHING:
            assert_int_equal(count, 0);
            break;
        case PEER_MET:
            assert_false(side->met);
            side->met = true;
            say_some(side, SAID);
            break;
        case PEER_SAID:
            hear(side);
            break;
        case PEER_REFUSED:
            side->refused = true;
            peer_move(&side->peer, PEER_CLOSING, NOW_NS);
        }
    }
}

/* Carry these bytes over, as the way would have it. */
static void carry(struct side *from, struct side *to, const uint8_t *bytes, size_t count)
{
    static uint8_t copy[SENDING_BYTES];
    const int direction = from == &acceptor;
    memcpy(copy, bytes, count);
    const size_t start = from->out_bytes;
    from->out_bytes += count;
    if (way.flip[direction] >= start && way.flip[direction] - start < count)
        copy[way.flip[direction] - start] ^= way.mask;
    if (way.cut[direction] <= start)
        return;
    if (way.cut[direction] - start < count)
        count = way.cut[direction] - start;
    for (size_t at = 0; at < count; at += way.chunk) {
        take(to, copy + at, count - at < way.chunk ? count - at : way.chunk);
        if (way.chunk == NEVER)
            break;
    }
}

/* False when there was nothing to send. */
static bool send_once(struct side *from, struct side *to)
{
    const uint8_t *bytes;
    size_t count;
    if (!peer_next_send(&from->peer, &bytes, &count))
        return false;
    carry(from, to, bytes, count);
    peer_on_sent(&from->peer);
    return true;
}

static void converse(void)
{
    bool more = true;
    while (more) {
        more = send_once(&dialer, &acceptor);
        more |= send_once(&acceptor, &dialer);
    }
}

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
        assert_int_equal(dialer.peer.received_bytes, acceptor.out_bytes);
        assert_int_equal(dialer.peer.sent_bytes, dialer.out_bytes);
    }
}

static void an_answer_may_come_before_the_question_is_reported_as_sent(void **state)
{
    (void)state;
    const uint8_t *question, *answer, *proof;
    size_t count, answer_count, proof_count;
    uint8_t copy[GREETING_MAX];
    assert_true(peer_next_send(&dialer.peer, &question, &count));
    memcpy(copy, question, count);
    carry(&dialer, &acceptor, question, count);
    assert_true(peer_next_send(&acceptor.peer, &answer, &answer_count));
    carry(&acceptor, &dialer, answer, answer_count);
    assert_true(dialer.met);
    assert_memory_equal(question, copy, count); /* lent until sent */
    assert_false(peer_next_send(&dialer.peer, &proof, &proof_count));
    peer_on_sent(&dialer.peer);
    assert_true(peer_next_send(&dialer.peer, &proof, &proof_count));
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
    (void)end(NULL);
    begin_as(&other, &USUAL);
    converse();
    assert_true(acceptor.refused);
    assert_int_equal(acceptor.out_bytes, 0);
    assert_non_null(strstr(acceptor.problem.text, "did not show the swarm key"));
    assert_false(dialer.met || dialer.refused);
}

static void must_refuse_each_other(const struct introduced *other, const char *why)
{
    (void)end(NULL);
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
    other.protocol = PROTOCOL_VERSION + 1;
    must_refuse_each_other(&other, "other protocol version");
}

/* Nobody may have heard all if a byte on the way to him was changed. */
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
            converse(); /* hear() compares every message with what was said */
            must_notice(direction, at);
            way.flip[direction] = NEVER;
        }
}

static void what_is_cut_off_is_heard_up_to_there(void **state)
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
        assert_non_null(strstr(acceptor.problem.text, "impossible size"));
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
    begin_again(); /* a good one, with a byte more */
    const uint8_t *greeting;
    size_t count;
    assert_true(peer_next_send(&dialer.peer, &greeting, &count));
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

/* The next bytes that one side would send, and the whole of them delivered. */
static size_t record(struct side *from, struct side *to, uint8_t *out)
{
    const uint8_t *bytes;
    size_t count;
    assert_true(peer_next_send(&from->peer, &bytes, &count));
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
    (void)end(NULL);
    side_init(&dialer, 1, &USUAL);
    side_init(&acceptor, 3, &USUAL);
    peer_start(&acceptor.peer, 2, false, &ADDRESS, NOW_NS);
    take(&acceptor, said[0], count[0]);
    take(&acceptor, said[1], count[1]);
    assert_true(acceptor.refused);
    assert_false(acceptor.met);
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
    while (peer_next_send(&dialer.peer, &bytes, &count)) {
        size_t left = count;
        while (peer_take(&acceptor.peer, &acceptor.club, NOW_NS, &bytes, &left,
                         &acceptor.problem) == PEER_SAID) {
            size_t message_bytes;
            struct message message;
            const uint8_t *at = peer_message(&acceptor.peer, &message_bytes);
            assert_int_equal(message_decode(reader, at, message_bytes, &message), OK);
            assert_int_equal(message.bulk.count, sizeof bulk);
            if (++heard == 5) /* room is made while it drains */
                said += peer_say(&dialer.peer, &heavy);
        }
        peer_on_sent(&dialer.peer);
    }
    assert_int_equal(heard, said);
    assert_int_equal(peer_queued_bytes(&dialer.peer), 0);
}

/* On a thin link a frame may take longer than anybody may be silent. */
static void every_byte_that_comes_is_a_sign_of_life(void **state)
{
    (void)state;
    converse();
    say_some(&dialer, 1);
    const uint8_t *bytes;
    size_t count;
    assert_true(peer_next_send(&dialer.peer, &bytes, &count));
    for (uint64_t now_ns = NOW_NS + 1; now_ns <= NOW_NS + 5; now_ns++) {
        size_t one = 1;
        assert_int_equal(
            peer_take(&acceptor.peer, &acceptor.club, now_ns, &bytes, &one, &acceptor.problem),
            PEER_NOTHING);
        assert_int_equal(acceptor.peer.heard_ns, now_ns);
    }
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
    assert_true(peer_next_send(&dialer.peer, &bytes, &count));
    assert_int_equal(
        peer_take(&acceptor.peer, &acceptor.club, NOW_NS, &bytes, &count, &acceptor.problem),
        PEER_SAID);
    struct message message;
    const uint8_t *at = peer_message(&acceptor.peer, &message_bytes);
    assert_int_equal(message_decode(reader, at, message_bytes, &message), OK);
    assert_int_equal(message.bulk.count, sizeof bulk);
    assert_memory_equal(message.bulk.at, bulk, sizeof bulk);
    peer_on_sent(&dialer.peer);
}

static void who_is_closing_hears_nothing_more(void **state)
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
    dialer.peer.lazy[0] = dialer.peer.pruned[0] = 5;
    peer_end(&dialer.peer);
    assert_int_equal(dialer.peer.state, PEER_FREE);
    assert_memory_equal(dialer.peer.session.send_key, none.send_key, KEY_BYTES);
    assert_int_equal(dialer.peer.lazy[0], 0);
    assert_int_equal(dialer.peer.pruned[0], 0);
    assert_int_equal(peer_queued_bytes(&dialer.peer), 0);
    dialer.met = acceptor.met = false;
    dialer.heard = acceptor.heard = 0;
    peer_end(&acceptor.peer);
    peer_start(&dialer.peer, 3, true, &ADDRESS, NOW_NS);
    peer_start(&acceptor.peer, 4, false, &ADDRESS, NOW_NS);
    peer_on_connected(&dialer.peer, &dialer.club, NOW_NS);
    converse();
    both_must_have_met_and_heard(SAID);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
    secret_start();
    reader = message_reader_new();
    const struct CMUnitTest tests[] = {
        TEST(they_meet_however_the_bytes_are_cut),
        TEST(an_answer_may_come_before_the_question_is_reported_as_sent),
        TEST(a_stranger_without_the_key_gets_no_byte),
        TEST(those_who_differ_tell_each_other_how),
        TEST(every_changed_byte_is_noticed_and_nothing_false_is_heard),
        TEST(what_is_cut_off_is_heard_up_to_there),
        TEST(frames_of_impossible_size_are_refused_at_once),
        TEST(a_greeting_of_another_size_is_refused),
        TEST(in_a_session_frames_without_a_tag_are_refused),
        TEST(a_record_said_twice_is_refused),
        TEST(a_conversation_said_again_to_another_gets_nowhere),
        TEST(a_full_queue_says_no_and_loses_nothing),
        TEST(every_byte_that_comes_is_a_sign_of_life),
        TEST(the_largest_message_passes),
        TEST(who_is_closing_hears_nothing_more),
        TEST(a_slot_is_as_new_when_its_conversation_has_ended),
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    message_reader_free(reader);
    return failed;
}
