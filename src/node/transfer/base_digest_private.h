/* Digest of a base being fetched; base_digest.c explains it. */
#ifndef HEARSAY_NODE_TRANSFER_BASE_DIGEST_PRIVATE_H
#define HEARSAY_NODE_TRANSFER_BASE_DIGEST_PRIVATE_H

#include "node/core.h"

/* State of base_digest.c. */
struct base_digest {
    uint64_t missing; /* digest that the missing blocks must sum up to */
};

/* Starts a check before any block is written. digest: digest of the promised base, all updates
 * given to the learner included. */
void base_digest_begin(struct node *node, uint64_t digest);
/* Subtracts the digest of a block that the learner is given now. */
void base_digest_on_write(struct node *node, const struct action *write);
/* Returns true if the written blocks together have the promised digest. */
bool base_digest_is_right(const struct node *node);

#endif
