/* Progress: how many samples all have learned, as this node counts them. Schedules of learning
 * rates follow this count, and it never goes back.
 *
 *   where the count began ─┐  the checkpoint's count; or, of who joins, what live members say
 *   claims since then ─────┼─► belief_sum ─► progress ─► TRAIN, PUBLISH, our record, status
 *   what rumors bear out ──┘
 *
 * Claims are doubted that are new since the count began, which it does anew every hour. How the
 * swarm's history came about a node cannot know that joins; others were there and have doubted it,
 * and they say in their records where they are. Who has fallen far behind what several say begins
 * anew there.
 * Held by tests/unit/node/test_belief.c and tests/world/test_rate_schedule.c.
 */
#ifndef HEARSAY_NODE_BROADCAST_PROGRESS_H
#define HEARSAY_NODE_BROADCAST_PROGRESS_H

#include "node/broadcast/version.h"
#include "node/core.h"

struct progress *progress_new(struct arena *arena, const struct node *node,
                              struct versions *versions);
size_t progress_arena_bytes(const struct node_options *options);

/* The version of another became ours. */
void progress_on_takeover(struct node *node);
/* Once a second, and before training begins. */
void progress_review(struct node *node);

/* Samples that all have learned by now. */
uint64_t progress_samples(const struct node *node);
/* The same, to say to others: 0 while this node has not begun to count. */
uint64_t progress_to_say(const struct node *node);

/* Samples that all claim to have learned, whatever is believed of it. */
double progress_claimed(const struct node *node);

#endif
