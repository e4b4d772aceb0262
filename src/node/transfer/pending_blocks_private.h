/* Blocks that came, until they are part of our base; what it is, pending_blocks.c says. */
#ifndef HEARSAY_NODE_TRANSFER_PENDING_BLOCKS_PRIVATE_H
#define HEARSAY_NODE_TRANSFER_PENDING_BLOCKS_PRIVATE_H

#include "node/connection/connection.h"
#include "node/core.h"

#define PENDING_MAX 128 /* blocks at once */

/* A block that came and is not yet in our base. */
struct pending_block {
    uint32_t block;    /* its number */
    uint32_t entries;  /* it has; 0: the place is free */
    uint64_t came_ns;  /* when it came */
    uint64_t conn;     /* from there */
    bool is_donors;    /* from the one whose version we took over */
    bool is_covered;   /* our learner has been given all that it is the sum of */
    uint64_t missing;  /* rumors to be added before it is as new as our base */
    int32_t *units;    /* [block_entries] */
    uint32_t *version; /* [incarnations_max] rumors it is the sum of; 0 for origins met later */
    uint64_t hash;     /* of its version, heads and all */
};

/* pending_blocks.c's. */
struct pending_blocks {
    struct pending_block blocks[PENDING_MAX];
    uint32_t ready_at; /* blocks before it have been given out in this round */
    bool is_ready;     /* a round is under way: of blocks as new as our base is now */
};

/* A block came. MISSING: there is no room, or we do not know all its origins: ask again. MISMATCH:
 * ask somebody else, or later. MALFORMED: it is no block. */
enum error pending_put(struct node *node, const struct peer *from, const struct message *message);
bool pending_next_write(struct node *node, struct action *action);
void pending_clear(struct node *node);
/* Some are the sum of rumors that do not come: ask for them again, elsewhere. */
void pending_drop_old(struct node *node);
/* Some know more of an expelled member than is kept: likewise. */
void pending_drop_excess(struct node *node);

#endif
