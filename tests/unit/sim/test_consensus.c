/* The distance between replicas, relative to the length of their mean. */
#include "strategies/consensus.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void equal_replicas_have_distance_zero(void **state)
{
    (void)state;
    const float weights[] = {0.1f, -3, 7};
    struct consensus *consensus = consensus_new(3);
    for (int i = 0; i < 3; i++)
        consensus_add(consensus, weights);
    assert_true(consensus_distance(consensus) < 1e-7);
}

/* The mean is (3, 4), of length 5. Each replica is at distance 1 from it. */
static void the_distance_is_the_rms_deviation_over_the_length_of_the_mean(void **state)
{
    (void)state;
    const float a[] = {3, 5}, b[] = {3, 3};
    struct consensus *consensus = consensus_new(2);
    consensus_add(consensus, a);
    consensus_add(consensus, b);
    assert_true(fabs(consensus_distance(consensus) - 0.2) < 1e-9);
}

static void the_distance_of_no_replicas_is_nan(void **state)
{
    (void)state;
    assert_true(isnan(consensus_distance(consensus_new(4))));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_replicas_have_distance_zero),
        cmocka_unit_test(the_distance_is_the_rms_deviation_over_the_length_of_the_mean),
        cmocka_unit_test(the_distance_of_no_replicas_is_nan),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
