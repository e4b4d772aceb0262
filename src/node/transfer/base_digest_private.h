/* Check of a fetched base against its promised digest; base_digest.c explains it. */
#ifndef HEARSAY_NODE_TRANSFER_BASE_DIGEST_PRIVATE_H
#define HEARSAY_NODE_TRANSFER_BASE_DIGEST_PRIVATE_H

#include "node/core.h"

/* State of base_digest.c. */
struct base_digest {
    uint64_t missing; /* sum that the digests of the blocks not yet written must have */
};

/* Starts the check of a base, before any of its blocks is written. digest: digest of the
 * promised base, all updates that the learner was given included. */
void base_digest_begin(struct node *node, uint64_t digest);
/* Subtracts the digest of a block from `missing`. Call it when the learner is given the block. */
void base_digest_on_write(struct node *node, const struct action *write);
/* Returns true if the written blocks together have the promised digest. */
bool base_digest_is_right(const struct node *node);

#endif
