/* Quarantine: names a harmful member and, if configured, expels it by a majority of votes.
 *
 *   byzantine: an origin's rumors are long ──► withheld, where votes count
 *     after TRIAL_NS ──► TRIAL: accuracy with and without them
 *       harm         ──► a vote, even if the origin stays silent
 *   byzantine: an origin's rumors seem harmful ──► a note that names it, if no trial can decide
 *     TRIAL: loss with and without its last rumors; then both without those of other suspects
 *       the loss is lower without them ──► a vote (orders/quorum_votes.h), to all neighbours
 *   VOTES ──► is it new? ──► to all other neighbours
 *     more than half ──► expulsion, as after a proof (expulsion.h)
 *
 * A publication that is too long is withheld until it no longer counts as too long, or until there
 * was time to vote. Then the learner gets it. So an honest member's work is late at worst, all
 * nodes end with the same base, and a publication that a majority finds harmful in that time never
 * moves the base. Length alone is no reason for a vote: an honest publication may be far longer
 * than others when training has just begun, or after a member's data have changed. One that this
 * node has voted against in its trial stays withheld for minutes, as long as the log has space. A
 * leaving node waits for the decision, and a joiner withholds rumors until it knows how long
 * publications are. A vote only names rumors that this node's log can still take out, so most nodes
 * can carry out a decision.
 *
 * A member may seem harmful by chance, most of all while few members train fast. So a suspect's
 * last rumors in the base are tried, which a vote would take out. If several members ruin the base,
 * it may be as bad without the rumors of one. So a second trial leaves out the last rumors of all
 * other suspects, unless the first has shown harm. Trials use the evidence up. Trials without a
 * vote take at most a tenth of the time. A node without test samples does not vote. Tests:
 * tests/world/test_quarantine.c, test_trial.c and test_withheld.c.
 */
#ifndef HEARSAY_NODE_GOVERNANCE_QUARANTINE_H
#define HEARSAY_NODE_GOVERNANCE_QUARANTINE_H

#include "node/broadcast/rumor_step.h"
#include "node/connection/connection.h"
#include "node/core.h"

struct quarantine *quarantine_new(struct arena *arena, const struct node_options *options);
size_t quarantine_arena_bytes(const struct node_options *options);

/* Judges a rumor of another node, and withholds it if its publication is too long. */
void quarantine_on_rumor(struct node *node, const struct rumor_step *step);
void quarantine_on_votes(struct node *node, const struct peer *from, const struct message *message);
/* Sets *action to a trial, if one is due. */
bool quarantine_next_trial(struct node *node, struct action *action);
/* Votes against the author if the trial shows that its rumors harm. */
void quarantine_on_trial(struct node *node, const struct base_trial *trial);
/* Casts votes, releases rumors that were withheld long enough, and adds notes. Call it every round
 * of gossip. */
void quarantine_review(struct node *node);

#endif
