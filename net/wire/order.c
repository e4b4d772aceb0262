#include "wire/order.h"

#include <string.h>

#include "wire/bytes.h"

#define EXPEL        1
#define ADMIT        2
#define KEEP_MAX     (1u << 28) /* rumors of one incarnation */
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

bool order_is_reason(const char *text)
{
    const size_t length = strlen(text);
    for (size_t i = 0; i < length; i++)
        if (text[i] < ' ' || text[i] > '~')
            return false;
    return length > 0 && length <= ORDER_REASON_BYTES;
}

size_t order_create(const struct order *order, const struct operator_key *key,
                    const uint8_t context[static CONTEXT_BYTES],
                    uint8_t out[static ORDER_BYTES_MAX])
{
    uint8_t message[SIGNED_MAX];
    const struct order_pair after = {.incarnation = order->after};
    const struct order_pair *pairs = order->admits ? &after : order->pairs;
    const uint32_t count = order->admits ? order->after > 0 : order->pairs_count;
    CHECK(count <= ORDER_PAIRS_MAX && order_is_reason(order->reason));
    memset(out, 0, ORDER_HEAD_BYTES);
    bytes_put(out, order->number, 8);
    out[8] = order->admits ? ADMIT : EXPEL;
    out[9] = (uint8_t)count;
    memcpy(out + 10, order->subject, ID_BYTES);
    bytes_put(out + 42, order->issued_ms, 8);
    memcpy(out + 50, order->reason, strlen(order->reason));
    size_t bytes = ORDER_HEAD_BYTES;
    for (uint32_t i = 0; i < count; i++, bytes += ORDER_PAIR_BYTES) {
        bytes_put(out + bytes, pairs[i].incarnation, 8);
        bytes_put(out + bytes + 8, pairs[i].keep, 4);
    }
    const size_t signed_bytes = signed_part(message, context, out, bytes);
    secret_sign(out + bytes, key->sign_secret, message, signed_bytes);
    return bytes + SIGNATURE_BYTES;
}

/* Printable, and then nothing but zeros. */
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
    if (order->admits)
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

enum error order_parse(const uint8_t *in, size_t bytes, struct order *order, size_t *taken)
{
    if (bytes < ORDER_HEAD_BYTES + SIGNATURE_BYTES || (in[8] != EXPEL && in[8] != ADMIT) ||
        in[9] > ORDER_PAIRS_MAX)
        return MALFORMED;
    struct order read = {.number = bytes_get(in, 8),
                         .admits = in[8] == ADMIT,
                         .pairs_count = in[9],
                         .issued_ms = bytes_get(in + 42, 8)};
    const size_t whole =
        ORDER_HEAD_BYTES + read.pairs_count * (size_t)ORDER_PAIR_BYTES + SIGNATURE_BYTES;
    memcpy(read.subject, in + 10, ID_BYTES);
    if (bytes < whole || read.number == 0 || read.number > ORDERS_MAX ||
        !read_reason(in + 50, read.reason) || !read_pairs(in + ORDER_HEAD_BYTES, &read))
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
    CHECK(!order->admits && order->pairs_count <= ORDER_PAIRS_MAX);
    for (uint32_t i = 0; i < order->pairs_count; i++)
        if (order->pairs[i].incarnation == incarnation)
            return order->pairs[i].keep;
    return 0;
}
