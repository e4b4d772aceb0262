#include "wire/signed_head.h"

#include <string.h>

#include "wire/move.h"

void signed_head_read(struct signed_head *head, const uint8_t bytes[static SIGNED_HEAD_BYTES],
                      const uint8_t context[static CONTEXT_BYTES])
{
    memcpy(head->bytes, bytes, SIGNED_HEAD_BYTES);
    secret_blake2b(head->hash, HEAD_HASH_BYTES, bytes, HEAD_BYTES, context, CONTEXT_BYTES);
}

bool head_prev_fits(const uint8_t head[static HEAD_BYTES])
{
    static const uint8_t none[HEAD_HASH_BYTES];
    const bool is_first = bytes_get(head + HEAD_SEQ_AT, 4) == 0;
    return is_first == (memcmp(head + HEAD_PREV_AT, none, HEAD_HASH_BYTES) == 0);
}

bool head_samples_follow(uint64_t before, uint64_t samples)
{
    return samples >= before && samples - before <= HEAD_SAMPLES_STEP;
}

bool head_is_within(const uint8_t head[static HEAD_BYTES], uint64_t parameters)
{
    const struct move move = {.amount = (uint32_t)bytes_get(head + HEAD_AMOUNT_AT, 4),
                              .top = head[HEAD_TOP_AT],
                              .length = (uint32_t)bytes_get(head + HEAD_LENGTH_AT, 2)};
    const bool is_first = bytes_get(head + HEAD_SEQ_AT, 4) == 0;
    return move_is_allowed(&move, parameters) &&
           (!is_first || head_samples_follow(0, head_samples(head)));
}

enum error signed_head_verify(const struct signed_head *head)
{
    if (!head_prev_fits(head->bytes))
        return MALFORMED;
    return secret_verify(head->bytes + HEAD_BYTES, head->bytes, head->hash, HEAD_HASH_BYTES);
}
