/* Effects of admission on the other folders (orders/admitted.h). For an id that is not admitted:
 *
 *   a conversation   ends with BYE and the reason as soon as its identity is known
 *   members          it is not live; its records are neither taken nor passed on
 *   broadcast        its rumors are neither taken nor requested; those in the base stay
 *   dialer           it is not dialled
 *
 * So the versions of two nodes with different lists differ by the rumors of the ids that only one
 * of them lists. They become equal when the lists do. Held by tests/world/test_admission.c.
 */
#ifndef HEARSAY_NODE_ADMIT_H
#define HEARSAY_NODE_ADMIT_H

#include "node/connection/connection.h"
#include "node/core.h"
#include "wire/order.h"

/* Called when a peer has proved its id. Returns false if it is not on the list; then the
 * conversation is over. An id that orders do not admit first gets these orders, after HELLO. */
bool admit_meet(struct node *node, const struct peer *peer);
/* Obeys an admission by the operator; and, after all received orders are obeyed, reviews every
 * conversation and member. */
void admit_obey(struct node *node, const struct order *order);
void admit_review(struct node *node);
/* Handles a LISTED message: a neighbour's hash of its member ids. */
void admit_on_listed(struct node *node, const struct peer *from, uint64_t hash);

#endif
