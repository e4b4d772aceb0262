/* Snapshots in parts of learners that continue. The state restored from the records is the
 * learner's state when the last part was copied. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"
#include "base/rng.h"
#include "exchange/replica.h"
#include "support/model/each_device.h"
#include "training/random_walk_learner.h"
#include "training/snapshot.h"

#define P       700
#define PART    128
#define LARGE   150000
#define ENTRIES 2000

static struct arena arena;
static struct snapshot_queue queue;
static float init[LARGE], w[P], w_other[P];
static int32_t base[P], base_other[P];

static const struct publish_terms TERMS = {
    .budget_bytes = 400, .share = 0.25, .gain = 1, .beta = 0.3};
static const struct publish_terms STILL = {
    .budget_bytes = 400, .share = 0.25, .gain = 1, .beta = 0};

static int begin(void **state)
{
    (void)state;
    arena_init(&arena, (size_t)128 << 20);
    struct rng rng = rng_new(1, 1);
    for (int c = 0; c < LARGE; c++)
        init[c] = (float)(0.2 * rng_uniform(&rng) - 0.1);
    snapshot_queue_init(&queue, &arena, P, PART, 0, ENTRIES);
    return 0;
}

static int end(void **state)
{
    (void)state;
    arena_release(&arena);
    return 0;
}

static struct replica replica_new(void)
{
    struct replica replica;
    replica_init(&replica, &arena, backend, P, init, P);
    return replica;
}

static void save(void *learner, struct learner_state *part)
{
    replica_save(learner, part);
}

/* Replays the queue into the replica `to`. Returns the number of records. */
static uint32_t replay(struct replica *to)
{
    uint32_t records = 0;
    for (const struct snapshot_record *record; (record = snapshot_next(&queue)); records++) {
        if (record->kind == SNAPSHOT_PART)
            replica_restore(to, &record->part);
        else
            snapshot_replay(record, to);
        snapshot_done(&queue);
    }
    return records;
}

/* Stands for training: moves every weight a little, and some weights more. */
static void learn_something(struct replica *replica, struct rng *rng)
{
    replica_read_weights(replica, w);
    for (int c = 0; c < P; c++) {
        const double x = 2 * rng_uniform(rng) - 1;
        w[c] += (float)(0.01 * x * x * x);
    }
    replica_write_weights(replica, w);
}

/* Publishes an update and records it in the queue, as the executor does. */
static void publish(struct replica *replica, const struct publish_terms *terms)
{
    const struct update *update = replica_publish(replica, terms);
    snapshot_note_update(&queue, SNAPSHOT_OWN, update, (float)terms->beta);
}

static void apply(struct replica *replica, struct replica *from, bool is_own, float beta)
{
    const struct update *update = replica_publish(from, &STILL);
    assert_true(update->count > 10);
    (is_own ? replica_apply_own : replica_apply)(replica, update, beta);
    snapshot_note_update(&queue, is_own ? SNAPSHOT_OWN : SNAPSHOT_APPLIED, update, beta);
}

/* Makes one of the changes that may happen between two parts. */
static void do_something(struct replica *replica, struct replica *other, struct rng *rng)
{
    learn_something(other, rng);
    const uint32_t what = rng_below(rng, 4);
    if (what < 2)
        apply(replica, other, what == 1, 0.2f * (float)rng_below(rng, 3));
    else
        publish(replica, what == 2 ? &TERMS : &STILL);
}

static void must_be_at_the_same_base(const struct replica *one, const struct replica *other)
{
    replica_read_units(one, base);
    replica_read_units(other, base_other);
    assert_memory_equal(base, base_other, sizeof base);
    assert_true(replica_digest(one) == replica_digest(other));
}

/* Copies all parts; the replica changes between two parts. trains: it also trains between them. */
static void take_to_the_end(struct replica *replica, struct replica *other,
                            struct replica *restored, struct rng *rng, bool trains)
{
    for (size_t first = 0; first < P; (void)replay(restored)) {
        for (uint32_t i = rng_below(rng, 4); first > 0 && i > 0; i--) {
            do_something(replica, other, rng);
            if (trains)
                learn_something(replica, rng);
        }
        first += snapshot_take(&queue, first, save, replica);
    }
}

static void a_learner_that_stands_still_is_restored_bit_for_bit(void **state)
{
    (void)state;
    struct replica one = replica_new(), other = replica_new(), again = replica_new();
    struct rng rng = rng_new(3, 3);
    for (int round = 0; round < 50; round++) {
        learn_something(&one, &rng);
        take_to_the_end(&one, &other, &again, &rng, false);
        must_be_at_the_same_base(&one, &again);
        replica_read_weights(&one, w);
        replica_read_weights(&again, w_other);
        assert_memory_equal(w, w_other, sizeof w);
    }
    replica_free(&one);
    replica_free(&other);
    replica_free(&again);
}

static void a_snapshot_records_only_changes_between_its_parts(void **state)
{
    (void)state;
    struct replica one = replica_new(), other = replica_new(), again = replica_new();
    struct rng rng = rng_new(7, 7);
    for (int i = 0; i < 10; i++)
        do_something(&one, &other, &rng);
    assert_null(snapshot_next(&queue));
    take_to_the_end(&one, &other, &again, &rng, true);
    for (int i = 0; i < 10; i++)
        do_something(&one, &other, &rng);
    assert_null(snapshot_next(&queue));
    replica_free(&one);
    replica_free(&other);
    replica_free(&again);
}

static void a_learner_that_trains_is_restored_with_its_base(void **state)
{
    (void)state;
    struct replica one = replica_new(), other = replica_new(), again = replica_new();
    struct rng rng = rng_new(4, 4);
    for (int round = 0; round < 50; round++) {
        take_to_the_end(&one, &other, &again, &rng, true);
        must_be_at_the_same_base(&one, &again);
    }
    replica_free(&one);
    replica_free(&other);
    replica_free(&again);
}

static void random_walk_take(void *learner, struct learner_state *part)
{
    random_walk_save(learner, part);
}

/* The residual is neither lost nor counted twice: produced = published + residual. */
static void a_replayed_random_walk_counts_every_update(void **state)
{
    (void)state;
    struct random_walk *one = random_walk_new(&arena, backend, P, 1, P / 4, true);
    struct random_walk *again = random_walk_new(&arena, backend, P, 2, P / 4, true);
    struct rng rng = rng_new(5, 5);
    double bound;
    for (int round = 0; round < 20; round++) {
        for (size_t first = 0; first < P;) {
            for (uint32_t i = rng_below(&rng, 20); i > 0; i--)
                random_walk_step(one);
            const struct update *update = random_walk_publish(one, &TERMS);
            snapshot_note_update(&queue, SNAPSHOT_OWN, update, (float)TERMS.beta);
            first += snapshot_take(&queue, first, random_walk_take, one);
            for (const struct snapshot_record *record; (record = snapshot_next(&queue));) {
                random_walk_replay(again, record);
                snapshot_done(&queue);
            }
        }
        assert_true(random_walk_digest(one) == random_walk_digest(again));
        assert_true(random_walk_account_error(again, &bound) <= bound);
    }
    random_walk_free(one);
    random_walk_free(again);
}

static void without_room_for_an_update_a_snapshot_is_broken_off_and_the_next_is_whole(void **state)
{
    (void)state;
    struct replica one = replica_new(), other = replica_new(), again = replica_new();
    struct rng rng = rng_new(6, 6);
    const size_t first = snapshot_take(&queue, 0, save, &one);
    assert_int_equal(first, PART);
    assert_false(snapshot_has_room(&queue));
    uint32_t entry = 0;
    int8_t one_level = 1;
    const struct update tiny = {
        .tau = 1, .amount = 1, .count = 1, .index = &entry, .level = &one_level};
    for (int i = 0; i < 100000 && !queue.is_broken; i++)
        snapshot_note_update(&queue, SNAPSHOT_APPLIED, &tiny, 0.5f);
    assert_true(queue.is_broken);
    assert_non_null(snapshot_next(&queue));
    snapshot_done(&queue); /* removes the part; the later records are not replayed */
    assert_true(snapshot_has_room(&queue));
    do_something(&one, &other, &rng);
    assert_int_equal(snapshot_take(&queue, first, save, &one), 0);
    (void)replay(&again);
    take_to_the_end(&one, &other, &again, &rng, true);
    must_be_at_the_same_base(&one, &again);
    assert_int_equal(snapshot_take(&queue, 0, save, &one), PART);
    snapshot_break(&queue); /* as when another base is taken over */
    (void)replay(&again);
    assert_int_equal(snapshot_take(&queue, PART, save, &one), 0);
    replica_free(&one);
    replica_free(&other);
    replica_free(&again);
}

static void a_large_update_takes_several_records(void **state)
{
    (void)state;
    struct snapshot_queue large;
    struct replica one, again;
    replica_init(&one, &arena, backend, LARGE, init, LARGE);
    replica_init(&again, &arena, backend, LARGE, init, LARGE);
    snapshot_queue_init(&large, &arena, LARGE, LARGE - 10, 0, LARGE);
    float *weights = arena_alloc(&arena, LARGE, sizeof *weights);
    replica_read_weights(&one, weights);
    for (size_t c = 0; c < LARGE; c++)
        weights[c] += 0.01f;
    replica_write_weights(&one, weights);
    assert_int_equal(snapshot_take(&large, 0, save, &one), LARGE - 10);
    const struct publish_terms all = {.budget_bytes = UINT32_MAX, .share = 1, .gain = 1};
    const struct update *update = replica_publish(&one, &all);
    assert_int_equal(update->count, LARGE);
    snapshot_note_update(&large, SNAPSHOT_OWN, update, 0);
    replica_restore(&again, &snapshot_next(&large)->part);
    snapshot_done(&large);
    uint32_t records = 0, entries = 0;
    for (const struct snapshot_record *record; (record = snapshot_next(&large)); records++) {
        entries += record->update.count;
        snapshot_replay(record, &again);
        snapshot_done(&large);
    }
    assert_int_equal(entries, LARGE - 10);
    assert_int_equal(records, (entries + SNAPSHOT_ENTRIES_MAX - 1) / SNAPSHOT_ENTRIES_MAX);
    assert_int_equal(snapshot_take(&large, LARGE - 10, save, &one), 10);
    replica_restore(&again, &snapshot_next(&large)->part);
    assert_true(replica_digest(&one) == replica_digest(&again));
    replica_free(&one);
    replica_free(&again);
}

static void parts_are_some_hundred_and_neither_tiny_nor_huge(void **state)
{
    (void)state;
    assert_int_equal(snapshot_part_parameters(1, 0), 1);
    assert_int_equal(snapshot_part_parameters(10000, 2), 10000);
    assert_int_equal(snapshot_part_parameters(20000000, 1), 20000000 / 128);
    assert_int_equal(snapshot_part_parameters(1000000000, 2), ((size_t)16 << 20) / 16);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_snapshot_records_only_changes_between_its_parts),
        TEST(a_learner_that_stands_still_is_restored_bit_for_bit),
        TEST(a_learner_that_trains_is_restored_with_its_base),
        TEST(a_replayed_random_walk_counts_every_update),
        TEST(without_room_for_an_update_a_snapshot_is_broken_off_and_the_next_is_whole),
        TEST(a_large_update_takes_several_records),
        TEST(parts_are_some_hundred_and_neither_tiny_nor_huge),
    };
    RUN_ON_EACH_DEVICE(tests, device_opens, device_closes);
}
