/* The cache of decoded rumors returns each rumor once and unchanged, or not at all. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/rng.h"
#include "node/broadcast/decoded.h"

#define ENTRIES_MAX 1000

static struct arena arena;
static struct decoded decoded;

static int start(void **state)
{
    (void)state;
    arena_init(&arena, decoded_arena_bytes(ENTRIES_MAX));
    decoded_init(&decoded, &arena, ENTRIES_MAX);
    return 0;
}

static int stop(void **state)
{
    (void)state;
    arena_release(&arena);
    return 0;
}

/* Puts an update whose entries depend only on its position. */
static void put(uint64_t position, uint32_t entries)
{
    struct update *update = decoded_room(&decoded, entries);
    update->count = entries;
    for (uint32_t i = 0; i < entries; i++) {
        update->index[i] = (uint32_t)position * 100000 + i;
        update->level[i] = (int8_t)(position + i);
    }
    decoded_keep(&decoded, position);
}

static bool has(uint64_t position, uint32_t entries)
{
    const struct update *update = decoded_at(&decoded, position);
    if (!update)
        return false;
    assert_int_equal(update->count, entries);
    for (uint32_t i = 0; i < entries; i++) {
        assert_int_equal(update->index[i], (uint32_t)position * 100000 + i);
        assert_int_equal(update->level[i], (int8_t)(position + i));
    }
    return true;
}

static void those_kept_come_out_in_their_order_each_once(void **state)
{
    (void)state;
    put(1, 300);
    put(2, 300);
    put(4, 400);
    assert_true(has(1, 300));
    assert_false(has(1, 300));
    assert_true(has(2, 300));
    assert_false(has(3, 0));
    assert_true(has(4, 400));
}

static void one_that_is_passed_by_is_forgotten(void **state)
{
    (void)state;
    put(1, 10);
    put(2, 10);
    assert_true(has(2, 10));
    assert_false(has(1, 10));
}

static void when_all_were_given_out_all_the_room_is_free(void **state)
{
    (void)state;
    put(1, 600);
    assert_true(has(1, 600));
    put(2, 300);
    put(3, 400);
    assert_true(has(2, 300));
    assert_true(has(3, 400));
    put(4, ENTRIES_MAX);
    assert_true(has(4, ENTRIES_MAX));
}

static void a_full_buffer_drops_all_earlier_rumors(void **state)
{
    (void)state;
    put(1, 600);
    put(2, 401);
    put(3, 599);
    assert_false(has(1, 600));
    assert_true(has(2, 401));
    assert_true(has(3, 599));
}

static void no_more_are_kept_than_there_are_places(void **state)
{
    (void)state;
    for (uint32_t i = 0; i <= DECODED_MAX; i++)
        put(i, 1);
    assert_false(has(DECODED_MAX - 1, 1));
    assert_true(has(DECODED_MAX, 1));
}

static void peeking_keeps_the_other_rumors(void **state)
{
    (void)state;
    put(1, 300);
    struct update *update = decoded_room(&decoded, 200);
    update->count = 200;
    update->index[0] = update->index[199] = 7;
    put(2, 300);
    assert_true(has(1, 300));
    assert_true(has(2, 300));
}

/* Random operations. Every returned rumor is correct and in order. */
static void nothing_wrong_ever_comes_out(void **state)
{
    (void)state;
    struct rng rng = rng_new(1, 0);
    uint32_t sizes[5000], taken = 0;
    uint64_t next = 0, wanted = 0;
    while (next < 5000) {
        if (wanted == next || (rng_below(&rng, 2) == 0 && next - wanted < 8)) {
            sizes[next] = 1 + rng_below(&rng, rng_below(&rng, 8) ? 200 : ENTRIES_MAX);
            put(next, sizes[next]);
            next++;
        } else {
            taken += has(wanted, sizes[wanted]) ? 1u : 0u;
            wanted++;
        }
    }
    assert_true(taken > 1000);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, start, stop)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(those_kept_come_out_in_their_order_each_once),
        TEST(one_that_is_passed_by_is_forgotten),
        TEST(when_all_were_given_out_all_the_room_is_free),
        TEST(a_full_buffer_drops_all_earlier_rumors),
        TEST(no_more_are_kept_than_there_are_places),
        TEST(peeking_keeps_the_other_rumors),
        TEST(nothing_wrong_ever_comes_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
