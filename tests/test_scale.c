/* What a swarm needs that is too large for everyone to talk to everyone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "bytes.h"
#include "inside.h"
#include "puppet.h"
#include "swarm_world.h"

/* So many that some are turned away, and a list takes several rounds. */
#define MANY 24

static struct puppet puppet;

static void start_many(int n)
{
    struct node_options options = world_options();
    options.peers_max = 64;
    options.half_open_max = 64;
    options.interval_ns = 2 * SECOND;
    start_swarm(n, &options);
    for (int i = 0; i < n; i++)
        world.nodes[i].learner.step_ns = SECOND / 2;
}

static void everybody_knows_everybody(int n)
{
    for (int i = 0; i < n; i++)
        assert_int_equal(world_stats(&world, i).members_live, n);
}

static uint64_t control_bytes(void)
{
    uint64_t bytes = 0;
    for (int i = 0; i < world.count; i++)
        bytes += world_stats(&world, i).control_sent_bytes;
    return bytes;
}

static uint32_t links_called(int i)
{
    uint32_t called = 0;
    for (uint32_t l = 0; l < node_links(world.nodes[i].node); l++) {
        struct node_link link;
        node_link(world.nodes[i].node, l, &link);
        called += link.open && link.dialled;
    }
    return called;
}

static void many_meet_at_one_address_and_stay_one_swarm(void **state)
{
    (void)state;
    start_many(MANY);
    world_run(&world, 20 * SECOND);
    everybody_knows_everybody(MANY);
    for (int i = 0; i < MANY; i++) {
        assert_in_range(neighbours(i), 8, 20);
        assert_true(links_called(i) >= 4);
        assert_int_equal(world.nodes[i].notes[NOTE_MEMBER_DEAD], 0);
    }
    must_agree(10 * SECOND);
    assert_int_equal(world_stats(&world, MANY - 1).version, rumors_told());
}

static void who_has_neighbours_enough_turns_away_and_says_whom_else_to_call(void **state)
{
    (void)state;
    start_many(MANY);
    world_run(&world, 20 * SECOND);
    assert_true(neighbours(0) >= 16); /* everybody had its address */
    const struct node_options options = world.nodes[1].options;
    const int late = world_add_node(&world, &options);
    world_start_node(&world, late);
    world_run(&world, 10 * SECOND);
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

/* Only three can be called: they take more than their share. */
static void where_few_can_be_called_they_take_all(void **state)
{
    (void)state;
    struct node_options options = world_options();
    options.peers_max = 64;
    options.half_open_max = 64;
    for (int i = 0; i < 20; i++) {
        options.listen_port = i < 3 ? WORLD_PORT : 0;
        (void)world_add_node(&world, &options);
        if (i > 0)
            world_seed(&world, i, 0);
    }
    for (int i = 0; i < 20; i++)
        world_start_node(&world, i);
    world_run(&world, 20 * SECOND);
    everybody_knows_everybody(20);
    for (int i = 3; i < 20; i++)
        assert_int_equal(neighbours(i), 3);
}

/* The newcomer reaches one member only: a full list of the rest must come from it. */
static void a_newcomer_learns_everyone_from_one_address(void **state)
{
    (void)state;
    start_many(MANY);
    world_run(&world, 30 * SECOND);
    const struct node_options options = world.nodes[1].options;
    const int late = world_add_node(&world, &options);
    world.nodes[late].options.seeds_count = 0;
    world_seed(&world, late, MANY - 1);
    for (int i = 0; i < MANY - 1; i++)
        world.blocked[late][i] = world.blocked[i][late] = true;
    world_start_node(&world, late);
    world_run(&world, 3 * SECOND); /* two lists, four a second; news alone takes 6 s */
    assert_int_equal(neighbours(late), 1);
    assert_int_equal(world_stats(&world, late).members_live, MANY + 1);
}

static void what_a_node_says_beside_rumors_does_not_grow_with_the_swarm(void **state)
{
    (void)state;
    start_many(MANY);
    world_run(&world, 30 * SECOND);
    const uint64_t before = control_bytes();
    world_run(&world, 20 * SECOND);
    assert_in_range((control_bytes() - before) / 20 / MANY, 500, 2048);
}

static void a_silent_neighbour_is_pinged_and_a_talkative_one_is_not(void **state)
{
    (void)state;
    start_many(2);
    world.nodes[0].learner.step_ns = SECOND / 8;
    world_run(&world, 10 * SECOND);
    const struct node *node = world.nodes[1].node; /* hears a rumor every two seconds, and gossip */
    assert_int_equal(node->said_count[PING], 1);
    struct node_link link;
    node_link(node, 0, &link);
    assert_int_equal(link.rtt_ns, 2 * world.latency_ns);
}

/* Records that the first node is about to tell others. */
static uint32_t news_waiting(void)
{
    const struct node *node = world.nodes[0].node;
    uint32_t waiting = 0;
    for (uint32_t i = 0; node_neighbour(node, &i); i++)
        for (uint32_t m = 0; m < node->members.count; m++)
            waiting += bit_get(node->rapports[i].news, m);
    return waiting;
}

static void a_list_of_members_is_not_passed_on_and_news_is(void **state)
{
    (void)state;
    struct identity somebody;
    struct record record = {.incarnation = 1, .stamp = 1, .renew_ms = 60000};
    uint8_t bytes[RECORD_BYTES];
    start_many(2);
    world_run(&world, 5 * SECOND);
    puppet_init(&puppet, &world, 0, 77);
    puppet_meet(&puppet);
    puppet_hello(&puppet);
    world_identity(&somebody, 88);
    memcpy(record.id, somebody.id, ID_BYTES);
    record_create(&record, &somebody, puppet.context, bytes);
    puppet_say_bulk(&puppet, MEMBERS, bytes, sizeof bytes);
    assert_int_equal(world_stats(&world, 0).members_live, 4);
    const uint32_t before = news_waiting();
    record.stamp++;
    record_create(&record, &somebody, puppet.context, bytes);
    puppet_say_bulk(&puppet, NEWS, bytes, sizeof bytes);
    assert_int_equal(news_waiting(), before + 1); /* for the other node, not for the puppet */
    world_run(&world, SECOND);
    assert_int_equal(world_stats(&world, 1).members_live, 4);
    puppet_free(&puppet);
}

/* Who has promised the next record soon, when it knew few, must keep that when it knows many. */
static void nobody_is_taken_for_dead_while_the_swarm_grows(void **state)
{
    (void)state;
    struct node_options options = world_options();
    options.trains = false; /* so that no rumor is a sign of life */
    options.peers_max = 64;
    options.half_open_max = 64;
    options.silence_ns = 4 * SECOND;
    start_swarm(36, &options);
    world_run(&world, 30 * SECOND);
    everybody_knows_everybody(36);
    for (int i = 0; i < 36; i++)
        assert_int_equal(world.nodes[i].notes[NOTE_MEMBER_DEAD], 0);
}

/* The records of who never tells take a tree, too. When a link of it breaks, it is mended before
 * anybody is taken for dead. */
static void news_of_who_never_tells_finds_another_way(void **state)
{
    (void)state;
    struct node_options options = world_options();
    options.trains = false;
    for (int i = 0; i < 4; i++)
        (void)world_add_node(&world, &options);
    for (int i = 1; i < 4; i++)
        world_seed(&world, i, 0);
    world_start_node(&world, 0);
    for (int i = 1; i < 4; i++)
        world_start_node(&world, i);
    world_run(&world, 20 * SECOND);
    assert_true(meshed());
    world_deafen(&world, 0, 3, true);
    world_deafen(&world, 1, 3, true);
    world_run(&world, 120 * SECOND);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(world_stats(&world, i).members_live, 4);
        assert_int_equal(world.nodes[i].notes[NOTE_MEMBER_DEAD], 0);
    }
}

static void news_is_passed_on_once_and_dies_out(void **state)
{
    (void)state;
    start_many(12);
    world_rest(&world);
    world_run(&world, 120 * SECOND); /* the trees stand, the speeds have fallen */
    uint64_t before = 0, after = 0, span = 30;
    for (int i = 0; i < 12; i++)
        before += world.nodes[i].node->said_bytes[NEWS];
    world_run(&world, span * SECOND);
    for (int i = 0; i < 12; i++)
        after += world.nodes[i].node->said_bytes[NEWS];
    const uint64_t copies_per_second = (after - before) / RECORD_BYTES / span;
    /* 12 records, each renewed every 3 s at the latest, each heard by 11 others. */
    assert_in_range(copies_per_second, 12 * 11 / 3, 12 * 11 * 2 / 3);
}

static void the_oldest_rumor_that_is_lacking_is_the_lag(void **state)
{
    (void)state;
    start_many(2);
    world_run(&world, 10 * SECOND);
    assert_int_equal(world_stats(&world, 0).lag_ns, 0);
    uint8_t slice[VERSION_ENTRY_BYTES];
    puppet_init(&puppet, &world, 0, 77);
    puppet_meet(&puppet);
    puppet_hello(&puppet);
    bytes_put(slice, world.nodes[1].node->own->tag, 8);
    bytes_put(slice + 8, 1000, 4);
    puppet_say(&puppet, &(struct message){.kind = VERSION, .bulk = {slice, sizeof slice}});
    world_run(&world, 3 * SECOND);
    assert_in_range(world_stats(&world, 0).lag_ns, 2900 * MILLI, 3100 * MILLI);
    world_run(&world, 90 * SECOND); /* nobody has shown it since: it is lost, not late */
    assert_int_equal(world_stats(&world, 0).lag_ns, 0);
    puppet_free(&puppet);
}

static void the_version_can_be_read_origin_by_origin(void **state)
{
    (void)state;
    start_many(3);
    world_run(&world, 10 * SECOND);
    const struct node *node = world.nodes[0].node;
    uint64_t rumors = 0, samples = 0;
    for (uint32_t i = 0; i < node_origins(node); i++) {
        struct node_origin origin;
        node_origin(node, i, &origin);
        assert_int_equal(origin.incarnation, 1);
        rumors += origin.next;
        samples += origin.samples;
    }
    assert_int_equal(node_origins(node), 3);
    assert_int_equal(rumors, world_stats(&world, 0).version);
    assert_int_equal(samples, node_swarm_samples(node));
    must_agree(3 * SECOND);
    assert_true(world_stats(&world, 0).version_hash == world_stats(&world, 1).version_hash);
}

static void many_that_leave_together_leave_with_one_base(void **state)
{
    (void)state;
    start_many(MANY);
    world_run(&world, 20 * SECOND);
    for (int i = 0; i < MANY; i++)
        node_leave(world.nodes[i].node, world.now_ns);
    world_run(&world, 12 * SECOND);
    for (int i = 0; i < MANY; i++) {
        assert_true(world.nodes[i].finished);
        assert_int_equal(world.nodes[i].last[NOTE_LEFT].level, LEVEL_INFO);
        assert_true(world_equal(&world, 0, i));
    }
}

int main(void)
{
    secret_start();
    const struct CMUnitTest tests[] = {
        STORY(many_meet_at_one_address_and_stay_one_swarm),
        STORY(who_has_neighbours_enough_turns_away_and_says_whom_else_to_call),
        STORY(where_few_can_be_called_they_take_all),
        STORY(a_newcomer_learns_everyone_from_one_address),
        STORY(what_a_node_says_beside_rumors_does_not_grow_with_the_swarm),
        STORY(a_silent_neighbour_is_pinged_and_a_talkative_one_is_not),
        STORY(a_list_of_members_is_not_passed_on_and_news_is),
        STORY(nobody_is_taken_for_dead_while_the_swarm_grows),
        STORY(news_of_who_never_tells_finds_another_way),
        STORY(news_is_passed_on_once_and_dies_out),
        STORY(the_oldest_rumor_that_is_lacking_is_the_lag),
        STORY(the_version_can_be_read_origin_by_origin),
        STORY(many_that_leave_together_leave_with_one_base),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
