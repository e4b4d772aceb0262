/* Digest of a base being fetched; base_digest.c explains it. */
#ifndef HEARSAY_NODE_TRANSFER_BASE_DIGEST_PRIVATE_H
#define HEARSAY_NODE_TRANSFER_BASE_DIGEST_PRIVATE_H

#include "node/core.h"

/* State of base_digest.c. */
struct base_digest {
    uint64_t missing; /* sum that the missing blocks must add to the digest */
};

/* No block is written yet. digest: of the base with all updates that the learner was given. */
void base_digest_begin(struct node *node, uint64_t digest);
/* The learner gets this block. */
void base_digest_on_write(struct node *node, const struct action *write);
/* Returns true if all written blocks make the promised base. */
bool base_digest_is_right(const struct node *node);

#endif
