/* The secrets of a conversation, in memory for keys (crypto/locked_memory.h). */
#ifndef HEARSAY_NODE_CONNECTION_PEER_KEYS_H
#define HEARSAY_NODE_CONNECTION_PEER_KEYS_H

#include "crypto/handshake.h"
#include "crypto/session.h"

struct peer_keys {
    struct handshake handshake; /* Noise state; wiped when the session stands */
    struct session session;     /* keys and counters; from MEETING on */
};

/* Returns the arena bytes for one conversation. */
static inline size_t peer_keys_bytes(void)
{
    return sizeof(struct peer_keys) + 64;
}

#endif
