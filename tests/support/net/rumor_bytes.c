#include "support/net/rumor_bytes.h"

#include <string.h>

double rumor_bytes(const struct update *update, size_t most, const struct identity *identity)
{
    static const uint8_t context[CONTEXT_BYTES] = {1};
    static uint8_t out[RUMOR_MAX];
    struct rumor_head head = {.seq = 0};
    double sum = 0;
    memcpy(head.origin, identity->id, ID_BYTES);
    for (uint32_t from = 0; from < update->count; head.seq++) {
        uint32_t taken;
        size_t bytes;
        head.prev[0] = head.seq > 0;
        rumor_encode(&head, update, from, most, identity, context, out, &taken, &bytes);
        from += taken;
        sum += (double)bytes;
    }
    return sum;
}
