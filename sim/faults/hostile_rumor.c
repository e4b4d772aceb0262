/* Rumors that every node must reject, or already has. Even rumors of the attacker's own identity
 * break a rule, because a valid rumor would be a normal contribution. */
#include <math.h>
#include <string.h>

#include "faults/hostile_private.h"
#include "frame/bytes.h"

#define ACCOMPLICES 8 /* number of invented members that sign excessive rumors */

static size_t rumor_of(struct hostile *hostile, const struct identity *origin, uint64_t incarnation,
                       uint32_t seq, uint32_t index, const uint8_t context[static CONTEXT_BYTES],
                       uint8_t out[static RUMOR_MAX])
{
    int8_t level = (int8_t)(2 + rng_below(&hostile->rng, LEVEL_MAX - 1));
    const struct update update = {
        .tau = 0.5f, .amount = 1000, .count = 1, .index = &index, .level = &level};
    struct rumor_head head = {.incarnation = incarnation, .seq = seq};
    memcpy(head.origin, origin->id, ID_BYTES);
    /* The hash of the previous head may be any nonzero value. All zeros mark the first rumor. */
    head.prev[0] = seq > 0;
    uint32_t taken;
    size_t bytes;
    rumor_encode(&head, &update, 0, RUMOR_MAX, origin, context, out, &taken, &bytes);
    return bytes;
}

size_t hostile_rumor_of(struct hostile *hostile, const struct identity *origin,
                        uint64_t incarnation, uint32_t seq, uint8_t out[static RUMOR_MAX])
{
    return rumor_of(hostile, origin, incarnation, seq, 5, hostile->context, out);
}

static size_t own_rumor(struct hostile *hostile, uint32_t seq, uint32_t index,
                        const uint8_t context[static CONTEXT_BYTES], uint8_t out[static RUMOR_MAX])
{
    return rumor_of(hostile, &hostile->identity, 1, seq, index, context, out);
}

static void sign(const struct hostile *hostile, uint8_t *rumor, size_t bytes)
{
    CHECK(rumor_seal(rumor, bytes - HEAD_BYTES - SIGNATURE_BYTES, &hostile->identity,
                     hostile->context) == bytes);
}

/* Writes a rumor of an invented member that changes a parameter too much or claims too many
 * samples. Nodes must expel that member, not the attacker. */
static size_t excessive(struct hostile *hostile, uint8_t out[static RUMOR_MAX])
{
    struct rng *rng = &hostile->rng;
    struct identity accomplice;
    uint8_t secret[SEED_BYTES] = {0x61, 0x63, (uint8_t)rng_below(rng, ACCOMPLICES)};
    identity_from_seed(&accomplice, secret);
    const size_t bytes = rumor_of(hostile, &accomplice, 1, 0, 5, hostile->context, out);
    if (rng_below(rng, 2) == 0)
        bytes_put(out + HEAD_AMOUNT_AT, AMOUNT_MAX + rng_below(rng, 2), 4);
    else
        bytes_put(out + HEAD_SAMPLES_AT, HEAD_SAMPLES_STEP + 1 + rng_below(rng, 1000),
                  HEAD_SAMPLES_BYTES);
    return rumor_seal(out, bytes - HEAD_BYTES - SIGNATURE_BYTES, &accomplice, hostile->context);
}

size_t hostile_rumor_early(struct hostile *hostile, uint8_t out[static RUMOR_MAX])
{
    const uint32_t seq = 1 + rng_below(&hostile->rng, 1u << (1 + rng_below(&hostile->rng, 30)));
    return own_rumor(hostile, seq, 5, hostile->context, out);
}

static float wrong_tau(struct rng *rng)
{
    const float wrong[] = {0, -1, NAN, INFINITY, 2 * TAU_MAX};
    return wrong[rng_below(rng, sizeof wrong / sizeof wrong[0])];
}

size_t hostile_rumor_over_limits(struct hostile *hostile, uint8_t out[static RUMOR_MAX])
{
    struct rng *rng = &hostile->rng;
    const uint64_t parameters = hostile->world->nodes[hostile->victim].options.parameters;
    const uint32_t beyond = (uint32_t)parameters + rng_below(rng, 1000);
    uint8_t other_context[CONTEXT_BYTES];
    memcpy(other_context, hostile->context, CONTEXT_BYTES);
    other_context[0] ^= 1;
    switch (rng_below(rng, 7)) {
    case 6:
        return excessive(hostile, out);
    case 0:
        return own_rumor(hostile, 0, beyond, hostile->context, out);
    case 1:
        return own_rumor(hostile, 0, 5, other_context, out);
    default:
        break;
    }
    size_t bytes = own_rumor(hostile, 0, 5, hostile->context, out);
    switch (rng_below(rng, 4)) {
    case 0:
        bytes_put_float(out + HEAD_TAU_AT, wrong_tau(rng));
        break;
    case 1:
        bytes_put(out + HEAD_AMOUNT_AT, 0, 4);
        break;
    case 2: /* the head claims more entries than the body has */
        bytes_put(out + HEAD_COUNT_AT, rng_below(rng, 2) ? 1000 : UINT32_MAX, HEAD_COUNT_BYTES);
        break;
    default: /* appends a byte to the body */
        memset(out + bytes - SIGNATURE_BYTES, 0, 1);
        bytes++;
        break;
    }
    sign(hostile, out, bytes);
    return bytes;
}

/* Writes the newest rumor that the victim has sent: with a flipped bit; with a higher number and
 * the attacker's signature; or unchanged. Until the victim has sent a rumor, invents a rumor of
 * the victim. */
size_t hostile_rumor_forged(struct hostile *hostile, uint8_t out[static RUMOR_MAX])
{
    const struct observed *observed = &hostile->observed;
    struct rng *rng = &hostile->rng;
    if (observed->rumor_bytes == 0) {
        const size_t bytes = own_rumor(hostile, 0, 5, hostile->context, out);
        memcpy(out, hostile->world->nodes[hostile->victim].identity.id, ID_BYTES);
        return bytes;
    }
    memcpy(out, observed->rumor, observed->rumor_bytes);
    switch (rng_below(rng, 3)) {
    case 0:
        out[rng_below(rng, (uint32_t)observed->rumor_bytes)] ^= (uint8_t)(1u << rng_below(rng, 8));
        break;
    case 1:
        bytes_put(out + HEAD_SEQ_AT, bytes_get(out + HEAD_SEQ_AT, 4) + 1 + rng_below(rng, 3), 4);
        sign(hostile, out, observed->rumor_bytes);
        break;
    default:
        break;
    }
    return observed->rumor_bytes;
}
