/* An old swarm, in which far more incarnations have published than there are members now. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "node/broadcast/broadcast.h"
#include "support/net/stream.h"
#include "support/sim/puppet.h"
#include "support/sim/serve_story.h"

/* More incarnations have published than a block can list. The joiner learns of the rest from the
 * history. */
static void a_joiner_takes_over_rumors_of_many_incarnations(void **state)
{
    (void)state;
    struct node_options options = busy_options();
    options.limits.listed_max = 5;
    start_swarm(3, &options);
    run(40 * SECOND_NS);
    for (int incarnations = 0; incarnations < 10; incarnations++) {
        world_kill(&world, 2, true);
        world_start(&world, 2);
        until(is_training, 2, 10 * SECOND_NS);
        run(2 * SECOND_NS);
    }
    assert_in_range(stats_of(0).origins, 13, 20);
    const uint32_t joiner = join(&options, 3);
    until(is_training, joiner, 5 * SECOND_NS);
    assert_int_equal(bases_of(joiner), 1);
    assert_true(stats_of(joiner).block_bytes <=
                SMALL_BLOCKS * (1 + 4 * SMALL_BLOCK + 5 * VERSION_ENTRY_BYTES));
    must_agree(5 * SECOND_NS);
}

/* Returns node i's versions, which the test may change. */
static struct versions *versions_of(uint32_t i)
{
    return (struct versions *)(uintptr_t)broadcast_versions(world.nodes[i].node);
}

/* Adds `count` incarnations of other nodes, at most a thousand for each node, to the versions of
 * node i. Each incarnation has one rumor. */
static void know_incarnations(uint32_t i, uint32_t count)
{
    struct versions *versions = versions_of(i);
    struct identity ended;
    world.check.outsiders_publish = true;
    for (uint32_t incarnation = 1; incarnation <= count; incarnation++) {
        const uint8_t seed[SEED_BYTES] = {(uint8_t)(1 + incarnation / 1000)};
        if (incarnation == 1 || incarnation % 1000 == 0)
            identity_from_seed(&ended, seed);
        struct origin *origin = versions_add(versions, ended.id, incarnation);
        assert_non_null(origin);
        const struct signed_head head =
            stream_head(&ended, incarnation, 0, 1, world.nodes[i].node->context);
        versions_set(versions, origin, &head);
    }
}

/* A block need not list incarnations that ended long ago, because nodes agree on them. The hash of
 * all incarnations confirms this. */
static void a_block_lists_the_latest_incarnations_and_the_hash_of_all(void **state)
{
    (void)state;
    struct node_options options = patient_options();
    options.limits.incarnations_max = 12500;
    options.limits.send_queue_bytes = 1u << 22;
    start_talk(&options);
    know_incarnations(0, 9000);
    run(2 * SECOND_NS);
    world_rest(&world);
    run(SECOND_NS);
    puppet_say(&puppet, &(struct message){.kind = TAKE});
    run(SECOND_NS);
    assert_int_equal(puppet.last[HISTORY].parts, 27);
    fetch(0, 1);
    run(SECOND_NS);
    const struct message *block = &puppet.last[BLOCK];
    assert_true(block->bulk.count > 0);
    assert_int_equal(block->entries.count, 256 * VERSION_ENTRY_BYTES);
    assert_true(block->hash == stats_of(0).version_hash);
}

static void a_joiner_learns_of_very_many_incarnations(void **state)
{
    (void)state;
    struct node_options options = busy_options();
    options.log_bytes = 1 << 20; /* enough for all rumors that are published during the transfer */
    options.limits.incarnations_max = 12500;
    options.limits.send_queue_bytes = 1u << 22;
    add_swarm(2, &options);
    start_all();
    know_incarnations(0, 9000);
    know_incarnations(1, 9000);
    run(40 * SECOND_NS);
    assert_true(meshed());
    limit_up(0, 150000); /* node 0 sends the history for 12 seconds */
    limit_up(1, 150000);
    const uint32_t joiner = join(&options, 2);
    until(is_training, joiner, 30 * SECOND_NS);
    assert_int_equal(bases_of(joiner), 1);
    assert_int_equal(stats_of(joiner).origins, 9000 + 2);
    run(10 * SECOND_NS);
    assert_int_equal(known_of(0, joiner) > 0, 1);
    must_agree(5 * SECOND_NS);
}

/* Stops node i from pushing rumors of node `of` to node `to`. */
static void forget_to_push(uint32_t i, uint32_t of, uint32_t to)
{
    struct node *node = world.nodes[i].node;
    const struct peer *peer = connection_by_id(node, world.nodes[to].identity.id, NULL);
    broadcast_on_prune(node, peer, broadcast_own(world.nodes[of].node)->tag);
}

/* A returning node may train while it misses a few rumors, as many as there are publishing members.
 * Ended incarnations do not raise that number. */
static void a_returning_node_trains_once_it_has_caught_up(void **state)
{
    (void)state;
    struct node_options options = busy_options();
    options.log_bytes = 4 << 20;
    options.limits.incarnations_max = 12500;
    options.limits.send_queue_bytes = 1u << 22;
    options.save_ns = 5 * SECOND_NS;
    add_swarm(3, &options);
    start_all();
    for (uint32_t i = 0; i < 3; i++)
        know_incarnations(i, 9000);
    run(20 * SECOND_NS);
    world_kill(&world, 2, false);
    run(40 * SECOND_NS);
    world_start(&world, 2);
    const uint64_t behind = stats_of(0).version - stats_of(2).version;
    assert_in_range(behind, 1000, 9000);
    until(is_training, 2, 20 * SECOND_NS);
    assert_true(stats_of(0).version - stats_of(2).version < 300);
    must_agree(5 * SECOND_NS);
}

/* Member records of a silent origin also travel the broadcast trees. */
static void a_silent_origin_is_requested_again_like_others(void **state)
{
    (void)state;
    struct node_options options = usual_options();
    options.trains = false;
    start_swarm(3, &options);
    run(5 * SECOND_NS);
    struct node *node = world.nodes[0].node;
    const struct origin *quiet = broadcast_own(world.nodes[2].node);
    const struct peer *fed_by = connection_by_id(node, world.nodes[1].identity.id, NULL);
    assert_int_equal(versions_of(0)->publishers, 0);
    versions_find(versions_of(0), quiet->tag)->parent_conn = fed_by->conn;
    const uint64_t wants = connection_said(node, WANT).count;
    world_kill(&world, 1, false);
    run(SECOND_NS / 2);
    assert_int_equal(neighbours(0), 1);
    assert_true(connection_said(node, WANT).count > wants);
}

/* All nodes keep publishing, so none requests a complete version. Slices of versions also show
 * ended incarnations. */
static void a_gap_is_found_soon_among_very_many_incarnations(void **state)
{
    (void)state;
    struct node_options options = busy_options();
    options.log_bytes = 1 << 20;
    options.limits.incarnations_max = 12500;
    options.limits.send_queue_bytes = 1u << 22;
    add_swarm(3, &options);
    start_all();
    for (uint32_t i = 0; i < 3; i++)
        know_incarnations(i, 9000);
    run(10 * SECOND_NS);
    forget_to_push(0, 0, 1);
    forget_to_push(2, 0, 1);
    const uint32_t known = known_of(1, 0);
    run(SECOND_NS / 2);
    assert_in_range(known_of(1, 0), known, known + 2);
    run(20 * SECOND_NS);
    assert_true(known_of(1, 0) > known + 100);
    must_agree(5 * SECOND_NS);
}

/* The puppet knows an origin that the node lacks. The puppet's short versions do not list that
 * origin, and its complete version is long. */
static void a_long_version_is_requested_occasionally(void **state)
{
    (void)state;
    start_talk_at_rest();
    const uint64_t known = stats_of(0).version;
    for (uint32_t incarnations = 0; incarnations < 2; incarnations++) {
        run(3 * SECOND_NS);
        const struct message version = {
            .kind = VERSION, .hash = 2, .base = 1, .whole = incarnations, .rumors = known + 1000};
        const uint32_t asked = puppet.heard[WANT];
        for (int times = 0; times < 5; times++)
            puppet_say(&puppet, &version);
        assert_int_equal(puppet.heard[WANT] - asked, incarnations ? 0 : 5);
        assert_int_equal(puppet.last[WANT].tag, TAG_ALL);
        if (incarnations == 0)
            know_incarnations(0, 300);
    }
    run(10 * SECOND_NS);
    const uint32_t asked = puppet.heard[WANT];
    puppet_say(&puppet,
               &(struct message){.kind = VERSION, .hash = 2, .base = 1, .rumors = known + 1000});
    assert_int_equal(puppet.heard[WANT], asked + 1);
}

static bool is_full(void)
{
    return world.nodes[0].notes[NOTE_FULL] > 0;
}

/* Half of the 16 entries may be incarnations of node 1. Node 0's own takes a ninth entry. */
static void a_restarting_node_leaves_space_for_others(void **state)
{
    (void)state;
    struct node_options options = usual_options();
    options.limits.incarnations_max = 16;
    start_swarm(2, &options);
    for (uint32_t incarnation = 1; incarnation <= 10; incarnation++) {
        run(2 * SECOND_NS);
        assert_int_equal(stats_of(0).origins, 1 + (incarnation < 9 ? incarnation : 8));
        assert_int_equal(is_full(), incarnation > 8);
        world_kill(&world, 1, true);
        world_start(&world, 1);
    }
    assert_string_equal(
        world.nodes[0].last[NOTE_FULL].text,
        "the table of incarnations is full for this member: it has 9 entries, 8 of one node, and "
        "limits.incarnations is 16; raise limits.incarnations on all nodes");
    const uint32_t other = add(&options);
    world_introduce(&world, other, 0);
    world_start(&world, other);
    run(10 * SECOND_NS);
    assert_int_equal(known_of(0, other) > 0, 1);
}

/* Introduces `count` unknown nodes by their first rumors. */
static void introduce(uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        struct puppet stranger = {0};
        uint8_t rumor[RUMOR_MAX];
        puppet_init(&stranger, 0, (uint8_t)(100 + i));
        puppet_meet(&stranger);
        puppet_hello(&stranger);
        puppet_say_bulk(&stranger, RUMOR, rumor, puppet_rumor(&stranger, 0, 5, rumor));
        run(SECOND_NS / 10);
        puppet_free(&stranger);
    }
}

static void many_unknown_nodes_leave_space_for_known_nodes(void **state)
{
    (void)state;
    struct node_options options = usual_options();
    options.limits.incarnations_max = 64;
    world.check.outsiders_publish = true;
    start_swarm(2, &options);
    run(5 * SECOND_NS);
    introduce(60);
    run(2 * SECOND_NS);
    assert_int_equal(stats_of(0).origins, 48);
    assert_true(is_full());
    for (uint32_t again = 1; again <= 3; again++) {
        world_kill(&world, 1, true);
        world_start(&world, 1);
        run(5 * SECOND_NS);
        assert_int_equal(stats_of(0).origins, 48 + again);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORY(a_joiner_takes_over_rumors_of_many_incarnations),
        TALK(a_block_lists_the_latest_incarnations_and_the_hash_of_all),
        STORY(a_joiner_learns_of_very_many_incarnations),
        STORY(a_gap_is_found_soon_among_very_many_incarnations),
        STORY(a_returning_node_trains_once_it_has_caught_up),
        STORY(a_silent_origin_is_requested_again_like_others),
        TALK(a_long_version_is_requested_occasionally),
        STORY(a_restarting_node_leaves_space_for_others),
        STORY(many_unknown_nodes_leave_space_for_known_nodes),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
