/* This node's credentials for handshakes.
 *
 * While a swarm changes its key (orders/key_rotation.h) a node has several keys. It dials with any
 * of them and accepts any. Each key costs one more check of an authentication tag for the first
 * frame of an unknown caller, about a microsecond.
 */
#ifndef HEARSAY_NODE_CONNECTION_CREDENTIALS_H
#define HEARSAY_NODE_CONNECTION_CREDENTIALS_H

#include "crypto/gate.h"
#include "crypto/identity.h"
#include "node/swarm_keys.h"

struct swarm_key {
    uint8_t key[KEY_BYTES]; /* swarm key */
    uint32_t order;         /* number of the order that brought the key; 0 = none */
};

/* Values derived from a swarm key. */
struct entry_key {
    struct gate gate;       /* checks a caller's first frame */
    uint8_t psk[KEY_BYTES]; /* pre-shared key of the Noise handshake */
    uint32_t order;         /* number of the order that brought the key; 0 = none */
};

struct credentials {
    const struct identity *identity; /* this node's keys and id */
    struct introduction ours;        /* this node's introduction */
    const char *parts;       /* parts of this node's model (wire/model_parts.h); NULL = unknown */
    struct entropy *entropy; /* source of ephemeral keys */
    struct entry_key keys[SWARM_KEYS_MAX]; /* accepted keys, newest first */
    uint32_t keys_count;                   /* number of keys */
};

/* Initializes the credentials with one key that no order brought. identity and entropy must outlive
 * them. */
void credentials_init(struct credentials *credentials, const struct identity *identity,
                      const uint8_t swarm_key[static KEY_BYTES], const struct introduction *ours,
                      struct entropy *entropy);

/* Replaces the keys, newest first, at least one. Handshakes under way keep their key. */
void credentials_set_keys(struct credentials *credentials, const struct swarm_key *keys,
                          uint32_t count);

/* Replaces the introduction that all gates show and compare. */
void credentials_set_introduction(struct credentials *credentials, const struct introduction *ours);

#endif
