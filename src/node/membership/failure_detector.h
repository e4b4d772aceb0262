/* The failure detector (Chandra, Toueg 1996). A member is dead after four renewal periods without a
 * sign of life (member_silence_ns), until its next record arrives. From half of that time on, this
 * node asks neighbours for a sign of the member's life. A neighbour that was given up too early
 * gets more time (Lifeguard: Dadgar, Phillips, Currey 2018). Tests: tests/unit/node/test_members.c
 * and tests/world/test_node.c.
 */
#ifndef HEARSAY_NODE_MEMBERSHIP_FAILURE_DETECTOR_H
#define HEARSAY_NODE_MEMBERSHIP_FAILURE_DETECTOR_H

#include "node/membership/membership.h"

/* Starts a round of checks. Call it once a second, and then failure_detector_review for each
 * member number except 0. */
void failure_detector_begin(struct node *node);
/* Marks the member as dead if it has been silent for too long. Returns true if it is still live. */
bool failure_detector_review(struct node *node, uint32_t number);
/* Returns true if half of the member's permitted silence is over, and the last request for a sign
 * of its life is at least an eighth of the permitted silence old. False for a member that has no
 * origin. */
bool failure_detector_is_sign_due(const struct node *node, const struct member *member);
void failure_detector_on_sign_asked(struct node *node, const struct member *member);

/* Returns the silence in ns after which this node ends its conversation with the peer `id`. */
uint64_t failure_detector_patience_ns(const struct node *node, const uint8_t id[static ID_BYTES]);
/* Call it when this node ends a conversation because the peer `id` was silent. */
void failure_detector_on_given_up(struct node *node, const uint8_t id[static ID_BYTES]);
/* Call it when a peer becomes a neighbour. If this node gave up the peer too early (on_given_up,
 * and no restart since), doubles the peer's patience_ns, up to NODE_PATIENCE_MAX_NS. */
void failure_detector_on_return(struct node *node, const uint8_t id[static ID_BYTES],
                                uint64_t incarnation);
/* Call it after this process was suspended for late_ns: that time does not count as silence of any
 * member. */
void failure_detector_forgive(struct node *node, uint64_t late_ns);

/* Call it when an open conversation with this member has ended. The member stays live until its
 * permitted silence is over; meanwhile it is only shown as lost. */
void failure_detector_on_lost(struct node *node, const uint8_t id[static ID_BYTES]);

#endif
