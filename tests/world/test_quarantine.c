/* Votes against a harmful member. A majority expels the member everywhere, from one of its rumors
 * on. Fewer votes, or votes of non-members, have no effect. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "node/broadcast/broadcast.h"
#include "node/lifecycle/lifecycle.h"
#include "node/orders/proofs.h"
#include "node/orders/quorum_votes.h"
#include "node/quarantine_api.h"
#include "support/sim/expulsion_story.h"
#include "support/sim/puppet.h"

#define NODES   4 /* number of running nodes; the messenger is a fifth member */
#define ACCUSED 3

static struct puppet messenger;

static int stories_begin(void **state)
{
    memset(&messenger, 0, sizeof messenger);
    return expulsion_begins(state);
}

static int stories_end(void **state)
{
    (void)state;
    if (messenger.reader)
        puppet_free(&messenger);
    world_free(&world);
    return 0;
}

static void add_nodes(bool quarantines)
{
    struct node_options options = obedient(usual_options());
    options.limits.quarantines = quarantines;
    world.has_list = true;
    add_swarm(NODES + 1, &options);
}

static void enter_messenger(uint32_t node)
{
    puppet_init(&messenger, node, 77);
    messenger.identity = world.nodes[NODES].identity;
    puppet_meet(&messenger);
    puppet_hello(&messenger);
}

static void start(bool quarantines)
{
    add_nodes(quarantines);
    for (uint32_t i = 0; i < NODES; i++)
        world_start(&world, i);
    run(5 * SECOND_NS);
    enter_messenger(0);
}

static uint64_t incarnation_of_accused(void)
{
    struct node_origin own;
    node_own(world.nodes[ACCUSED].node, &own);
    return own.incarnation;
}

/* Returns how many rumors of the accused node i knows. */
static uint32_t accused_at(uint32_t i)
{
    const struct versions *versions = broadcast_versions(world.nodes[i].node);
    for (uint32_t k = 0; k < versions->count; k++)
        if (memcmp(versions->origins[k].id, world.nodes[ACCUSED].identity.id, ID_BYTES) == 0)
            return versions->origins[k].next;
    return 0;
}

/* Makes the messenger forward a vote that `voter` has signed. */
static void vote_of(const struct identity *voter, uint64_t incarnation, uint32_t keep)
{
    uint8_t bytes[VOTE_BYTES];
    struct vote vote = {.incarnation = incarnation, .keep = keep};
    memcpy(vote.voter, voter->id, ID_BYTES);
    memcpy(vote.accused, world.nodes[ACCUSED].identity.id, ID_BYTES);
    vote_create(&vote, voter, messenger.context, bytes);
    puppet_say(&messenger, &(struct message){.kind = VOTES, .bulk = {bytes, sizeof bytes}});
}

static void vote(uint32_t voter, uint32_t keep)
{
    static uint64_t incarnation; /* last known incarnation of the accused */
    if (world_is_running(&world, ACCUSED))
        incarnation = incarnation_of_accused();
    vote_of(&world.nodes[voter].identity, incarnation, keep);
}

static void must_be_voted_out(uint32_t keep)
{
    run(3 * SECOND_NS);
    for (uint32_t i = 0; i < ACCUSED; i++) {
        const struct proof *proof =
            proofs_against(world.nodes[i].node, world.nodes[ACCUSED].identity.id);
        assert_non_null(proof);
        assert_int_equal(proof->kind, PROOF_VOTES);
        assert_int_equal(proof->keep, keep);
        assert_int_equal(accused_at(i), keep);
        assert_true(world.nodes[i].notes[NOTE_EXPELLED] > 0);
    }
    assert_false(world_is_running(&world, ACCUSED));
    must_agree(20 * SECOND_NS);
}

static void must_be_in(void)
{
    run(3 * SECOND_NS);
    for (uint32_t i = 0; i < NODES; i++)
        assert_null(proofs_against(world.nodes[i].node, world.nodes[ACCUSED].identity.id));
    assert_true(world_is_running(&world, ACCUSED));
    assert_true(accused_at(0) > 0);
    must_agree(20 * SECOND_NS);
}

static void a_majority_expels_a_member_with_all_its_rumors(void **state)
{
    (void)state;
    start(true);
    assert_true(accused_at(0) > 3);
    vote(0, 0);
    vote(1, 0);
    run(SECOND_NS);
    assert_true(world_is_running(&world, ACCUSED));
    vote(2, 0);
    must_be_voted_out(0);
    assert_true(world.nodes[ACCUSED].notes[NOTE_EXPELLED] > 0);
}

static void the_messenger_also_votes(void **state)
{
    (void)state;
    start(true);
    vote(NODES, 0);
    vote(0, 0);
    vote(1, 0);
    must_be_voted_out(0);
}

static void a_minority_has_no_effect_however_often_it_votes(void **state)
{
    (void)state;
    start(true);
    for (uint32_t keep = 3; keep > 0; keep--) {
        vote(0, keep);
        vote(NODES, keep);
        vote(NODES, keep);
    }
    must_be_in();
    assert_int_equal(votes_against(world.nodes[2].node, world.nodes[ACCUSED].identity.id), 2);
}

static void a_non_member_has_no_vote(void **state)
{
    (void)state;
    start(true);
    for (uint8_t number = 90; number < 98; number++) {
        const uint8_t seed[SEED_BYTES] = {number};
        struct identity stranger;
        identity_from_seed(&stranger, seed);
        vote_of(&stranger, incarnation_of_accused(), 0);
    }
    run(SECOND_NS);
    /* a non-member's vote is no offence, because lists of members may differ */
    assert_false(messenger.closed);
    must_be_in();
    assert_int_equal(votes_against(world.nodes[0].node, world.nodes[ACCUSED].identity.id), 0);
}

static void a_forged_vote_ends_the_connection(void **state)
{
    (void)state;
    uint8_t bytes[VOTE_BYTES];
    start(true);
    struct vote vote = {.incarnation = 1};
    memcpy(vote.voter, world.nodes[1].identity.id, ID_BYTES);
    memcpy(vote.accused, world.nodes[ACCUSED].identity.id, ID_BYTES);
    vote_create(&vote, &world.nodes[1].identity, messenger.context, bytes);
    bytes[VOTE_BYTES - 1] ^= 1;
    puppet_say(&messenger, &(struct message){.kind = VOTES, .bulk = {bytes, sizeof bytes}});
    run(SECOND_NS);
    assert_int_equal(messenger.bye_reason, BYE_BROKEN);
    must_be_in();
}

/* Three of five votes are needed, so the third lowest vote counts: 5 of (1, 3, 5), later 3 of (0,
 * 1, 3, 5). */
static void the_majority_decides_what_stays(void **state)
{
    (void)state;
    start(true);
    assert_true(accused_at(0) > 5);
    vote(0, 3);
    vote(1, 1);
    vote(2, 5);
    must_be_voted_out(5);
    vote(NODES, 0);
    must_be_voted_out(3);
}

/* One vote, to keep nothing, does not lower the decision of the other members. */
static void an_extreme_vote_does_not_move_the_decision(void **state)
{
    (void)state;
    start(true);
    assert_true(accused_at(0) > 4);
    vote(NODES, 0);
    vote(0, 4);
    vote(1, 4);
    must_be_voted_out(4);
}

static void votes_are_known_after_a_restart(void **state)
{
    static uint8_t known[NODE_VOTES_MAX];
    (void)state;
    start(true);
    vote(0, 0);
    vote(1, 0);
    run(SECOND_NS);
    world_kill(&world, 2, false);
    world_start(&world, 2);
    /* Node 2 loads the votes from its disk. */
    assert_int_equal(node_votes(world.nodes[2].node, known), 2 * VOTE_BYTES);
    run(2 * SECOND_NS);
    vote(2, 0);
    must_be_voted_out(0);
    world_kill(&world, 1, false);
    world_start(&world, 1);
    must_be_voted_out(0);
}

static void a_member_expelled_by_the_operator_has_no_vote(void **state)
{
    (void)state;
    start(true);
    vote(NODES, 0); /* the messenger votes, and then the operator expels it */
    vote(0, 0);
    expel(0, NODES);
    run(SECOND_NS);
    assert_int_equal(votes_against(world.nodes[1].node, world.nodes[ACCUSED].identity.id), 1);
    must_be_in(); /* three of four votes are needed */
}

/* Hands a vote directly to node 0, because the silent messenger is soon disconnected. */
static void give(uint32_t voter, uint64_t incarnation, uint32_t keep)
{
    uint8_t bytes[VOTE_BYTES];
    struct vote vote = {.incarnation = incarnation, .keep = keep};
    memcpy(vote.voter, world.nodes[voter].identity.id, ID_BYTES);
    memcpy(vote.accused, world.nodes[ACCUSED].identity.id, ID_BYTES);
    vote_create(&vote, &world.nodes[voter].identity, node_context(world.nodes[0].node), bytes);
    world_vote(&world, 0, bytes);
}

/* Gives node 0 a vote of the messenger. Returns how often node 0's stored votes have changed. */
static uint32_t stored_after(uint32_t keep)
{
    give(NODES, incarnation_of_accused(), keep);
    return node_votes_changes(world.nodes[0].node);
}

/* Only later votes replace a vote. */
static void a_vote_is_replaced_once_a_minute(void **state)
{
    (void)state;
    start(true);
    assert_int_equal(stored_after(1), 1);
    assert_int_equal(stored_after(0), 1);
    assert_int_equal(stored_after(2), 2);
    assert_int_equal(stored_after(3), 2);
    run(59 * SECOND_NS);
    assert_int_equal(stored_after(3), 2);
    run(SECOND_NS);
    assert_int_equal(stored_after(1), 2);
    assert_int_equal(stored_after(3), 3);
    must_be_in();
}

#define FAR 16385 /* rumors between two votes that do not add up */

/* At first only the votes of nodes 1 and 2 are near enough to add up. Then node 0 moves its vote
 * near theirs. */
static void votes_about_distant_rumors_do_not_add_up(void **state)
{
    (void)state;
    start(true);
    const uint64_t incarnation = incarnation_of_accused();
    give(0, incarnation, 0);
    give(1, incarnation, FAR);
    give(2, incarnation, 2 * FAR - 1);
    must_be_in();
    for (uint32_t i = 0; i < ACCUSED; i++)
        assert_int_equal(votes_against(world.nodes[i].node, world.nodes[ACCUSED].identity.id), 2);
    give(0, incarnation, 2 * FAR - 2);
    run(3 * SECOND_NS);
    for (uint32_t i = 0; i < ACCUSED; i++) {
        const struct proof *proof =
            proofs_against(world.nodes[i].node, world.nodes[ACCUSED].identity.id);
        assert_non_null(proof);
        assert_int_equal(proof->keep, 2 * FAR - 1);
    }
    must_agree(20 * SECOND_NS);
}

static void votes_about_starts_of_different_days_do_not_add_up(void **state)
{
    const uint64_t far_ms = 16384 * 1000;
    (void)state;
    start(true);
    const uint64_t first = incarnation_of_accused();
    give(0, first, 0);
    give(1, first + far_ms, 0);
    give(2, first + far_ms + 1, 0);
    must_be_in();
    give(NODES, first + far_ms / 2, 0);
    run(3 * SECOND_NS);
    for (uint32_t i = 0; i < ACCUSED; i++)
        assert_non_null(proofs_against(world.nodes[i].node, world.nodes[ACCUSED].identity.id));
}

/* A voter whose vote was needed changes it to a distant rumor. */
static void an_expulsion_ends_when_a_needed_vote_moves(void **state)
{
    (void)state;
    start(true);
    const uint64_t incarnation = incarnation_of_accused();
    vote(0, 0);
    vote(1, 0);
    vote(2, 0);
    must_be_voted_out(0);
    give(0, incarnation, FAR);
    run(3 * SECOND_NS);
    for (uint32_t i = 0; i < ACCUSED; i++)
        assert_null(proofs_against(world.nodes[i].node, world.nodes[ACCUSED].identity.id));
    must_agree(20 * SECOND_NS);
}

static void two_thirds_of_the_required_votes_cause_a_warning(void **state)
{
    (void)state;
    start(true);
    vote(0, 0);
    run(SECOND_NS);
    assert_int_equal(world.nodes[1].notes[NOTE_HARM], 0);
    vote(1, 0);
    run(SECOND_NS);
    assert_int_equal(world.nodes[1].notes[NOTE_HARM], 1);
    must_be_in();
}

static void votes_have_no_effect_without_quarantine(void **state)
{
    (void)state;
    start(false);
    for (uint32_t i = 0; i < ACCUSED; i++)
        vote(i, 0);
    run(SECOND_NS);
    assert_false(messenger.closed);
    must_be_in();
    assert_int_equal(node_votes_changes(world.nodes[0].node), 0);
}

static void a_majority_may_be_lost_when_members_are_added(void **state)
{
    (void)state;
    start(true);
    const struct node_options options = world.nodes[0].options;
    vote(0, 0);
    vote(1, 0);
    vote(2, 0);
    must_be_voted_out(0);
    uint32_t members[NODES + 3];
    for (uint32_t i = 0; i < NODES + 3; i++)
        members[i] = i <= NODES ? i : add(&options);
    for (uint32_t i = 0; i < ACCUSED; i++)
        world_list(&world, i, members, NODES + 3); /* four of seven votes are needed */
    run(2 * SECOND_NS);
    for (uint32_t i = 0; i < ACCUSED; i++)
        assert_null(proofs_against(world.nodes[i].node, world.nodes[ACCUSED].identity.id));
    must_agree(20 * SECOND_NS);
}

static bool has_proofs(uint32_t i)
{
    struct node_proof proof;
    return node_proof(world.nodes[i].node, 0, &proof);
}

static void proofs_against_outsiders_leave_room_for_members(void **state)
{
    (void)state;
    start(true);
    puppet_prove_outsiders(&messenger, NODE_PROOFS);
    run(2 * SECOND_NS);
    assert_false(messenger.closed);
    for (uint32_t i = 0; i < NODES; i++)
        assert_false(has_proofs(i));
    vote(0, 0);
    vote(1, 0);
    vote(2, 0);
    must_be_voted_out(0);
}

/* A node that has not joined cannot tell outsiders from members of its base. */
static void a_joined_node_forgets_proofs_against_outsiders(void **state)
{
    (void)state;
    add_nodes(true);
    world_start(&world, 1);
    run(SECOND_NS);
    enter_messenger(1);
    puppet_prove_outsiders(&messenger, NODE_PROOFS);
    assert_false(joining_has_joined(world.nodes[1].node));
    assert_true(has_proofs(1));
    world_start(&world, 0);
    run(2 * NODE_JOIN_WAIT_NS);
    assert_true(joining_has_joined(world.nodes[1].node));
    assert_false(has_proofs(1));
}

#define TOLD(story) cmocka_unit_test_setup_teardown(story, stories_begin, stories_end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TOLD(a_majority_expels_a_member_with_all_its_rumors),
        TOLD(the_messenger_also_votes),
        TOLD(a_minority_has_no_effect_however_often_it_votes),
        TOLD(a_non_member_has_no_vote),
        TOLD(a_forged_vote_ends_the_connection),
        TOLD(the_majority_decides_what_stays),
        TOLD(an_extreme_vote_does_not_move_the_decision),
        TOLD(votes_are_known_after_a_restart),
        TOLD(a_member_expelled_by_the_operator_has_no_vote),
        TOLD(a_vote_is_replaced_once_a_minute),
        TOLD(votes_about_distant_rumors_do_not_add_up),
        TOLD(votes_about_starts_of_different_days_do_not_add_up),
        TOLD(an_expulsion_ends_when_a_needed_vote_moves),
        TOLD(two_thirds_of_the_required_votes_cause_a_warning),
        TOLD(votes_have_no_effect_without_quarantine),
        TOLD(a_majority_may_be_lost_when_members_are_added),
        TOLD(proofs_against_outsiders_leave_room_for_members),
        TOLD(a_joined_node_forgets_proofs_against_outsiders),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
