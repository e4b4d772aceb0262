/* A history: which rumors a base is the sum of. It goes with a base that is taken over, with a
 * checkpoint and with an exported model.
 *
 * An entry is the signed head (wire/signed_head.h) of the last rumor of an origin that is in the
 * base; the oldest origin comes first. So nobody can make a history up: it names no rumor that its
 * origin has not signed.
 */
#ifndef HEARSAY_NODE_BROADCAST_HISTORY_H
#define HEARSAY_NODE_BROADCAST_HISTORY_H

#include <stddef.h>
#include <stdint.h>

#include "wire/signed_head.h"

#define HISTORY_ENTRY_BYTES SIGNED_HEAD_BYTES
#define HISTORY_NEXT_MAX    (1u << 28) /* rumors of one incarnation: no more is believed */

struct history_entry {
    uint8_t id[ID_BYTES]; /* the node */
    uint64_t incarnation; /* which incarnation of it */
    uint32_t next;        /* rumors before this one are in the base */
    uint64_t samples;     /* that it had learned by then */
};
struct history_entry history_entry_at(const uint8_t *at);

#endif
