/* Weights beyond the largest value that can be published, and sums at the ends of their range. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "backend/error_feedback.h"
#include "base/digest.h"
#include "base/rng.h"
#include "exchange/replica.h"
#include "support/model/each_device.h"

#define P    300
#define SOME 40  /* updates in a random order */
#define ENDS 200 /* publications after which no entry may be left to publish */

static struct arena arena;
static float init[P], w[P], shared[P];
static int32_t base[P], other_base[P];

static const struct publish_terms TERMS = {.budget_bytes = 100000, .share = 0.5, .gain = 1};
static const struct publish_terms HOLDS = {
    .budget_bytes = 100000, .share = 0.5, .gain = 1, .withheld = 0.5};

static int begin(void **state)
{
    (void)state;
    arena_init(&arena, (size_t)64 << 20);
    struct rng rng = rng_new(1, 1);
    for (int c = 0; c < P; c++)
        init[c] = (float)(0.2 * rng_uniform(&rng) - 0.1);
    return 0;
}

static int end(void **state)
{
    (void)state;
    arena_release(&arena);
    return 0;
}

static struct replica replica_new(bool companded)
{
    struct replica replica;
    replica_init(&replica, &arena, backend, P, NULL, P);
    if (companded)
        replica_compand(&replica);
    replica_begin_part(&replica, 0, P, init);
    replica_allow_withholding(&replica);
    return replica;
}

static void set(struct replica *replica, uint32_t c, float weight)
{
    replica_release(replica);
    replica_read_weights(replica, w);
    w[c] = weight;
    replica_write_weights(replica, w);
}

/* Publishes until a publication is empty. Returns the number of publications. */
static uint32_t publish_all(struct replica *replica, const struct publish_terms *terms)
{
    for (uint32_t i = 0; i < ENDS; i++)
        if (replica_publish(replica, terms)->count == 0)
            return i;
    fail_msg("it publishes without end");
    return ENDS;
}

/* Publishes 300, which is beyond the range of a base that is not companded. */
static void publish_beyond(const struct publish_terms *terms)
{
    struct replica replica = replica_new(false);
    set(&replica, 5, 300);
    set(&replica, 6, -300);
    assert_true(publish_all(&replica, terms) >= 8);
    assert_int_equal(replica.saturated, 2);
    assert_int_equal(replica_first_saturated(&replica), 5);
    replica_read_base(&replica, shared);
    assert_true(shared[5] >= 64 && shared[5] <= 65 && shared[6] <= -64 && shared[6] >= -65);
    set(&replica, 7, 0.5f);
    assert_true(publish_all(&replica, terms) >= 1); /* other entries are still published */
    replica_read_base(&replica, shared);
    assert_true(shared[7] > 0.2f && shared[5] <= 65);
    set(&replica, 5, 1); /* the saturated weight returns to the range */
    assert_true(publish_all(&replica, terms) >= 1);
    assert_int_equal(replica.saturated, 1);
    assert_int_equal(replica_first_saturated(&replica), 6);
    replica_free(&replica);
}

static void a_weight_beyond_the_range_stays_at_its_end_and_is_not_published_again(void **state)
{
    (void)state;
    publish_beyond(&TERMS);
    publish_beyond(&HOLDS);
}

static void no_entry_is_saturated_where_weights_are_usual(void **state)
{
    (void)state;
    struct replica replica = replica_new(false);
    set(&replica, 5, 50);
    (void)publish_all(&replica, &TERMS);
    assert_int_equal(replica.saturated, 0);
    assert_int_equal(replica_first_saturated(&replica), P);
    replica_free(&replica);
}

/* Large weights occur as running means, as variances, and as biases of a regression. */
static void a_companded_base_takes_any_weight_to_its_unit(void **state)
{
    (void)state;
    static const float large[] = {60, 300, -4095, 1e6f, -4e9f, 1e18f};
    const struct publish_terms alone = {.budget_bytes = 100000, .share = 1, .gain = 1};
    struct replica replica = replica_new(true);
    for (uint32_t i = 0; i < 6; i++)
        set(&replica, 20 * i, large[i]);
    assert_in_range(publish_all(&replica, &alone), 5, ENDS - 1);
    assert_int_equal(replica.saturated, 0);
    replica_read_base(&replica, shared);
    replica_read_weights(&replica, w);
    for (uint32_t i = 0; i < 6; i++) {
        assert_true(fabsf(shared[20 * i] / large[i] - 1) < 1e-5f);
        assert_true(fabsf(w[20 * i] / large[i] - 1) < 1e-5f);
    }
    for (uint32_t c = 1; c < P; c += 20)
        assert_true(fabsf(shared[c] - init[c]) <= 2 * QUANTUM);
    replica_free(&replica);
}

/* Draws an update whose levels have the largest valid size. */
static struct update draw_update(struct rng *rng)
{
    struct update update = {.tau = 1, .amount = 1u << rng_below(rng, 25)};
    update.index = arena_alloc(&arena, P, sizeof *update.index);
    update.level = arena_alloc(&arena, P, sizeof *update.level);
    const int most = update_level_max(update.amount);
    for (uint32_t c = rng_below(rng, 3); c < P; c += 1 + rng_below(rng, 4)) {
        update.index[update.count] = c;
        update.level[update.count++] = (int8_t)(c % 2 ? most : -most);
    }
    return update;
}

static void shuffle(uint32_t order[static SOME], struct rng *rng)
{
    for (uint32_t i = 0; i < SOME; i++)
        order[i] = i;
    for (uint32_t i = SOME - 1; i > 0; i--) {
        const uint32_t j = rng_below(rng, i + 1), kept = order[i];
        order[i] = order[j];
        order[j] = kept;
    }
}

/* Base entries that leave the range of int32_t wrap around, to the same number on all nodes. */
static void sums_at_the_ends_are_the_same_in_any_order(void **state)
{
    (void)state;
    struct update updates[SOME];
    uint32_t order[SOME];
    struct rng rng = rng_new(9, 9);
    for (uint32_t i = 0; i < SOME; i++)
        updates[i] = draw_update(&rng);
    for (uint32_t turn = 0; turn < 6; turn++) {
        struct replica replica = replica_new(turn % 2);
        int32_t near[P];
        for (uint32_t c = 0; c < P; c++)
            near[c] = (c % 2 ? 1 : -1) * (INT32_MAX - (int32_t)(c << 20));
        replica_write_block(&replica, 0, P, near, true);
        uint64_t digest = replica_digest(&replica);
        shuffle(order, &rng);
        for (uint32_t i = 0; i < SOME; i++) {
            const struct update *update = &updates[order[i]];
            replica_apply(&replica, update, turn < 3 ? 0 : 0.5f);
            digest = digest_add(digest, digest_of_update(update));
            if (turn > 3) /* computing an agreement changes neither base nor digest */
                (void)replica_agreement(&replica, update);
        }
        replica_read_units(&replica, base);
        assert_int_equal(replica_digest(&replica), digest);
        if (turn > 0)
            assert_memory_equal(base, other_base, sizeof base);
        memcpy(other_base, base, sizeof base);
        replica_free(&replica);
    }
}

/* All nodes publish an equal large weight at once. They receive each other's updates only
 * afterwards. */
static void nodes_that_have_not_heard_of_each_other_do_not_wrap_together(void **state)
{
    (void)state;
    enum { NODES = 16 };
    struct replica replicas[NODES];
    for (int i = 0; i < NODES; i++) {
        replicas[i] = replica_new(false);
        set(&replicas[i], 5, 300);
    }
    for (int round = 0; round < ENDS; round++) {
        struct update said[NODES];
        for (int i = 0; i < NODES; i++) {
            const struct publish_terms terms = {
                .budget_bytes = 100000, .share = 1.0 / NODES, .gain = 2};
            const struct update *update = replica_publish(&replicas[i], &terms);
            said[i] = *update;
        }
        for (int i = 0; i < NODES; i++)
            for (int j = 0; j < NODES; j++)
                if (i != j && said[j].count > 0)
                    replica_apply(&replicas[i], &said[j], 0);
        replica_read_units(&replicas[0], base);
        for (int i = 1; i < NODES; i++) {
            replica_read_units(&replicas[i], other_base);
            assert_memory_equal(base, other_base, sizeof base);
        }
        assert_true(base[5] >= 0);
    }
    assert_true(base[5] >= PUBLISHED_MAX);
    for (int i = 0; i < NODES; i++)
        replica_free(&replicas[i]);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_weight_beyond_the_range_stays_at_its_end_and_is_not_published_again),
        TEST(no_entry_is_saturated_where_weights_are_usual),
        TEST(a_companded_base_takes_any_weight_to_its_unit),
        TEST(sums_at_the_ends_are_the_same_in_any_order),
        TEST(nodes_that_have_not_heard_of_each_other_do_not_wrap_together),
    };
    RUN_ON_EACH_DEVICE(tests, device_opens, device_closes);
}
