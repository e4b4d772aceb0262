/* The part of cmocka that tests/unit/model/test_survey_simd.c needs, for machines without cmocka.
 * The first failing check ends the program. */
#ifndef HEARSAY_STAND_IN_CMOCKA_H
#define HEARSAY_STAND_IN_CMOCKA_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct CMUnitTest {
    const char *name;
    void (*test)(void **state);
};

#define cmocka_unit_test(test)                                                                     \
    {                                                                                              \
#test, test                                                                                \
    }

#define cmocka_run_group_tests(tests, setup, teardown)                                             \
    stand_in_run(tests, sizeof(tests) / sizeof *(tests))

#define print_message(...) printf(__VA_ARGS__)

#define fail_msg(...)                                                                              \
    do {                                                                                           \
        printf("%s:%d: ", __FILE__, __LINE__);                                                     \
        printf(__VA_ARGS__);                                                                       \
        printf("\n");                                                                              \
        exit(1);                                                                                   \
    } while (0)

#define assert_true(condition)                                                                     \
    do {                                                                                           \
        if (!(condition))                                                                          \
            fail_msg("not (%s)", #condition);                                                      \
    } while (0)

#define assert_int_equal(a, b)           assert_true((a) == (b))
#define assert_memory_equal(a, b, bytes) assert_true(memcmp(a, b, bytes) == 0)

static inline int stand_in_run(const struct CMUnitTest *tests, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        void *state = NULL;
        tests[i].test(&state);
        printf("passed: %s\n", tests[i].name);
    }
    return 0;
}

#endif
