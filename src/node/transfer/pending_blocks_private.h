#ifndef HEARSAY_NODE_TRANSFER_PENDING_BLOCKS_PRIVATE_H
#define HEARSAY_NODE_TRANSFER_PENDING_BLOCKS_PRIVATE_H

#include "node/connection/connection.h"
#include "node/core.h"

#define PENDING_MAX 128 /* maximum received blocks that are not in our base yet */

/* A received block that is not in our base yet. */
struct pending_block {
    uint32_t block;    /* number of the block in the base */
    uint32_t entries;  /* entries in the block; 0 = this slot is free */
    uint64_t came_ns;  /* time when the block arrived */
    uint64_t conn;     /* conn of the neighbour that sent the block */
    bool is_donors;    /* the sender is the donor of the base, whose version replaced ours */
    bool is_covered;   /* make_ready chose the block: the learner was given every rumor in it */
    uint64_t missing;  /* rumors that the block lacks and our base has */
    int32_t *units;    /* [block_entries] values of the block's entries, in units of QUANTUM */
    uint32_t *version; /* [incarnations_max] number of rumors in the block, by origin index */
    uint64_t hash;     /* hash of the block's version */
};

struct pending_blocks {
    struct pending_block blocks[PENDING_MAX];
    uint32_t ready_at; /* index in `blocks` of the next one to write; valid if is_ready */
    bool is_ready;     /* blocks that make_ready chose may still be unwritten */
};

/* Stores a received block. MISSING: there is no free slot, or the block lists an unknown origin, so
 * request the block again. MISMATCH: request it from another neighbour, or later. MALFORMED: the
 * bytes are not a block. */
enum error pending_put(struct node *node, const struct peer *from, const struct message *message);
/* Sets *action to the WRITE of the next block that matches our base; returns false if there is
 * none. */
bool pending_next_write(struct node *node, struct action *action);
void pending_clear(struct node *node);
/* Drops blocks that have waited too long, and requests the blocks again. */
void pending_drop_old(struct node *node);
/* Drops blocks that contain more rumors of an expelled member than may stay, and requests the
 * blocks again. */
void pending_drop_excess(struct node *node);

#endif
