/* Progress: the number of samples that the swarm has learned, as this node counts it. Learning-rate
 * schedules follow this count. It never falls.
 *
 *   start of the period ───┐  the checkpoint's count; for a joiner, the live members' reports
 *   reports since then ────┼─► credited_samples_sum ─► progress ─► TRAIN, PUBLISH, record, status
 *   supported by rumors ───┘
 *
 * Only reports of the present period, an hour long, are doubted. A joiner cannot verify the swarm's
 * earlier history; the other members did, and their records state their counts. A node whose count
 * is clearly below the lower median of the other live members' counts starts a new period at that
 * median. Tests: tests/unit/node/test_credited_samples.c and tests/world/test_rate_schedule.c.
 */
#ifndef HEARSAY_NODE_BROADCAST_PROGRESS_H
#define HEARSAY_NODE_BROADCAST_PROGRESS_H

#include "node/broadcast/version.h"
#include "node/core.h"

struct progress *progress_new(struct arena *arena, const struct node *node,
                              struct versions *versions);
size_t progress_arena_bytes(const struct node_options *options);

/* Call it when another version has replaced this node's. A node that has not joined then begins at
 * the counts of other members. */
void progress_on_takeover(struct node *node);
/* Updates the count. Call it every round of gossip, and before training starts. */
void progress_review(struct node *node);

uint64_t progress_samples(const struct node *node);
/* Returns the count for this node's record once it has joined; 0 until it has begun to count. */
uint64_t progress_to_say(const struct node *node);

/* Returns the sum of all reports, before credited_samples.h reduces them. */
double progress_claimed(const struct node *node);

#endif
