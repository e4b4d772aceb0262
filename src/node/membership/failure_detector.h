/* The failure detector (Chandra, Toueg 1996): a member that is silent for longer than it promised
 * is dead, until it is heard again. Before, somebody is asked for a sign of life of it; and one
 * that was given up too early as a neighbour is given more time (Dadgar, Phillips, Currey 2018:
 * Lifeguard). Held by tests/unit/node/test_members.c and tests/world/test_node.c. */
#ifndef HEARSAY_NODE_MEMBERSHIP_FAILURE_DETECTOR_H
#define HEARSAY_NODE_MEMBERSHIP_FAILURE_DETECTOR_H

#include "node/membership/membership.h"

/* Once a second: begin, then each member by its number. True: it is taken to live still. */
void failure_detector_begin(struct node *node);
bool failure_detector_review(struct node *node, uint32_t number);
/* Is half of its time over, and was nobody asked for a sign of life of it lately? */
bool failure_detector_is_sign_due(const struct node *node, const struct member *member);
void failure_detector_on_sign_asked(struct node *node, const struct member *member);

/* For how long this one may be silent as a neighbour. */
uint64_t failure_detector_patience_ns(const struct node *node, const uint8_t id[static ID_BYTES]);
/* As a neighbour it was given up for its silence; and it is back, without having died. */
void failure_detector_on_given_up(struct node *node, const uint8_t id[static ID_BYTES]);
void failure_detector_on_return(struct node *node, const uint8_t id[static ID_BYTES],
                                uint64_t incarnation);
/* We stood still for so long: nobody is to be taken for dead for that time. */
void failure_detector_forgive(struct node *node, uint64_t late_ns);

/* An open conversation with this member ended by no wish of ours. It lives for as long as it has
 * promised to be heard of; until then it is only shown as lost. */
void failure_detector_on_lost(struct node *node, const uint8_t id[static ID_BYTES]);

#endif
