/* Trials of members that seem harmful. A node votes only if the base is better without the member's
 * last rumors. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "node/broadcast/broadcast.h"
#include "node/governance/byzantine.h"
#include "node/governance/quarantine.h"
#include "node/membership/membership.h"
#include "node/orders/quorum_votes.h"
#include "support/sim/expulsion_story.h"

#define NODES   5
#define MEMBERS 20
#define SUSPECT 4
#define SAMPLES 1000
#define LEAST   (0.1 / NODES) /* part of max(loss, 1) by which the loss must fall */
#define EPSILON 1e-6

static struct node *node;
static uint32_t origin_index;

static int begin(void **state)
{
    (void)expulsion_begins(state);
    struct node_options options = obedient(usual_options());
    options.limits.quarantines = true;
    world.has_list = true;
    add_swarm(MEMBERS, &options);
    for (uint32_t i = 0; i < NODES; i++)
        world_start(&world, i);
    run(20 * SECOND_NS);
    node = world.nodes[0].node;
    const struct versions *versions = broadcast_versions(node);
    for (uint32_t i = 0; i < versions->count; i++)
        if (memcmp(versions->origins[i].id, world.nodes[SUSPECT].identity.id, ID_BYTES) == 0)
            origin_index = i;
    assert_int_equal(membership_live(node), NODES);
    return 0;
}

/* Makes the rumors of all members support node 0, and then the suspect's rumors from number `seq`
 * on act strongly against it. */
static void oppose_from(uint32_t seq)
{
    for (uint32_t i = 0; i < broadcast_versions(node)->count; i++)
        if (i != origin_index)
            byzantine_on_compared(node, i, 0, 0.5);
    quarantine_review(node);
    for (int i = 0; i < 3; i++)
        byzantine_on_compared(node, origin_index, seq, -1);
    quarantine_review(node);
}

static void oppose(void)
{
    oppose_from(0);
}

static bool is_harmful(void)
{
    return byzantine_finding_of(node, origin_index).harms;
}

/* Takes the due trial instead of a learner, and answers it after `ns` with the result `trial`.
 * Returns how many rumors both bases lack. */
static uint32_t answer_after(uint64_t ns, struct base_trial trial)
{
    struct action action;
    uint32_t entries = 0;
    assert_true(quarantine_next_trial(node, &action));
    assert_int_equal(action.kind, ACTION_TRIAL);
    for (uint32_t i = 0; i < action.updates; i++)
        entries += action.update[i].count;
    node->now_ns += ns;
    quarantine_on_trial(node, &trial);
    node_on_applied(node, node->now_ns, entries);
    return action.updates - action.tried;
}

static uint32_t answer(double with, double without)
{
    return answer_after(
        0, (struct base_trial){.samples = SAMPLES, .loss_before = with, .loss_after = without});
}

static uint32_t votes(void)
{
    return votes_against(node, world.nodes[SUSPECT].identity.id);
}

static void a_base_that_is_better_without_the_rumors_costs_a_vote(void **state)
{
    (void)state;
    oppose();
    assert_int_equal(votes(), 0);
    answer(2, 2 * (1 - LEAST) - EPSILON);
    assert_int_equal(votes(), 1);
    assert_true(is_harmful());
    run(SECOND_NS);
    assert_int_equal(world.nodes[0].notes[NOTE_HARM], 1);
    assert_non_null(strstr(world.nodes[0].last[NOTE_HARM].text, "this node votes to expel it"));
}

static void other_members_cast_no_vote(void **state)
{
    (void)state;
    oppose();
    answer(2, 2 * (1 - LEAST) + EPSILON);
    assert_int_equal(votes(), 0);
    assert_false(is_harmful());
    run(SECOND_NS);
    assert_int_equal(world.nodes[0].notes[NOTE_HARM], 0);
}

/* A loss below 1 must fall by a part of 1. A few samples can change a small loss by a large part of
 * itself. */
static void a_small_loss_falls_by_a_part_of_one(void **state)
{
    (void)state;
    oppose();
    answer(LEAST, EPSILON);
    assert_int_equal(votes(), 0);
}

static void a_base_without_a_loss_is_worse_than_any(void **state)
{
    (void)state;
    oppose();
    answer((double)NAN, (double)NAN);
    assert_int_equal(votes(), 0);
    oppose();
    answer((double)NAN, 2);
    assert_int_equal(votes(), 1);
}

static void a_node_without_test_samples_casts_no_vote(void **state)
{
    struct action action;
    (void)state;
    node->options.has_tests = false;
    oppose();
    assert_false(quarantine_next_trial(node, &action));
    assert_int_equal(votes(), 0);
    run(SECOND_NS);
    assert_int_equal(world.nodes[0].notes[NOTE_HARM], 1);
    assert_non_null(strstr(world.nodes[0].last[NOTE_HARM].text, "it is harmful, or its data differ"));
}

static void a_trial_without_samples_causes_no_vote(void **state)
{
    (void)state;
    oppose();
    answer_after(0, (struct base_trial){0});
    assert_int_equal(votes(), 0);
}

/* Returns an origin index that is neither the suspect's nor node 0's own. */
static uint32_t other_member(void)
{
    const uint32_t own = versions_index(broadcast_versions(node), broadcast_own(node));
    uint32_t other = 0;
    while (other == origin_index || other == own)
        other++;
    return other;
}

/* Makes the suspect's last rumor act against node 0. */
static void oppose_last(void)
{
    oppose_from(broadcast_versions(node)->origins[origin_index].next - 1);
}

/* If several members harm the base, it stays bad without the rumors of one of them. */
static void a_second_trial_leaves_the_rumors_of_other_suspects_out(void **state)
{
    struct action action;
    (void)state;
    oppose_last();
    byzantine_on_compared(node, other_member(), 0, -0.5); /* too little for a trial of its own */
    assert_int_equal(answer(2, 2), 0);
    assert_int_equal(votes(), 0);
    assert_true(answer(2, 1) > 0);
    assert_int_equal(votes(), 1);
    assert_false(quarantine_next_trial(node, &action));
}

static void there_are_two_trials_at_most(void **state)
{
    struct action action;
    (void)state;
    byzantine_on_compared(node, other_member(), 0, -0.5);
    oppose_last();
    byzantine_on_compared(node, other_member(), 0, -0.5);
    assert_int_equal(answer(2, 2), 0);
    assert_true(answer(2, 2) > 0);
    assert_int_equal(votes(), 0);
    assert_false(quarantine_next_trial(node, &action));
}

static void one_suspect_is_tried_once(void **state)
{
    struct action action;
    (void)state;
    oppose_last();
    assert_int_equal(answer(2, 2), 0);
    assert_false(quarantine_next_trial(node, &action));
}

/* A member that has harmed the base remains a suspect although its evidence counts from 0 again. */
static void a_trial_leaves_the_rumors_of_harmful_members_out(void **state)
{
    (void)state;
    byzantine_on_tried(node, other_member(), true);
    oppose_last();
    assert_int_equal(answer(2, 2), 0);
    assert_true(answer(2, 2) > 0);
}

/* All other members publish updates of length 1, and the suspect one of this length. */
static void publish(double length)
{
    const uint32_t own = versions_index(broadcast_versions(node), broadcast_own(node));
    for (uint32_t i = 0; i < broadcast_versions(node)->count; i++)
        if (i != own)
            byzantine_on_rumor(node, &(struct rumor_step){.origin_index = i,
                                                          .seq = 1,
                                                          .samples = 1,
                                                          .length = i == origin_index ? length : 1});
    node->now_ns += SECOND_NS / 5;
    quarantine_review(node);
}

/* Returns whether a trial is due after `count` publications with this length, 20 usual ones before.
 */
static bool is_tried_after(int count, double length)
{
    struct action action;
    for (int i = 0; i < 20; i++)
        publish(1);
    for (int i = 0; i < count; i++)
        publish(length);
    return quarantine_next_trial(node, &action);
}

static void one_long_publication_causes_no_trial(void **state)
{
    (void)state;
    assert_false(is_tried_after(2, 4));
}

/* A trial protects honest members, so a few publications that are a little too long suffice. */
static void publications_a_little_too_long_cause_a_trial(void **state)
{
    (void)state;
    assert_true(is_tried_after(8, 4));
}

static void without_a_trial_only_much_longer_ones_are_harmful(void **state)
{
    (void)state;
    node->options.has_tests = false;
    assert_false(is_tried_after(8, 4));
    assert_false(is_harmful());
    assert_false(is_tried_after(12, 12));
    assert_true(is_harmful());
}

/* The suspect's rumors are like those of all others. */
static void the_learner_finds_usual_rumors_harmless(void **state)
{
    (void)state;
    oppose();
    assert_true(is_harmful());
    run(SECOND_NS);
    assert_false(is_harmful());
    assert_int_equal(votes(), 0);
}

static void a_slow_trial_delays_the_next_one(void **state)
{
    struct action action;
    (void)state;
    oppose();
    answer_after(SECOND_NS,
                 (struct base_trial){.samples = SAMPLES, .loss_before = 2, .loss_after = 2});
    node->now_ns += 19 * SECOND_NS;
    oppose();
    assert_false(quarantine_next_trial(node, &action));
    node->now_ns += SECOND_NS;
    quarantine_review(node);
    assert_true(quarantine_next_trial(node, &action));
}

/* While the learner is busy, the node first suspects only rumors that the base lacks, so no trial
 * is due. A later suspicion of older rumors still gets its trial. */
static void a_trial_without_rumors_blocks_no_other(void **state)
{
    struct action action;
    (void)state;
    broadcast_on_block_given(node, 1);
    oppose_from(broadcast_versions(node)->origins[origin_index].next);
    assert_false(quarantine_next_trial(node, &action));
    oppose();
    broadcast_on_applied(node, 1);
    assert_true(quarantine_next_trial(node, &action));
}

/* Another trial could only cast the same vote again. */
static void no_trial_follows_a_vote(void **state)
{
    struct action action;
    (void)state;
    oppose();
    answer(2, 1);
    oppose();
    assert_false(quarantine_next_trial(node, &action));
    assert_int_equal(votes(), 1);
}

#define TOLD(story) cmocka_unit_test_setup_teardown(story, begin, world_ends)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TOLD(a_base_that_is_better_without_the_rumors_costs_a_vote),
        TOLD(other_members_cast_no_vote),
        TOLD(a_small_loss_falls_by_a_part_of_one),
        TOLD(a_base_without_a_loss_is_worse_than_any),
        TOLD(a_node_without_test_samples_casts_no_vote),
        TOLD(a_trial_without_samples_causes_no_vote),
        TOLD(one_suspect_is_tried_once),
        TOLD(a_second_trial_leaves_the_rumors_of_other_suspects_out),
        TOLD(there_are_two_trials_at_most),
        TOLD(a_trial_leaves_the_rumors_of_harmful_members_out),
        TOLD(one_long_publication_causes_no_trial),
        TOLD(publications_a_little_too_long_cause_a_trial),
        TOLD(without_a_trial_only_much_longer_ones_are_harmful),
        TOLD(the_learner_finds_usual_rumors_harmless),
        TOLD(a_slow_trial_delays_the_next_one),
        TOLD(a_trial_without_rumors_blocks_no_other),
        TOLD(no_trial_follows_a_vote),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
