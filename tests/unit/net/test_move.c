/* Limits on how far one rumor may move the base. Updates are cut to fit them. Rumors that exceed
 * the limits, or that understate their move, are rejected. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "wire/move.h"
#include "wire/rumor.h"

#define MANY   2000
#define FEW    60
#define FEW_OF 1000 /* parameters; the root is 32, so all entries together may move by 4 */

static int8_t levels[MANY];

static void a_move_is_the_greatest_level_and_the_length_rounded_up(void **state)
{
    (void)state;
    const int8_t some[] = {1, -2, 1, 3, -1};
    const struct move move = move_of(7, some, 5);
    assert_int_equal(move.amount, 7);
    assert_int_equal(move.top, 3);
    assert_int_equal(move.length, 4); /* exactly sqrt(16) */
    const int8_t more[] = {-127, 1};
    assert_int_equal(move_of(7, more, 2).top, 127);
    assert_int_equal(move_of(7, more, 2).length, 128); /* sqrt(16130), rounded up */
}

static void the_length_of_the_largest_rumor_fits_its_field(void **state)
{
    (void)state;
    static int8_t all[RUMOR_ENTRIES_MAX];
    memset(all, -LEVEL_MAX, sizeof all);
    assert_int_equal(move_of(1, all, RUMOR_ENTRIES_MAX).length, 64758);
}

static bool is_allowed(uint32_t amount, uint32_t top, uint32_t length, uint64_t parameters)
{
    return move_is_allowed(&(struct move){amount, top, length}, parameters);
}

static void limits_the_move_of_each_entry_to_one(void **state)
{
    (void)state;
    assert_true(is_allowed(MOVE_MAX, 1, 1, 1));
    assert_false(is_allowed(MOVE_MAX, 2, 2, 1000000000));
    assert_false(is_allowed(MOVE_MAX + 1, 1, 1, 1000000000));
    assert_true(is_allowed(MOVE_MAX / 127, 127, 127, 1));
    assert_false(is_allowed(MOVE_MAX / 127 + 1, 127, 127, 1000000000));
    assert_false(is_allowed(UINT32_MAX, 255, UINT16_MAX, 1000000000));
}

/* The limit is sqrt(P) / 8, at least 1, with sqrt(P) rounded up. */
static void limits_the_move_of_all_entries_by_the_model_size(void **state)
{
    (void)state;
    const uint32_t amount = 1u << 21;
    assert_true(is_allowed(amount, 1, 8, 1));
    assert_false(is_allowed(amount, 1, 9, 64));
    assert_true(is_allowed(amount, 1, 32, 1024));
    assert_false(is_allowed(amount, 1, 33, 1024));
    assert_true(is_allowed(amount, 1, 33, 1025));
    assert_true(is_allowed(amount, 1, 1000, 1000000));
    assert_false(is_allowed(amount, 1, 1001, 1000000));
}

static void a_rumor_takes_as_many_entries_as_may_move_together(void **state)
{
    (void)state;
    memset(levels, 1, sizeof levels);
    assert_int_equal(move_entries(1u << 21, levels, MANY, 1024), 1024);
    assert_int_equal(move_entries(1u << 21, levels, 100, 1024), 100);
    assert_int_equal(move_entries(MOVE_MAX, levels, MANY, 1024), 16);
    assert_int_equal(move_entries(1, levels, MANY, 1), MANY);
    levels[10] = -100;
    assert_int_equal(move_entries(MOVE_MAX / 100, levels, MANY, 1), 10);
    assert_int_equal(move_entries(MOVE_MAX / 100, levels + 10, MANY - 10, 1), 1);
}

/* Entries with levels up to update_level_max(amount) can always be sent. In the worst case, each
 * rumor has one entry. */
static void cut_entries_always_fit_and_are_allowed(void **state)
{
    (void)state;
    for (uint32_t amount = 1; amount <= AMOUNT_MAX; amount += 1 + amount / 7)
        for (uint64_t parameters = 1; parameters < 100000; parameters = 3 * parameters + 1) {
            const int most = update_level_max(amount);
            for (uint32_t i = 0; i < MANY; i++)
                levels[i] = (int8_t)(1 + (int)i % most);
            levels[0] = (int8_t)most;
            const uint32_t entries = move_entries(amount, levels, MANY, parameters);
            assert_true(entries >= 1);
            const struct move move = move_of(amount, levels, entries);
            assert_true(move_is_allowed(&move, parameters));
            if (entries == MANY)
                continue;
            const struct move beyond = move_of(amount, levels, entries + 1);
            assert_false(move_is_allowed(&beyond, parameters));
        }
}

/* A rumor of some levels of 1 and one level of -2, which tests alter and sign again. */
static struct identity identity;
static const uint8_t context[CONTEXT_BYTES] = {0xC0};
static uint8_t rumor[RUMOR_MAX];
static size_t rumor_bytes;

static int make_rumor(void **state)
{
    (void)state;
    static const uint8_t seed[SEED_BYTES] = {1};
    uint32_t index[FEW], taken;
    secret_start();
    identity_from_seed(&identity, seed);
    for (uint32_t i = 0; i < FEW; i++) {
        index[i] = 7 * i;
        levels[i] = (int8_t)(i == 5 ? -2 : 1);
    }
    const struct update update = {
        .tau = 0.5f, .amount = 77, .count = FEW, .index = index, .level = levels};
    struct rumor_head head = {.incarnation = 1, .samples = 64};
    memcpy(head.origin, identity.id, ID_BYTES);
    rumor_encode(&head, &update, 0, RUMOR_MAX, &identity, context, rumor, &taken, &rumor_bytes);
    assert_int_equal(taken, FEW);
    assert_int_equal(rumor[HEAD_TOP_AT], 2);
    assert_int_equal(rumor[HEAD_LENGTH_AT], 8); /* sqrt(63), rounded up */
    return 0;
}

/* Decodes the rumor after changing one field of its head and signing it again. */
static enum error decode_with(size_t at, uint64_t value, size_t bytes)
{
    static uint32_t index[FEW];
    static int8_t level[FEW];
    uint8_t saved[HEAD_BYTES];
    const size_t body_bytes = rumor_bytes - HEAD_BYTES - SIGNATURE_BYTES;
    struct update decoded = {.index = index, .level = level};
    memcpy(saved, rumor, sizeof saved);
    bytes_put(rumor + at, value, bytes);
    assert_int_equal(rumor_seal(rumor, body_bytes, &identity, context), rumor_bytes);
    const enum error error = rumor_decode(rumor, rumor_bytes, context, FEW_OF, FEW, &decoded);
    memcpy(rumor, saved, sizeof saved);
    return error;
}

static void refuses_a_head_with_the_move_of_another_body(void **state)
{
    (void)state;
    for (uint64_t top = 0; top < 256; top++)
        assert_int_equal(decode_with(HEAD_TOP_AT, top, 1), top == 2 ? OK : MALFORMED);
    for (uint64_t length = 0; length < 300; length++)
        assert_int_equal(decode_with(HEAD_LENGTH_AT, length, 2), length == 8 ? OK : MALFORMED);
}

static void refuses_a_rumor_that_moves_the_base_too_far(void **state)
{
    (void)state;
    /* moves an entry by 1, and all entries together by 4 */
    assert_int_equal(decode_with(HEAD_AMOUNT_AT, MOVE_MAX / 2, 4), OK);
    assert_int_equal(decode_with(HEAD_AMOUNT_AT, MOVE_MAX / 2 + 1, 4), MALFORMED);
    assert_int_equal(decode_with(HEAD_AMOUNT_AT, MOVE_MAX, 4), MALFORMED);
}

static void refuses_a_first_rumor_with_too_many_samples(void **state)
{
    (void)state;
    assert_int_equal(decode_with(HEAD_SAMPLES_AT, HEAD_SAMPLES_STEP, HEAD_SAMPLES_BYTES), OK);
    assert_int_equal(decode_with(HEAD_SAMPLES_AT, HEAD_SAMPLES_STEP + 1, HEAD_SAMPLES_BYTES),
                     MALFORMED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_move_is_the_greatest_level_and_the_length_rounded_up),
        cmocka_unit_test(the_length_of_the_largest_rumor_fits_its_field),
        cmocka_unit_test(limits_the_move_of_each_entry_to_one),
        cmocka_unit_test(limits_the_move_of_all_entries_by_the_model_size),
        cmocka_unit_test(a_rumor_takes_as_many_entries_as_may_move_together),
        cmocka_unit_test(cut_entries_always_fit_and_are_allowed),
        cmocka_unit_test_setup(refuses_a_head_with_the_move_of_another_body, make_rumor),
        cmocka_unit_test_setup(refuses_a_rumor_that_moves_the_base_too_far, make_rumor),
        cmocka_unit_test_setup(refuses_a_first_rumor_with_too_many_samples, make_rumor),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
