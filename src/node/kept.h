/* What the owner of a node kept from an earlier start. A part of node.h, which its owner includes.
 */
#ifndef HEARSAY_NODE_KEPT_H
#define HEARSAY_NODE_KEPT_H

#include <stddef.h>
#include <stdint.h>

/* Bytes; read at birth. */
struct kept {
    const uint8_t *at; /* as the node gave it, and has checked it */
    size_t bytes;      /* how many */
};
struct node_kept {
    struct kept orders;     /* of the operator (put_out.h) */
    struct kept proofs;     /* against members, likewise */
    struct kept votes;      /* likewise; none where quarantines is not set */
    struct kept swarm_keys; /* that those orders have brought (swarm_keys.h) */
    uint64_t swarm_samples; /* learned by all, as the checkpoint says; 0: there is none */
};

#endif
