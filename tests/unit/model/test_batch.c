#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "data/batch.h"

#define COUNT 13

/* Draws the first `count` picks in batches of `size`. */
static void take(uint32_t *candidates, uint32_t count, uint32_t size, uint64_t seed, uint64_t node)
{
    struct arena arena;
    struct batch batch;
    arena_init(&arena, 4096);
    batch_init(&batch, &arena, COUNT, 1, seed, node);
    for (uint32_t at = 0; at < count; at += size)
        batch_next(&batch, size, candidates + at);
    arena_release(&arena);
}

static void every_sample_comes_once_in_each_epoch_whatever_the_batch(void **state)
{
    (void)state;
    for (uint32_t size = 1; size <= 4 * COUNT; size++) {
        uint32_t candidates[8 * COUNT];
        take(candidates, 4 * COUNT, size, 1, 2);
        for (uint32_t epoch = 0; epoch < 4; epoch++) {
            uint32_t seen[COUNT] = {0};
            for (uint32_t i = 0; i < COUNT; i++)
                seen[candidates[epoch * COUNT + i]]++;
            for (uint32_t i = 0; i < COUNT; i++)
                assert_int_equal(seen[i], 1);
        }
    }
}

static void the_order_does_not_depend_on_the_batch_size(void **state)
{
    (void)state;
    uint32_t alone[4 * COUNT], together[4 * COUNT];
    take(alone, 4 * COUNT, 1, 1, 2);
    take(together, 4 * COUNT, 26, 1, 2);
    assert_memory_equal(alone, together, sizeof alone);
}

static void seeds_nodes_and_epochs_have_orders_of_their_own(void **state)
{
    (void)state;
    uint32_t ours[2 * COUNT], again[COUNT], seed[COUNT], node[COUNT];
    take(ours, 2 * COUNT, COUNT, 1, 2);
    take(again, COUNT, COUNT, 1, 2);
    take(seed, COUNT, COUNT, 3, 2);
    take(node, COUNT, COUNT, 1, 3);
    assert_memory_equal(ours, again, sizeof again);
    assert_memory_not_equal(ours, ours + COUNT, sizeof again);
    assert_memory_not_equal(ours, seed, sizeof again);
    assert_memory_not_equal(ours, node, sizeof again);
}

static void every_order_is_equally_likely(void **state)
{
    (void)state;
    uint32_t frequency[27] = {0};
    for (uint64_t seed = 0; seed < 6000; seed++) {
        uint32_t order[3];
        batch_shuffle(order, 3, rng_new(seed, 0));
        frequency[order[0] * 9 + order[1] * 3 + order[2]]++;
    }
    for (uint32_t i = 0; i < 27; i++) {
        const uint32_t a = i / 9, b = i / 3 % 3, c = i % 3;
        if (a == b || b == c || a == c)
            assert_int_equal(frequency[i], 0);
        else
            assert_in_range(frequency[i], 880, 1120);
    }
}

static void one_sample_is_its_own_epoch(void **state)
{
    (void)state;
    uint32_t order = 7;
    batch_shuffle(&order, 1, rng_new(0, 0));
    assert_int_equal(order, 0);
}

static void seeking_continues_the_same_sequence_of_batches(void **state)
{
    (void)state;
    struct arena arena;
    struct batch one, other;
    uint32_t ours[7], theirs[7];
    arena_init(&arena, 1 << 20);
    batch_init(&one, &arena, 23, 1, 5, 6);
    for (int i = 0; i < 40; i++) {
        batch_init(&other, &arena, 23, 1, 5, 6);
        batch_seek(&other, one.epoch, one.at);
        for (int j = 0; j < 8; j++) {
            struct batch ahead = one;
            uint32_t order[23];
            memcpy(order, one.order, sizeof order);
            ahead.order = order;
            for (int k = 0; k <= j; k++)
                batch_next(&ahead, 7, ours);
            batch_next(&other, 7, theirs);
            assert_memory_equal(ours, theirs, sizeof ours);
        }
        batch_next(&one, 7, ours);
    }
    arena_release(&arena);
}

static void a_place_beyond_a_smaller_shard_is_the_end_of_its_epoch(void **state)
{
    (void)state;
    struct arena arena;
    struct batch sought, fresh;
    uint32_t ours[10], theirs[10];
    arena_init(&arena, 1 << 20);
    batch_init(&sought, &arena, 10, 1, 5, 6);
    batch_init(&fresh, &arena, 10, 1, 5, 6);
    batch_seek(&sought, 3, 400);
    batch_seek(&fresh, 4, 0);
    batch_next(&sought, 10, ours);
    batch_next(&fresh, 10, theirs);
    assert_memory_equal(ours, theirs, sizeof ours);
    assert_true(sought.epoch == 4);
    arena_release(&arena);
}

/* Windows of five tokens follow each other, with a different beginning in each epoch. */
static void windows_lie_end_to_end_and_begin_elsewhere_in_each_epoch(void **state)
{
    (void)state;
    struct arena arena;
    struct batch batch;
    bool begins[5] = {false};
    int places = 0;
    arena_init(&arena, 4096);
    batch_init(&batch, &arena, COUNT, 5, 1, 2);
    for (int epoch = 0; epoch < 20; epoch++) {
        uint32_t picks[COUNT];
        bool seen[COUNT] = {false};
        batch_next(&batch, COUNT, picks);
        const uint32_t first = picks[0] % 5;
        for (uint32_t i = 0; i < COUNT; i++) {
            assert_int_equal(picks[i] % 5, first);
            assert_true(picks[i] / 5 < COUNT && !seen[picks[i] / 5]);
            seen[picks[i] / 5] = true;
        }
        places += !begins[first];
        begins[first] = true;
    }
    assert_true(places > 2);
    arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(windows_lie_end_to_end_and_begin_elsewhere_in_each_epoch),
        cmocka_unit_test(every_sample_comes_once_in_each_epoch_whatever_the_batch),
        cmocka_unit_test(the_order_does_not_depend_on_the_batch_size),
        cmocka_unit_test(seeds_nodes_and_epochs_have_orders_of_their_own),
        cmocka_unit_test(every_order_is_equally_likely),
        cmocka_unit_test(one_sample_is_its_own_epoch),
        cmocka_unit_test(seeking_continues_the_same_sequence_of_batches),
        cmocka_unit_test(a_place_beyond_a_smaller_shard_is_the_end_of_its_epoch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
