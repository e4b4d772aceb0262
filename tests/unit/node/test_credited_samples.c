/* Credited samples: how many of the samples that members report a node credits, and where its own
 * count begins. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "node/broadcast/credited_samples.h"

#define MANY 1e12 /* more samples than a member can have learned */

static void alone_a_node_believes_itself(void **state)
{
    (void)state;
    struct reported_samples reported[] = {{.samples = 500}};
    assert_true(credited_samples_sum(reported, 1, 1) == 500);
}

static void reports_up_to_the_others_sum_count_in_full(void **state)
{
    (void)state;
    struct reported_samples reported[] = {
        {.samples = 100}, {.samples = 100}, {.samples = 400}, {.samples = 200}};
    assert_true(credited_samples_sum(reported, 4, 4) == 800);
}

static void claims_beyond_those_of_all_others_double_the_count(void **state)
{
    (void)state;
    struct reported_samples reported[] = {
        {.samples = 100}, {.samples = 100}, {.samples = MANY}, {.samples = 100}};
    assert_true(credited_samples_sum(reported, 4, 4) == 600);
}

static void supported_samples_count_beyond_that(void **state)
{
    (void)state;
    struct reported_samples reported[] = {
        {.samples = 100}, {.samples = 100}, {.samples = 9000, .borne_out = 7000}};
    assert_true(credited_samples_sum(reported, 3, 3) == 7200);
    struct reported_samples more[] = {
        {.samples = 100}, {.samples = 100}, {.samples = 9000, .borne_out = 10000}};
    assert_true(credited_samples_sum(more, 3, 3) == 9200);
}

/* The node's own samples are certain: other members are really slower. */
static void our_own_claim_is_not_doubted(void **state)
{
    (void)state;
    struct reported_samples reported[] = {{.samples = 1e6}, {.samples = 1}, {.samples = 2}};
    assert_true(credited_samples_sum(reported, 3, 3) == 1e6 + 3);
}

static void a_quarter_that_lies_together_doubles_the_count_at_most(void **state)
{
    (void)state;
    struct reported_samples reported[12];
    for (uint32_t i = 0; i < 12; i++)
        reported[i] = (struct reported_samples){.samples = i >= 9 ? MANY * i : 100};
    assert_true(credited_samples_sum(reported, 12, 12) == 1800);
    for (uint32_t i = 0; i < 12; i++)
        reported[i] = (struct reported_samples){.samples = i == 9 ? MANY : 100};
    assert_true(credited_samples_sum(reported, 12, 12) < 1800);
}

/* A dead member claims far more samples than all living members. */
static void the_dead_are_doubted_like_the_living(void **state)
{
    (void)state;
    struct reported_samples reported[] = {{.samples = 100}, {.samples = MANY}, {.samples = 50}};
    assert_true(credited_samples_sum(reported, 3, 1) == 300);
}

static void a_joiner_starts_at_the_sum_if_others_agree(void **state)
{
    (void)state;
    uint64_t said[] = {990, 900, 1000};
    assert_true(credited_samples_begin(1000, 20, said, 3) == 1000);
    /* No other member reports a total. */
    assert_true(credited_samples_begin(1000, 20, NULL, 0) == 1000);
    uint64_t one[] = {950}; /* one other member, whose count of 950 is close to all 1000 samples */
    assert_true(credited_samples_begin(1000, 0, one, 1) == 1000);
}

static void a_joiner_starts_at_the_median_whatever_is_reported(void **state)
{
    (void)state;
    uint64_t said[] = {1000, (uint64_t)MANY, 1010, 990};
    assert_true(credited_samples_begin(MANY, 20, said, 4) == 1000);
    uint64_t two[] = {(uint64_t)MANY, 1000};
    assert_true(credited_samples_begin(MANY, 20, two, 2) == 1000);
    uint64_t low[] = {0, 1000, 1010};
    /* Low reports of other members do not reduce the count. */
    assert_true(credited_samples_begin(MANY, 20, low, 3) == 1000);
    uint64_t none[] = {0, 0};
    /* All other members have just begun. */
    assert_true(credited_samples_begin(MANY, 20, none, 2) == 20);
}

static void a_node_far_behind_continues_at_the_median(void **state)
{
    (void)state;
    uint64_t said[] = {2000, 2010, (uint64_t)MANY};
    assert_true(credited_samples_continue(5000, 1000, said, 3) == 2010);
    assert_true(credited_samples_continue(5000, 1900, said, 3) ==
                1900); /* not far behind the median: rumors may be late */
    assert_true(credited_samples_continue(5000, 3000, said, 3) == 3000);
    assert_true(credited_samples_continue(5000, 1000, said, 0) == 1000);
}

/* After a partition, the other side's totals arrive before its rumors do. */
static void nobody_goes_on_from_what_was_not_claimed_yet(void **state)
{
    (void)state;
    uint64_t said[] = {2000, 2000, 2000};
    assert_true(credited_samples_continue(1000, 1000, said, 3) == 1000);
    assert_true(credited_samples_continue(1500, 1000, said, 3) == 1500);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(alone_a_node_believes_itself),
        cmocka_unit_test(reports_up_to_the_others_sum_count_in_full),
        cmocka_unit_test(claims_beyond_those_of_all_others_double_the_count),
        cmocka_unit_test(supported_samples_count_beyond_that),
        cmocka_unit_test(our_own_claim_is_not_doubted),
        cmocka_unit_test(a_quarter_that_lies_together_doubles_the_count_at_most),
        cmocka_unit_test(the_dead_are_doubted_like_the_living),
        cmocka_unit_test(a_joiner_starts_at_the_sum_if_others_agree),
        cmocka_unit_test(a_joiner_starts_at_the_median_whatever_is_reported),
        cmocka_unit_test(a_node_far_behind_continues_at_the_median),
        cmocka_unit_test(nobody_goes_on_from_what_was_not_claimed_yet),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
