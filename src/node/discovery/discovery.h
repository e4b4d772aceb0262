/* How nodes find each other.
 *
 *   member_gossip  each member renews its own signed record and passes on what is new to it
 *   dialer         whom to call: addresses given by the user, and those of members
 *
 *   our record renewed ──► MEMBER_UPDATE ──► neighbours ──► MEMBER_UPDATE ──► theirs …
 *   a node knows few   ──► MEMBER_QUERY  ──► one neighbour ──► MEMBER_LIST, some at a time
 *   a member is silent ──► MEMBER_QUERY  ──► one neighbour ──► MEMBER_UPDATE of it
 */
#ifndef HEARSAY_NODE_DISCOVERY_DISCOVERY_H
#define HEARSAY_NODE_DISCOVERY_DISCOVERY_H

#include "node/connection/connection.h"
#include "node/core.h"

struct discovery *discovery_new(struct arena *arena, const struct node *node);
size_t discovery_arena_bytes(const struct node_options *options);
void discovery_on_end(struct node *node, const struct peer *peer); /* the conversation is over */

/* Member gossip. */

/* A newer record of each member follows within so long; while leaving, sooner. */
uint64_t member_gossip_period_ns(const struct node *node);
/* Sign a new record of our own if the last one is old or wrong. */
void member_gossip_renew(struct node *node);
/* Send what is new to whom. */
void member_gossip_flush(struct node *node);
/* Notice silent members, and ask for a sign of life in time. Once a second. */
void member_gossip_review(struct node *node);
/* After a round of gossip: what our base was then. A base that rests is news while we leave. */
void member_gossip_end_round(struct node *node);

/* Records came. False: the sender is broken, and the conversation has been closed. */
bool member_gossip_on_records(struct node *node, const struct peer *from,
                              const struct bytes *records, bool pass_on);
void member_gossip_on_list(struct node *node); /* a MEMBER_LIST came */
/* Tag 0: it asks for all members; otherwise for a sign of life of this one. */
void member_gossip_on_query(struct node *node, const struct peer *from, uint64_t tag);
/* A neighbour knows so many live members: if clearly more than we do, it is to list them. */
void member_gossip_compare(struct node *node, const struct peer *from, uint64_t members);
/* It is to list them, unless that was asked for lately. */
void member_gossip_ask_for_list(struct node *node, const struct peer *from);
/* This is how others reach us, as they see it: kept if it is better than what we knew. */
void member_gossip_on_observed(struct node *node, const struct bytes *host);

/* Nothing of this member is sent any more: it may not be in the swarm. */
void member_gossip_forget(struct node *node, uint32_t number);
/* All neighbours are to list the members: others may be in the swarm from now on. */
void member_gossip_list_anew(struct node *node);
uint32_t member_gossip_waiting(const struct node *node); /* records about to be sent */

/* Dialer. */

/* An address worth dialling. id: of the node that answers there; or NULL. */
void dialer_add(struct node *node, const struct address *address, const uint8_t *id, bool is_seed);
bool dialer_next(struct node *node, struct action *action); /* DIAL */
/* Now and then: leave one neighbour of those we called, if there are others to call. */
void dialer_shuffle(struct node *node);
/* A large swarm, and too many neighbours, since all came at once: leave one that called us. */
void dialer_make_room(struct node *node);
void dialer_on_met(struct node *node, const struct peer *peer);  /* its id is known */
void dialer_on_open(struct node *node, const struct peer *peer); /* it is a neighbour */
void dialer_on_self(struct node *node, const struct peer *peer); /* it is this node itself */
/* Those who are called rarely since they would not have us, or we not them, are called now. */
void dialer_call_anew(struct node *node);
void dialer_on_closed(struct node *node, const struct peer *peer);

/* What is known of the address that was dialled for this conversation. */
struct dialed {
    bool is_seed;      /* the user gave it */
    uint32_t failures; /* calls in turn that came to nothing */
    const uint8_t *id; /* the member that says that it listens there; NULL: none does */
};
struct dialed dialer_dialed(const struct node *node, const struct peer *peer);

#endif
