/* Received blocks, until they are part of our base; pending_blocks.c explains them. */
#ifndef HEARSAY_NODE_TRANSFER_PENDING_BLOCKS_PRIVATE_H
#define HEARSAY_NODE_TRANSFER_PENDING_BLOCKS_PRIVATE_H

#include "node/connection/connection.h"
#include "node/core.h"

#define PENDING_MAX 128 /* blocks at once */

/* A received block that is not in our base yet. */
struct pending_block {
    uint32_t block;    /* its number */
    uint32_t entries;  /* its size; 0 = this slot is free */
    uint64_t came_ns;  /* time of arrival */
    uint64_t conn;     /* conn of its donor */
    bool is_donors;    /* from the donor of our version */
    bool is_covered;   /* the learner was given every rumor in it */
    uint64_t missing;  /* rumors to add to bring it up to our base */
    int32_t *units;    /* [block_entries] */
    uint32_t *version; /* [incarnations_max] number of its rumors by origin index; 0 for origins
                          added later */
    uint64_t hash;     /* of its version, including heads */
};

/* State of pending_blocks.c. */
struct pending_blocks {
    struct pending_block blocks[PENDING_MAX];
    uint32_t ready_at; /* blocks before this slot were given out in this round */
    bool is_ready;     /* a round is under way: blocks that match our present base */
};

/* Takes a block. MISSING: no space, or an unknown origin: ask again. MISMATCH: ask another
 * neighbour, or later. MALFORMED: not a block. */
enum error pending_put(struct node *node, const struct peer *from, const struct message *message);
bool pending_next_write(struct node *node, struct action *action);
void pending_clear(struct node *node);
/* Drops blocks whose missing rumors do not arrive, and requests them elsewhere. */
void pending_drop_old(struct node *node);
/* Drops blocks with rumors beyond an expelled member's limit, likewise. */
void pending_drop_excess(struct node *node);

#endif
