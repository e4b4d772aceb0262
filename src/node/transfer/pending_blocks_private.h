/* Received blocks, until they are part of our base; pending_blocks.c explains them. */
#ifndef HEARSAY_NODE_TRANSFER_PENDING_BLOCKS_PRIVATE_H
#define HEARSAY_NODE_TRANSFER_PENDING_BLOCKS_PRIVATE_H

#include "node/connection/connection.h"
#include "node/core.h"

#define PENDING_MAX 128 /* received blocks that may wait at once */

/* A received block that is not in our base yet. */
struct pending_block {
    uint32_t block;   /* number of the block in the base */
    uint32_t entries; /* number of entries in the block; 0 = this slot is free */
    uint64_t came_ns; /* time when the block arrived */
    uint64_t conn;    /* conn of the neighbour that sent the block */
    bool is_donors;   /* the sender is the donor of the base, whose version replaced ours */
    bool is_covered;  /* the learner was given every rumor in the block */
    uint64_t missing; /* number of rumors that the block lacks and our base has */
    int32_t *units;   /* [block_entries] values of the block's entries, in base units */
    /* [incarnations_max] number of rumors in the block, by origin index */
    uint32_t *version;
    uint64_t hash; /* hash over the last rumor of each origin in the block */
};

/* State of pending_blocks.c. */
struct pending_blocks {
    struct pending_block blocks[PENDING_MAX];
    uint32_t ready_at; /* index of the next block to consider among those that make_ready chose */
    /* Blocks chosen by make_ready match our base now and are not all written. */
    bool is_ready;
};

/* Stores a received block. If it returns MISSING (no free slot, or an unknown origin), request
 * the block again. If it returns MISMATCH, request the block from another neighbour, or later.
 * MALFORMED: the bytes are not a block. */
enum error pending_put(struct node *node, const struct peer *from, const struct message *message);
bool pending_next_write(struct node *node, struct action *action);
void pending_clear(struct node *node);
/* Drops blocks that have waited too long for rumors, and requests them from other neighbours. */
void pending_drop_old(struct node *node);
/* Drops blocks that contain more rumors of an expelled member than may stay, and requests them
 * from other neighbours. */
void pending_drop_excess(struct node *node);

#endif
