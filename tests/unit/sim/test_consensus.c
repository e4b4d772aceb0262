/* How far replicas are apart, in parts of their mean. */
#include "strategies/consensus.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void equal_replicas_are_not_apart(void **state)
{
    (void)state;
    const float weights[] = {0.1f, -3, 7};
    struct consensus *consensus = consensus_new(3);
    for (int i = 0; i < 3; i++)
        consensus_add(consensus, weights);
    assert_true(consensus_distance(consensus) < 1e-7);
}

/* The mean is (3, 4), 5 long; one is 1 away, the other too. */
static void it_is_the_root_of_the_mean_square_over_the_length_of_the_mean(void **state)
{
    (void)state;
    const float a[] = {3, 5}, b[] = {3, 3};
    struct consensus *consensus = consensus_new(2);
    consensus_add(consensus, a);
    consensus_add(consensus, b);
    assert_true(fabs(consensus_distance(consensus) - 0.2) < 1e-9);
}

static void of_nothing_it_is_not_known(void **state)
{
    (void)state;
    assert_true(isnan(consensus_distance(consensus_new(4))));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_replicas_are_not_apart),
        cmocka_unit_test(it_is_the_root_of_the_mean_square_over_the_length_of_the_mean),
        cmocka_unit_test(of_nothing_it_is_not_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
