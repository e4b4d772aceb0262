#ifndef HEARSAY_NODE_TRANSFER_PARTITION_PRIVATE_H
#define HEARSAY_NODE_TRANSFER_PARTITION_PRIVATE_H

#include "node/broadcast/version.h"
#include "node/transfer/supporters_private.h"

/* Comparison of two sides of a partition. */
struct contest {
    const struct node *node;
    bool has_tags; /* transfer.tags is set */
    /* [2] members of whose current incarnations our side, or the other side, knows more samples */
    struct supporters *sides;
    double ours, theirs; /* samples that only our side, or only the other side, knows */
    /* Smallest tag of an origin of which the sides know different numbers of samples; UINT64_MAX =
     * none. */
    uint64_t first_tag;
    bool first_is_ours; /* our side knows more samples of the origin first_tag */
};

struct contest partition_contest(const struct node *node);
/* Counts the samples that each side knows of one origin. origin: ours; NULL = unknown here. theirs:
 * samples that the other side knows. */
void partition_count(struct contest *contest, const struct origin *origin, uint64_t tag,
                     uint64_t theirs);
/* Counts training members for the side that they are on, even if both sides know their samples. Our
 * side: this node, and its neighbours that exchange rumors with it. The other side: neighbours
 * behind the partition whose version equals that of `other`, a neighbour behind the partition. */
void partition_count_neighbours(struct contest *contest, const struct peer *other);
bool partition_is_decisive(const struct contest *contest);
bool partition_ours_preferred(const struct contest *contest);

#endif
