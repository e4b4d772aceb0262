/* State that a node's owner kept from an earlier start. Included by node.h. */
#ifndef HEARSAY_NODE_KEPT_H
#define HEARSAY_NODE_KEPT_H

#include <stddef.h>
#include <stdint.h>

/* Bytes that the node once wrote for its owner. Only node_new and the checks read them. */
struct kept {
    const uint8_t *at; /* the bytes; the owner has checked them, for example by node_orders_check */
    size_t bytes;
};
struct node_kept {
    struct kept orders;     /* the operator's orders (expulsion_api.h) */
    struct kept proofs;     /* proofs against members (expulsion_api.h) */
    struct kept votes;      /* votes to expel members (quarantine_api.h); empty if votes are off */
    struct kept swarm_keys; /* keys that orders have introduced (swarm_keys.h) */
    /* Samples that the swarm had learned at the checkpoint; 0 = no checkpoint. */
    uint64_t swarm_samples;
};

#endif
