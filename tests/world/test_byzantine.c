/* Byzantine detection finds a member within a few rumors if the member steadily opposes local
 * training or moves the base too far. It finds no honest member. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "node/broadcast/broadcast.h"
#include "node/governance/byzantine.h"
#include "node/quarantine_api.h"
#include "support/sim/byzantine_story.h"

static void finds_a_member_that_opposes_training_within_three_rumors(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++)
        let_all_publish(0.5, -0.5, 1, 1);
    must_find_who();
}

static void accepts_mild_opposition_when_few_agree(void **state)
{
    (void)state;
    for (int i = 0; i < 100; i++)
        let_all_publish(0.05, -0.2, 1, 1);
    assert_null(byzantine_next(node));
}

static void accepts_a_member_that_is_uncorrelated(void **state)
{
    (void)state;
    for (int i = 0; i < 100; i++)
        let_all_publish(0.6, i % 2 ? 0.2 : -0.2, 1, 1);
    assert_null(byzantine_next(node));
}

static void finds_a_tenfold_move_within_three_rumors(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++) /* the first rumors are no evidence: WHO may be from a partition */
        let_all_publish(0.5, 0.5, 1, 1);
    for (int i = 0; i < 3; i++)
        let_all_publish(0.5, 0.5, 1, 10);
    must_find_who();
}

static void accepts_a_slightly_larger_move(void **state)
{
    (void)state;
    for (int i = 0; i < 100; i++)
        let_all_publish(0.5, 0.5, 1, 2.5);
    assert_null(byzantine_next(node));
}

static void judges_many_rumors_at_once_by_their_samples(void **state)
{
    (void)state;
    let_all_publish(0.5, 0.5, 1, 1);
    const struct rumor_step step = {.origin_index = WHO, .length = 1, .samples = 100};
    for (int i = 0; i < 100; i++)
        byzantine_on_rumor(node, &step);
    assert_null(byzantine_next(node));
}

static void accepts_longer_publications_after_a_separation(void **state)
{
    (void)state;
    for (int i = 0; i < 5; i++)
        let_all_publish(0.5, 0.5, 1, 1);
    const struct rumor_step step = {.origin_index = WHO, .length = 10, .samples = 100};
    for (int second = 0; second < 20; second++) {
        node->now_ns += SECOND_NS;
        byzantine_review(node);
    }
    for (int i = 0; i < 20; i++)
        byzantine_on_rumor(node, &step);
    byzantine_review(node);
    assert_null(byzantine_next(node));
    for (int i = 0; i < 40; i++)
        let_all_publish(0.5, 0.5, 1, 1);
    for (int i = 0; i < 6; i++)
        byzantine_on_rumor(node, &step);
    must_find_who();
}

static void accepts_longer_publications_of_unknown_members(void **state)
{
    (void)state;
    const struct rumor_step step = {.origin_index = WHO, .length = 10, .samples = 100};
    for (int i = 0; i < 20; i++) {
        for (uint32_t origin_index = 0; origin_index < NODES; origin_index++)
            if (origin_index != WHO && !is_own(origin_index))
                byzantine_on_rumor(node, &(struct rumor_step){.origin_index = origin_index,
                                                              .length = 1,
                                                              .samples = 100});
        node->now_ns += SECOND_NS;
        byzantine_review(node);
    }
    for (int i = 0; i < 20; i++)
        byzantine_on_rumor(node, &step);
    byzantine_review(node);
    assert_null(byzantine_next(node));
    for (int i = 0; i < 40; i++)
        let_all_publish(0.5, 0.5, 1, 1);
    for (int i = 0; i < 6; i++)
        byzantine_on_rumor(node, &step);
    must_find_who();
}

/* The base moves back when an expelled member's rumors are removed, so all members learn more at
 * once. Their publications arrive between two reviews. */
static void accepts_longer_publications_of_all_at_once(void **state)
{
    (void)state;
    for (int i = 0; i < 10; i++)
        let_all_publish(0.5, 0.5, 1, 1);
    byzantine_on_order(node);
    for (int i = 0; i < 4; i++) {
        for (uint32_t origin_index = 0; origin_index < NODES; origin_index++)
            if (!is_own(origin_index))
                byzantine_on_rumor(node, &(struct rumor_step){.origin_index = origin_index,
                                                              .seq = seq,
                                                              .length = 20,
                                                              .samples = 100});
        seq++;
        node->now_ns += SECOND_NS / 5;
    }
    assert_null(byzantine_next(node));
    for (int i = 0; i < 10; i++)
        let_all_publish(0.5, 0.5, 1, 1);
    assert_null(byzantine_next(node));
}

static void accepts_larger_moves_of_members_that_just_met(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++)
        let_all_publish(0.5, 0.5, 1, 10);
    for (int i = 0; i < 3; i++)
        let_all_publish(0.5, 0.5, 1, 1);
    assert_null(byzantine_next(node));
}

static void accepts_larger_moves_of_faster_learners(void **state)
{
    (void)state;
    struct versions *versions = (struct versions *)broadcast_versions(node);
    for (uint32_t origin_index = 0; origin_index < NODES; origin_index++)
        versions->origins[origin_index].rate = origin_index == WHO ? 1000 : 100;
    for (int i = 0; i < 100; i++) /* WHO may publish 3 · sqrt(10) times the typical length */
        let_all_publish(0.5, 0.5, 1, 8);
    assert_null(byzantine_next(node));
}

static void accepts_any_single_publication(void **state)
{
    (void)state;
    let_all_publish(0.5, 0.5, 0.01, 0.01);
    /* A single publication may have any length and any number of rumors. */
    let_all_publish(0.5, 0.5, 0.01, 1000);
    const struct rumor_step piece = {.origin_index = WHO, .seq = 2, .length = 1000};
    for (int i = 0; i < 20; i++)
        byzantine_on_rumor(node, &piece);
    assert_null(byzantine_next(node));
    for (int i = 0; i < 30; i++)
        let_all_publish(0.5, 0.5, 1000, 1000);
    assert_null(byzantine_next(node));
}

static void finds_moves_without_samples(void **state)
{
    (void)state;
    for (int i = 0; i < 5; i++)
        let_all_publish(0.5, 0.5, 1, 1);
    const struct rumor_step piece = {.origin_index = WHO, .seq = 5, .length = 1};
    for (int i = 0; i < 300; i++)
        byzantine_on_rumor(node, &piece);
    must_find_who();
}

static void needs_enough_members_for_a_typical_length(void **state)
{
    (void)state;
    const struct rumor_step step = {.origin_index = WHO, .length = 100, .samples = 1};
    for (int i = 0; i < 100; i++) {
        byzantine_on_rumor(node, &step);
        byzantine_review(node);
    }
    assert_null(byzantine_next(node));
}

/* Lets WHO and, unless of_other is NAN, one more member publish up to `rumors` rumors each, with
 * these agreements. Returns the member that the node finds, or NULL. */
static const struct origin *found_among_two(double of_who, double of_other, int rumors)
{
    const uint32_t other = WHO + 1;
    const struct origin *found = NULL;
    assert_false(is_own(WHO) || is_own(other));
    for (int i = 0; i < rumors && !found; i++) {
        const struct rumor_step step = {.origin_index = WHO, .seq = seq, .length = 1, .samples = 1};
        byzantine_on_rumor(node, &step);
        byzantine_on_compared(node, WHO, seq, of_who);
        if (!isnan(of_other)) {
            const struct rumor_step others = {
                .origin_index = other, .seq = seq, .length = 1, .samples = 1};
            byzantine_on_rumor(node, &others);
            byzantine_on_compared(node, other, seq, of_other);
        }
        seq++;
        node->now_ns += SECOND_NS;
        byzantine_review(node);
        found = byzantine_next(node);
    }
    return found;
}

/* If the updates of two or three nodes add up to 0, each acts against the others. */
static void finds_no_member_of_two_or_three_at_an_equilibrium(void **state)
{
    (void)state;
    assert_null(found_among_two(-0.5, -0.5, 100));
    reset_detection();
    assert_null(found_among_two(-1, (double)NAN, 100));
}

static void finds_one_of_three_that_opposes_training(void **state)
{
    (void)state;
    assert_ptr_equal(found_among_two(-0.5, 0.3, 4), &broadcast_versions(node)->origins[WHO]);
}

/* No member has published for a minute, so no median is known. */
static void a_finding_ends_although_no_median_is_known(void **state)
{
    struct node_finding harm;
    (void)state;
    assert_non_null(found_among_two(-0.5, 0.3, 4));
    node->now_ns += 60 * SECOND_NS;
    byzantine_review(node);
    assert_true(node_finding(node, 0, &harm) && isnan(harm.typical));
    for (uint32_t i = 0; i < 5; i++)
        byzantine_on_compared(node, WHO, seq + i, 0.5);
    assert_false(node_finding(node, 0, &harm));
}

static void finds_a_member_that_resumes_harming(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++)
        let_all_publish(0.5, -0.5, 1, 1);
    must_find_who();
    for (int i = 0; i < 10; i++)
        let_all_publish(0.5, 0.5, 1, 1);
    struct node_finding harm;
    assert_null(byzantine_next(node));
    assert_false(node_finding(node, 0, &harm));
    for (int i = 0; i < 3; i++)
        let_all_publish(0.5, -0.5, 1, 1);
    must_find_who();
}

static void keeps_rumors_before_the_harm(void **state)
{
    (void)state;
    for (int i = 0; i < 10; i++)
        let_all_publish(0.5, i == 3 ? -0.2 : 0.5, 1, 1);
    for (int i = 0; i < 4; i++)
        let_all_publish(0.5, -0.5, 1, 10); /* WHO opposes training from rumor 10 on */
    const struct origin *origin = byzantine_next(node);
    assert_non_null(origin);
    assert_int_equal(byzantine_from(node, origin).seq, 10);
    reset_detection();
    for (int i = 0; i < 7; i++)
        let_all_publish(0.5, 0.5, 1, 1);
    for (int i = 0; i < 4; i++)
        let_all_publish(0.5, 0.5, 1, 20);
    origin = byzantine_next(node);
    assert_non_null(origin);
    assert_int_equal(byzantine_from(node, origin).seq, 7);
}

static void judges_a_publication_as_a_whole(void **state)
{
    (void)state;
    for (int i = 0; i < 5; i++)
        let_all_publish(0.5, 0.5, 1, 1);
    byzantine_on_rumor(node,
                       &(struct rumor_step){.origin_index = WHO, .length = 0.01, .samples = 100});
    for (int i = 0; i < 250; i++) {
        byzantine_on_rumor(node, &(struct rumor_step){.origin_index = WHO, .length = 0.01});
        assert_true(byzantine_allows(node, WHO, byzantine_length(node, WHO)));
    }
    for (int i = 0; i < 60; i++)
        byzantine_on_rumor(node, &(struct rumor_step){.origin_index = WHO, .length = 0.01});
    assert_false(byzantine_allows(node, WHO, byzantine_length(node, WHO)));
}

/* All members send only the first rumor of a publication. This rumor claims all samples of the
 * publication. */
static void takes_the_typical_length_from_whole_publications(void **state)
{
    (void)state;
    for (int i = 0; i < 5; i++)
        let_all_publish(0.5, 0.5, 1, 1);
    for (uint32_t origin_index = 0; origin_index < NODES; origin_index++)
        if (!is_own(origin_index))
            byzantine_on_rumor(
                node,
                &(struct rumor_step){.origin_index = origin_index, .length = 0.1, .samples = 100});
    byzantine_review(node);
    assert_true(byzantine_allows(node, WHO, 0.02));
}

static void keeps_rumors_from_long_before(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++)
        let_all_publish(0.5, 0.5, 1, 1);
    for (int i = 0; i < 20; i++) /* WHO opposes local training only a little */
        let_all_publish(0.5, -0.05, 1, 1);
    const struct origin *origin = byzantine_next(node);
    assert_non_null(origin);
    /* The node removes WHO's last four publications. */
    assert_int_equal(byzantine_from(node, origin).seq, seq - 4);
}

static void recognizes_a_long_publication_on_arrival(void **state)
{
    (void)state;
    const struct rumor_step pieces[] = {{.origin_index = WHO, .length = 2, .samples = 100},
                                        {.origin_index = WHO, .length = 2}};
    assert_true(byzantine_allows(node, WHO, 1000)); /* no typical length is known yet */
    let_all_publish(0.5, 0.5, 1, 1);                /* WHO's first publication may be longer */
    assert_true(byzantine_allows(node, WHO, byzantine_length(node, WHO)));
    byzantine_on_rumor(node, &pieces[0]);
    assert_true(byzantine_allows(node, WHO, byzantine_length(node, WHO)));
    byzantine_on_rumor(node, &pieces[1]);
    assert_false(byzantine_allows(node, WHO, byzantine_length(node, WHO)));
    assert_true(byzantine_apart_ns(node, WHO) > node->now_ns);
    for (uint32_t origin_index = 0; origin_index < NODES;
         origin_index++) /* all other members also have new samples */
        if (origin_index != WHO && !is_own(origin_index))
            byzantine_on_rumor(
                node,
                &(struct rumor_step){.origin_index = origin_index, .length = 4, .samples = 100});
    byzantine_review(node);
    assert_true(byzantine_allows(node, WHO, byzantine_length(node, WHO)));
    assert_null(byzantine_next(node));
}

/* Reports publications of this node, `length` long per 100 samples at its whole share. Returns the
 * length of the last one at the part of the share that the node then used. */
static double publish_own(double length)
{
    double last = 0;
    for (int i = 0; i < 60; i++) {
        last = length * byzantine_own_part(node);
        byzantine_on_published(node, &(struct rumor_step){.length = last, .samples = 100});
    }
    return last;
}

/* A node with small batches makes more steps per sample. Its publications stay within the length
 * that the others allow, which is three times the median. */
static void long_own_publications_take_a_smaller_share(void **state)
{
    (void)state;
    assert_true(publish_own(1000) == 1000); /* no typical length is known yet */
    for (int i = 0; i < 4; i++)
        let_all_publish(0.5, 0.5, 1, 1);
    assert_true(publish_own(1) == 1);
    assert_true(publish_own(2) == 2);
    const double own = publish_own(32);
    assert_true(own > 1.5 && own < 3);
    assert_true(byzantine_allows(node, WHO, own / 100));
    byzantine_on_published(node, &(struct rumor_step){.length = 1000}); /* no samples: no length */
    assert_true(fabs(publish_own(32) - own) < 1e-6);
    assert_true(publish_own(1) == 1);
    (void)publish_own(1e9);
    assert_true(byzantine_own_part(node) > 0);
}

static void claimed_speed_allows_only_credited_samples(void **state)
{
    (void)state;
    struct versions *versions = (struct versions *)broadcast_versions(node);
    for (uint32_t origin_index = 0; origin_index < NODES; origin_index++)
        versions->origins[origin_index].rate = origin_index == WHO ? 10000 : 100;
    let_all_publish(0.5, 0.5, 1, 1);
    /* WHO claims 100 times the median speed, but at most 16 times counts (FASTER_MOST). So
     * 3 · sqrt(16) times the typical length is allowed: 0.12. */
    assert_true(byzantine_allows(node, WHO, 0.11));
    assert_false(byzantine_allows(node, WHO, 0.13));
    assert_true(fabs(byzantine_length(node, WHO) - 0.01) < 1e-9);
    ((struct node_options *)&node->options)->limits.weight_max = 100;
    assert_false(byzantine_allows(node, WHO, 0.13));
    ((struct node_options *)&node->options)->limits.weight_max = 2;
    /* With weight_max 2, 3 · sqrt(2) times the typical length is allowed. */
    assert_true(byzantine_allows(node, WHO, 0.042));
    assert_false(byzantine_allows(node, WHO, 0.043));
    assert_true(fabs(byzantine_length(node, WHO) - 0.5) <
                1e-9); /* only a fiftieth of WHO's samples is credited */
}
int main(void)
{
    const struct CMUnitTest tests[] = {
        TOLD(finds_a_member_that_opposes_training_within_three_rumors),
        TOLD(accepts_mild_opposition_when_few_agree),
        TOLD(accepts_a_member_that_is_uncorrelated),
        TOLD(finds_a_tenfold_move_within_three_rumors),
        TOLD(accepts_a_slightly_larger_move),
        TOLD(judges_many_rumors_at_once_by_their_samples),
        TOLD(accepts_longer_publications_after_a_separation),
        TOLD(accepts_longer_publications_of_unknown_members),
        TOLD(accepts_longer_publications_of_all_at_once),
        TOLD(accepts_larger_moves_of_members_that_just_met),
        TOLD(accepts_larger_moves_of_faster_learners),
        TOLD(accepts_any_single_publication),
        TOLD(finds_moves_without_samples),
        TOLD(needs_enough_members_for_a_typical_length),
        TOLD(keeps_rumors_before_the_harm),
        TOLD(judges_a_publication_as_a_whole),
        TOLD(takes_the_typical_length_from_whole_publications),
        TOLD(keeps_rumors_from_long_before),
        TOLD(recognizes_a_long_publication_on_arrival),
        TOLD(long_own_publications_take_a_smaller_share),
        TOLD(claimed_speed_allows_only_credited_samples),
        TOLD(finds_a_member_that_resumes_harming),
        TOLD(finds_no_member_of_two_or_three_at_an_equilibrium),
        TOLD(finds_one_of_three_that_opposes_training),
        TOLD(a_finding_ends_although_no_median_is_known),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
