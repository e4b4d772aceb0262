/* Blame: the donor of the base being fetched, and the blamed members, which gave a false base. This
 * node takes no base from the last BLAMED_MAX blamed members until its process restarts. */
#ifndef HEARSAY_NODE_TRANSFER_BLAME_PRIVATE_H
#define HEARSAY_NODE_TRANSFER_BLAME_PRIVATE_H

#include "node/connection/connection.h"
#include "node/core.h"

#define BLAMED_MAX 64

struct blame {
    uint8_t ids[BLAMED_MAX][ID_BYTES]; /* ring of the ids of blamed members */
    uint32_t count;                    /* members blamed so far; the ring keeps the last ones */
    uint8_t donor_id[ID_BYTES];        /* id of the node whose history replaced our version */
    bool is_of_many; /* nodes other than the donor also gave blocks of the fetched base */
    /* The last base was false, so all blocks of the next base come from that base's own donor. The
     * donor is to blame if its base is also false. */
    bool from_donor;
};

/* Blames a member and closes its conversation. */
void blame_put(struct node *node, const uint8_t id[static ID_BYTES]);
/* Call it when the fetched base is false. Blames the donor if it gave all blocks. Otherwise
 * requests nothing for REFUSED_NS from the donor and the neighbours that gave blocks. */
void blame_givers(struct node *node);
bool blame_is_donor(const struct node *node, const struct peer *peer);
bool blame_is_on(const struct node *node, const struct peer *peer);

#endif
