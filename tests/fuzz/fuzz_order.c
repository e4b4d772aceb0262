/* Operator's orders, one after the other: each accepted order is encoded again as equal bytes. */
#include "fuzz/believe.h"
#include "fuzz/fuzz.h"
#include "wire/order.h"

static const uint8_t context[CONTEXT_BYTES] = {7};
static struct operator_key key;

void fuzz_begin(void)
{
    const uint8_t seed[SEED_BYTES] = {1};
    secret_start();
    operator_key_from_seed(&key, seed);
    believe_signatures();
}

void fuzz_one(const uint8_t *data, size_t bytes)
{
    struct order order;
    size_t taken;
    for (; order_parse(data, bytes, &order, &taken) == OK; data += taken, bytes -= taken) {
        uint8_t again[ORDER_BYTES_MAX];
        CHECK(taken <= bytes && order_is_reason(order.reason));
        CHECK(order_verify(data, taken, key.id, context) == OK);
        CHECK(order_create(&order, &key, context, again) == taken);
        CHECK(memcmp(again, data, taken - SIGNATURE_BYTES) == 0);
        for (uint32_t i = 0; order.kind == ORDER_EXPEL && i < order.pairs_count; i++)
            CHECK(order_keeps(&order, order.pairs[i].incarnation) == order.pairs[i].keep);
    }
}
