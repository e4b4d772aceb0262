/* The digest of a base on its way to us; what it is for, base_digest.c says. */
#ifndef HEARSAY_NODE_TRANSFER_BASE_DIGEST_PRIVATE_H
#define HEARSAY_NODE_TRANSFER_BASE_DIGEST_PRIVATE_H

#include "node/core.h"

/* base_digest.c's. */
struct base_digest {
    uint64_t missing; /* what the blocks that are missing must add to the digest, all together */
};

/* No block is written yet. digest: of the base, with all rumors that the learner was given. */
void base_digest_begin(struct node *node, uint64_t digest);
/* The learner is given this block. */
void base_digest_on_write(struct node *node, const struct action *write);
/* All blocks are written: have they made the base that was promised? */
bool base_digest_is_right(const struct node *node);

#endif
