#ifndef HEARSAY_NODE_TRANSFER_BASE_DIGEST_PRIVATE_H
#define HEARSAY_NODE_TRANSFER_BASE_DIGEST_PRIVATE_H

#include "node/core.h"

struct base_digest {
    uint64_t missing; /* sum that the digests of the unwritten blocks must have */
};

/* Call it before the first block of the base is written. digest: digest of the promised base,
 * including all updates that the learner was given. */
void base_digest_begin(struct node *node, uint64_t digest);
/* Call it when the learner is given a block: subtracts the block's digest from `missing`. */
void base_digest_on_write(struct node *node, const struct action *write);
/* Returns true if the written blocks have the promised digest. Call it after the last block. */
bool base_digest_is_right(const struct node *node);

#endif
