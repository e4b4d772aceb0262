/* This node's credentials for handshakes.
 *
 * While a swarm changes its key (orders/key_rotation.h) a node has several keys. It dials with
 * any of them and accepts any. Each key costs one more check of an authentication tag for the
 * first frame of an unknown peer that dials this node, about a microsecond.
 */
#ifndef HEARSAY_NODE_CONNECTION_CREDENTIALS_H
#define HEARSAY_NODE_CONNECTION_CREDENTIALS_H

#include "crypto/gate.h"
#include "crypto/identity.h"
#include "node/swarm_keys.h"

struct swarm_key {
    uint8_t key[KEY_BYTES];
    /* number of the operator's order that dates the key (swarm_key_age); higher = newer */
    uint32_t order;
};

/* Values derived from one swarm key, and the number of its order. */
struct entry_key {
    /* Creates and checks the gate, the start of a conversation's first frame. */
    struct gate gate;
    uint8_t psk[KEY_BYTES]; /* pre-shared key of the Noise handshake */
    uint32_t order;         /* copied from struct swarm_key, not derived from the key */
};

struct credentials {
    const struct identity *identity;
    struct introduction ours;
    const char *parts;       /* parts of this node's model (wire/model_parts.h); NULL = unknown */
    struct entropy *entropy; /* random numbers for ephemeral keys */
    struct entry_key keys[SWARM_KEYS_MAX]; /* swarm keys that this node accepts, newest first */
    uint32_t keys_count;
};

/* Initializes the credentials with one swarm key, dated by order 0. identity and entropy must
 * outlive the credentials. */
void credentials_init(struct credentials *credentials, const struct identity *identity,
                      const uint8_t swarm_key[static KEY_BYTES], const struct introduction *ours,
                      struct entropy *entropy);

/* Replaces the swarm keys: at least one, newest first. A started handshake keeps its key. */
void credentials_set_keys(struct credentials *credentials, const struct swarm_key *keys,
                          uint32_t count);

/* Replaces this node's introduction, also in the gates of its first frames. */
void credentials_set_introduction(struct credentials *credentials, const struct introduction *ours);

#endif
