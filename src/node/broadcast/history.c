#include "node/broadcast/history.h"

#include <string.h>

struct history_entry history_entry_at(const uint8_t *at)
{
    struct history_entry entry = {.incarnation = bytes_get(at + HEAD_INCARNATION_AT, 8),
                                  .next = (uint32_t)bytes_get(at + HEAD_SEQ_AT, 4) + 1,
                                  .samples = head_samples(at)};
    memcpy(entry.id, at, ID_BYTES);
    return entry;
}
