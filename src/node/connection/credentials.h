/* What a handshake needs to know of the node it belongs to. */
#ifndef HEARSAY_NODE_CONNECTION_CREDENTIALS_H
#define HEARSAY_NODE_CONNECTION_CREDENTIALS_H

#include "crypto/gate.h"
#include "crypto/identity.h"

struct credentials {
    const struct identity *identity;      /* the keys and id of this node */
    struct gate gate;                     /* what a caller must show first, from the swarm key */
    uint8_t psk[KEY_BYTES];               /* the handshake's key, derived from the swarm key */
    uint8_t prologue[INTRODUCTION_BYTES]; /* what both sides must agree on: swarm and model */
    struct entropy *entropy;              /* for ephemeral keys */
};

/* identity and entropy must outlive the credentials. */
void credentials_init(struct credentials *credentials, const struct identity *identity,
                      const uint8_t swarm_key[static KEY_BYTES], const struct introduction *ours,
                      struct entropy *entropy);

#endif
