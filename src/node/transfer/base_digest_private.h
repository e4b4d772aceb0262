/* Digest of a base being fetched; base_digest.c explains it. */
#ifndef HEARSAY_NODE_TRANSFER_BASE_DIGEST_PRIVATE_H
#define HEARSAY_NODE_TRANSFER_BASE_DIGEST_PRIVATE_H

#include "node/core.h"

/* State of base_digest.c. */
struct base_digest {
    uint64_t missing; /* sum that the missing blocks must add to the digest */
};

/* Starts a check before any block is written. digest: that of the base with all updates that the
 * learner was given. */
void base_digest_begin(struct node *node, uint64_t digest);
/* Subtracts a block that the learner gets now. */
void base_digest_on_write(struct node *node, const struct action *write);
/* Returns true if all written blocks make the promised base. */
bool base_digest_is_right(const struct node *node);

#endif
