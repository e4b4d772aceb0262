/* Two processes with one identity key: the swarm keeps the one that started later, and the other
 * one ends. A process that meets its twin before it joins ends too. No member can end a node by a
 * lie. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "node/broadcast/identity_clash.h"
#include "node/lifecycle/lifecycle.h"
#include "node/membership/membership.h"
#include "support/sim/puppet.h"

#define IDENTITY              1  /* identity of both FIRST and TWIN */
#define PERIODS               30 /* seconds in which each member sends several records */
#define OFFSET_OF_INCARNATION 32

/* Node numbers. TWIN has FIRST's identity. Each test sets which nodes know each other. */
enum node_number { HUB, FIRST, TWIN, FAR };

static void add_nodes(void)
{
    const struct node_options options = usual_options();
    static const uint64_t IDENTITIES[] = {0, IDENTITY, IDENTITY, 3};
    for (uint32_t i = HUB; i <= FAR; i++)
        assert_int_equal(add_as(&options, IDENTITIES[i]), i);
}

static const char *clash(uint32_t i)
{
    return node_clash(world.nodes[i].node);
}

static void an_earlier_start_ends_when_a_member_shows_a_later_one(void **state)
{
    (void)state;
    char id[KEY_HEX_BYTES];
    add_nodes();
    world_introduce(&world, FIRST, HUB);
    world_introduce(&world, TWIN, HUB);
    world_start(&world, HUB);
    world_start(&world, FIRST);
    run(5 * SECOND_NS);
    assert_null(clash(FIRST));
    cut(FIRST, TWIN);
    world_start(&world, TWIN);
    run(5 * SECOND_NS);
    assert_non_null(clash(FIRST));
    key_hex(id, world.nodes[FIRST].identity.id);
    assert_non_null(strstr(clash(FIRST), id));
    assert_null(clash(TWIN));
    assert_null(clash(HUB));
}

static void an_earlier_start_ends_when_gossip_brings_what_a_later_one_says(void **state)
{
    (void)state;
    add_nodes();
    world_introduce(&world, FIRST, HUB);
    world_introduce(&world, FAR, HUB);
    world_introduce(&world, TWIN, FAR);
    cut(FIRST, TWIN);
    cut(FIRST, FAR);
    cut(TWIN, HUB);
    world_start(&world, HUB);
    world_start(&world, FIRST);
    world_start(&world, FAR);
    run(5 * SECOND_NS);
    world_start(&world, TWIN);
    run(PERIODS * SECOND_NS);
    assert_non_null(clash(FIRST));
    assert_null(clash(TWIN));
}

static void a_node_that_meets_its_running_twin_before_it_joins_ends(void **state)
{
    (void)state;
    add_nodes();
    world_introduce(&world, TWIN, FIRST);
    world_start(&world, FIRST);
    run(5 * SECOND_NS);
    world_start(&world, TWIN);
    run(SECOND_NS);
    assert_non_null(clash(TWIN));
    assert_null(clash(FIRST)); /* FIRST continues and reports TWIN in a note */
    assert_true(world.nodes[FIRST].notes[NOTE_IDENTITY_TAKEN] > 0);
}

static void two_that_have_not_joined_both_end(void **state)
{
    (void)state;
    add_nodes();
    world_introduce(&world, FIRST, HUB); /* HUB never starts */
    world_introduce(&world, TWIN, FIRST);
    world_start(&world, FIRST);
    run(SECOND_NS);
    world_start(&world, TWIN);
    run(SECOND_NS);
    assert_non_null(clash(TWIN));
    assert_non_null(clash(FIRST));
}

static void a_restart_is_no_clash(void **state)
{
    (void)state;
    start_usual_swarm(3);
    run(5 * SECOND_NS);
    world_kill(&world, 1, true); /* killed without a goodbye, so neighbours count node 1 as alive */
    world_start(&world, 1);
    run(PERIODS * SECOND_NS);
    for (uint32_t i = 0; i < 3; i++)
        assert_null(clash(i));
}

/* Sends node 0 a record that has node 0's identity but not its signature. */
static void lie(enum message_kind kind)
{
    struct puppet puppet;
    uint8_t record[RECORD_BYTES];
    start_usual_swarm(2);
    run(5 * SECOND_NS);
    puppet_init(&puppet, 0, 7);
    puppet_meet(&puppet);
    puppet_hello(&puppet);
    memcpy(record, membership_at(world.nodes[0].node, 0)->bytes, RECORD_BYTES);
    record[OFFSET_OF_INCARNATION + 6]++;
    puppet_say(&puppet, &(struct message){.kind = kind,
                                          .reason = BYE_IDENTITY_TAKEN,
                                          .bulk = {record, RECORD_BYTES}});
    run(5 * SECOND_NS);
    assert_null(clash(0));
    puppet_free(&puppet);
}

static void a_goodbye_with_a_record_that_is_not_signed_ends_no_node(void **state)
{
    (void)state;
    lie(BYE);
    assert_int_equal(world.nodes[0].notes[NOTE_IDENTITY_TAKEN], 1);
}

static void gossip_with_a_record_that_is_not_signed_ends_its_sender(void **state)
{
    (void)state;
    lie(MEMBER_UPDATE);
    assert_int_equal(world.nodes[0].notes[NOTE_IDENTITY_TAKEN], 0);
}

/* Starts node 1 of three with an empty disk, with a clock an hour slow. Returns the incarnation of
 * its earlier life. `ends` ends that life. */
static uint64_t start_without_past(void (*ends)(struct world *, uint32_t), uint64_t rest_ns)
{
    start_usual_swarm(3);
    run(10 * SECOND_NS);
    const uint64_t before = node_incarnation(world.nodes[1].node);
    ends(&world, 1);
    run(rest_ns);
    if (world_is_running(&world, 1))
        world_kill(&world, 1, false);
    world_wipe(&world, 1);
    world.nodes[1].clock_ms = -3600000;
    world_start(&world, 1);
    assert_true(node_incarnation(world.nodes[1].node) < before);
    return before;
}

static void die(struct world *of, uint32_t i)
{
    world_kill(of, i, false);
}

static void is_a_member_above(uint64_t before)
{
    assert_true(world_is_running(&world, 1));
    assert_null(clash(1));
    assert_true(node_incarnation(world.nodes[1].node) > before);
    assert_true(world.nodes[1].training);
    assert_int_equal(world.nodes[1].last[NOTE_RESUMED].level, LEVEL_WARNING);
    assert_non_null(strstr(world.nodes[1].last[NOTE_RESUMED].text, "clock was set back"));
    assert_true(world_is_known(&world));
    assert_true(stats_of(1).rumors_published > 0);
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(world.nodes[i].notes[NOTE_FULL], 0);
        assert_int_equal(world.nodes[i].notes[NOTE_IDENTITY_TAKEN], 0);
    }
    must_agree(20 * SECOND_NS);
}

static void a_node_that_lost_its_state_and_its_time_joins_again(void **state)
{
    (void)state;
    const uint64_t before = start_without_past(die, SECOND_NS);
    run(60 * SECOND_NS);
    is_a_member_above(before);
}

static void so_does_one_whose_earlier_life_the_swarm_counts_as_dead(void **state)
{
    (void)state;
    const uint64_t before = start_without_past(die, 300 * SECOND_NS);
    run(60 * SECOND_NS);
    is_a_member_above(before);
}

static void so_does_one_that_has_left(void **state)
{
    (void)state;
    const uint64_t before = start_without_past(world_leave, 60 * SECOND_NS);
    run(60 * SECOND_NS);
    is_a_member_above(before);
}

/* The swarm has no rumor of the earlier life, so no history shows it. */
static void so_does_one_that_has_never_published(void **state)
{
    (void)state;
    struct node_options options = usual_options();
    start_usual_swarm(2);
    options.trains = false;
    const uint32_t third = add(&options);
    world_introduce(&world, third, 0);
    world_start(&world, third);
    run(10 * SECOND_NS);
    const uint64_t before = node_incarnation(world.nodes[third].node);
    world_kill(&world, third, false);
    run(300 * SECOND_NS);
    world_wipe(&world, third);
    world.nodes[third].clock_ms = -3600000;
    world_start(&world, third);
    run(60 * SECOND_NS);
    assert_true(node_incarnation(world.nodes[third].node) > before);
    assert_true(world_is_known(&world));
}

static void an_incarnation_above_is_on_the_disk(void **state)
{
    (void)state;
    const uint64_t before = start_without_past(die, SECOND_NS);
    run(60 * SECOND_NS);
    is_a_member_above(before);
    const uint64_t raised = node_incarnation(world.nodes[1].node);
    world_kill(&world, 1, false);
    world_start(&world, 1);
    assert_true(node_incarnation(world.nodes[1].node) > raised);
}

/* FIRST has the earlier incarnation although it starts later: its clock is slow. TWIN is alive. */
static void a_slow_clock_puts_no_running_twin_out(void **state)
{
    (void)state;
    add_nodes();
    world_introduce(&world, FIRST, HUB);
    world_introduce(&world, TWIN, HUB);
    cut(FIRST, TWIN);
    world_start(&world, HUB);
    world_start(&world, FAR);
    world_start(&world, TWIN);
    run(10 * SECOND_NS);
    world.nodes[FIRST].clock_ms = -3600000;
    world_start(&world, FIRST);
    run(PERIODS * SECOND_NS);
    assert_null(clash(TWIN));
    assert_true(!world_is_running(&world, FIRST) || clash(FIRST) ||
                node_incarnation(world.nodes[FIRST].node) <
                    node_incarnation(world.nodes[TWIN].node));
}

/* A learner's answer to PUBLISH belongs to the incarnation that requested it. */
static void no_incarnation_begins_during_a_publication(void **state)
{
    struct action action;
    (void)state;
    add_nodes();
    world_start(&world, 0);
    run(5 * SECOND_NS);
    world_rest(&world);
    run(3 * SECOND_NS);
    struct node *node = world.nodes[0].node;
    identity_clash_on_head(node, node_incarnation(node) + 1);
    node->now_ns += 3 * SECOND_NS;
    identity_clash_consider(node);
    publishing_move(node, PUBLISHING_WANTED);
    publishing_move(node, PUBLISHING_OUT);
    assert_false(identity_clash_next(node, &action));
    publishing_move(node, PUBLISHING_IDLE);
    assert_true(identity_clash_next(node, &action));
    assert_int_equal(action.kind, ACTION_INCARNATION);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORY(an_earlier_start_ends_when_a_member_shows_a_later_one),
        STORY(an_earlier_start_ends_when_gossip_brings_what_a_later_one_says),
        STORY(a_node_that_meets_its_running_twin_before_it_joins_ends),
        STORY(two_that_have_not_joined_both_end),
        STORY(a_restart_is_no_clash),
        STORY(a_goodbye_with_a_record_that_is_not_signed_ends_no_node),
        STORY(gossip_with_a_record_that_is_not_signed_ends_its_sender),
        STORY(a_node_that_lost_its_state_and_its_time_joins_again),
        STORY(so_does_one_whose_earlier_life_the_swarm_counts_as_dead),
        STORY(so_does_one_that_has_left),
        STORY(so_does_one_that_has_never_published),
        STORY(an_incarnation_above_is_on_the_disk),
        STORY(a_slow_clock_puts_no_running_twin_out),
        STORY(no_incarnation_begins_during_a_publication),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
