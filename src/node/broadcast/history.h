/* A history: which rumors a base is the sum of, with the full name of each origin. It goes with a
 * base that is taken over, with a checkpoint and with an exported model.
 *
 *   OFFSET SIZE MEANING       (one entry, little-endian, 52 bytes; the oldest origin first)
 *        0   32 id
 *       32    8 incarnation
 *       40    4 next: its rumors before this one are in the base
 *       44    8 samples that it had learned by then
 */
#ifndef HEARSAY_NODE_BROADCAST_HISTORY_H
#define HEARSAY_NODE_BROADCAST_HISTORY_H

#include <stddef.h>
#include <stdint.h>

#include "crypto/identity.h"

#define HISTORY_ENTRY_BYTES 52

struct history_entry {
    uint8_t id[ID_BYTES]; /* the node */
    uint64_t incarnation; /* which incarnation of it */
    uint32_t next;        /* rumors before this one are in the base */
    uint64_t samples;     /* that it had learned by then */
};
void history_entry_put(uint8_t *out, const struct history_entry *entry);
struct history_entry history_entry_at(const uint8_t *at);

#endif
