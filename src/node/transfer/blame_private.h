/* Who gives the base that is being fetched; and members that gave one that was not what they said:
 * no base is taken from them again, as long as this process lives. */
#ifndef HEARSAY_NODE_TRANSFER_BLAME_PRIVATE_H
#define HEARSAY_NODE_TRANSFER_BLAME_PRIVATE_H

#include "node/connection/connection.h"
#include "node/core.h"

#define BLAMED_MAX 64

/* blame.c's. */
struct blame {
    uint8_t ids[BLAMED_MAX][ID_BYTES]; /* a ring of members */
    uint32_t count;                    /* blamed so far; the oldest are forgotten */
    uint8_t donor_id[ID_BYTES];        /* whose version we took over */
    bool is_of_many;                   /* others gave blocks of its base, too */
    bool from_donor; /* one was false lately: only the donor gives, and is to blame next time */
};

/* Remember it, and hang up on it. */
void blame_put(struct node *node, const uint8_t id[static ID_BYTES]);
/* What they gave is not what the donor's history says: it is to blame if it gave all of it. */
void blame_givers(struct node *node);
bool blame_is_donor(const struct node *node, const struct peer *peer);
bool blame_is_on(const struct node *node, const struct peer *peer);

#endif
