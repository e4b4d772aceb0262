/* Agreement: the cosine between another node's update and this replica's residual. Compared with a
 * computation by hand, and tested at its extremes. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "exchange/replica.h"
#include "support/model/each_device.h"

#define P 700

static struct arena arena;
static struct replica replica;
static float w[P];
static int32_t base[P];
static uint32_t index_of[P];
static int8_t level_of[P];
static struct update update = {.tau = 0.01f, .amount = 1000, .index = index_of, .level = level_of};

/* Makes a replica with progress, and an update of every third entry. */
static int begin(void **state)
{
    (void)state;
    float init[P] = {0};
    arena_init(&arena, (size_t)64 << 20);
    struct rng rng = rng_new(1, 1);
    replica_init(&replica, &arena, backend, P, init, P);
    replica_read_weights(&replica, w);
    replica_read_units(&replica, base);
    for (int c = 0; c < P; c++)
        w[c] += (float)(0.02 * rng_uniform(&rng) - 0.01);
    update.count = 0;
    for (uint32_t c = 0; c < P; c += 3) {
        index_of[update.count] = c;
        level_of[update.count++] = (int8_t)(rng_below(&rng, 2) ? 3 : -5);
    }
    return 0;
}

static int end(void **state)
{
    (void)state;
    replica_free(&replica);
    arena_release(&arena);
    return 0;
}

static void it_is_the_cosine_over_the_entries_of_the_update(void **state)
{
    (void)state;
    double along = 0, ours = 0, theirs = 0;
    replica_write_weights(&replica, w);
    for (uint32_t i = 0; i < update.count; i++) {
        const uint32_t c = index_of[i];
        const double r = (double)(w[c] - QUANTUM * (float)base[c]), level = level_of[i];
        along += level * r;
        ours += r * r;
        theirs += level * level;
    }
    const double agreement = replica_agreement(&replica, &update);
    assert_true(fabs(agreement - along / sqrt(ours * theirs)) < 1e-6);
    assert_true(fabs(agreement) < 0.3);
}

static void agreement_is_zero_without_a_residual(void **state)
{
    (void)state;
    assert_true(replica_agreement(&replica, &update) == 0);
}

static void along_the_residual_it_is_one_and_against_it_minus_one(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < update.count; i++)
        w[index_of[i]] = QUANTUM * (float)base[index_of[i]] + 0.001f * (float)level_of[i];
    replica_write_weights(&replica, w);
    assert_true(replica_agreement(&replica, &update) > 0.9999);
    for (uint32_t i = 0; i < update.count; i++)
        level_of[i] = (int8_t)-level_of[i];
    assert_true(replica_agreement(&replica, &update) < -0.9999);
}

static void with_weights_that_are_no_numbers_it_says_nothing(void **state)
{
    (void)state;
    w[index_of[5]] = NAN;
    replica_write_weights(&replica, w);
    assert_true(replica_agreement(&replica, &update) == 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(it_is_the_cosine_over_the_entries_of_the_update),
        TEST(agreement_is_zero_without_a_residual),
        TEST(along_the_residual_it_is_one_and_against_it_minus_one),
        TEST(with_weights_that_are_no_numbers_it_says_nothing),
    };
    RUN_ON_EACH_DEVICE(tests, device_opens, device_closes);
}
