#ifndef HEARSAY_NODE_TRANSFER_SUPPORTERS_PRIVATE_H
#define HEARSAY_NODE_TRANSFER_SUPPORTERS_PRIVATE_H

#include "node/core.h"

/* The lead of one base over another, by member: rumors or samples that only this base contains.
 * Each member counts once as a supporter, so one member cannot outweigh the others by claiming many
 * rumors or samples. Ids that are not in the member table count as one member. */
struct supporters {
    uint64_t *lead; /* [members_max + 1] rumors or samples by member number, then those of all other
                       ids */
};

size_t supporters_arena_bytes(const struct node_options *options);
void supporters_init(struct supporters *supporters, struct arena *arena,
                     const struct node_options *options);
void supporters_clear(struct supporters *supporters, const struct node *node);
/* Adds `lead` rumors or samples of this member. */
void supporters_add(struct supporters *supporters, const struct node *node,
                    const uint8_t id[static ID_BYTES], uint64_t lead);
/* Returns the number of members in the table whose lead is at least `least`. */
uint32_t supporters_count(const struct supporters *supporters, const struct node *node,
                          uint64_t least);
/* Returns the largest lead of a member; all ids outside the table count as one member. */
uint64_t supporters_most(const struct supporters *supporters, const struct node *node);
/* Returns true if more than half of the members have a lead of at least `least`. This node counts
 * only if it has that lead. Another member counts if it has that lead, or is live and trains or has
 * trained. */
bool supporters_are_most(const struct supporters *supporters, const struct node *node,
                         uint64_t least);

#endif
