/* Trials: the learner scores its base on this node's test samples, as it is and with a member's
 * rumors added or taken out. A trial changes nothing. Its result decides about a vote
 * (quarantine.h). Both functions return false if the log lacks the rumors, or if the learner has
 * too many unanswered rumors now. Tests: tests/world/test_withheld.c and test_trial.c. */
#ifndef HEARSAY_NODE_BROADCAST_TRIAL_H
#define HEARSAY_NODE_BROADCAST_TRIAL_H

#include "node/core.h"

/* Sets *action to a trial that adds the origin's withheld rumors: the oldest ones, as many as fit.
 */
bool trial_of_withheld(struct node *node, uint32_t origin_index, struct action *action);
/* Sets *action to a trial that takes out a member's rumors from number `keep` of this incarnation
 * on, and those of its later incarnations: the latest ones in the base, as many as fit. Sets
 * *is_empty if the log has none of them. */
bool trial_of_removal(struct node *node, const uint8_t id[static ID_BYTES], uint64_t incarnation,
                      uint32_t keep, struct action *action, bool *is_empty);

#endif
