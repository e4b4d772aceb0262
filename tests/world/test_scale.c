/* Swarms that are too large for a full mesh. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "frame/bytes.h"
#include "node/broadcast/broadcast.h"
#include "node/discovery/discovery.h"
#include "support/sim/puppet.h"

/* number of nodes, so large that some calls are refused and a member list takes several messages */
#define MANY 24

static struct puppet puppet;

static void start_many(uint32_t n)
{
    struct node_options options = usual_options();
    options.limits.peers_max = 64;
    options.limits.half_open_max = 64;
    options.interval_ns = 2 * SECOND_NS;
    start_swarm(n, &options);
    for (uint32_t i = 0; i < n; i++)
        world.nodes[i].step_ns = SECOND_NS / 2;
}

static void everybody_knows_everybody(uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        assert_int_equal(stats_of(i).members_live, n);
}

static uint64_t control_bytes(void)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < world.nodes_count; i++)
        bytes += stats_of(i).control_sent_bytes;
    return bytes;
}

static uint32_t links_called(uint32_t i)
{
    uint32_t called = 0;
    for (uint32_t l = 0; l < node_links(world.nodes[i].node); l++) {
        struct node_link link;
        node_link(world.nodes[i].node, l, &link);
        called += link.open && link.dialled;
    }
    return called;
}

/* Checks that node i has, for every origin, a neighbour to which it sent no PRUNE. */
static void nobody_has_sent_everyone_away(uint32_t i)
{
    const struct node *node = world.nodes[i].node;
    for (uint32_t origin_index = 1; origin_index < broadcast_versions(node)->count;
         origin_index++) { /* origin index 0 is node i's own */
        uint32_t left = 0;
        const struct peer *peer;
        for (uint32_t slot = 0; (peer = connection_neighbour(node, &slot)); slot++)
            left += !broadcast_is_pruned(node, peer, origin_index);
        assert_true(left > 0);
    }
}

static void many_meet_at_one_address_and_stay_one_swarm(void **state)
{
    (void)state;
    start_many(MANY);
    run(20 * SECOND_NS);
    everybody_knows_everybody(MANY);
    for (uint32_t i = 0; i < MANY; i++) {
        assert_in_range(neighbours(i), 8, 20);
        assert_true(links_called(i) >= 4);
        nobody_has_sent_everyone_away(i);
        assert_int_equal(world.nodes[i].notes[NOTE_MEMBER_DEAD], 0);
    }
    must_agree(10 * SECOND_NS);
    assert_int_equal(stats_of(MANY - 1).version, rumors_published());
}

static void a_full_node_refuses_callers_and_names_others(void **state)
{
    (void)state;
    start_many(MANY);
    run(20 * SECOND_NS);
    assert_true(neighbours(0) >= 16); /* all nodes knew the address of node 0 */
    const struct node_options options = world.nodes[1].options;
    const uint32_t late = add(&options);
    world_start(&world, late);
    run(10 * SECOND_NS);
    assert_true(neighbours(late) >= 8);
    for (uint32_t i = 0; i < node_links(world.nodes[late].node); i++) {
        struct node_link link;
        node_link(world.nodes[late].node, i, &link);
        assert_memory_not_equal(link.id, world.nodes[0].identity.id, ID_BYTES);
    }
    assert_true(world.nodes[late].training);
    assert_int_equal(world.nodes[late].notes[NOTE_DIAL_FAILED], 0);
    assert_int_equal(world.nodes[late].notes[NOTE_NEIGHBOUR_LOST], 0);
    everybody_knows_everybody(MANY + 1);
}

/* Only three of 20 nodes accept calls. Each of them accepts many more than DEGREE neighbours. */
static void few_callable_nodes_accept_all_callers(void **state)
{
    (void)state;
    struct node_options options = usual_options();
    options.limits.peers_max = 64;
    options.limits.half_open_max = 64;
    for (uint32_t i = 0; i < 20; i++) {
        options.listen_port = i < 3 ? WORLD_PORT : 0;
        (void)add(&options);
        if (i > 0)
            world_introduce(&world, i, 0);
    }
    start_all();
    run(20 * SECOND_NS);
    everybody_knows_everybody(20);
    for (uint32_t i = 3; i < 20; i++)
        assert_int_equal(neighbours(i), 3);
}

/* The newcomer reaches only node MANY - 1, which must send it a full list of members. */
static void a_newcomer_learns_everyone_from_one_address(void **state)
{
    (void)state;
    start_many(MANY);
    run(30 * SECOND_NS);
    const struct node_options options = world.nodes[1].options;
    const uint32_t late = add(&options);
    world.nodes[late].options.seeds_count = 0;
    world_introduce(&world, late, MANY - 1);
    for (uint32_t i = 0; i < MANY - 1; i++)
        cut(late, i);
    world_start(&world, late);
    run(3 * SECOND_NS); /* enough for two lists; gossip without lists would take 6 s */
    assert_int_equal(neighbours(late), 1);
    assert_int_equal(stats_of(late).members_live, MANY + 1);
}

static void control_traffic_of_a_node_does_not_grow_with_the_swarm(void **state)
{
    (void)state;
    start_many(MANY);
    run(30 * SECOND_NS);
    const uint64_t before = control_bytes();
    run(20 * SECOND_NS);
    assert_in_range((control_bytes() - before) / 20 / MANY, 500, 2560);
}

static void a_silent_neighbour_is_pinged_and_a_talkative_one_is_not(void **state)
{
    (void)state;
    start_many(2);
    world.nodes[0].step_ns = SECOND_NS / 8;
    run(10 * SECOND_NS);
    const struct node *node =
        world.nodes[1].node; /* node 1 receives a rumor every two seconds, and member gossip */
    assert_int_equal(connection_said(node, PING).count, 1);
    struct node_link link;
    node_link(node, 0, &link);
    assert_int_equal(link.rtt_ns, 2 * DELAY_NS);
}

/* Returns the number of member records that node 0 is about to send. */
static uint32_t updates_waiting(void)
{
    return member_gossip_waiting(world.nodes[0].node);
}

static void member_lists_are_not_forwarded_but_news_is(void **state)
{
    (void)state;
    struct identity somebody;
    struct record record = {.incarnation = 1, .stamp = 1, .renew_ms = 60000};
    uint8_t bytes[RECORD_BYTES];
    start_many(2);
    run(5 * SECOND_NS);
    puppet_init(&puppet, 0, 77);
    puppet_meet(&puppet);
    puppet_hello(&puppet);
    identity_from_seed(&somebody, (const uint8_t[SEED_BYTES]){88});
    memcpy(record.id, somebody.id, ID_BYTES);
    record_create(&record, &somebody, puppet.context, bytes);
    puppet_say_bulk(&puppet, MEMBER_LIST, bytes, sizeof bytes);
    assert_int_equal(stats_of(0).members_live, 4);
    const uint32_t before = updates_waiting();
    record.stamp++;
    record_create(&record, &somebody, puppet.context, bytes);
    puppet_say_bulk(&puppet, MEMBER_UPDATE, bytes, sizeof bytes);
    /* Node 0 forwards the record to node 1, not back to the puppet. */
    assert_int_equal(updates_waiting(), before + 1);
    run(SECOND_NS);
    assert_int_equal(stats_of(1).members_live, 4);
    puppet_free(&puppet);
}

/* Nodes of a large swarm renew their records less often. Each renewal must still arrive when it was
 * announced. */
static void no_member_is_declared_dead_while_the_swarm_grows(void **state)
{
    (void)state;
    struct node_options options = usual_options();
    options.trains = false; /* rumors would show that a member is alive */
    options.limits.peers_max = 64;
    options.limits.half_open_max = 64;
    options.limits.silence_ns = 4 * SECOND_NS;
    start_swarm(36, &options);
    run(30 * SECOND_NS);
    everybody_knows_everybody(36);
    for (uint32_t i = 0; i < 36; i++)
        assert_int_equal(world.nodes[i].notes[NOTE_MEMBER_DEAD], 0);
}

/* Records of members that do not publish travel along a tree. The nodes repair a broken link of the
 * tree before they declare a member dead. */
static void member_gossip_of_silent_nodes_is_rerouted(void **state)
{
    (void)state;
    struct node_options options = usual_options();
    options.trains = false;
    start_swarm(4, &options);
    run(20 * SECOND_NS);
    assert_true(meshed());
    cut(0, 3);
    cut(1, 3);
    run(120 * SECOND_NS);
    for (uint32_t i = 0; i < 4; i++) {
        assert_int_equal(stats_of(i).members_live, 4);
        assert_int_equal(world.nodes[i].notes[NOTE_MEMBER_DEAD], 0);
    }
}

static void member_gossip_is_forwarded_once_and_dies_out(void **state)
{
    (void)state;
    start_many(12);
    world_rest(&world);
    run(120 * SECOND_NS); /* until trees are built and record intervals have grown */
    uint64_t before = 0, after = 0, span = 30;
    for (uint32_t i = 0; i < 12; i++)
        before += connection_said(world.nodes[i].node, MEMBER_UPDATE).bytes;
    run(span * SECOND_NS);
    for (uint32_t i = 0; i < 12; i++)
        after += connection_said(world.nodes[i].node, MEMBER_UPDATE).bytes;
    const uint64_t copies_per_second = (after - before) / RECORD_BYTES / span;
    /* Expected: 12 records, each renewed at least every 3 s and received by 11 nodes. */
    assert_in_range(copies_per_second, 12 * 11 / 3, 12 * 11 * 2 / 3);
}

static void the_oldest_missing_rumor_is_the_lag(void **state)
{
    (void)state;
    start_many(2);
    run(10 * SECOND_NS);
    assert_int_equal(stats_of(0).lag_ns, 0);
    uint8_t slice[VERSION_ENTRY_BYTES];
    puppet_init(&puppet, 0, 77);
    puppet_meet(&puppet);
    puppet_hello(&puppet);
    const struct world_node *other = &world.nodes[1];
    bytes_put(slice, origin_tag(other->identity.id, other->options.incarnation), 8);
    bytes_put(slice + 8, 1000, 4);
    puppet_say(&puppet, &(struct message){.kind = VERSION, .bulk = {slice, sizeof slice}});
    run(3 * SECOND_NS);
    assert_in_range(stats_of(0).lag_ns, 2900 * MS_NS, 3100 * MS_NS);
    /* No node has announced the rumor since then, so it counts as lost and no longer as lag. */
    run(90 * SECOND_NS);
    assert_int_equal(stats_of(0).lag_ns, 0);
    puppet_free(&puppet);
}

static uint64_t incarnation_of(const uint8_t id[static ID_BYTES])
{
    for (uint32_t i = 0; i < world.nodes_count; i++)
        if (memcmp(world.nodes[i].identity.id, id, ID_BYTES) == 0)
            return world.nodes[i].options.incarnation;
    return 0;
}

static void the_version_can_be_read_origin_by_origin(void **state)
{
    (void)state;
    start_many(3);
    run(10 * SECOND_NS);
    const struct node *node = world.nodes[0].node;
    uint64_t rumors = 0, samples = 0;
    for (uint32_t i = 0; i < node_origins(node); i++) {
        struct node_origin origin;
        node_origin(node, i, &origin);
        assert_int_equal(origin.incarnation, incarnation_of(origin.id));
        rumors += origin.next;
        samples += origin.samples;
    }
    assert_int_equal(node_origins(node), 3);
    assert_int_equal(rumors, stats_of(0).version);
    assert_int_equal(samples, node_swarm_samples(node));
    must_agree(3 * SECOND_NS);
    assert_true(stats_of(0).version_hash == stats_of(1).version_hash);
}

static void many_that_leave_together_leave_with_one_base(void **state)
{
    (void)state;
    start_many(MANY);
    run(20 * SECOND_NS);
    /* Node 1 publishes for the last time after a long step. */
    world.nodes[1].step_ns = 4 * SECOND_NS;
    run(SECOND_NS / 2);
    for (uint32_t i = 0; i < MANY; i++)
        world_leave(&world, i);
    run(12 * SECOND_NS);
    for (uint32_t i = 0; i < MANY; i++) {
        assert_true(world.nodes[i].finished);
        assert_int_equal(world.nodes[i].last[NOTE_LEFT].level, LEVEL_INFO);
        assert_true(same_base(0, i));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORY(many_meet_at_one_address_and_stay_one_swarm),
        STORY(a_full_node_refuses_callers_and_names_others),
        STORY(few_callable_nodes_accept_all_callers),
        STORY(a_newcomer_learns_everyone_from_one_address),
        STORY(control_traffic_of_a_node_does_not_grow_with_the_swarm),
        STORY(a_silent_neighbour_is_pinged_and_a_talkative_one_is_not),
        STORY(member_lists_are_not_forwarded_but_news_is),
        STORY(no_member_is_declared_dead_while_the_swarm_grows),
        STORY(member_gossip_of_silent_nodes_is_rerouted),
        STORY(member_gossip_is_forwarded_once_and_dies_out),
        STORY(the_oldest_missing_rumor_is_the_lag),
        STORY(the_version_can_be_read_origin_by_origin),
        STORY(many_that_leave_together_leave_with_one_base),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
