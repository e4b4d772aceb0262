#include "node/broadcast/history.h"

#include <string.h>

#include "wire/bytes.h"

void history_entry_put(uint8_t *out, const struct history_entry *entry)
{
    memcpy(out, entry->id, ID_BYTES);
    bytes_put(out + 32, entry->incarnation, 8);
    bytes_put(out + 40, entry->next, 4);
    bytes_put(out + 44, entry->samples, 8);
}

struct history_entry history_entry_at(const uint8_t *at)
{
    struct history_entry entry = {.incarnation = bytes_get(at + 32, 8),
                                  .next = (uint32_t)bytes_get(at + 40, 4),
                                  .samples = bytes_get(at + 44, 8)};
    memcpy(entry.id, at, ID_BYTES);
    return entry;
}
