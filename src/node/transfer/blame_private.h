/* The donors of the base being fetched, and the members that gave a false one. No base is taken
 * from those again while this process lives.
 */
#ifndef HEARSAY_NODE_TRANSFER_BLAME_PRIVATE_H
#define HEARSAY_NODE_TRANSFER_BLAME_PRIVATE_H

#include "node/connection/connection.h"
#include "node/core.h"

#define BLAMED_MAX 64

/* State of blame.c. */
struct blame {
    uint8_t ids[BLAMED_MAX][ID_BYTES]; /* ring of blamed members */
    uint32_t count;                    /* members blamed so far; the ring keeps the latest */
    uint8_t donor_id[ID_BYTES];        /* donor of the version */
    bool is_of_many;                   /* other nodes gave blocks of its base as well */
    /* A base was false lately: only the donor gives blocks, so it is to blame next time. */
    bool from_donor;
};

/* Adds a member to the ring and closes its conversation. */
void blame_put(struct node *node, const uint8_t id[static ID_BYTES]);
/* Handles blocks that do not fit the donor's history. Blames the donor if it gave all of them. */
void blame_givers(struct node *node);
bool blame_is_donor(const struct node *node, const struct peer *peer);
bool blame_is_on(const struct node *node, const struct peer *peer);

#endif
