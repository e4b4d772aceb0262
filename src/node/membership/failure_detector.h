/* The failure detector (Chandra, Toueg 1996). A member that is silent for longer than it promised
 * is dead until it is heard again. Before that, this node asks another member for a sign of its
 * life. A neighbour that was given up too early gets more time (Lifeguard: Dadgar, Phillips, Currey
 * 2018). Tests: tests/unit/node/test_members.c and tests/world/test_node.c.
 */
#ifndef HEARSAY_NODE_MEMBERSHIP_FAILURE_DETECTOR_H
#define HEARSAY_NODE_MEMBERSHIP_FAILURE_DETECTOR_H

#include "node/membership/membership.h"

/* Once a second, call failure_detector_begin, then failure_detector_review for each member number.
 * failure_detector_review returns true while the member counts as live. */
void failure_detector_begin(struct node *node);
bool failure_detector_review(struct node *node, uint32_t number);
/* Returns true if half of the member's time is over and no sign of its life was requested lately.
 */
bool failure_detector_is_sign_due(const struct node *node, const struct member *member);
void failure_detector_on_sign_asked(struct node *node, const struct member *member);

/* Returns how long this neighbour may be silent before its conversation ends. */
uint64_t failure_detector_patience_ns(const struct node *node, const uint8_t id[static ID_BYTES]);
/* failure_detector_on_given_up records that the conversation with this neighbour ended because of
 * its silence. failure_detector_on_return doubles its time if it returns without having
 * restarted. */
void failure_detector_on_given_up(struct node *node, const uint8_t id[static ID_BYTES]);
void failure_detector_on_return(struct node *node, const uint8_t id[static ID_BYTES],
                                uint64_t incarnation);
/* Extends the time of every member by late_ns, for which this process was suspended. */
void failure_detector_forgive(struct node *node, uint64_t late_ns);

/* Records that an open conversation with this member ended unexpectedly. The member stays live for
 * the time that it promised; until then it is only shown as lost. */
void failure_detector_on_lost(struct node *node, const uint8_t id[static ID_BYTES]);

#endif
