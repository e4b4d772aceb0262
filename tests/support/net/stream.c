#include "support/net/stream.h"

#include <string.h>

#define LONG 100000

static void put(uint8_t *out, const uint8_t *id, uint64_t incarnation, uint32_t seq,
                uint64_t samples)
{
    memset(out, 0, SIGNED_HEAD_BYTES);
    memcpy(out, id, ID_BYTES);
    bytes_put(out + HEAD_INCARNATION_AT, incarnation, 8);
    bytes_put(out + HEAD_SEQ_AT, seq, 4);
    bytes_put(out + HEAD_COUNT_AT, 1, HEAD_COUNT_BYTES);
    bytes_put(out + HEAD_SAMPLES_AT, samples, HEAD_SAMPLES_BYTES);
}

struct signed_head stream_head(const struct identity *identity, uint64_t incarnation, uint32_t seq,
                               uint64_t samples, const uint8_t context[static CONTEXT_BYTES])
{
    struct signed_head head = {0};
    uint8_t bytes[SIGNED_HEAD_BYTES];
    /* Of a stream longer than LONG, tests need only the last heads, so only the last three are
     * made. */
    for (uint32_t at = seq > LONG ? seq - 2 : 0; at <= seq; at++) {
        put(bytes, identity->id, incarnation, at, samples);
        memcpy(bytes + HEAD_PREV_AT, head.hash, HEAD_HASH_BYTES);
        bytes[HEAD_PREV_AT] |= at > LONG;
        signed_head_read(&head, bytes, context);
    }
    secret_sign(head.bytes + HEAD_BYTES, identity->sign_secret, head.hash, HEAD_HASH_BYTES);
    return head;
}

struct signed_head stream_unsigned(const uint8_t id[static ID_BYTES], uint64_t incarnation,
                                   uint32_t seq, uint64_t samples,
                                   const uint8_t context[static CONTEXT_BYTES])
{
    struct signed_head head;
    uint8_t bytes[SIGNED_HEAD_BYTES];
    put(bytes, id, incarnation, seq, samples);
    signed_head_read(&head, bytes, context);
    return head;
}
