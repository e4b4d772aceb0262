/* A history: the rumors of which a base is the sum. It accompanies a base that is taken over, a
 * checkpoint and an exported model.
 *
 * Each entry is the signed head (wire/signed_head.h) of an origin's last rumor in the base; the
 * oldest origin comes first. So a history cannot be forged: each head is signed by its origin.
 */
#ifndef HEARSAY_NODE_BROADCAST_HISTORY_H
#define HEARSAY_NODE_BROADCAST_HISTORY_H

#include <stddef.h>
#include <stdint.h>

#include "wire/signed_head.h"

#define HISTORY_ENTRY_BYTES SIGNED_HEAD_BYTES
#define HISTORY_NEXT_MAX    (1u << 28) /* largest believable number of rumors of one incarnation */

struct history_entry {
    uint8_t id[ID_BYTES]; /* id of the origin's node */
    uint64_t incarnation; /* incarnation of that node */
    uint32_t next;        /* rumors before this number are in the base */
    uint64_t samples;     /* samples that the origin had learned at its last rumor in the base */
};
struct history_entry history_entry_at(const uint8_t *at);

#endif
