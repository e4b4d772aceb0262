/* Retraction: what an expelled member published, beyond what the orders keep, is taken out again.
 *
 *   version   next = keep; hash and digest by the rumors in the log, at once
 *   learner   APPLY of the same rumors negated, of each origin the last first, as many at once as
 * it may be given; those that it was never given are passed by
 *
 * The base is a sum, so the order in which something leaves it does not matter; but with the last
 * rumor of an origin leaving first, what the learner has is at any moment those before some number,
 * as in any version. Until all are out they stay in the log (rumor_log_pin), and neither is the
 * base served nor another taken over. If the log does not have all of them any more, nothing of
 * that origin is taken out, and the base of a neighbour whose log did is taken over
 * (transfer/fetch.c). Held by tests/world/test_expulsion.c.
 */
#ifndef HEARSAY_NODE_BROADCAST_RETRACT_H
#define HEARSAY_NODE_BROADCAST_RETRACT_H

#include "node/core.h"

/* This member has been expelled, or is by another order now: nothing of it is taken beyond what the
 * orders keep. */
void retract_on_expelled(struct node *node, const uint8_t id[static ID_BYTES]);
/* What is known beyond that leaves the version at once, and then the learner's base, as far as the
 * log reaches back. No publication may be under way. Returns how many rumors left the version. */
uint64_t retract_begin(struct node *node);
/* From this number on the log is enough to take the rumors of the origin at this place out, and for
 * a while. */
uint32_t retract_reach(const struct node *node, uint32_t place);
/* By what the digest changes when the rumors of an origin from this number on leave the version:
 * the log has them. */
uint64_t retract_digest(struct node *node, uint32_t place, uint32_t from);
/* The next rumor that is to leave the learner's base: APPLY, negated. */
bool retract_next(struct node *node, struct action *action);
/* Does it wait for the end of a publication? */
bool retract_is_due(const struct node *node);
/* Does the learner's base still have some of it? */
bool retract_is_under_way(const struct node *node);
/* The log did not reach back: only another base helps, and until then ours is nobody's. */
bool retract_needs_base(const struct node *node);

#endif
