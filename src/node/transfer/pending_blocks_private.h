/* Received blocks, until they are part of our base; pending_blocks.c explains them. */
#ifndef HEARSAY_NODE_TRANSFER_PENDING_BLOCKS_PRIVATE_H
#define HEARSAY_NODE_TRANSFER_PENDING_BLOCKS_PRIVATE_H

#include "node/connection/connection.h"
#include "node/core.h"

#define PENDING_MAX 128 /* capacity for pending blocks */

/* A received block that is not in our base yet. */
struct pending_block {
    uint32_t block;   /* number of the block */
    uint32_t entries; /* entries of the block; 0 = this slot is free */
    uint64_t came_ns; /* time of arrival */
    uint64_t conn;    /* conn of the neighbour that sent it */
    bool is_donors;   /* the block is from the donor of our version */
    bool is_covered;  /* the learner was given every rumor in the block */
    uint64_t missing; /* number of rumors to add until the block matches our base */
    int32_t *units;   /* [block_entries] values of the block in base units */
    /* [incarnations_max] number of rumors in the block, by origin index; 0 for origins added later.
     */
    uint32_t *version;
    uint64_t hash; /* hash of the block's version, including heads */
};

/* State of pending_blocks.c. */
struct pending_blocks {
    struct pending_block blocks[PENDING_MAX];
    uint32_t ready_at; /* index of the next block to consider in this round */
    bool is_ready;     /* a round is under way: some blocks match our present base */
};

/* Stores a block. Returns MISSING if there is no space or an origin is unknown; then request the
 * block again. MISMATCH: request it from another neighbour, or later. MALFORMED: the bytes are no
 * block. */
enum error pending_put(struct node *node, const struct peer *from, const struct message *message);
bool pending_next_write(struct node *node, struct action *action);
void pending_clear(struct node *node);
/* Drops blocks whose missing rumors do not arrive, and requests them from other neighbours. */
void pending_drop_old(struct node *node);
/* Drops blocks with rumors beyond an expelled member's limit, and requests them from other
 * neighbours. */
void pending_drop_excess(struct node *node);

#endif
