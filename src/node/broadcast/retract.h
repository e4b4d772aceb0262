/* Retraction: takes an expelled member's rumors beyond its limit (origin.keep) out of the base.
 *
 *   version   next = keep; hash and digest are corrected by the rumors in the log, at once
 *   learner   APPLY of the same rumors negated, each origin's last rumor first, as many at once as
 *             the learner accepts; rumors that it was never given are skipped
 *
 * The base is a sum, so the order of removal does not matter. But if each origin's last rumor
 * leaves first, the learner's base always contains a prefix of each stream, as every version does.
 * Until all are out, these rumors stay in the log (rumor_log_pin), the base is not served, and no
 * other base is taken over. If the log lacks some rumors, no rumor of that origin is taken out, and
 * a neighbour's base without them is taken over (transfer/fetch.c). Tests:
 * tests/world/test_expulsion.c.
 */
#ifndef HEARSAY_NODE_BROADCAST_RETRACT_H
#define HEARSAY_NODE_BROADCAST_RETRACT_H

#include "node/core.h"

/* Call it when the verdict on this member has changed: sets for each of its origins from which
 * number on rumors are refused (origin->keep). */
void retract_on_expelled(struct node *node, const uint8_t id[static ID_BYTES]);
/* Takes expelled members' rumors beyond their limits out of the version, as far as the log has
 * them; retract_next then takes them out of the learner's base. No publication may be under way.
 * Returns the number of rumors that left the version. */
uint64_t retract_begin(struct node *node);
/* Returns the lowest number from which on this origin's rumors can be taken out: the log has all of
 * them and the one before, and keeps them for a while. */
uint32_t retract_reach(const struct node *node, uint32_t origin_index);
/* Returns the amount to add to the digest when this origin's rumors from number `from` on are
 * removed from the version. The log must have these rumors. */
uint64_t retract_digest(struct node *node, uint32_t origin_index, uint32_t from);
/* Sets *action to an APPLY that takes the next rumor out of the learner's base. Returns false if no
 * rumor is to be taken out, or the learner accepts no more. */
bool retract_next(struct node *node, struct action *action);
/* Returns true if retract_begin must be called as soon as no publication is under way. */
bool retract_is_due(const struct node *node);
/* Returns true if the learner's base still contains rumors that are no longer in the version. */
bool retract_is_under_way(const struct node *node);
/* Returns true if the log lacked rumors to take out: this node needs a neighbour's base, and does
 * not serve its own. */
bool retract_needs_base(const struct node *node);

#endif
