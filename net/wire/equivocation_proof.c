#include "wire/equivocation_proof.h"

#include <string.h>

#define STREAM_BYTES HEAD_SEQ_AT /* origin and incarnation name a stream */

static bool prev_is(const uint8_t *head, const uint8_t hash[static HEAD_HASH_BYTES])
{
    return memcmp(head + HEAD_PREV_AT, hash, HEAD_HASH_BYTES) == 0;
}

/* Returns true if the two heads of one stream contradict each other. Either they have the same
 * number and differ, and `first` has the smaller bytes. Or they have consecutive numbers, and prev
 * of the second is not the hash of the first. */
static bool is_equivocation(const struct signed_head *first, const struct signed_head *second)
{
    const uint64_t from = signed_head_seq(first), to = signed_head_seq(second);
    return from == to ? memcmp(first->bytes, second->bytes, HEAD_BYTES) < 0
                      : from + 1 == to && !prev_is(second->bytes, first->hash);
}

/* If first and second are equal, returns true if the head exceeds a limit. If second directly
 * follows first in one hash chain, returns true if its sample count cannot follow. */
static bool is_excess(const struct signed_head *first, const struct signed_head *second,
                      uint64_t parameters)
{
    if (memcmp(first->bytes, second->bytes, SIGNED_HEAD_BYTES) == 0)
        return !head_is_within(first->bytes, parameters);
    return (uint64_t)signed_head_seq(first) + 1 == signed_head_seq(second) &&
           prev_is(second->bytes, first->hash) &&
           !head_samples_follow(signed_head_samples(first), signed_head_samples(second));
}

static bool is_proof(const struct signed_head *first, const struct signed_head *second,
                     uint64_t parameters)
{
    return memcmp(first->bytes, second->bytes, STREAM_BYTES) == 0 &&
           (is_equivocation(first, second) || is_excess(first, second, parameters));
}

enum error proof_create(const struct signed_head *one, const struct signed_head *other,
                        uint64_t parameters, uint8_t out[static PROOF_BYTES])
{
    const bool is_in_order = is_proof(one, other, parameters);
    if (!is_in_order && !is_proof(other, one, parameters))
        return MISMATCH;
    memcpy(out, (is_in_order ? one : other)->bytes, SIGNED_HEAD_BYTES);
    memcpy(out + SIGNED_HEAD_BYTES, (is_in_order ? other : one)->bytes, SIGNED_HEAD_BYTES);
    return OK;
}

/* Returns the number of the first rumor that the proof puts in doubt. */
static uint32_t in_doubt(const struct signed_head *first, const struct signed_head *second)
{
    const uint32_t seq = signed_head_seq(first);
    if (!is_equivocation(first, second))
        return signed_head_seq(second);
    const bool differ_before =
        signed_head_seq(second) == seq && !prev_is(second->bytes, first->bytes + HEAD_PREV_AT);
    CHECK(seq > 0 || !differ_before);
    return seq - differ_before;
}

enum error proof_parse(const uint8_t in[static PROOF_BYTES],
                       const uint8_t context[static CONTEXT_BYTES], uint64_t parameters,
                       struct proof *proof)
{
    struct signed_head first, second;
    signed_head_read(&first, in, context);
    signed_head_read(&second, in + SIGNED_HEAD_BYTES, context);
    if (!head_prev_fits(first.bytes) || !head_prev_fits(second.bytes) ||
        !is_proof(&first, &second, parameters))
        return MALFORMED;
    *proof =
        (struct proof){.kind = is_equivocation(&first, &second) ? PROOF_EQUIVOCATION : PROOF_EXCESS,
                       .incarnation = signed_head_incarnation(&first),
                       .keep = in_doubt(&first, &second)};
    memcpy(proof->author, in, ID_BYTES);
    return OK;
}

enum error proof_verify(const uint8_t in[static PROOF_BYTES],
                        const uint8_t context[static CONTEXT_BYTES])
{
    struct signed_head head;
    for (size_t at = 0; at < PROOF_BYTES; at += SIGNED_HEAD_BYTES) {
        signed_head_read(&head, in + at, context);
        const enum error error = signed_head_verify(&head);
        if (error != OK)
            return error;
    }
    return OK;
}

bool proof_is_stricter(const struct proof *proof, const struct proof *than)
{
    CHECK(memcmp(proof->author, than->author, ID_BYTES) == 0);
    return proof->incarnation != than->incarnation ? proof->incarnation < than->incarnation
                                                   : proof->keep < than->keep;
}

uint32_t proof_keeps(const struct proof *proof, uint64_t incarnation)
{
    return incarnation < proof->incarnation   ? UINT32_MAX
           : incarnation > proof->incarnation ? 0
                                              : proof->keep;
}
