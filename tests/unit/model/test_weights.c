/* Weights in several parts go through the exchange like weights in one vector, bit for bit. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "exchange/replica.h"
#include "support/model/each_device.h"

#define P     5000
#define PARTS 7

/* Offsets of the parts. Some have a single entry, and some are longer than a block of the survey.
 */
static const size_t firsts[PARTS + 1] = {0, 1, 4, 1027, 1028, 3500, 4999, P};
static struct arena arenas[2];
static struct replica replicas[2]; /* [0] weights in one vector, [1] in parts */
static struct weights_part parts[PARTS];
static float start[P];
static struct rng rng;

static struct weights in_parts(void)
{
    for (int i = 0; i < PARTS; i++) {
        const size_t count = firsts[i + 1] - firsts[i];
        parts[i] = (struct weights_part){.at = backend->alloc(backend, count * sizeof *parts[i].at),
                                         .first = firsts[i],
                                         .count = count};
    }
    return (struct weights){.part = parts, .parts = PARTS};
}

static int make(void **state)
{
    (void)state;
    rng = rng_new(1, 2);
    backend = open_device();
    for (size_t c = 0; c < P; c++)
        start[c] = (float)(rng_uniform(&rng) - 0.5);
    for (int i = 0; i < 2; i++) {
        arena_init(&arenas[i], (size_t)1 << 20);
        replica_init(&replicas[i], &arenas[i], backend, P, start, P / 4);
        replica_allow_withholding(&replicas[i]);
    }
    replica_place_weights(&replicas[1], in_parts());
    return 0;
}

static int end(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        replica_free(&replicas[i]);
        arena_release(&arenas[i]);
    }
    for (int i = 0; i < PARTS; i++)
        backend->free(backend, parts[i].at);
    backend->close(backend);
    return 0;
}

static void both_are_equal(void)
{
    float weights[2][P];
    int32_t units[2][P];
    for (int i = 0; i < 2; i++) {
        replica_read_weights(&replicas[i], weights[i]);
        replica_read_units(&replicas[i], units[i]);
    }
    assert_memory_equal(weights[0], weights[1], sizeof weights[0]);
    assert_memory_equal(units[0], units[1], sizeof units[0]);
}

static float part_weight(int part, size_t i)
{
    float weight;
    backend->download(backend, &weight, parts[part].at + i, sizeof weight);
    return weight;
}

static float flat_weight(size_t entry)
{
    float weight;
    backend->download(backend, &weight, weights_all(replicas[0].weights) + entry, sizeof weight);
    return weight;
}

/* Trains both replicas equally. */
static void train(void)
{
    float weights[P];
    replica_read_weights(&replicas[0], weights);
    for (size_t c = 0; c < P; c++)
        weights[c] += (float)(0.02 * (rng_uniform(&rng) - 0.5));
    replica_write_weights(&replicas[0], weights);
    for (int i = 0; i < PARTS; i++)
        backend->upload(backend, parts[i].at, weights + parts[i].first,
                        parts[i].count * sizeof *weights);
}

static const struct update *publish(const struct publish_terms *terms)
{
    const struct update *one = replica_publish(&replicas[0], terms),
                        *other = replica_publish(&replicas[1], terms);
    assert_true(one->count == other->count && one->tau == other->tau);
    assert_true(one->amount == other->amount);
    assert_memory_equal(one->index, other->index, one->count * sizeof *one->index);
    assert_memory_equal(one->level, other->level, one->count);
    both_are_equal();
    return one;
}

static void placing_weights_keeps_their_values(void **state)
{
    (void)state;
    assert_null(replicas[1].own);
    both_are_equal();
    assert_true(fabsf(part_weight(3, 0) - start[1027]) <= QUANTUM);
}

static void publications_are_equal(void **state)
{
    const struct publish_terms rough = {
        .budget_bytes = 400, .share = 0.5, .gain = 1.5, .beta = 0.3, .withheld = 0.5};
    const struct publish_terms all = {.budget_bytes = 1u << 20, .share = 0.5, .gain = 1};
    uint32_t published = 0;
    (void)state;
    for (int i = 0; i < 20; i++) {
        train();
        published += publish(i % 5 == 4 ? &all : &rough)->count;
    }
    assert_true(published > P / 4);
}

static void foreign_updates_are_applied_equally(void **state)
{
    uint32_t index[] = {0, 1, 3, 4, 1026, 1027, 1028, 2000, 4998, 4999};
    int8_t level[] = {1, -1, 2, 1, -3, 1, 1, -1, 4, -2};
    const struct update update = {
        .tau = 0.01f, .amount = 9000, .count = 10, .index = index, .level = level};
    (void)state;
    train();
    assert_true(replica_agreement(&replicas[0], &update) ==
                replica_agreement(&replicas[1], &update));
    for (int i = 0; i < 2; i++)
        replica_apply(&replicas[i], &update, 0.3f);
    both_are_equal();
    assert_true(part_weight(6, 0) == flat_weight(4999));
    for (int i = 0; i < 2; i++)
        replica_apply_own(&replicas[i], &update, 0.3f);
    both_are_equal();
}

static void blocks_cross_parts(void **state)
{
    int32_t units[1500];
    (void)state;
    train();
    for (int keep = 0; keep < 2; keep++) {
        for (size_t c = 0; c < 1500; c++)
            units[c] = (int32_t)(rng_next(&rng) >> 42);
        for (int i = 0; i < 2; i++)
            replica_write_block(&replicas[i], 1000, 1500, units, keep == 1);
        both_are_equal();
    }
}

static void a_state_is_saved_and_restored_from_parts(void **state)
{
    static float saved[P];
    static int32_t base[P];
    struct learner_state of = {.first = 3, .parameters = 2000, .base = base, .weights = saved};
    (void)state;
    replica_save(&replicas[1], &of);
    float flat[P];
    replica_read_weights(&replicas[0], flat);
    assert_memory_equal(saved, flat + 3, 2000 * sizeof *saved);
    train();
    for (int i = 0; i < 2; i++)
        replica_restore(&replicas[i], &of);
    both_are_equal();
    assert_true(part_weight(1, 2) == saved[0]);
}

static void nan_weights_are_reset_to_the_base(void **state)
{
    (void)state;
    const float nan = NAN;
    backend->upload(backend, weights_all(replicas[0].weights) + 3499, &nan, sizeof nan);
    backend->upload(backend, parts[4].at + (3499 - 1028), &nan, sizeof nan);
    const struct publish_terms terms = {.budget_bytes = 400, .share = 0.5, .gain = 1};
    for (int i = 0; i < 2; i++) {
        assert_int_equal(replica_publish(&replicas[i], &terms)->count, 0);
        assert_int_equal(replicas[i].lost, 1);
        assert_int_equal(replica_reset_to_base(&replicas[i]), 3499);
    }
    both_are_equal();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(placing_weights_keeps_their_values),
        cmocka_unit_test(publications_are_equal),
        cmocka_unit_test(foreign_updates_are_applied_equally),
        cmocka_unit_test(blocks_cross_parts),
        cmocka_unit_test(a_state_is_saved_and_restored_from_parts),
        cmocka_unit_test(nan_weights_are_reset_to_the_base),
    };
    RUN_ON_EACH_DEVICE(tests, make, end);
}
