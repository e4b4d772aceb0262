#include "wire/proof.h"

#include <string.h>

#define STREAM_BYTES HEAD_SEQ_AT /* origin and incarnation */

static bool prev_is(const uint8_t *head, const uint8_t hash[static HEAD_HASH_BYTES])
{
    return memcmp(head + HEAD_PREV_AT, hash, HEAD_HASH_BYTES) == 0;
}

/* Do they contradict each other, in this order? */
static bool contradict(const struct signed_head *first, const struct signed_head *second)
{
    const uint64_t from = signed_head_seq(first), to = signed_head_seq(second);
    if (memcmp(first->bytes, second->bytes, STREAM_BYTES) != 0)
        return false;
    return from == to ? memcmp(first->bytes, second->bytes, HEAD_BYTES) < 0
                      : from + 1 == to && !prev_is(second->bytes, first->hash);
}

enum error proof_create(const struct signed_head *one, const struct signed_head *other,
                        uint8_t out[static PROOF_BYTES])
{
    const bool is_in_order = contradict(one, other);
    if (!is_in_order && !contradict(other, one))
        return MISMATCH;
    memcpy(out, (is_in_order ? one : other)->bytes, SIGNED_HEAD_BYTES);
    memcpy(out + SIGNED_HEAD_BYTES, (is_in_order ? other : one)->bytes, SIGNED_HEAD_BYTES);
    return OK;
}

enum error proof_parse(const uint8_t in[static PROOF_BYTES],
                       const uint8_t context[static CONTEXT_BYTES], struct proof *proof)
{
    struct signed_head first, second;
    signed_head_read(&first, in, context);
    signed_head_read(&second, in + SIGNED_HEAD_BYTES, context);
    if (!head_prev_fits(first.bytes) || !head_prev_fits(second.bytes) ||
        !contradict(&first, &second))
        return MALFORMED;
    const uint32_t seq = signed_head_seq(&first);
    const bool differ_before =
        signed_head_seq(&second) == seq && !prev_is(second.bytes, first.bytes + HEAD_PREV_AT);
    CHECK(seq > 0 || !differ_before);
    *proof =
        (struct proof){.incarnation = signed_head_incarnation(&first), .keep = seq - differ_before};
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
