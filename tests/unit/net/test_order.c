/* Operator's orders: signatures, strict parsing, and the rumors that they keep. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "frame/bytes.h"
#include "wire/order.h"

static const uint8_t context[CONTEXT_BYTES] = {1, 2, 3};
static struct operator_key operator_key;

static int set_up(void **state)
{
    (void)state;
    const uint8_t seed[SEED_BYTES] = {9, 8, 7};
    secret_start();
    operator_key_from_seed(&operator_key, seed);
    return 0;
}

static struct order sample(void)
{
    return (struct order){.number = 3,
                          .kind = ORDER_EXPEL,
                          .subject = {0xAB, 0xCD},
                          .issued_ms = 1700000000123,
                          .reason = "publishes noise",
                          .pairs_count = 2,
                          .pairs = {{.incarnation = 5, .keep = 7}, {.incarnation = 9, .keep = 1}}};
}

static enum error read(const uint8_t *in, size_t bytes, struct order *order)
{
    size_t taken = 0;
    const enum error error = order_parse(in, bytes, order, &taken);
    return error == OK ? order_verify(in, taken, operator_key.id, context) : error;
}

static void an_order_parses_as_it_was_made(void **state)
{
    (void)state;
    const struct order made = sample();
    struct order got;
    uint8_t bytes[ORDER_BYTES_MAX];
    const size_t count = order_create(&made, &operator_key, context, bytes);
    size_t taken = 0;
    assert_int_equal(count, ORDER_HEAD_BYTES + 2 * ORDER_PAIR_BYTES + SIGNATURE_BYTES);
    assert_int_equal(order_parse(bytes, count, &got, &taken), OK);
    assert_int_equal(taken, count);
    assert_int_equal(order_verify(bytes, count, operator_key.id, context), OK);
    assert_true(got.number == made.number && got.issued_ms == made.issued_ms);
    assert_memory_equal(got.subject, made.subject, ID_BYTES);
    assert_string_equal(got.reason, made.reason);
    assert_int_equal(got.pairs_count, 2);
    assert_int_equal(order_keeps(&got, 5), 7);
    assert_int_equal(order_keeps(&got, 9), 1);
    assert_int_equal(order_keeps(&got, 6), 0);
}

static struct order rekey(void)
{
    return (struct order){.number = 4,
                          .kind = ORDER_REKEY,
                          .subject = {0x12, 0x34},
                          .issued_ms = 1700000000123,
                          .reason = "a laptop was stolen",
                          .until_ms = 1700000604923,
                          .before = {0x56, 0x78}};
}

static void a_rekey_parses_as_it_was_made(void **state)
{
    (void)state;
    const struct order made = rekey();
    struct order got;
    uint8_t bytes[ORDER_BYTES_MAX];
    size_t taken = 0;
    const size_t count = order_create(&made, &operator_key, context, bytes);
    assert_int_equal(count, ORDER_HEAD_BYTES + ORDER_REKEY_BYTES + SIGNATURE_BYTES);
    assert_int_equal(order_parse(bytes, count, &got, &taken), OK);
    assert_int_equal(taken, count);
    assert_int_equal(order_verify(bytes, count, operator_key.id, context), OK);
    assert_int_equal(got.kind, ORDER_REKEY);
    assert_true(got.number == made.number && got.until_ms == made.until_ms);
    assert_memory_equal(got.subject, made.subject, HASH_BYTES);
    assert_memory_equal(got.before, made.before, HASH_BYTES);
    assert_string_equal(got.reason, made.reason);
}

static void parses_orders_back_to_back(void **state)
{
    (void)state;
    uint8_t bytes[2 * ORDER_BYTES_MAX];
    struct order order = sample(), got;
    size_t taken = 0;
    const size_t first = order_create(&order, &operator_key, context, bytes);
    order.number++;
    order.pairs_count = 0;
    const size_t second = order_create(&order, &operator_key, context, bytes + first);
    assert_int_equal(order_parse(bytes, first + second, &got, &taken), OK);
    assert_int_equal(taken, first);
    assert_int_equal(order_parse(bytes + taken, second, &got, &taken), OK);
    assert_int_equal(taken, second);
    assert_int_equal(got.number, 4);
}

static void assert_every_truncation_is_refused(const struct order *made)
{
    struct order got;
    uint8_t bytes[ORDER_BYTES_MAX];
    const size_t count = order_create(made, &operator_key, context, bytes);
    for (size_t kept = 0; kept < count; kept++)
        assert_int_equal(read(bytes, kept, &got), MALFORMED);
}

static void refuses_every_truncation(void **state)
{
    (void)state;
    const struct order expulsion = sample(), another = rekey();
    assert_every_truncation_is_refused(&expulsion);
    assert_every_truncation_is_refused(&another);
}

static void assert_every_flipped_bit_is_refused(const struct order *made)
{
    struct order got;
    uint8_t bytes[ORDER_BYTES_MAX] = {0};
    const size_t count = order_create(made, &operator_key, context, bytes);
    for (size_t bit = 0; bit < 8 * count; bit++) {
        bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
        assert_int_not_equal(read(bytes, count, &got), OK);
        bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    assert_int_equal(read(bytes, count, &got), OK);
}

static void refuses_every_flipped_bit(void **state)
{
    (void)state;
    const struct order expulsion = sample(), another = rekey();
    assert_every_flipped_bit_is_refused(&expulsion);
    assert_every_flipped_bit_is_refused(&another);
}

static void refuses_another_operator_or_swarm(void **state)
{
    (void)state;
    const uint8_t seed[SEED_BYTES] = {1}, elsewhere[CONTEXT_BYTES] = {4};
    const struct order made = sample();
    struct operator_key other;
    uint8_t bytes[ORDER_BYTES_MAX];
    operator_key_from_seed(&other, seed);
    const size_t count = order_create(&made, &operator_key, context, bytes);
    assert_int_equal(order_verify(bytes, count, other.id, context), FORGED);
    assert_int_equal(order_verify(bytes, count, operator_key.id, elsewhere), FORGED);
}

/* Checks that a validly signed but malformed order is rejected. */
static void assert_malformed(const struct order *order, size_t at, uint64_t value, size_t width)
{
    struct order got;
    uint8_t bytes[ORDER_BYTES_MAX];
    size_t taken;
    const size_t count = order_create(order, &operator_key, context, bytes);
    bytes_put(bytes + at, value, width);
    assert_int_equal(order_parse(bytes, count, &got, &taken), MALFORMED);
}

static void refuses_signed_but_malformed_orders(void **state)
{
    (void)state;
    const struct order order = sample(), another = rekey();
    assert_malformed(&order, 0, 0, 8);
    assert_malformed(&order, 0, ORDERS_MAX + 1, 8);
    assert_malformed(&order, 8, ORDER_ADMIT, 1);
    assert_malformed(&order, 8, 0, 1);
    assert_malformed(&order, 8, ORDER_REKEY + 1, 1);
    assert_malformed(&another, 9, 1, 1); /* a rekey order has no pairs */
    /* the previous key equals the new one */
    assert_malformed(&another, ORDER_HEAD_BYTES + 8, 0x3412, 2);
    assert_malformed(&order, 9, ORDER_PAIRS_MAX + 1, 1);
    assert_malformed(&order, 50, 0, 1);    /* no reason */
    assert_malformed(&order, 51, '\n', 1); /* a control character, which a terminal would obey */
    assert_malformed(&order, 52, 0x80, 1);
    assert_malformed(&order, 50 + ORDER_REASON_BYTES - 1, 'x', 1); /* text after the end */
    assert_malformed(&order, ORDER_HEAD_BYTES + 8, 0, 4);
    assert_malformed(&order, ORDER_HEAD_BYTES + 8, (1u << 28) + 1, 4);
    assert_malformed(&order, ORDER_HEAD_BYTES + ORDER_PAIR_BYTES, 5,
                     8); /* a repeated incarnation */
    assert_malformed(&order, ORDER_HEAD_BYTES + ORDER_PAIR_BYTES, 4, 8); /* in the wrong order */
}

static void a_reason_is_short_and_printable(void **state)
{
    (void)state;
    char longest[ORDER_REASON_BYTES + 2] = {0};
    memset(longest, 'x', ORDER_REASON_BYTES);
    assert_true(order_is_reason(longest));
    longest[ORDER_REASON_BYTES] = 'x';
    assert_false(order_is_reason(longest));
    assert_false(order_is_reason(""));
    assert_false(order_is_reason("two\nlines"));
    assert_false(order_is_reason("caf\xc3\xa9"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_order_parses_as_it_was_made),
        cmocka_unit_test(a_rekey_parses_as_it_was_made),
        cmocka_unit_test(parses_orders_back_to_back),
        cmocka_unit_test(refuses_every_truncation),
        cmocka_unit_test(refuses_every_flipped_bit),
        cmocka_unit_test(refuses_another_operator_or_swarm),
        cmocka_unit_test(refuses_signed_but_malformed_orders),
        cmocka_unit_test(a_reason_is_short_and_printable),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
