#include "wire/rumor.h"

#include <math.h>
#include <string.h>

#include "frame/bytes.h"
#include "wire/body_codec.h"
#include "wire/move.h"

_Static_assert(SIGNATURE_BYTES >= BITS_TAIL_BYTES, "the signature is the body's tail");
_Static_assert(RUMOR_ENTRIES_MAX <= BODY_ENTRIES_MAX, "only its bytes limit a rumor");
_Static_assert(RUMOR_ENTRIES_MAX < 1u << 8 * HEAD_COUNT_BYTES, "the head's field holds the count");
_Static_assert((uint64_t)RUMOR_ENTRIES_MAX *LEVEL_MAX *LEVEL_MAX <=
                   (uint64_t)MOVE_LENGTH_MAX * MOVE_LENGTH_MAX,
               "and for the length");
_Static_assert(RUMOR_ENTRIES_MAX <= 1u << (GAMMA_MAX_BITS - 1), "a layer's size has a code");

static bool limits_hold(float tau, uint32_t amount, uint32_t count)
{
    return isfinite(tau) && tau > 0 && tau <= TAU_MAX && amount >= 1 && amount <= AMOUNT_MAX &&
           count >= 1;
}

static bool entries_hold(const uint32_t *index, const int8_t *level, uint32_t count)
{
    bool hold = true;
    for (uint32_t i = 1; i < count; i++)
        hold &= index[i] > index[i - 1];
    for (uint32_t i = 0; i < count; i++)
        hold &= level[i] != 0 && level[i] >= -LEVEL_MAX;
    return hold;
}

/* Writes the head except the hash of the body. */
static void head_store(uint8_t *out, const struct rumor_head *head, const struct update *update,
                       const struct move *move, uint32_t count)
{
    CHECK(head->samples < 1ull << 8 * HEAD_SAMPLES_BYTES);
    memcpy(out, head->origin, ID_BYTES);
    bytes_put(out + HEAD_INCARNATION_AT, head->incarnation, 8);
    bytes_put(out + HEAD_SEQ_AT, head->seq, 4);
    bytes_put(out + HEAD_COUNT_AT, count, HEAD_COUNT_BYTES);
    bytes_put(out + HEAD_TOP_AT, move->top, 1);
    bytes_put(out + HEAD_SAMPLES_AT, head->samples, HEAD_SAMPLES_BYTES);
    bytes_put(out + HEAD_LENGTH_AT, move->length, 2);
    bytes_put_float(out + HEAD_TAU_AT, update->tau);
    bytes_put(out + HEAD_AMOUNT_AT, update->amount, 4);
    memcpy(out + HEAD_PREV_AT, head->prev, HEAD_HASH_BYTES);
    CHECK(head_prev_fits(out));
}

static void body_hash(uint8_t hash[static HEAD_HASH_BYTES], const uint8_t *body, size_t bytes)
{
    secret_blake2b(hash, HEAD_HASH_BYTES, body, bytes, NULL, 0);
}

size_t rumor_seal(uint8_t *rumor, size_t body_bytes, const struct identity *identity,
                  const uint8_t context[static CONTEXT_BYTES])
{
    uint8_t hash[HEAD_HASH_BYTES];
    body_hash(rumor + HEAD_BODY_AT, rumor + HEAD_BYTES, body_bytes);
    secret_blake2b(hash, sizeof hash, rumor, HEAD_BYTES, context, CONTEXT_BYTES);
    secret_sign(rumor + HEAD_BYTES + body_bytes, identity->sign_secret, hash, sizeof hash);
    return HEAD_BYTES + body_bytes + SIGNATURE_BYTES;
}

void rumor_encode(const struct rumor_head *head, const struct update *update, uint32_t from,
                  size_t most, const struct identity *identity,
                  const uint8_t context[static CONTEXT_BYTES], uint8_t out[static RUMOR_MAX],
                  uint32_t *taken, size_t *bytes)
{
    CHECK(from < update->count && most >= RUMOR_LEAST && most <= RUMOR_MAX);
    CHECK(limits_hold(update->tau, update->amount, update->count));
    CHECK(memcmp(head->origin, identity->id, ID_BYTES) == 0);
    const uint32_t *index = update->index + from;
    const int8_t *level = update->level + from;
    uint32_t left = update->count - from;
    struct body_plan plan;
    body_plan_make(&plan, index, level, left < RUMOR_ENTRIES_MAX ? left : RUMOR_ENTRIES_MAX,
                   most - HEAD_BYTES - SIGNATURE_BYTES);
    CHECK(entries_hold(index, level, plan.count));

    const struct move move = move_of(update->amount, level, plan.count);
    head_store(out, head, update, &move, plan.count);
    const size_t body_bytes = body_encode(&plan, index, level, out + HEAD_BYTES);
    *taken = plan.count;
    *bytes = rumor_seal(out, body_bytes, identity, context);
}

enum error rumor_peek(const uint8_t *in, size_t bytes, struct rumor_head *head)
{
    if (bytes < RUMOR_MIN || bytes > RUMOR_MAX)
        return MALFORMED;
    memcpy(head->origin, in, ID_BYTES);
    head->incarnation = bytes_get(in + HEAD_INCARNATION_AT, 8);
    head->seq = (uint32_t)bytes_get(in + HEAD_SEQ_AT, 4);
    head->samples = head_samples(in);
    head->count = (uint32_t)bytes_get(in + HEAD_COUNT_AT, HEAD_COUNT_BYTES);
    memcpy(head->prev, in + HEAD_PREV_AT, HEAD_HASH_BYTES);
    return OK;
}

void rumor_signed_head(const uint8_t *in, size_t bytes, const uint8_t context[static CONTEXT_BYTES],
                       struct signed_head *head)
{
    uint8_t signed_bytes[SIGNED_HEAD_BYTES];
    CHECK(bytes >= RUMOR_MIN);
    memcpy(signed_bytes, in, HEAD_BYTES);
    memcpy(signed_bytes + HEAD_BYTES, in + bytes - SIGNATURE_BYTES, SIGNATURE_BYTES);
    signed_head_read(head, signed_bytes, context);
}

static enum error signature_check(const uint8_t *in, size_t bytes,
                                  const uint8_t context[static CONTEXT_BYTES])
{
    struct signed_head head;
    uint8_t hash[HEAD_HASH_BYTES];
    rumor_signed_head(in, bytes, context, &head);
    body_hash(hash, in + HEAD_BYTES, bytes - HEAD_BYTES - SIGNATURE_BYTES);
    if (memcmp(hash, in + HEAD_BODY_AT, sizeof hash) != 0)
        return FORGED;
    return signed_head_verify(&head);
}

/* Decodes a rumor. Checks the body, and top and length of the head, but no limits and no
 * signature. */
static enum error content_decode(const uint8_t *in, size_t bytes, uint64_t parameters,
                                 struct update *update)
{
    const size_t body_bytes = bytes - HEAD_BYTES - SIGNATURE_BYTES;
    const uint32_t count = (uint32_t)bytes_get(in + HEAD_COUNT_AT, HEAD_COUNT_BYTES);
    if (body_decode(in + HEAD_BYTES, body_bytes, parameters, count, update->index, update->level) !=
        OK)
        return MALFORMED;
    update->tau = bytes_get_float(in + HEAD_TAU_AT);
    update->amount = (uint32_t)bytes_get(in + HEAD_AMOUNT_AT, 4);
    update->count = count;
    const struct move move = move_of(update->amount, update->level, count);
    return move.top == in[HEAD_TOP_AT] && move.length == bytes_get(in + HEAD_LENGTH_AT, 2)
               ? OK
               : MALFORMED;
}

enum error rumor_decode(const uint8_t *in, size_t bytes,
                        const uint8_t context[static CONTEXT_BYTES], uint64_t parameters,
                        uint32_t capacity, struct update *update)
{
    if (bytes < RUMOR_MIN || bytes > RUMOR_MAX)
        return MALFORMED;
    uint32_t count = (uint32_t)bytes_get(in + HEAD_COUNT_AT, HEAD_COUNT_BYTES);
    uint32_t amount = (uint32_t)bytes_get(in + HEAD_AMOUNT_AT, 4);
    float tau = bytes_get_float(in + HEAD_TAU_AT);
    if (!limits_hold(tau, amount, count) || !head_prev_fits(in) || !head_is_within(in, parameters))
        return MALFORMED;
    if (count > capacity)
        return TOO_BIG;
    /* The signature is checked before the body is decoded, so only the origin itself can make
     * this node decode a hostile body. */
    if (signature_check(in, bytes, context) != OK)
        return FORGED;
    return content_decode(in, bytes, parameters, update);
}

void rumor_decode_again(const uint8_t *in, size_t bytes, uint64_t parameters, struct update *update)
{
    CHECK(content_decode(in, bytes, parameters, update) == OK);
}
