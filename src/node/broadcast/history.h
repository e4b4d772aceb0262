/* A history: the rumors of which a base is the sum. It accompanies a base that is taken over, a
 * checkpoint and an exported model.
 *
 * Each entry is the signed head (wire/signed_head.h) of an origin's last rumor in the base; the
 * origin that has published nothing for longest comes first. So a history cannot be forged: each
 * head is signed by its origin.
 */
#ifndef HEARSAY_NODE_BROADCAST_HISTORY_H
#define HEARSAY_NODE_BROADCAST_HISTORY_H

#include <stddef.h>
#include <stdint.h>

#include "wire/signed_head.h"

#define HISTORY_ENTRY_BYTES SIGNED_HEAD_BYTES
/* Largest number of rumors that a history may state for one incarnation. */
#define HISTORY_NEXT_MAX (1u << 28)

struct history_entry {
    uint8_t id[ID_BYTES]; /* id of the origin's node */
    uint64_t incarnation;
    uint32_t next;    /* the base contains the origin's rumors before this number */
    uint64_t samples; /* samples that the origin had learned at its last rumor in the base */
};
struct history_entry history_entry_at(const uint8_t *at);

#endif
