/* The donors of the base being fetched, and the members that gave a false base. While this process
 * lives, it takes no base from such a member again. */
#ifndef HEARSAY_NODE_TRANSFER_BLAME_PRIVATE_H
#define HEARSAY_NODE_TRANSFER_BLAME_PRIVATE_H

#include "node/connection/connection.h"
#include "node/core.h"

#define BLAMED_MAX 64

/* State of blame.c. */
struct blame {
    uint8_t ids[BLAMED_MAX][ID_BYTES]; /* ring of blamed members */
    uint32_t count;                    /* members blamed so far; the ring keeps the latest */
    uint8_t donor_id[ID_BYTES];        /* id of the donor of our version */
    bool is_of_many;                   /* nodes other than the donor gave blocks as well */
    /* The last base was false, so only the donor gives blocks: if the next base is false, the donor
     * is to blame. */
    bool from_donor;
};

/* Adds a member to the ring and closes its conversation. */
void blame_put(struct node *node, const uint8_t id[static ID_BYTES]);
/* Handles blocks that do not fit the donor's history. Blames the donor if it gave all of them. */
void blame_givers(struct node *node);
bool blame_is_donor(const struct node *node, const struct peer *peer);
bool blame_is_on(const struct node *node, const struct peer *peer);

#endif
