/* The secrets of a conversation, in the arena for secrets (crypto/locked_memory.h). */
#ifndef HEARSAY_NODE_CONNECTION_PEER_KEYS_H
#define HEARSAY_NODE_CONNECTION_PEER_KEYS_H

#include "crypto/handshake.h"
#include "crypto/session.h"

struct peer_keys {
    /* State of the Noise handshake, without secrets once the session is established. */
    struct handshake handshake;
    struct session session; /* session keys and record counters; valid from MEETING on */
};

static inline size_t peer_keys_bytes(void)
{
    return sizeof(struct peer_keys) + 64;
}

#endif
