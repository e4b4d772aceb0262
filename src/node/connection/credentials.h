/* What a handshake needs to know of the node it belongs to.
 *
 * While a swarm moves to another key (orders/rekey.h) a node has some: it enters by any of them,
 * and lets in whoever shows any. Each costs a stranger's first frame one more tag, a microsecond.
 */
#ifndef HEARSAY_NODE_CONNECTION_CREDENTIALS_H
#define HEARSAY_NODE_CONNECTION_CREDENTIALS_H

#include "crypto/gate.h"
#include "crypto/identity.h"
#include "node/swarm_keys.h"

struct swarm_key {
    uint8_t key[KEY_BYTES]; /* the key itself */
    uint32_t order;         /* the number of the order that brought it; 0: none did */
};

/* What follows from a swarm key. */
struct entry_key {
    struct gate gate;       /* what a caller must show first */
    uint8_t psk[KEY_BYTES]; /* the handshake's key */
    uint32_t order;         /* as above */
};

struct credentials {
    const struct identity *identity;       /* the keys and id of this node */
    struct introduction ours;              /* what this node says of itself */
    struct entropy *entropy;               /* for ephemeral keys */
    struct entry_key keys[SWARM_KEYS_MAX]; /* the newest first */
    uint32_t keys_count;                   /* how many of them */
};

/* One key, which no order brought. identity and entropy must outlive the credentials. */
void credentials_init(struct credentials *credentials, const struct identity *identity,
                      const uint8_t swarm_key[static KEY_BYTES], const struct introduction *ours,
                      struct entropy *entropy);

/* These are the keys from now on, the newest first; at least one. Handshakes that have begun go on
 * with theirs. */
void credentials_set_keys(struct credentials *credentials, const struct swarm_key *keys,
                          uint32_t count);

#endif
