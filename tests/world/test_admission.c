/* Swarms with lists of members refuse unlisted nodes. Nodes with different lists continue, blame no
 * other node, and reach one base once their lists are equal. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "node/admission.h"
#include "support/sim/expulsion_story.h"
#include "support/sim/puppet.h"

static const uint32_t EVERYBODY[] = {0, 1, 2, 3, 4, 5, 6, 7};

/* Puts the first `count` nodes on the list of node i. */
static void list_first(uint32_t i, uint32_t count)
{
    world_list(&world, i, EVERYBODY, count);
}

static void list_all_but(uint32_t i, uint32_t count, uint32_t but)
{
    uint32_t members[8], n = 0;
    for (uint32_t k = 0; k < count; k++)
        if (k != but)
            members[n++] = k;
    world_list(&world, i, members, n);
}

static uint32_t strangers_of(uint32_t i)
{
    return node_strangers(world.nodes[i].node);
}

static void start_listed(uint32_t n)
{
    const struct node_options options = usual_options();
    start_swarm(n, &options);
    for (uint32_t i = 0; i < n; i++)
        list_first(i, n);
    run(5 * SECOND_NS);
    assert_int_equal(neighbours(0), n - 1);
}

static void equal_lists_change_nothing(void **state)
{
    (void)state;
    start_listed(4);
    run(10 * SECOND_NS);
    must_agree(5 * SECOND_NS);
    assert_int_equal(strangers_of(0), 0);
    assert_int_equal(node_admission(world.nodes[0].node, world.nodes[3].identity.id),
                     ADMISSION_LIST);
}

static void a_node_on_no_list_stops_and_names_the_reason(void **state)
{
    (void)state;
    start_listed(3);
    const struct node_options options = usual_options();
    const uint32_t fourth = add(&options);
    world_introduce(&world, fourth, 0);
    world_start(&world, fourth);
    run(15 * SECOND_NS);
    assert_true(world.nodes[fourth].finished);
    assert_int_equal(world.nodes[fourth].last[NOTE_ADMISSION].level, LEVEL_ERROR);
    assert_non_null(strstr(world.nodes[fourth].last[NOTE_ADMISSION].text, "listed or admitted"));
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(stats_of(i).members_live, 3);
    must_agree(5 * SECOND_NS);
}

static void a_node_listed_by_one_member_joins_through_it(void **state)
{
    (void)state;
    start_listed(3);
    const struct node_options options = usual_options();
    const uint32_t fourth = add(&options);
    list_first(1, 4);
    world_introduce(&world, fourth, 0);
    world_introduce(&world, fourth, 1);
    world_start(&world, fourth);
    run(15 * SECOND_NS);
    assert_false(world.nodes[fourth].finished);
    assert_int_equal(neighbours(fourth), 1);
    assert_true(known_of_node(1, fourth) > 0);
    assert_int_equal(known_of_node(0, fourth), 0);
    assert_int_equal(known_of_node(2, fourth), 0);
    assert_int_equal(strangers_of(0), 1);
    assert_true(world.nodes[0].notes[NOTE_ADMISSION] > 0);
    assert_int_equal(stats_of(0).members_live, 3);
    assert_int_equal(neighbours(0), 2); /* a difference between lists disconnects no node */
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(world.nodes[i].notes[NOTE_NEIGHBOUR_LOST], 0);
}

static void bases_converge_once_lists_are_equal(void **state)
{
    (void)state;
    a_node_listed_by_one_member_joins_through_it(state);
    run(30 * SECOND_NS);
    const uint64_t wants = stats_of(0).wants_sent;
    run(10 * SECOND_NS);
    /* Node 0 does not repeat requests for rumors of the unlisted node 3. */
    assert_true(stats_of(0).wants_sent - wants < 30);
    list_first(0, 4);
    list_first(2, 4);
    run(40 * SECOND_NS);
    assert_int_equal(strangers_of(0), 0);
    assert_int_equal(neighbours(3), 3);
    must_agree(10 * SECOND_NS);
    assert_true(known_of_node(0, 3) > 0);
}

static void a_removed_member_is_expelled_and_its_rumors_stay(void **state)
{
    (void)state;
    start_listed(4);
    run(5 * SECOND_NS);
    world_rest(&world);
    run(3 * SECOND_NS);
    const uint32_t known = known_of_node(0, 3);
    const uint64_t digest = stats_of(0).digest;
    assert_true(known > 0);
    for (uint32_t i = 0; i < 3; i++)
        list_first(i, 3);
    run(5 * SECOND_NS);
    assert_int_equal(neighbours(3), 0);
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(stats_of(i).members_live, 3);
        assert_int_equal(stats_of(i).digest, digest);
        assert_int_equal(known_of_node(i, 3), known);
    }
}

/* Nodes 0, 1 and 2 remove node 3 from their lists one after the other. Until the last removal, node
 * 3 publishes through the nodes that still list it. In the end nodes 0 to 2 have the same rumors of
 * node 3. */
static void lists_may_lose_a_member_one_after_the_other(void **state)
{
    (void)state;
    start_listed(4);
    for (uint32_t i = 0; i < 3; i++) {
        list_first(i, 3);
        run(8 * SECOND_NS);
    }
    assert_int_equal(neighbours(3), 0);
    world_kill(&world, 3, false);
    must_agree(20 * SECOND_NS);
    assert_int_equal(known_of_node(0, 3), known_of_node(2, 3));
}

static bool says_to_have_it_listed(uint32_t i, enum note_kind kind)
{
    const struct note *note = &world.nodes[i].last[kind];
    return note->level == LEVEL_WARNING && note->certainty == NOTE_LASTING &&
           strstr(note->text,
                  "not on this swarm's list of members; have the id of this node listed");
}

static void a_removed_member_warns_for_each_peer(void **state)
{
    (void)state;
    start_listed(4);
    for (uint32_t i = 0; i < 3; i++)
        list_first(i, 3);
    run(60 * SECOND_NS);
    assert_int_equal(world.nodes[3].notes[NOTE_NEIGHBOUR_LOST], 3);
    assert_true(says_to_have_it_listed(3, NOTE_NEIGHBOUR_LOST));
}

/* Node 3 has dialled node 0 often without success when node 0 refuses it for the first time. */
static void a_member_that_was_removed_while_cut_off_warns_at_its_return(void **state)
{
    (void)state;
    start_listed(4);
    for (uint32_t i = 0; i < 3; i++) {
        cut(3, i);
        list_first(i, 3);
    }
    run(200 * SECOND_NS);
    assert_false(says_to_have_it_listed(3, NOTE_DIAL_FAILED));
    heal_cut(3, 0);
    run(60 * SECOND_NS);
    assert_true(says_to_have_it_listed(3, NOTE_DIAL_FAILED));
}

static void a_removed_member_returns_when_listed_again(void **state)
{
    (void)state;
    start_listed(4);
    for (uint32_t i = 0; i < 3; i++)
        list_first(i, 3);
    run(10 * SECOND_NS);
    assert_int_equal(neighbours(3), 0);
    assert_false(world.nodes[3].finished); /* node 3 waits to be listed again */
    for (uint32_t i = 0; i < 3; i++)
        list_first(i, 4);
    run(60 * SECOND_NS);
    assert_int_equal(neighbours(3), 3);
    must_agree(30 * SECOND_NS);
}

/* For longer than partition_s, node 0 does not list node 2 and node 1 does not list node 3. */
static void different_lists_are_no_partition(void **state)
{
    (void)state;
    struct node_options options = usual_options();
    options.partition_s = 5;
    start_swarm(4, &options);
    run(5 * SECOND_NS);
    list_all_but(0, 4, 2);
    list_all_but(1, 4, 3);
    run(40 * SECOND_NS);
    for (uint32_t i = 0; i < 4; i++)
        assert_int_equal(node_bases(world.nodes[i].node), 0);
    assert_int_equal(neighbours(0), 2);
    assert_int_equal(world.nodes[0].notes[NOTE_NEIGHBOUR_LOST], 1);
    assert_int_equal(world.nodes[1].notes[NOTE_NEIGHBOUR_LOST], 1);
    list_first(0, 4);
    list_first(1, 4);
    run(60 * SECOND_NS);
    must_agree(20 * SECOND_NS);
}

/* The joiner does not list node 3, whose rumors are in all bases. */
static void a_joiner_takes_over_a_base_with_strangers_in_it(void **state)
{
    (void)state;
    start_listed(4);
    run(20 * SECOND_NS);
    const struct node_options options = usual_options();
    const uint32_t joiner = add(&options), members[] = {0, 1, 2, joiner};
    world_introduce(&world, joiner, 0);
    for (uint32_t i = 0; i < 3; i++)
        world_list(&world, i, members, 4);
    world_start(&world, joiner);
    world_list(&world, joiner, members, 4);
    run(30 * SECOND_NS);
    assert_true(node_phase(world.nodes[joiner].node) == NODE_RUNNING);
    world_kill(&world, 3, false);
    must_agree(10 * SECOND_NS);
}

static void a_restarted_node_has_its_list_from_the_start(void **state)
{
    (void)state;
    start_listed(4);
    for (uint32_t i = 0; i < 3; i++)
        list_first(i, 3);
    world_kill(&world, 0, false);
    world_start(&world, 0);
    list_first(0, 3);
    run(20 * SECOND_NS);
    assert_int_equal(neighbours(0), 2);
    assert_int_equal(stats_of(0).members_live, 3);
}

static void the_first_admissions_expel_all_other_nodes(void **state)
{
    (void)state;
    start_four(usual_options());
    const uint32_t members[] = {0, 1, 2};
    admit_nodes(0, members, 3);
    run(5 * SECOND_NS);
    assert_int_equal(neighbours(3), 0);
    assert_false(world.nodes[3].finished);
    assert_int_equal(world.nodes[3].last[NOTE_ADMISSION].level, LEVEL_ERROR);
    assert_true(known_of_node(0, 3) > 0); /* rumors of the removed node 3 stay in the bases */
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(stats_of(i).members_live, 3);
        assert_int_equal(node_admission(world.nodes[i].node, world.nodes[3].identity.id),
                         ADMISSION_NONE);
        assert_int_equal(node_admission(world.nodes[i].node, world.nodes[2].identity.id),
                         ADMISSION_ORDER);
    }
}

static void a_node_admitted_later_returns_by_itself(void **state)
{
    (void)state;
    const uint32_t fourth[] = {3};
    the_first_admissions_expel_all_other_nodes(state);
    admit_nodes(1, fourth, 1);
    run(60 * SECOND_NS);
    assert_int_equal(neighbours(3), 3);
    must_agree(20 * SECOND_NS);
}

static void a_newcomer_that_is_not_admitted_stops(void **state)
{
    (void)state;
    start_four(usual_options());
    const uint32_t members[] = {0, 1, 2, 3};
    admit_nodes(0, members, 4);
    run(2 * SECOND_NS);
    const struct node_options options = obedient(usual_options());
    const uint32_t fifth = add(&options);
    world_introduce(&world, fifth, 0);
    world_start(&world, fifth);
    run(20 * SECOND_NS);
    assert_true(world.nodes[fifth].finished);
    assert_int_equal(stats_of(0).members_live, 4);
    must_agree(5 * SECOND_NS);
}

static void a_newcomer_is_admitted_while_it_joins(void **state)
{
    (void)state;
    start_four(usual_options());
    const uint32_t members[] = {0, 1, 2, 3};
    admit_nodes(0, members, 4);
    const struct node_options options = obedient(usual_options());
    const uint32_t fifth = add(&options), newcomer[] = {fifth};
    world_introduce(&world, fifth, 0);
    world_start(&world, fifth);
    run(4 * SECOND_NS);
    assert_int_equal(neighbours(fifth), 0);
    admit_nodes(2, newcomer, 1);
    run(60 * SECOND_NS);
    assert_int_equal(neighbours(fifth), 4);
    must_agree(20 * SECOND_NS);
}

static void a_returning_node_learns_the_admissions(void **state)
{
    (void)state;
    start_four(usual_options());
    for (uint32_t i = 0; i < 3; i++)
        cut(3, i);
    run(5 * SECOND_NS);
    const uint32_t members[] = {0, 1, 3};
    admit_nodes(0, members, 3);
    run(5 * SECOND_NS);
    for (uint32_t i = 0; i < 3; i++)
        heal_cut(3, i);
    run(60 * SECOND_NS);
    assert_int_equal(stats_of(3).members_live, 3);
    assert_int_equal(neighbours(2), 0);
    world_kill(&world, 2, false);
    must_agree(20 * SECOND_NS);
}

static void admissions_survive_a_restart(void **state)
{
    (void)state;
    the_first_admissions_expel_all_other_nodes(state);
    world_kill(&world, 1, false);
    world_start(&world, 1);
    run(30 * SECOND_NS);
    assert_int_equal(neighbours(1), 2);
    assert_int_equal(node_admission(world.nodes[1].node, world.nodes[3].identity.id),
                     ADMISSION_NONE);
}

static void readmission_does_not_restore_removed_rumors(void **state)
{
    (void)state;
    start_four(usual_options());
    const uint32_t members[] = {0, 1, 2, 3};
    const uint64_t incarnation = incarnation_of(3);
    admit_nodes(0, members, 4);
    expel(0, 3);
    run(10 * SECOND_NS);
    assert_true(world.nodes[3].finished);
    assert_int_equal(known_of_node(0, 3), 0);
    admit_after(1, world.nodes[3].identity.id, incarnation);
    run(2 * SECOND_NS);
    world_wipe(&world, 3);
    world_start(&world, 3);
    run(40 * SECOND_NS);
    assert_int_equal(neighbours(3), 3);
    assert_true(incarnation_of(3) > incarnation);
    assert_true(known_of_node(0, 3) > 0);
    must_agree(20 * SECOND_NS);
}

static void an_order_counts_more_than_a_list(void **state)
{
    (void)state;
    start_four(usual_options());
    const uint32_t members[] = {0, 1, 2, 3};
    list_first(0, 2);
    admit_nodes(0, members, 4);
    run(40 * SECOND_NS);
    assert_int_equal(neighbours(0), 3);
    list_first(0, 2);
    run(5 * SECOND_NS);
    assert_int_equal(neighbours(0), 3);
}

/* A listed puppet, which forwards rumors of an unlisted node. */
static struct puppet puppet;

static int puppet_story_ends(void **state)
{
    puppet_free(&puppet);
    return world_ends(state);
}

static void forwarding_a_strangers_rumors_is_answered_with_prune(void **state)
{
    (void)state;
    static uint8_t ids[3][ID_BYTES];
    uint8_t rumor[RUMOR_MAX], record[RECORD_BYTES];
    const uint8_t seed[SEED_BYTES] = {200};
    start_usual_swarm(2);
    run(5 * SECOND_NS);
    world_rest(&world);
    world.check.outsiders_publish = true;
    run(3 * SECOND_NS);
    puppet_init(&puppet, 0, 77);
    memcpy(ids[0], world.nodes[0].identity.id, ID_BYTES);
    memcpy(ids[1], world.nodes[1].identity.id, ID_BYTES);
    memcpy(ids[2], puppet.identity.id, ID_BYTES);
    for (uint32_t i = 0; i < 2; i++)
        node_on_members(world.nodes[i].node, world_now_ns(&world), ids[0], 3);
    puppet_meet(&puppet);
    puppet_hello(&puppet);
    const uint64_t digest = stats_of(0).digest;
    struct puppet stranger = puppet;
    identity_from_seed(&stranger.identity, seed);
    for (uint32_t seq = 0; seq < 2; seq++)
        puppet_say_bulk(&puppet, RUMOR, rumor, puppet_rumor(&stranger, seq, 5, rumor));
    const struct record said = puppet_record(&stranger);
    record_create(&said, &stranger.identity, puppet.context, record);
    puppet_say_bulk(&puppet, MEMBER_UPDATE, record, sizeof record);
    run(SECOND_NS);
    assert_false(puppet.closed);
    assert_int_equal(puppet.heard[PRUNE], 2);
    assert_int_equal(stats_of(0).digest, digest);
    assert_int_equal(strangers_of(0), 1);
    assert_int_equal(known_of_id(0, stranger.identity.id), 0);
    assert_int_equal(stats_of(0).members_live, 3);
    for (uint32_t i = 0; i < 2; i++)
        node_on_members(world.nodes[i].node, world_now_ns(&world), ids[0], 2);
    run(SECOND_NS);
    assert_true(puppet.closed);
    assert_int_equal(puppet.bye_reason, BYE_NOT_ADMITTED);
    assert_string_equal(puppet.bye, "not on this swarm's list of members");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        EXPULSION(equal_lists_change_nothing),
        EXPULSION(a_node_on_no_list_stops_and_names_the_reason),
        EXPULSION(a_node_listed_by_one_member_joins_through_it),
        EXPULSION(bases_converge_once_lists_are_equal),
        EXPULSION(a_removed_member_is_expelled_and_its_rumors_stay),
        EXPULSION(lists_may_lose_a_member_one_after_the_other),
        EXPULSION(a_removed_member_warns_for_each_peer),
        EXPULSION(a_member_that_was_removed_while_cut_off_warns_at_its_return),
        EXPULSION(a_removed_member_returns_when_listed_again),
        EXPULSION(different_lists_are_no_partition),
        EXPULSION(a_joiner_takes_over_a_base_with_strangers_in_it),
        EXPULSION(a_restarted_node_has_its_list_from_the_start),
        EXPULSION(the_first_admissions_expel_all_other_nodes),
        EXPULSION(a_node_admitted_later_returns_by_itself),
        EXPULSION(a_newcomer_that_is_not_admitted_stops),
        EXPULSION(a_newcomer_is_admitted_while_it_joins),
        EXPULSION(a_returning_node_learns_the_admissions),
        EXPULSION(admissions_survive_a_restart),
        EXPULSION(readmission_does_not_restore_removed_rumors),
        EXPULSION(an_order_counts_more_than_a_list),
        cmocka_unit_test_setup_teardown(forwarding_a_strangers_rumors_is_answered_with_prune,
                                        expulsion_begins, puppet_story_ends),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
