/* State that a node's owner kept from an earlier start. Included by node.h. */
#ifndef HEARSAY_NODE_KEPT_H
#define HEARSAY_NODE_KEPT_H

#include <stddef.h>
#include <stdint.h>

/* Stored bytes; read at birth. */
struct kept {
    const uint8_t *at; /* stored bytes, as the node wrote and checked them */
    size_t bytes;      /* number of bytes */
};
struct node_kept {
    struct kept orders;     /* operator's orders (expulsion_api.h) */
    struct kept proofs;     /* equivocation proofs (expulsion_api.h) */
    struct kept votes;      /* expulsion votes (quarantine_api.h); empty without quarantines */
    struct kept swarm_keys; /* keys that orders have brought (swarm_keys.h) */
    uint64_t swarm_samples; /* samples that the swarm had learned at the checkpoint; 0 = none */
};

#endif
