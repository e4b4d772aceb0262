/* The log of rumors, compared with a list of everything that was appended. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"
#include "base/rng.h"
#include "node/broadcast/rumor_log.h"

#define RING      100000
#define BYTES_MAX 5000

static struct arena arena;
static struct rumor_log rumors;
static uint64_t now_ns; /* virtual time, which advances with each rumor */

static int start(void **state)
{
    (void)state;
    arena_init(&arena, rumor_log_arena_bytes(RING));
    rumor_log_init(&rumors, &arena, RING, 0);
    return 0;
}

static int stop(void **state)
{
    (void)state;
    arena_release(&arena);
    return 0;
}

/* Writes a rumor's bytes, which depend only on its origin and number. */
static void fill(uint8_t *out, uint32_t origin_index, uint32_t seq, uint32_t bytes)
{
    struct rng rng = rng_new(origin_index, seq);
    for (uint32_t i = 0; i < bytes; i++)
        out[i] = (uint8_t)rng_next(&rng);
}

static bool append(uint32_t origin_index, uint32_t seq, bool own, uint32_t bytes)
{
    static uint8_t rumor[RING];
    fill(rumor, origin_index, seq, bytes);
    return rumor_log_append(&rumors, ++now_ns, origin_index, seq, own, rumor, bytes);
}

/* Returns true if the log has this rumor. Fails the test if its bytes are wrong. */
static bool has(uint32_t origin_index, uint32_t seq, uint32_t bytes)
{
    static uint8_t rumor[RING];
    uint32_t found_bytes;
    const uint8_t *found = rumor_log_find(&rumors, origin_index, seq, &found_bytes);
    if (!found)
        return false;
    fill(rumor, origin_index, seq, bytes);
    assert_int_equal(found_bytes, bytes);
    assert_memory_equal(found, rumor, bytes);
    return true;
}

static void hand_all(void)
{
    while (rumor_log_next_to_apply(&rumors))
        rumor_log_applied(&rumors);
}

static void an_empty_log_has_nothing(void **state)
{
    (void)state;
    uint32_t bytes;
    assert_null(rumor_log_find(&rumors, 0, 0, &bytes));
    assert_null(rumor_log_next_to_apply(&rumors));
}

static void finds_a_stored_rumor(void **state)
{
    (void)state;
    for (uint32_t seq = 0; seq < 10; seq++)
        assert_true(append(seq % 3, seq, true, 100 + seq));
    for (uint32_t seq = 0; seq < 10; seq++)
        assert_true(has(seq % 3, seq, 100 + seq));
    assert_false(has(1, 0, 100));
    assert_false(has(0, 10, 100));
}

static void the_learner_is_given_what_was_heard_in_order(void **state)
{
    (void)state;
    for (uint32_t seq = 0; seq < 6; seq++)
        assert_true(append(1, seq, seq % 2 == 0, 100));
    for (uint32_t seq = 1; seq < 6; seq += 2) {
        const struct rumor_log_entry *entry = rumor_log_next_to_apply(&rumors);
        assert_non_null(entry);
        assert_int_equal(entry->seq, seq);
        uint8_t rumor[100];
        fill(rumor, 1, seq, 100);
        assert_memory_equal(rumor_log_bytes(&rumors, entry), rumor, 100);
        assert_ptr_equal(rumor_log_next_to_apply(&rumors),
                         entry); /* an entry stays the next one until it is applied */
        rumor_log_applied(&rumors);
    }
    assert_null(rumor_log_next_to_apply(&rumors));
    assert_int_equal(rumors.waiting_bytes, 0);
}

static void give(uint32_t origin_index, uint32_t seq)
{
    const struct rumor_log_entry *entry = rumor_log_next_to_apply(&rumors);
    assert_non_null(entry);
    assert_int_equal(entry->origin_index, origin_index);
    assert_int_equal(entry->seq, seq);
    rumor_log_applied(&rumors);
}

static void gives_skipped_rumors_later(void **state)
{
    (void)state;
    for (uint32_t seq = 0; seq < 3; seq++)
        for (uint32_t origin_index = 1; origin_index <= 2; origin_index++)
            assert_true(append(origin_index, seq, false, 100));
    for (uint32_t seq = 0; seq < 3; seq++) { /* rumors of origin_index 1 are withheld */
        assert_int_equal(rumor_log_next_to_apply(&rumors)->origin_index, 1);
        rumor_log_pass_by(&rumors);
        give(2, seq);
    }
    assert_null(rumor_log_next_to_apply(&rumors));
    assert_int_equal(rumors.waiting, 3);
    assert_int_equal(rumors.waiting_bytes, 300);
    assert_true(append(2, 3, false, 100));
    rumor_log_return(&rumors);
    for (uint32_t seq = 0; seq < 3; seq++)
        give(1, seq);
    give(2, 3);
    assert_null(rumor_log_next_to_apply(&rumors));
    assert_int_equal(rumors.waiting, 0);
    assert_int_equal(rumors.waiting_bytes, 0);
    assert_int_equal(rumors.applied, rumors.newest);
}

static void never_overwrites_skipped_rumors(void **state)
{
    (void)state;
    assert_true(append(1, 0, false, 1000));
    assert_non_null(rumor_log_next_to_apply(&rumors));
    rumor_log_pass_by(&rumors);
    for (uint32_t seq = 0; seq < 1000; seq++) {
        (void)append(2, seq, false, 1000); /* refused if the log is crowded */
        while (rumor_log_next_to_apply(&rumors))
            rumor_log_applied(&rumors);
    }
    assert_true(has(1, 0, 1000));
    rumor_log_return(&rumors);
    give(1, 0);
    for (uint32_t seq = 1000; seq < 1100; seq++) {
        assert_true(append(2, seq, false, 1000));
        hand_all();
    }
    assert_false(has(1, 0, 1000));
}

static void the_newest_push_the_oldest_out(void **state)
{
    (void)state;
    for (uint32_t seq = 0; seq < 1000; seq++) {
        assert_true(append(1, seq, true, 1000));
        hand_all();
        for (uint32_t back = 0; back < 100; back++)
            assert_true(back > seq || has(1, seq - back, 1000));
        assert_true(seq < 100 || !has(1, seq - 100, 1000));
    }
}

static void many_small_rumors_run_out_of_entries_first(void **state)
{
    (void)state;
    const uint32_t entries = (uint32_t)rumors.entries_max;
    for (uint32_t seq = 0; seq < 3 * entries; seq++) {
        assert_true(append(1, seq, true, 10));
        assert_true(rumors.newest - rumors.oldest <= entries);
        hand_all();
    }
    assert_true(has(1, 2 * entries, 10));
    assert_false(has(1, 2 * entries - 1, 10));
}

static void the_largest_rumor_fills_the_log(void **state)
{
    (void)state;
    assert_true(append(1, 0, true, 60000));
    hand_all();
    assert_true(append(1, 1, true, RING));
    hand_all();
    assert_false(has(1, 0, 60000));
    assert_true(has(1, 1, RING));
    assert_true(append(1, 2, true, 1));
    assert_false(has(1, 1, RING));
    assert_true(has(1, 2, 1));
}

static void never_overwrites_rumors_that_the_learner_lacks(void **state)
{
    (void)state;
    assert_true(append(1, 0, false, 1000));
    uint32_t seq = 0;
    while (append(2, seq, true, 1000))
        seq++;
    assert_int_equal(seq, RING / 1000 - 1);
    assert_true(has(1, 0, 1000));
    rumor_log_applied(&rumors);
    assert_true(append(2, seq, true, 1000));
    assert_false(has(1, 0, 1000));
}

/* Half of the log is reserved for the node's own rumors. */
static void heard_rumors_are_refused_when_half_the_log_waits(void **state)
{
    (void)state;
    uint32_t heard = 0;
    while (append(1, heard, false, 1000))
        heard++;
    assert_int_equal(heard, RING / 2 / 1000);
    for (uint32_t seq = 0; seq < heard / 2; seq++)
        assert_true(append(2, seq, true, 1000));
    (void)rumor_log_next_to_apply(&rumors);
    rumor_log_applied(&rumors);
    assert_true(append(1, heard, false, 1000));
}

/* A publication gets space for all its rumors even if the node's own rumors fill most of the log.
 */
static void a_telling_that_has_begun_has_room_whatever_is_heard(void **state)
{
    (void)state;
    assert_true(append(1, 0, false, 1000));
    uint32_t told = 0, heard = 1;
    for (; told < 70; told++)
        assert_true(append(2, told, true, 1000));
    assert_false(rumor_log_is_crowded(&rumors)); /* a publication of several rumors begins */
    while (append(1, heard, false, 1000))
        heard++;
    for (uint32_t seq = told; seq < told + RING / 8 / 1000; seq++)
        assert_true(append(2, seq, true, 1000));
}

static void heard_rumors_are_refused_when_half_the_entries_wait(void **state)
{
    (void)state;
    uint32_t heard = 0;
    while (append(1, heard, false, 1))
        heard++;
    assert_int_equal(heard, rumors.entries_max / 2 + 1);
}

static void the_learner_is_behind_when_a_quarter_of_the_log_waits(void **state)
{
    (void)state;
    for (uint32_t seq = 0; seq < 40; seq++) /* own rumors do not wait for the learner */
        assert_true(append(2, seq, true, 1000));
    for (uint32_t seq = 0; seq < RING / 4 / 1000; seq++)
        assert_true(append(1, seq, false, 1000));
    assert_false(rumor_log_is_waiting(&rumors));
    assert_true(append(1, RING / 4 / 1000, false, 1));
    assert_true(rumor_log_is_waiting(&rumors));
    (void)rumor_log_next_to_apply(&rumors);
    rumor_log_applied(&rumors);
    assert_false(rumor_log_is_waiting(&rumors));
}

static void entries_are_there_from_the_oldest_to_the_newest(void **state)
{
    (void)state;
    for (uint32_t seq = 0; seq < 150; seq++) { /* the first fifty rumors are overwritten */
        assert_true(append(3, seq, true, 1000));
        hand_all();
    }
    assert_int_equal(rumors.newest - rumors.oldest, 100);
    for (uint64_t at = rumors.oldest; at < rumors.newest; at++) {
        const struct rumor_log_entry *entry = rumor_log_at(&rumors, at);
        assert_int_equal(entry->origin_index, 3);
        assert_int_equal(entry->seq, at);
        uint8_t rumor[1000];
        fill(rumor, 3, entry->seq, 1000);
        assert_memory_equal(rumor_log_bytes(&rumors, entry), rumor, 1000);
    }
}

static void a_cleared_log_has_forgotten_everything_and_takes_as_much_again(void **state)
{
    (void)state;
    for (uint32_t seq = 0; seq < 140; seq++) { /* wraps around the ring, with waiting rumors */
        assert_true(append(1, seq, seq % 4 > 0, 1000));
        if (seq < 120)
            hand_all();
    }
    rumor_log_clear(&rumors, now_ns);
    for (uint32_t seq = 0; seq < 140; seq++)
        assert_false(has(1, seq, 1000));
    assert_null(rumor_log_next_to_apply(&rumors));
    assert_int_equal(rumors.waiting_bytes, 0);
    assert_false(rumor_log_is_crowded(&rumors));
    for (uint32_t seq = 0; seq < 100; seq++) {
        assert_true(append(1, seq, true, 1000));
        hand_all();
    }
    for (uint32_t seq = 0; seq < 100; seq++)
        assert_true(has(1, seq, 1000));
    assert_true(append(1, 100, false, 1000));
    assert_int_equal(rumor_log_next_to_apply(&rumors)->seq, 100);
}

/* rumor_log_lasting_since_ns agrees with rumor_log_is_lasting for each rumor. */
static void rumors_since_a_given_time_are_present_and_lasting(void **state)
{
    (void)state;
    enum { STEPS = 400 };
    const uint64_t begin_ns = now_ns;
    rumor_log_clear(&rumors, now_ns);
    assert_int_equal(rumor_log_lasting_since_ns(&rumors), begin_ns);
    for (uint32_t seq = 0; seq < STEPS; seq++) {
        assert_true(append(1, seq, true, 1000));
        hand_all();
        const uint64_t since_ns = rumor_log_lasting_since_ns(&rumors);
        assert_true(seq >= 50 || since_ns == begin_ns);
        for (uint32_t known = 0; known <= seq; known++) {
            const uint64_t want_ns = begin_ns + 1 + known; /* each rumor has its own time */
            uint64_t came_ns = 0;
            uint32_t bytes;
            const bool is_here = rumor_log_find(&rumors, 1, known, &bytes) != NULL;
            assert_true(rumor_log_is_lasting(&rumors, 1, known) == (want_ns > since_ns));
            assert_true(rumor_log_came(&rumors, 1, known, &came_ns) == is_here);
            assert_true(came_ns == 0 || came_ns == want_ns);
        }
    }
    assert_in_range(rumor_log_lasting_since_ns(&rumors), now_ns - 51, now_ns - 49);
}

/* All remaining rumors are lasting, but rumor 50 was overwritten. So rumor_log_lasting_since_ns is
 * the time of rumor 50. */
static void an_overwritten_rumor_moves_that_time_forward(void **state)
{
    (void)state;
    for (uint32_t seq = 0; seq < 49; seq++)
        assert_true(append(1, seq, true, 1000));
    assert_true(append(1, 49, true, 999));
    assert_true(append(1, 50, true, 1500));
    const uint64_t last_ns = now_ns;
    hand_all();
    /* overwrites rumors, because there is no space behind them */
    assert_true(append(1, 51, true, RING / 2));
    assert_false(has(1, 50, 1500));
    assert_true(rumor_log_is_lasting(&rumors, 1, 51));
    assert_int_equal(rumor_log_lasting_since_ns(&rumors), last_ns);
}

/* Checks the log after every step of a long random test. It has the newest rumors that fit, byte
 * for byte. It loses no waiting rumor, although one origin is skipped at times. */
static void a_long_random_story_keeps_its_account(void **state)
{
    (void)state;
    enum { STEPS = 4000, ORIGINS = 5 };
    static struct {
        uint32_t origin_index, seq, bytes;
        bool is_given;
    } taken[STEPS];
    struct rng rng = rng_new(3, 0);
    uint32_t next[ORIGINS] = {0}, count = 0, refused = 0, held = 0;
    for (int step = 0; step < STEPS; step++) {
        const uint32_t origin_index = rng_below(&rng, ORIGINS),
                       bytes = 1 + rng_below(&rng, BYTES_MAX);
        const bool own = origin_index == 0;
        if (append(origin_index, next[origin_index], own, bytes)) {
            taken[count].origin_index = origin_index;
            taken[count].seq = next[origin_index]++;
            taken[count].bytes = bytes;
            taken[count++].is_given = own;
        } else {
            refused++;
        }
        if (rng_below(&rng, held ? 5 : 50) == 0) {
            held = held ? 0 : 1 + rng_below(&rng, ORIGINS - 1);
            rumor_log_return(&rumors);
        }
        const bool slow = step / 500 % 2; /* the learner applies fewer rumors than arrive */
        for (uint32_t some = rng_below(&rng, slow ? 2 : 3); some > 0; some--) {
            const struct rumor_log_entry *entry;
            while ((entry = rumor_log_next_to_apply(&rumors)) && entry->origin_index == held)
                rumor_log_pass_by(&rumors);
            uint32_t first = 0;
            while (first < count && (taken[first].is_given || taken[first].origin_index == held))
                first++;
            assert_true((entry != NULL) == (first < count));
            if (!entry)
                break;
            assert_int_equal(entry->seq, taken[first].seq);
            assert_int_equal(entry->origin_index, taken[first].origin_index);
            rumor_log_applied(&rumors);
            taken[first].is_given = true;
        }
        uint32_t kept = 0, missing = 0;
        for (uint32_t i = count; i-- > 0 && missing < 3;) {
            if (has(taken[i].origin_index, taken[i].seq, taken[i].bytes)) {
                assert_int_equal(missing, 0); /* only the oldest rumors may be missing */
                kept += taken[i].bytes;
            } else {
                assert_true(taken[i].is_given);
                missing++;
            }
        }
        assert_true(kept <= RING && (missing == 0 || kept > RING - 3 * BYTES_MAX));
        assert_int_equal(kept > 0, count > 0);
    }
    assert_true(count > STEPS / 2 && refused > 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, start, stop)
    const struct CMUnitTest tests[] = {
        TEST(an_empty_log_has_nothing),
        TEST(finds_a_stored_rumor),
        TEST(the_learner_is_given_what_was_heard_in_order),
        TEST(gives_skipped_rumors_later),
        TEST(never_overwrites_skipped_rumors),
        TEST(the_newest_push_the_oldest_out),
        TEST(many_small_rumors_run_out_of_entries_first),
        TEST(the_largest_rumor_fills_the_log),
        TEST(never_overwrites_rumors_that_the_learner_lacks),
        TEST(heard_rumors_are_refused_when_half_the_log_waits),
        TEST(a_telling_that_has_begun_has_room_whatever_is_heard),
        TEST(heard_rumors_are_refused_when_half_the_entries_wait),
        TEST(the_learner_is_behind_when_a_quarter_of_the_log_waits),
        TEST(entries_are_there_from_the_oldest_to_the_newest),
        TEST(a_cleared_log_has_forgotten_everything_and_takes_as_much_again),
        TEST(rumors_since_a_given_time_are_present_and_lasting),
        TEST(an_overwritten_rumor_moves_that_time_forward),
        TEST(a_long_random_story_keeps_its_account),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
