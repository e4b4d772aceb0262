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
/* The rumors of a member from number `keep` of this incarnation on, and all of its later ones. */
struct removal {
    const uint8_t *id;
    uint64_t incarnation;
    uint32_t keep;
};
/* Sets *action to a trial that takes out the rumors of removals[0], from a base without those of
 * the other removals: of each, the latest ones in the base, as many as fit. Sets *is_empty if the
 * log has no rumors of removals[0]. */
bool trial_of_removal(struct node *node, const struct removal *removals, uint32_t count,
                      struct action *action, bool *is_empty);

#endif
