#include "node/broadcast/history.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
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

void history_text(const uint8_t *history, size_t history_bytes, char *out, size_t room)
{
    size_t used = 0;
    CHECK(room > 0);
    out[0] = '\0';
    for (size_t left = history_bytes / HISTORY_ENTRY_BYTES; left > 0; left--) {
        const struct history_entry told =
            history_entry_at(history + (left - 1) * HISTORY_ENTRY_BYTES);
        char id[ID_TEXT_BYTES];
        identity_text(id, told.id);
        const int wrote = snprintf(out + used, room - used, "%s%s/%" PRIu64 ":%" PRIu32,
                                   used > 0 ? " " : "", id, told.incarnation, told.next);
        if (wrote < 0 || (size_t)wrote >= room - used) {
            out[used] = '\0';
            return;
        }
        used += (size_t)wrote;
    }
}
