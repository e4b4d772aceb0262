/* A member causes more work than a neighbour may: it signs thousands of records, or asks for lists.
 * The node reads the records late, answers few queries, names the member, and keeps its other
 * neighbours. The usual peaks of an honest swarm have no consequence. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "node/membership/membership.h"
#include "support/sim/puppet.h"

#define RECORDS_PER_S 3000
#define QUERIES_PER_S 300
#define TURN_NS       (SECOND_NS / 100)
#define CHECKED_PER_S 256      /* WORK_PER_S of src/node/rate/work.c */
#define CHECKED_ONCE  (8 * 64) /* WORK_PER_MEMBER times the members_max of usual_options */
#define VERSION_WORK  16       /* WORK_OF_A_VERSION */
#define READ_ONCE     (65536 / RECORD_BYTES) /* records that one read may contain */

static struct puppet villain;

static int villain_begins(void **state)
{
    (void)state;
    begin_world(1);
    struct node_options options = usual_options();
    options.limits.silence_ns = 600 * SECOND_NS; /* puppets do not answer PING */
    start_swarm(3, &options);
    run(5 * SECOND_NS);
    world_rest(&world);
    run(3 * SECOND_NS);
    puppet_init(&villain, 0, 77);
    puppet_meet(&villain);
    puppet_hello(&villain);
    return 0;
}

static int villain_ends(void **state)
{
    (void)state;
    puppet_free(&villain);
    world_free(&world);
    return 0;
}

static void say_if_room(const struct message *message)
{
    (void)peer_say(&villain.peer, message);
    puppet_pump(&villain);
}

/* For this many seconds, signs and sends per_s records a second. Their stamps rise from *stamp + 1,
 * and *stamp becomes the last one. */
static void sign_records(uint32_t seconds, uint32_t per_s, uint64_t *stamp)
{
    static uint8_t records[RECORDS_PER_S / 100 * RECORD_BYTES];
    CHECK(per_s <= RECORDS_PER_S);
    for (uint32_t turn = 0; turn < 100 * seconds; turn++) {
        for (uint32_t i = 0; i < per_s / 100; i++) {
            struct record record = puppet_record(&villain);
            record.stamp = ++*stamp;
            record_create(&record, &villain.identity, villain.context, records + i * RECORD_BYTES);
        }
        say_if_room(&(struct message){.kind = MEMBER_UPDATE,
                                      .bulk = {records, per_s / 100 * RECORD_BYTES}});
        run(TURN_NS);
    }
}

static void ask(uint32_t seconds, const struct message *query)
{
    for (uint32_t turn = 0; turn < QUERIES_PER_S * seconds; turn++) {
        say_if_room(query);
        run(SECOND_NS / QUERIES_PER_S);
    }
}

/* Returns the stamp of the villain's newest record that node 0 has checked. */
static uint64_t stamp_at_node(void)
{
    return membership_find(world.nodes[0].node, villain.identity.id)->record.stamp;
}

static void the_villain_is_named(uint32_t times)
{
    char id[ID_TEXT_BYTES];
    const struct note *note = &world.nodes[0].last[NOTE_EXCESS];
    assert_int_equal(world.nodes[0].notes[NOTE_EXCESS], times);
    identity_text(id, villain.identity.id);
    assert_string_equal(note->who, id);
    assert_int_equal(note->level, LEVEL_WARNING);
    assert_non_null(strstr(note->text, "records and queries a second"));
}

/* Checks that node 0 has three neighbours and no node has lost one. Nodes 1 and 2, to which node 0
 * forwards records, must have reported no excess. */
static void only_the_villain_waits(void)
{
    assert_int_equal(neighbours(0), 3);
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(world.nodes[i].notes[NOTE_NEIGHBOUR_LOST], 0);
    for (uint32_t i = 1; i < 3; i++)
        assert_int_equal(world.nodes[i].notes[NOTE_EXCESS], 0);
}

static void reads_thousands_of_signed_records_late(void **state)
{
    (void)state;
    uint64_t stamp = 1;
    sign_records(20, RECORDS_PER_S, &stamp);
    assert_in_range(stamp_at_node(), 1, CHECKED_ONCE + 20 * CHECKED_PER_S + READ_ONCE);
    assert_false(villain.closed);
    the_villain_is_named(1);
    only_the_villain_waits();
}

static void names_a_lasting_offender_again_after_minutes(void **state)
{
    (void)state;
    uint64_t stamp = 1;
    sign_records(330, 2 * CHECKED_PER_S, &stamp);
    the_villain_is_named(2);
}

/* In each of eight conversations, the villain asks for more versions than its allowance covers at
 * once. The node also sends its version unasked: at the start of a conversation, and once a
 * second. */
static void a_new_conversation_brings_no_new_allowance(void **state)
{
    (void)state;
    const uint64_t before_ns = world_now_ns(&world);
    uint32_t versions = 0;
    for (uint32_t i = 0; i < 8; i++) {
        ask(1, &(struct message){.kind = WANT, .tag = TAG_ALL});
        versions += villain.heard[VERSION];
        wire_hang_up(&world.wire, villain.party, villain.peer.conn);
        run(SECOND_NS / 10);
        assert_true(villain.closed);
        puppet_meet(&villain);
        puppet_hello(&villain);
    }
    const uint64_t seconds = (world_now_ns(&world) - before_ns) / SECOND_NS + 1;
    assert_in_range(versions, 10, (CHECKED_ONCE + seconds * CHECKED_PER_S) / VERSION_WORK + 24);
}

static void shows_few_whole_versions(void **state)
{
    (void)state;
    const uint32_t most = (CHECKED_ONCE + 10 * CHECKED_PER_S) / VERSION_WORK + 1;
    ask(10, &(struct message){.kind = WANT, .tag = TAG_ALL});
    assert_in_range(villain.heard[VERSION], 10, most + 10 /* one a second is sent unasked */);
    only_the_villain_waits();
}

/* Four lists of 60 members arrive at once. The stamps of each list are later than those of the list
 * before it. */
static void checks_a_whole_table_of_members_at_once(void **state)
{
    (void)state;
    static uint8_t records[60 * RECORD_BYTES];
    for (uint64_t stamp = 1; stamp <= 4; stamp++) {
        for (uint8_t i = 0; i < 60; i++) {
            const uint8_t secret[SEED_BYTES] = {i, 0x55};
            struct identity identity;
            identity_from_seed(&identity, secret);
            struct record record = {.incarnation = 1, .stamp = stamp, .renew_ms = 60000};
            memcpy(record.id, identity.id, ID_BYTES);
            record_create(&record, &identity, villain.context, records + i * RECORD_BYTES);
        }
        puppet_say_bulk(&villain, MEMBER_UPDATE, records, sizeof records);
        for (uint32_t i = 0; i < 60; i++)
            assert_int_equal(
                membership_find(world.nodes[0].node, records + i * RECORD_BYTES)->record.stamp,
                stamp);
    }
    assert_int_equal(world.nodes[0].notes[NOTE_EXCESS], 0);
}

static void no_connection_was_held(void)
{
    for (uint32_t i = 0; i < world.wire.connections_count; i++)
        for (uint32_t end = 0; end < 2; end++)
            assert_int_equal(world.wire.connections[i].half[end].held_ns, 0);
}

/* The table of members is as small as the swarm, so the allowance is the smallest. */
static void names_no_node_that_joins_meets_again_or_leaves(void **state)
{
    (void)state;
    struct node_options options = usual_options();
    options.limits.members_max = NODES_MAX;
    start_swarm(NODES_MAX, &options);
    run(30 * SECOND_NS);
    for (uint32_t a = 0; a < NODES_MAX / 2; a++)
        for (uint32_t b = NODES_MAX / 2; b < NODES_MAX; b++)
            cut(a, b);
    run(60 * SECOND_NS);
    for (uint32_t a = 0; a < NODES_MAX / 2; a++)
        for (uint32_t b = NODES_MAX / 2; b < NODES_MAX; b++)
            heal_cut(a, b);
    run(60 * SECOND_NS);
    for (uint32_t i = 0; i < NODES_MAX; i++)
        world_leave(&world, i);
    run(30 * SECOND_NS);
    no_connection_was_held();
}

#define OF_VILLAIN(name) cmocka_unit_test_setup_teardown(name, villain_begins, villain_ends)

int main(void)
{
    const struct CMUnitTest tests[] = {
        OF_VILLAIN(reads_thousands_of_signed_records_late),
        OF_VILLAIN(names_a_lasting_offender_again_after_minutes),
        OF_VILLAIN(a_new_conversation_brings_no_new_allowance),
        OF_VILLAIN(shows_few_whole_versions),
        OF_VILLAIN(checks_a_whole_table_of_members_at_once),
        STORY(names_no_node_that_joins_meets_again_or_leaves),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
