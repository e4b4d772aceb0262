#include "wire/rumor.h"

#include <math.h>
#include <string.h>

#include "wire/body.h"
#include "wire/bytes.h"

_Static_assert(SIGNATURE_BYTES >= BITS_TAIL_BYTES, "the signature is the body's tail");
_Static_assert(RUMOR_ENTRIES_MAX <= BODY_ENTRIES_MAX, "a rumor is cut by its bytes alone");
_Static_assert(RUMOR_ENTRIES_MAX <= 1u << (GAMMA_MAX_BITS - 1), "a layer's size has a code");

#define ROOM_BYTES (RUMOR_MAX - RUMOR_HEAD_BYTES - SIGNATURE_BYTES)

#define INCARNATION_AT 32
#define SEQ_AT         40
#define COUNT_AT       44
#define SAMPLES_AT     48
#define TAU_AT         56
#define AMOUNT_AT      60

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

static void head_store(uint8_t *out, const struct rumor_head *head, const struct update *update,
                       uint32_t count)
{
    memcpy(out, head->origin, ID_BYTES);
    bytes_put(out + INCARNATION_AT, head->incarnation, 8);
    bytes_put(out + SEQ_AT, head->seq, 4);
    bytes_put(out + COUNT_AT, count, 4);
    bytes_put(out + SAMPLES_AT, head->samples, 8);
    bytes_put_float(out + TAU_AT, update->tau);
    bytes_put(out + AMOUNT_AT, update->amount, 4);
}

/* What is signed: keyed with the context, the hash of one swarm's rumor fits no other swarm. */
static void signed_hash(uint8_t hash[static 64], const uint8_t context[static CONTEXT_BYTES],
                        const uint8_t *rumor, size_t bytes)
{
    secret_blake2b(hash, 64, rumor, bytes, context, CONTEXT_BYTES);
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
                   most - RUMOR_HEAD_BYTES - SIGNATURE_BYTES);
    CHECK(entries_hold(index, level, plan.count));

    uint8_t hash[64];
    head_store(out, head, update, plan.count);
    size_t signed_bytes =
        RUMOR_HEAD_BYTES + body_encode(&plan, index, level, out + RUMOR_HEAD_BYTES);
    signed_hash(hash, context, out, signed_bytes);
    secret_sign(out + signed_bytes, identity->sign_secret, hash, sizeof hash);
    *taken = plan.count;
    *bytes = signed_bytes + SIGNATURE_BYTES;
}

enum error rumor_peek(const uint8_t *in, size_t bytes, struct rumor_head *head)
{
    if (bytes < RUMOR_MIN || bytes > RUMOR_MAX)
        return MALFORMED;
    memcpy(head->origin, in, ID_BYTES);
    head->incarnation = bytes_get(in + INCARNATION_AT, 8);
    head->seq = (uint32_t)bytes_get(in + SEQ_AT, 4);
    head->samples = bytes_get(in + SAMPLES_AT, 8);
    head->count = (uint32_t)bytes_get(in + COUNT_AT, 4);
    return OK;
}

/* The rumor's signature by the origin it names. */
static enum error signature_check(const uint8_t *in, size_t bytes,
                                  const uint8_t context[static CONTEXT_BYTES])
{
    uint8_t hash[64];
    size_t signed_bytes = bytes - SIGNATURE_BYTES;
    signed_hash(hash, context, in, signed_bytes);
    return secret_verify(in + signed_bytes, in, hash, sizeof hash);
}

/* All but the limits and the signature. */
static enum error content_decode(const uint8_t *in, size_t bytes, uint64_t parameters,
                                 struct update *update)
{
    const size_t body_bytes = bytes - RUMOR_HEAD_BYTES - SIGNATURE_BYTES;
    const uint32_t count = (uint32_t)bytes_get(in + COUNT_AT, 4);
    if (body_decode(in + RUMOR_HEAD_BYTES, body_bytes, parameters, count, update->index,
                    update->level) != OK)
        return MALFORMED;
    update->tau = bytes_get_float(in + TAU_AT);
    update->amount = (uint32_t)bytes_get(in + AMOUNT_AT, 4);
    update->count = count;
    return OK;
}

enum error rumor_decode(const uint8_t *in, size_t bytes,
                        const uint8_t context[static CONTEXT_BYTES], uint64_t parameters,
                        uint32_t capacity, struct update *update)
{
    if (bytes < RUMOR_MIN || bytes > RUMOR_MAX)
        return MALFORMED;
    uint32_t count = (uint32_t)bytes_get(in + COUNT_AT, 4);
    uint32_t amount = (uint32_t)bytes_get(in + AMOUNT_AT, 4);
    float tau = bytes_get_float(in + TAU_AT);
    if (!limits_hold(tau, amount, count))
        return MALFORMED;
    if (count > capacity)
        return TOO_BIG;
    /* Before the body: then only the origin itself can cost us the work of a hostile one. */
    if (signature_check(in, bytes, context) != OK)
        return FORGED;
    return content_decode(in, bytes, parameters, update);
}

void rumor_decode_again(const uint8_t *in, size_t bytes, uint64_t parameters, struct update *update)
{
    CHECK(content_decode(in, bytes, parameters, update) == OK);
}
