#include "wire/order.h"

#include <string.h>

#include "frame/bytes.h"

#define KEEP_MAX     (1u << 28) /* largest number of rumors of one incarnation */
#define SIGNED_LABEL "hearsay order"
#define LABEL_BYTES  (sizeof SIGNED_LABEL - 1)
#define SIGNED_MAX   (LABEL_BYTES + CONTEXT_BYTES + ORDER_BYTES_MAX - SIGNATURE_BYTES)

static size_t signed_part(uint8_t out[static SIGNED_MAX],
                          const uint8_t context[static CONTEXT_BYTES], const uint8_t *in,
                          size_t bytes)
{
    CHECK(bytes >= ORDER_HEAD_BYTES && bytes <= ORDER_BYTES_MAX - SIGNATURE_BYTES);
    memcpy(out, SIGNED_LABEL, LABEL_BYTES);
    memcpy(out + LABEL_BYTES, context, CONTEXT_BYTES);
    memcpy(out + LABEL_BYTES + CONTEXT_BYTES, in, bytes);
    return LABEL_BYTES + CONTEXT_BYTES + bytes;
}

static bool is_kind(unsigned kind)
{
    return kind >= ORDER_EXPEL && kind <= ORDER_REKEY;
}

bool order_is_reason(const char *text)
{
    const size_t length = strlen(text);
    for (size_t i = 0; i < length; i++)
        if (text[i] < ' ' || text[i] > '~')
            return false;
    return length > 0 && length <= ORDER_REASON_BYTES;
}

static size_t write_pairs(const struct order *order, uint8_t *out)
{
    const struct order_pair after = {.incarnation = order->after};
    const struct order_pair *pairs = order->kind == ORDER_ADMIT ? &after : order->pairs;
    const uint32_t count = order->kind == ORDER_ADMIT ? order->after > 0 : order->pairs_count;
    CHECK(count <= ORDER_PAIRS_MAX);
    for (uint32_t i = 0; i < count; i++, out += ORDER_PAIR_BYTES) {
        bytes_put(out, pairs[i].incarnation, 8);
        bytes_put(out + 8, pairs[i].keep, 4);
    }
    return count;
}

static void write_rekey(const struct order *order, uint8_t *out)
{
    CHECK(order->kind == ORDER_REKEY && order->pairs_count == 0);
    bytes_put(out, order->until_ms, 8);
    memcpy(out + 8, order->before, HASH_BYTES);
}

size_t order_create(const struct order *order, const struct operator_key *key,
                    const uint8_t context[static CONTEXT_BYTES],
                    uint8_t out[static ORDER_BYTES_MAX])
{
    uint8_t message[SIGNED_MAX];
    size_t bytes = ORDER_HEAD_BYTES;
    CHECK(is_kind(order->kind) && order_is_reason(order->reason));
    memset(out, 0, ORDER_HEAD_BYTES);
    if (order->kind == ORDER_REKEY) {
        write_rekey(order, out + bytes);
        bytes += ORDER_REKEY_BYTES;
    } else {
        out[9] = (uint8_t)write_pairs(order, out + bytes);
        bytes += out[9] * (size_t)ORDER_PAIR_BYTES;
    }
    bytes_put(out, order->number, 8);
    out[8] = (uint8_t)order->kind;
    memcpy(out + 10, order->subject, ID_BYTES);
    bytes_put(out + 42, order->issued_ms, 8);
    memcpy(out + 50, order->reason, strlen(order->reason));
    const size_t signed_bytes = signed_part(message, context, out, bytes);
    secret_sign(out + bytes, key->sign_secret, message, signed_bytes);
    return bytes + SIGNATURE_BYTES;
}

/* Returns false unless the reason is printable text padded with zeros. */
static bool read_reason(const uint8_t *in, char out[static ORDER_REASON_BYTES + 1])
{
    memcpy(out, in, ORDER_REASON_BYTES);
    out[ORDER_REASON_BYTES] = '\0';
    for (size_t i = strlen(out); i < ORDER_REASON_BYTES; i++)
        if (in[i] != 0)
            return false;
    return order_is_reason(out);
}

static bool read_after(const uint8_t *in, struct order *order)
{
    const uint32_t count = order->pairs_count;
    order->pairs_count = 0;
    if (count == 0)
        return true;
    order->after = bytes_get(in, 8);
    return count == 1 && order->after > 0 && bytes_get(in + 8, 4) == 0;
}

static bool read_pairs(const uint8_t *in, struct order *order)
{
    if (order->kind == ORDER_ADMIT)
        return read_after(in, order);
    for (uint32_t i = 0; i < order->pairs_count; i++, in += ORDER_PAIR_BYTES) {
        struct order_pair *pair = &order->pairs[i];
        *pair = (struct order_pair){.incarnation = bytes_get(in, 8),
                                    .keep = (uint32_t)bytes_get(in + 8, 4)};
        if (pair->keep == 0 || pair->keep > KEEP_MAX ||
            (i > 0 && pair->incarnation <= pair[-1].incarnation))
            return false;
    }
    return true;
}

static bool read_rekey(const uint8_t *in, struct order *order)
{
    order->until_ms = bytes_get(in, 8);
    memcpy(order->before, in + 8, HASH_BYTES);
    return order->pairs_count == 0 && memcmp(order->before, order->subject, HASH_BYTES) != 0;
}

enum error order_parse(const uint8_t *in, size_t bytes, struct order *order, size_t *taken)
{
    if (bytes < ORDER_HEAD_BYTES + SIGNATURE_BYTES || !is_kind(in[8]) || in[9] > ORDER_PAIRS_MAX)
        return MALFORMED;
    struct order read = {.number = bytes_get(in, 8),
                         .kind = (enum order_kind)in[8],
                         .pairs_count = in[9],
                         .issued_ms = bytes_get(in + 42, 8)};
    const bool rekeys = read.kind == ORDER_REKEY;
    const size_t whole = ORDER_HEAD_BYTES + SIGNATURE_BYTES +
                         (rekeys ? ORDER_REKEY_BYTES : read.pairs_count * (size_t)ORDER_PAIR_BYTES);
    memcpy(read.subject, in + 10, ID_BYTES);
    if (bytes < whole || read.number == 0 || read.number > ORDERS_MAX ||
        !read_reason(in + 50, read.reason) ||
        !(rekeys ? read_rekey : read_pairs)(in + ORDER_HEAD_BYTES, &read))
        return MALFORMED;
    *order = read;
    *taken = whole;
    return OK;
}

enum error order_verify(const uint8_t *in, size_t bytes, const uint8_t operator_id[static ID_BYTES],
                        const uint8_t context[static CONTEXT_BYTES])
{
    uint8_t message[SIGNED_MAX];
    const size_t signed_bytes = signed_part(message, context, in, bytes - SIGNATURE_BYTES);
    return secret_verify(in + bytes - SIGNATURE_BYTES, operator_id, message, signed_bytes);
}

uint32_t order_keeps(const struct order *order, uint64_t incarnation)
{
    CHECK(order->kind == ORDER_EXPEL && order->pairs_count <= ORDER_PAIRS_MAX);
    for (uint32_t i = 0; i < order->pairs_count; i++)
        if (order->pairs[i].incarnation == incarnation)
            return order->pairs[i].keep;
    return 0;
}
