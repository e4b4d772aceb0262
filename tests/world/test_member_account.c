/* Byzantine detection has one account per member, for all incarnations. It credits at most the
 * samples that the member can have learned. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "node/broadcast/broadcast.h"
#include "node/governance/byzantine.h"
#include "node/quarantine_api.h"
#include "support/sim/byzantine_story.h"

/* Starts another incarnation of WHO. Returns its origin index. */
static uint32_t begin_incarnation(void)
{
    struct versions *versions = (struct versions *)broadcast_versions(node);
    static uint64_t later;
    const uint64_t incarnation = versions->origins[WHO].incarnation + ++later;
    const struct origin *origin = versions_add(versions, versions->origins[WHO].id, incarnation);
    assert_non_null(origin);
    return versions_index(versions, origin);
}

static void finds_a_member_that_restarts_for_each_lie(void **state)
{
    const struct origin *found = NULL;
    struct node_finding harm;
    uint32_t origin_index = WHO, first = WHO;
    (void)state;
    for (int i = 0; i < 5; i++)
        let_all_publish(0.5, 0.5, 1, 1);
    for (int i = 0; i < 4 && !found; i++) {
        origin_index = begin_incarnation();
        first = i == 0 ? origin_index : first;
        byzantine_on_rumor(
            node, &(struct rumor_step){.origin_index = origin_index, .length = 10, .samples = 100});
        for (uint32_t other = 0; other < NODES; other++)
            if (other != WHO && !is_own(other))
                byzantine_on_rumor(
                    node, &(struct rumor_step){.origin_index = other, .length = 1, .samples = 100});
        node->now_ns += SECOND_NS;
        byzantine_review(node);
        found = byzantine_next(node);
    }
    assert_ptr_equal(found, &broadcast_versions(node)->origins[origin_index]);
    assert_true(origin_index > first);
    assert_int_equal(byzantine_from(node, found).origin_index,
                     first); /* all incarnations are removed */
    assert_int_equal(byzantine_from(node, found).seq, 0);
    assert_null(byzantine_next(node));
    assert_true(node_finding(node, 0, &harm));
    assert_int_equal(harm.incarnation, found->incarnation);
    assert_false(node_finding(node, 1, &harm));
}

/* The member trained without others and then published all its progress at once. So this first
 * publication is longer than any later one. */
static void accepts_a_member_that_restarts_once(void **state)
{
    (void)state;
    for (int i = 0; i < 5; i++)
        let_all_publish(0.5, 0.5, 1, 1);
    const uint32_t origin_index = begin_incarnation();
    for (uint32_t i = 0; i < 3; i++)
        byzantine_on_rumor(
            node, &(struct rumor_step){
                      .origin_index = origin_index, .seq = i, .length = 1000, .samples = 100});
    for (uint32_t i = 3; i < 20; i++) {
        node->now_ns += SECOND_NS;
        byzantine_on_rumor(
            node, &(struct rumor_step){
                      .origin_index = origin_index, .seq = i, .length = 1, .samples = 100});
        byzantine_review(node);
        assert_null(byzantine_next(node));
    }
}

static void rumors_applied_after_a_restart_count_against_the_member(void **state)
{
    (void)state;
    for (int i = 0; i < 5; i++)
        let_all_publish(0.5, 0.5, 1, 1);
    const uint32_t origin_index = begin_incarnation();
    byzantine_on_rumor(
        node, &(struct rumor_step){.origin_index = origin_index, .length = 1, .samples = 100});
    for (uint32_t i = 0; i < 4; i++)
        byzantine_on_compared(node, WHO, seq + i, -1);
    const struct origin *found = byzantine_next(node);
    assert_ptr_equal(found, &broadcast_versions(node)->origins[origin_index]);
    assert_int_equal(byzantine_from(node, found).origin_index, WHO);
    assert_int_equal(byzantine_from(node, found).seq, seq);
    assert_null(byzantine_next(node));
}

/* The member's first incarnation published harmful rumors, which arrive after rumors of the second
 * one. */
static void late_harm_of_an_earlier_incarnation_removes_later_ones(void **state)
{
    (void)state;
    for (int i = 0; i < 5; i++)
        let_all_publish(0.5, 0.5, 1, 1);
    const uint32_t origin_index = begin_incarnation();
    for (uint32_t i = 0; i < 7; i++) {
        byzantine_on_rumor(
            node, &(struct rumor_step){
                      .origin_index = origin_index, .seq = i, .length = 1, .samples = 100});
        if (i >= 5)
            byzantine_on_rumor(
                node, &(struct rumor_step){
                          .origin_index = WHO, .seq = 1000 + i, .length = 100, .samples = 100});
        node->now_ns += SECOND_NS;
        byzantine_review(node);
    }
    const struct origin *found = byzantine_next(node);
    assert_ptr_equal(found, &broadcast_versions(node)->origins[origin_index]);
    assert_int_equal(byzantine_from(node, found).origin_index, WHO);
    assert_in_range(byzantine_from(node, found).seq, 1005, 1006);
}

static void restarts_of_one_member_do_not_change_the_typical_length(void **state)
{
    (void)state;
    for (int i = 0; i < 5; i++)
        let_all_publish(0.5, 0.5, 1, 1);
    for (int i = 0; i < 3 * NODES; i++)
        byzantine_on_rumor(node, &(struct rumor_step){.origin_index = begin_incarnation(),
                                                      .length = 100,
                                                      .samples = 100});
    byzantine_review(node);
    assert_false(byzantine_allows(node, WHO, 0.04));
}

static void finds_a_member_that_pauses_between_lies(void **state)
{
    const struct origin *found = NULL;
    (void)state;
    for (int i = 0; i < 8; i++)
        let_all_publish(0.5, 0.5, 1, 1);
    for (int i = 0; i < 100 && !found; i++) {
        for (uint32_t origin_index = 0; origin_index < NODES; origin_index++)
            if (!is_own(origin_index) && (origin_index != WHO || i % 10 == 9))
                byzantine_on_rumor(node,
                                   &(struct rumor_step){.origin_index = origin_index,
                                                        .length = origin_index == WHO ? 10 : 1,
                                                        .samples = 100});
        node->now_ns += SECOND_NS;
        byzantine_review(node);
        found = byzantine_next(node);
    }
    assert_ptr_equal(found, &broadcast_versions(node)->origins[WHO]);
}

/* All members know WHO's speed. Claiming a hundred times more samples does not allow longer
 * publications. */
static void samples_beyond_its_speed_are_not_credited(void **state)
{
    const struct origin *found = NULL;
    struct versions *versions = (struct versions *)broadcast_versions(node);
    (void)state;
    for (uint32_t origin_index = 0; origin_index < NODES; origin_index++)
        versions->origins[origin_index].rate = 100;
    for (int i = 0; i < 4; i++)
        let_all_publish(0.5, 0.5, 1, 1);
    for (int i = 0; i < 20 && !found; i++) {
        for (uint32_t origin_index = 0; origin_index < NODES; origin_index++)
            if (!is_own(origin_index))
                byzantine_on_rumor(
                    node, &(struct rumor_step){.origin_index = origin_index,
                                               .length = origin_index == WHO ? 100 : 1,
                                               .samples = origin_index == WHO ? 10000 : 100});
        node->now_ns += SECOND_NS;
        byzantine_review(node);
        found = byzantine_next(node);
    }
    assert_ptr_equal(found, &versions->origins[WHO]);
}

static void say_speeds(float of_who)
{
    struct versions *versions = (struct versions *)broadcast_versions(node);
    for (uint32_t origin_index = 0; origin_index < NODES; origin_index++)
        versions->origins[origin_index].rate = origin_index == WHO ? of_who : 100;
}

/* Returns true if WHO may publish a length of 100 with this many samples. */
static bool is_allowed_at_once(uint64_t samples)
{
    byzantine_on_rumor(
        node, &(struct rumor_step){.origin_index = WHO, .length = 100, .samples = samples});
    return byzantine_allows(node, WHO, byzantine_length(node, WHO));
}

static void steady_learning_earns_no_extra_credit(void **state)
{
    (void)state;
    say_speeds(100);
    for (int i = 0; i < 200; i++)
        let_all_publish(0.5, 0.5, 1, 1);
    assert_false(is_allowed_at_once(10000));
}

static void a_member_of_unknown_speed_earns_no_extra_credit(void **state)
{
    (void)state;
    say_speeds(0);
    for (int i = 0; i < 200; i++)
        let_all_publish(0.5, 0.5, 1, 1);
    assert_false(is_allowed_at_once(10000));
}

/* With equal shares, allowed lengths are per second. A member of unknown speed is assumed to learn
 * at the median speed. */
static void equal_shares_earn_no_extra_credit(void **state)
{
    (void)state;
    ((struct node_options *)&node->options)->weigh_throughput = false;
    say_speeds(0);
    for (int i = 0; i < 5; i++)
        let_all_publish(0.5, 0.5, 1, 1);
    assert_true(byzantine_allows(node, WHO, byzantine_length(node, WHO)));
    assert_false(is_allowed_at_once(100));
}

/* Lets all members except WHO publish once a second, and then WHO for the first time, with the
 * progress of this many seconds. Returns the length of that publication. */
static double first_publication(uint32_t seconds)
{
    say_speeds(100);
    for (int i = 0; i < 5; i++) {
        for (uint32_t origin_index = 0; origin_index < NODES; origin_index++)
            if (!is_own(origin_index) && origin_index != WHO)
                byzantine_on_rumor(node, &(struct rumor_step){.origin_index = origin_index,
                                                              .length = 1,
                                                              .samples = 100});
        node->now_ns += SECOND_NS;
        byzantine_review(node);
    }
    byzantine_on_rumor(node, &(struct rumor_step){.origin_index = WHO,
                                                  .seq = 7,
                                                  .length = seconds,
                                                  .samples = (uint64_t)seconds * 100});
    return byzantine_length(node, WHO);
}

/* WHO may publish less often than the others. */
static void accepts_a_long_first_publication_of_an_older_member(void **state)
{
    (void)state;
    assert_true(byzantine_allows(node, WHO, first_publication(10)));
}

static void a_first_publication_of_many_seconds_is_withheld(void **state)
{
    (void)state;
    assert_false(byzantine_allows(node, WHO, first_publication(15)));
}

static void a_burst_is_withheld_however_many_samples_it_claims(void **state)
{
    (void)state;
    assert_false(byzantine_allows(node, WHO, first_publication(10000)));
}

/* Only the burst itself makes the third length, from which the median is known. */
static void a_burst_right_after_a_rumor_of_another_member_is_withheld(void **state)
{
    uint32_t others[2], count = 0;
    (void)state;
    ((struct node_options *)&node->options)->limits.quarantines = true;
    for (uint32_t origin_index = 0; count < 2; origin_index++)
        if (!is_own(origin_index) && origin_index != WHO)
            others[count++] = origin_index;
    for (int i = 0; i < 10; i++) {
        node->now_ns += SECOND_NS;
        byzantine_review(node);
        for (uint32_t k = 0; k < 2; k++)
            byzantine_on_rumor(node, &(struct rumor_step){.origin_index = others[k],
                                                          .seq = 7,
                                                          .length = 1,
                                                          .samples = 100});
    }
    byzantine_on_rumor(
        node, &(struct rumor_step){.origin_index = WHO, .seq = 7, .length = 100, .samples = 100});
    assert_false(byzantine_allows(node, WHO, byzantine_length(node, WHO)));
}

static void samples_learned_in_a_silence_are_credited_later(void **state)
{
    (void)state;
    say_speeds(100);
    for (int i = 0; i < 60; i++) {
        for (uint32_t origin_index = 0; origin_index < NODES; origin_index++)
            if (!is_own(origin_index) && (origin_index != WHO || i < 10))
                byzantine_on_rumor(node, &(struct rumor_step){.origin_index = origin_index,
                                                              .length = 1,
                                                              .samples = 100});
        node->now_ns += SECOND_NS;
        byzantine_review(node);
    }
    for (int i = 0; i < 50; i++) {
        byzantine_on_rumor(node,
                           &(struct rumor_step){.origin_index = WHO, .length = 1, .samples = 100});
        assert_true(byzantine_allows(node, WHO, byzantine_length(node, WHO)));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TOLD(finds_a_member_that_restarts_for_each_lie),
        TOLD(accepts_a_member_that_restarts_once),
        TOLD(rumors_applied_after_a_restart_count_against_the_member),
        TOLD(late_harm_of_an_earlier_incarnation_removes_later_ones),
        TOLD(restarts_of_one_member_do_not_change_the_typical_length),
        TOLD(finds_a_member_that_pauses_between_lies),
        TOLD(samples_beyond_its_speed_are_not_credited),
        TOLD(steady_learning_earns_no_extra_credit),
        TOLD(a_member_of_unknown_speed_earns_no_extra_credit),
        TOLD(equal_shares_earn_no_extra_credit),
        TOLD(accepts_a_long_first_publication_of_an_older_member),
        TOLD(a_first_publication_of_many_seconds_is_withheld),
        TOLD(a_burst_right_after_a_rumor_of_another_member_is_withheld),
        TOLD(a_burst_is_withheld_however_many_samples_it_claims),
        TOLD(samples_learned_in_a_silence_are_credited_later),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
