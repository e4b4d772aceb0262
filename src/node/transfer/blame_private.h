/* Blame: the donor of the base being fetched, and the blamed members, which gave a false base. A
 * node takes no base from a blamed member until it restarts. */
#ifndef HEARSAY_NODE_TRANSFER_BLAME_PRIVATE_H
#define HEARSAY_NODE_TRANSFER_BLAME_PRIVATE_H

#include "node/connection/connection.h"
#include "node/core.h"

#define BLAMED_MAX 64

/* State of blame.c. */
struct blame {
    uint8_t ids[BLAMED_MAX][ID_BYTES]; /* ring of the ids of blamed members */
    /* Number of members blamed so far; the ring keeps the last BLAMED_MAX. */
    uint32_t count;
    uint8_t donor_id[ID_BYTES]; /* id of the node whose history replaced our version */
    /* Nodes other than the donor have also given blocks of this base. */
    bool is_of_many;
    /* The last base was false, so all blocks of the next base are requested from the donor of
     * that next base. If the next base is also false, its donor is to blame. */
    bool from_donor;
};

/* Blames a member and closes its conversation. */
void blame_put(struct node *node, const uint8_t id[static ID_BYTES]);
/* Call it when the fetched base is false. Blames the donor if it gave all blocks; otherwise
 * requests no blocks for REFUSED_NS from the nodes that gave them. */
void blame_givers(struct node *node);
bool blame_is_donor(const struct node *node, const struct peer *peer);
bool blame_is_on(const struct node *node, const struct peer *peer);

#endif
