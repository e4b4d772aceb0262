/* Effects of admission on the other folders (orders/admitted.h). For an id that is not admitted:
 *
 *   a conversation   ends with BYE and the reason as soon as the peer has proved its id
 *   members          it is not live; its records are neither taken nor passed on
 *   broadcast        its rumors are neither taken nor requested; those in the base stay
 *   dialer           it is not dialled
 *
 * So the versions of two nodes with different lists differ by the rumors of the ids that only one
 * of them lists. Once the lists are equal, the versions become equal again. Tests:
 * tests/world/test_admission.c.
 */
#ifndef HEARSAY_NODE_GOVERNANCE_ADMIT_H
#define HEARSAY_NODE_GOVERNANCE_ADMIT_H

#include "node/connection/connection.h"
#include "node/core.h"
#include "wire/order.h"

/* Call it when a peer has proved its id. Returns false, and closes the conversation, if the id is
 * not on this node's list. If orders decide about admission, returns true: dispatch.c answers the
 * HELLO of a peer that is not admitted with the orders, and then refuses it. */
bool admit_meet(struct node *node, const struct peer *peer);
void admit_obey(struct node *node, const struct order *order);
/* Checks whether each peer and each member is still admitted. Call it after all received orders
 * have been obeyed. */
void admit_review(struct node *node);
/* Handles a LISTED message. hash: the neighbour's admitted_hash. */
void admit_on_listed(struct node *node, const struct peer *from, uint64_t hash);

#endif
