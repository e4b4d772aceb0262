/* The failure detector (Chandra, Toueg 1996). A member that is silent for longer than it promised
 * is dead until it is heard again. Before that, this node asks another member for a sign of its
 * life. A neighbour that was given up too early gets more time (Lifeguard: Dadgar, Phillips, Currey
 * 2018). Tests: tests/unit/node/test_members.c and tests/world/test_node.c.
 */
#ifndef HEARSAY_NODE_MEMBERSHIP_FAILURE_DETECTOR_H
#define HEARSAY_NODE_MEMBERSHIP_FAILURE_DETECTOR_H

#include "node/membership/membership.h"

/* Starts a round of checks. Call it once a second, and then failure_detector_review for each
 * member number except 0. */
void failure_detector_begin(struct node *node);
/* Checks whether this member has been silent for too long, and marks it as dead if so. Returns
 * true while the member counts as live. */
bool failure_detector_review(struct node *node, uint32_t number);
/* Returns true if half of the member's permitted silence is over and no sign of its life was
 * requested lately. */
bool failure_detector_is_sign_due(const struct node *node, const struct member *member);
void failure_detector_on_sign_asked(struct node *node, const struct member *member);

/* Returns how long the neighbour `id` may be silent before its conversation is ended, in ns. */
uint64_t failure_detector_patience_ns(const struct node *node, const uint8_t id[static ID_BYTES]);
/* Call it when the conversation with a neighbour has ended because of its silence. */
void failure_detector_on_given_up(struct node *node, const uint8_t id[static ID_BYTES]);
/* Call it when a peer becomes a neighbour. If this node had ended a conversation with the peer
 * because of its silence, and the peer has not restarted since, doubles its permitted silence as a
 * neighbour. */
void failure_detector_on_return(struct node *node, const uint8_t id[static ID_BYTES],
                                uint64_t incarnation);
/* Call it when this process was suspended for late_ns: gives every member this time in addition. */
void failure_detector_forgive(struct node *node, uint64_t late_ns);

/* Call it when an open conversation with this member has ended unexpectedly. The member stays
 * live until its permitted silence is over; meanwhile it is only shown as lost. */
void failure_detector_on_lost(struct node *node, const uint8_t id[static ID_BYTES]);

#endif
