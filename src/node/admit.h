/* Admission: what it does to all rooms that somebody may not be in the swarm (orders/admitted.h).
 *
 *   a conversation   ends, with BYE and the reason, as soon as its identity is known
 *   members          it does not live; its records are passed over and not passed on
 *   broadcast        nothing more of it is taken or asked for; what is in the base stays there
 *   dialer           it is not called
 *
 * So two nodes whose lists differ have versions that differ by the rumors of those whom one of them
 * does not list, and come together when the lists do. Held by tests/world/test_admission.c.
 */
#ifndef HEARSAY_NODE_ADMIT_H
#define HEARSAY_NODE_ADMIT_H

#include "node/connection/connection.h"
#include "node/core.h"
#include "wire/order.h"

/* It has shown who it is. False: it is not on the list, and the conversation is over. Who was not
 * admitted by orders is told these first, behind HELLO. */
bool admit_meet(struct node *node, const struct peer *peer);
/* The operator admits somebody; and, when all orders that came are obeyed: who may be here now? */
void admit_obey(struct node *node, const struct order *order);
void admit_review(struct node *node);
/* LISTED: a neighbour says by a hash who the members are. */
void admit_on_listed(struct node *node, const struct peer *from, uint64_t hash);

#endif
