/* A hostile member (puppet.h) has the swarm key and breaks rules. The node closes the connection or
 * ignores the message, and no base changes. test_admission_control.c tests callers without the key.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/digest.h"
#include "frame/bytes.h"
#include "node/broadcast/version.h"
#include "support/sim/puppet.h"

static struct puppet puppet;
static uint64_t digest_before;

/* Starts two idle nodes that have met, and a puppet that has met node 0. */
static int villain_meets(const struct node_options *options, uint64_t after_ns)
{
    begin_world(1);
    start_swarm(2, options);
    run(after_ns);
    world_rest(&world);
    run(3 * SECOND_NS);
    digest_before = stats_of(0).digest;
    puppet_init(&puppet, 0, 77);
    puppet_meet(&puppet);
    return 0;
}

static int villain_begins(void **state)
{
    (void)state;
    const struct node_options options = usual_options();
    return villain_meets(&options, 5 * SECOND_NS);
}

/* Node 0 has more rumors than its send queue can hold. */
static int curious_villain_begins(void **state)
{
    (void)state;
    struct node_options options = usual_options();
    options.limits.send_queue_bytes = 1 << 16;
    return villain_meets(&options, 200 * SECOND_NS);
}

static int villain_ends(void **state)
{
    (void)state;
    puppet_free(&puppet);
    world_free(&world);
    return 0;
}

static uint64_t tag_of(uint32_t i)
{
    return origin_tag(world.nodes[i].identity.id, world.nodes[i].options.incarnation);
}

/* Checks that node 0 has disconnected the puppet with the reason `because`, and that nothing else
 * has changed. */
static void only_the_villain_is_gone(const char *because)
{
    run(SECOND_NS);
    assert_true(puppet.closed);
    assert_int_equal(puppet.bye_reason, BYE_BROKEN);
    assert_string_equal(puppet.bye, because);
    run(2 * SECOND_NS);
    assert_int_equal(stats_of(0).neighbours, 1);
    assert_int_equal(stats_of(0).digest, digest_before);
    assert_one_version();
}

static void still_a_neighbour(void)
{
    run(SECOND_NS);
    assert_false(puppet.closed);
    assert_int_equal(stats_of(0).neighbours, 2);
}

static void all_receive_an_honest_puppets_rumors(void **state)
{
    (void)state;
    uint8_t rumor[RUMOR_MAX];
    world.check.outsiders_publish = true;
    puppet_hello(&puppet);
    for (uint32_t seq = 0; seq < 3; seq++)
        puppet_say_bulk(&puppet, RUMOR, rumor, puppet_rumor(&puppet, seq, 5, rumor));
    still_a_neighbour();
    assert_int_equal(stats_of(0).digest, digest_add(digest_before, digest_of_entry(5, 3000)));
    assert_one_version();
    assert_true(puppet.heard[MEMBER_UPDATE] > 0 && puppet.heard[VERSION] > 0);
}

static void disconnects_a_peer_without_hello(void **state)
{
    (void)state;
    puppet_say(&puppet, &(struct message){.kind = PING, .token = 1});
    only_the_villain_is_gone("sent a message before HELLO");
}

static void disconnects_a_peer_with_two_hellos(void **state)
{
    (void)state;
    puppet_hello(&puppet);
    puppet_hello(&puppet);
    only_the_villain_is_gone("sent an invalid HELLO");
}

static void disconnects_a_peer_with_anothers_record(void **state)
{
    (void)state;
    uint8_t record[RECORD_BYTES];
    struct record said = puppet_record(&puppet);
    memcpy(said.id, world.nodes[1].identity.id, ID_BYTES);
    record_create(&said, &puppet.identity, puppet.context, record);
    puppet_say(&puppet,
               &(struct message){.kind = HELLO, .incarnation = 1, .bulk = {record, RECORD_BYTES}});
    only_the_villain_is_gone("sent an invalid HELLO");
}

static void disconnects_a_peer_with_a_forged_record(void **state)
{
    (void)state;
    uint8_t record[RECORD_BYTES];
    const struct record said = puppet_record(&puppet);
    record_create(&said, &puppet.identity, puppet.context, record);
    record[RECORD_BYTES - 1] ^= 1;
    puppet_say(&puppet,
               &(struct message){.kind = HELLO, .incarnation = 1, .bulk = {record, RECORD_BYTES}});
    only_the_villain_is_gone("sent an invalid member record");
}

static void a_forged_record_among_good_ones_is_noticed(void **state)
{
    (void)state;
    uint8_t records[2 * RECORD_BYTES];
    struct record said = puppet_record(&puppet);
    puppet_hello(&puppet);
    said.stamp = 2;
    record_create(&said, &puppet.identity, puppet.context, records);
    memcpy(said.id, world.nodes[1].identity.id, ID_BYTES);
    said.incarnation = world.nodes[1].options.incarnation;
    said.stamp = 1000; /* newer than any valid record */
    said.stage = STAGE_LEFT;
    record_create(&said, &puppet.identity, puppet.context, records + RECORD_BYTES);
    puppet_say_bulk(&puppet, MEMBER_LIST, records, sizeof records);
    only_the_villain_is_gone("sent an invalid member record");
    assert_int_equal(world.nodes[0].notes[NOTE_MEMBER_LEFT], 0);
}

static void records_and_versions_of_impossible_size_are_refused(void **state)
{
    (void)state;
    static const uint8_t bytes[RECORD_BYTES + 1];
    puppet_hello(&puppet);
    puppet_say_bulk(&puppet, MEMBER_LIST, bytes, sizeof bytes);
    only_the_villain_is_gone("sent member records of invalid size");
}

static void a_version_of_impossible_size_is_refused(void **state)
{
    (void)state;
    static const uint8_t bytes[VERSION_ENTRY_BYTES + 1];
    puppet_hello(&puppet);
    puppet_say_bulk(&puppet, VERSION, bytes, sizeof bytes);
    only_the_villain_is_gone("sent a version of invalid size");
}

static void the_same_version_with_another_digest_is_noted(void **state)
{
    (void)state;
    const struct node_stats stats = stats_of(0);
    struct message version = {.kind = VERSION, .hash = stats.version_hash, .digest = stats.digest};
    puppet_hello(&puppet);
    puppet_say(&puppet, &version);
    assert_int_equal(world.nodes[0].notes[NOTE_DIGEST], 0);
    version.digest++;
    version.hash++; /* digests may differ if versions differ */
    puppet_say(&puppet, &version);
    assert_int_equal(world.nodes[0].notes[NOTE_DIGEST], 0);
    version.hash--;
    CHECK(peer_say(&puppet.peer, &version));
    puppet_pump(&puppet);
    world_run_until(&world, world_now_ns(&world) + 3 * NEARBY_NS);
    assert_non_null(strstr(world.check.violation, "has the same version but another digest"));
    world.check.violation[0] = '\0'; /* the test caused the difference on purpose */
    still_a_neighbour();
    assert_int_equal(world.nodes[0].notes[NOTE_DIGEST], 1);
}

static void records_in_bye_are_also_checked(void **state)
{
    (void)state;
    static const uint8_t bytes[RECORD_BYTES + 1];
    puppet_hello(&puppet);
    puppet_say(&puppet,
               &(struct message){.kind = BYE, .reason = BYE_FULL, .bulk = {bytes, sizeof bytes}});
    only_the_villain_is_gone("sent member records of invalid size");
}

static void random_messages_end_the_connection(void **state)
{
    (void)state;
    struct rng rng = rng_new(7, 7);
    uint8_t bytes[200];
    puppet_hello(&puppet);
    for (int i = 0; i < 1000 && !puppet.closed; i++) {
        const size_t count = 1 + rng_below(&rng, sizeof bytes);
        for (size_t b = 0; b < count; b++)
            bytes[b] = (uint8_t)rng_next(&rng);
        puppet_shout(&puppet, bytes, count);
    }
    only_the_villain_is_gone("sent an invalid message");
}

static void every_changed_byte_of_a_rumor_message_is_noticed_or_harmless(void **state)
{
    (void)state;
    uint8_t rumor[RUMOR_MAX], bytes[RUMOR_MAX + 64];
    puppet_hello(&puppet);
    const size_t rumor_bytes = puppet_rumor(&puppet, 0, 5, rumor);
    const struct message message = {.kind = RUMOR, .bulk = {rumor, rumor_bytes}};
    const size_t count = message_encode(&message, bytes, sizeof bytes);
    for (size_t b = 0; b < count; b++) {
        bytes[b] ^= 0x11;
        puppet_shout(&puppet, bytes, count);
        bytes[b] ^= 0x11;
        assert_int_equal(stats_of(0).digest, digest_before);
        run(SECOND_NS);
        assert_int_equal(stats_of(0).neighbours, puppet.closed ? 1 : 2);
        if (!puppet.closed)
            continue;
        puppet_meet(&puppet);
        puppet_hello(&puppet);
    }
    assert_one_version();
}

static void every_truncation_of_a_message_is_refused(void **state)
{
    (void)state;
    uint8_t bytes[128];
    const struct message message = {.kind = WANT, .tag = ~0ull, .seq = ~0ull};
    const size_t count = message_encode(&message, bytes, sizeof bytes);
    for (size_t kept = 1; kept < count; kept++) {
        puppet_hello(&puppet);
        puppet_shout(&puppet, bytes, kept);
        only_the_villain_is_gone("sent an invalid message");
        puppet_meet(&puppet);
    }
}

static void refuses_a_rumor_not_signed_by_its_origin(void **state)
{
    (void)state;
    uint8_t rumor[RUMOR_MAX];
    puppet_hello(&puppet);
    const size_t bytes = puppet_rumor(&puppet, 0, 5, rumor);
    memcpy(rumor, world.nodes[1].identity.id, ID_BYTES);
    bytes_put(rumor + 32, 2, 8); /* incarnation 2 of node 1, which node 0 does not know */
    puppet_say_bulk(&puppet, RUMOR, rumor, bytes);
    only_the_villain_is_gone("sent an invalid rumor (forged)");
    assert_int_equal(stats_of(0).origins, 2);
}

static void refuses_a_rumor_beyond_the_last_parameter(void **state)
{
    (void)state;
    uint8_t rumor[RUMOR_MAX];
    puppet_hello(&puppet);
    puppet_say_bulk(&puppet, RUMOR, rumor, puppet_rumor(&puppet, 0, PARAMETERS, rumor));
    only_the_villain_is_gone("sent an invalid rumor (malformed)");
}

static void an_early_rumor_moves_nothing_and_triggers_a_want(void **state)
{
    (void)state;
    uint8_t rumor[RUMOR_MAX];
    world.check.outsiders_publish = true;
    puppet_hello(&puppet);
    puppet_say_bulk(&puppet, RUMOR, rumor, puppet_rumor(&puppet, 0, 5, rumor));
    puppet_say_bulk(&puppet, RUMOR, rumor, puppet_rumor(&puppet, 2, 5, rumor));
    still_a_neighbour();
    assert_int_equal(puppet.heard[WANT], 1);
    assert_int_equal(puppet.last_seq[WANT], 1);
    assert_int_equal(stats_of(0).digest, digest_add(digest_before, digest_of_entry(5, 1000)));
    puppet_say_bulk(&puppet, RUMOR, rumor, puppet_rumor(&puppet, 1, 5, rumor));
    puppet_say_bulk(&puppet, RUMOR, rumor, puppet_rumor(&puppet, 2, 5, rumor));
    still_a_neighbour();
    assert_int_equal(stats_of(0).digest, digest_add(digest_before, digest_of_entry(5, 3000)));
}

static void a_repeated_rumor_counts_once(void **state)
{
    (void)state;
    uint8_t rumor[RUMOR_MAX];
    world.check.outsiders_publish = true;
    puppet_hello(&puppet);
    for (int i = 0; i < 20; i++)
        puppet_say_bulk(&puppet, RUMOR, rumor, puppet_rumor(&puppet, 0, 5, rumor));
    still_a_neighbour();
    assert_int_equal(stats_of(0).duplicates, 19);
    assert_int_equal(stats_of(0).digest, digest_add(digest_before, digest_of_entry(5, 1000)));
}

static void heads_of_unverified_rumors_use_no_memory(void **state)
{
    (void)state;
    uint8_t rumor[RUMOR_MAX];
    puppet_hello(&puppet);
    const size_t bytes = puppet_rumor(&puppet, 7, 5, rumor);
    for (uint64_t incarnation = 1; incarnation <= 200; incarnation++) {
        bytes_put(rumor + 32, incarnation, 8);
        puppet_say_bulk(&puppet, RUMOR, rumor, bytes);
    }
    run(SECOND_NS);
    assert_int_equal(stats_of(0).origins, 2);
}

static void ignores_wants_for_nonexistent_rumors(void **state)
{
    (void)state;
    const uint64_t tag = tag_of(1);
    puppet_hello(&puppet);
    puppet_say(&puppet, &(struct message){.kind = WANT, .tag = 12345, .seq = 0});
    puppet_say(&puppet, &(struct message){.kind = WANT, .tag = tag, .seq = UINT64_MAX});
    puppet_say(&puppet, &(struct message){.kind = WANT, .tag = tag, .seq = 1ull << 32});
    puppet_say(&puppet, &(struct message){.kind = PRUNE, .tag = 12345});
    puppet_say(&puppet, &(struct message){.kind = GONE, .tag = 12345, .seq = UINT64_MAX});
    puppet_say(&puppet, &(struct message){.kind = PONG, .token = 12345});
    still_a_neighbour();
    assert_int_equal(puppet.heard[RUMOR], 0);
    assert_int_equal(puppet.heard[GONE], 0);
}

static void a_prune_ends_the_answer_to_a_want(void **state)
{
    (void)state;
    const uint64_t tag = tag_of(1);
    limit_up(0, 8000);
    puppet_hello(&puppet);
    puppet_say(&puppet, &(struct message){.kind = WANT, .tag = tag});
    run(5 * SECOND_NS);
    puppet_say(&puppet, &(struct message){.kind = PRUNE, .tag = tag});
    run(40 * SECOND_NS); /* receives rumors that node 0 had queued before */
    const uint32_t heard = puppet.heard[RUMOR];
    assert_in_range(heard, 1, stats_of(1).rumors_published - 1);
    run(60 * SECOND_NS);
    assert_int_equal(puppet.heard[RUMOR], heard);
}

static void greedy_wants_are_bounded_by_the_queue(void **state)
{
    (void)state;
    const uint64_t tag = tag_of(1);
    uint8_t bytes[64];
    const struct message want = {.kind = WANT, .tag = tag};
    const size_t count = message_encode(&want, bytes, sizeof bytes);
    puppet_hello(&puppet);
    static uint8_t out[2000 * (64 + RECORD_OVERHEAD)];
    size_t out_bytes = 0;
    for (int i = 0; i < 2000; i++, out_bytes += count + RECORD_OVERHEAD)
        session_seal(&puppet.peer.keys->session, bytes, count, out + out_bytes);
    puppet_send(&puppet, out,
                /* sends all requests before the first answer arrives */
                out_bytes);
    run(SECOND_NS);
    /* A rumor has at least 128 bytes. */
    assert_in_range(puppet.heard[RUMOR], 1, world.nodes[0].options.limits.send_queue_bytes / 128);
    assert_one_version();
}

#define VILLAIN(name) cmocka_unit_test_setup_teardown(name, villain_begins, villain_ends)

int main(void)
{
    const struct CMUnitTest tests[] = {
        VILLAIN(all_receive_an_honest_puppets_rumors),
        VILLAIN(disconnects_a_peer_without_hello),
        VILLAIN(disconnects_a_peer_with_two_hellos),
        VILLAIN(disconnects_a_peer_with_anothers_record),
        VILLAIN(disconnects_a_peer_with_a_forged_record),
        VILLAIN(a_forged_record_among_good_ones_is_noticed),
        VILLAIN(records_and_versions_of_impossible_size_are_refused),
        VILLAIN(a_version_of_impossible_size_is_refused),
        VILLAIN(the_same_version_with_another_digest_is_noted),
        VILLAIN(records_in_bye_are_also_checked),
        VILLAIN(random_messages_end_the_connection),
        VILLAIN(every_changed_byte_of_a_rumor_message_is_noticed_or_harmless),
        VILLAIN(every_truncation_of_a_message_is_refused),
        VILLAIN(refuses_a_rumor_not_signed_by_its_origin),
        VILLAIN(refuses_a_rumor_beyond_the_last_parameter),
        VILLAIN(an_early_rumor_moves_nothing_and_triggers_a_want),
        VILLAIN(a_repeated_rumor_counts_once),
        VILLAIN(heads_of_unverified_rumors_use_no_memory),
        VILLAIN(ignores_wants_for_nonexistent_rumors),
        cmocka_unit_test_setup_teardown(a_prune_ends_the_answer_to_a_want, curious_villain_begins,
                                        villain_ends),
        VILLAIN(greedy_wants_are_bounded_by_the_queue),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
