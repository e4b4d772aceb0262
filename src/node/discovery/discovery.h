/* Discovery: how nodes find each other.
 *
 *   member_gossip  each member renews its own signed record; members pass on new records
 *   dialer         which addresses to dial
 *
 *   own record renewed      ──► MEMBER_UPDATE ──► neighbours ──► MEMBER_UPDATE ──► theirs …
 *   too few members known   ──► MEMBER_QUERY  ──► one neighbour ──► MEMBER_LIST, in parts
 *   a member is silent      ──► MEMBER_QUERY  ──► one neighbour ──► MEMBER_UPDATE of it
 */
#ifndef HEARSAY_NODE_DISCOVERY_DISCOVERY_H
#define HEARSAY_NODE_DISCOVERY_DISCOVERY_H

#include "node/connection/connection.h"
#include "node/core.h"

struct discovery *discovery_new(struct arena *arena, const struct node *node);
size_t discovery_arena_bytes(const struct node_options *options);
/* Call it when the conversation with the peer has ended. */
void discovery_on_end(struct node *node, const struct peer *peer);

/* The following functions exchange member records (member_gossip.c). */

/* Returns the longest time between two records of a member, in ns. It is shorter while this node
 * is leaving. */
uint64_t member_gossip_period_ns(const struct node *node);
/* Signs a new record of this node if the last one is too old or its contents no longer hold. */
void member_gossip_renew(struct node *node);
/* Signs a new record of this node. Call it when the context of signatures has changed. */
void member_gossip_sign_again(struct node *node);
/* Sends each neighbour the member records that are queued for it. */
void member_gossip_flush(struct node *node);
/* Finds members that have been silent for too long, and asks neighbours for signs of their life
 * before that. Call it once a second. */
void member_gossip_review(struct node *node);
/* Call it at the end of a round of gossip: stores the digest of this node's base. If the digest
 * is unchanged after the next round, a leaving node signs a new record. */
void member_gossip_end_round(struct node *node);

/* Handles records that a neighbour sent. pass_on: true = send new records on to other
 * neighbours. Returns false if a record is invalid; the conversation is then closed. */
bool member_gossip_on_records(struct node *node, const struct peer *from,
                              const struct bytes *records, bool pass_on);
void member_gossip_on_list(struct node *node); /* Call it when a MEMBER_LIST has arrived. */
/* Answers a MEMBER_QUERY. tag: 0 = send the neighbour the records of all members; otherwise send
 * the record of the member whose origin has this tag. */
void member_gossip_on_query(struct node *node, const struct peer *from, uint64_t tag);
/* Requests the neighbour's member list if the neighbour counts clearly more live members than
 * this node. */
void member_gossip_compare(struct node *node, const struct peer *from, uint64_t members);
/* Requests the neighbour's member list, unless some list has been requested or has arrived
 * lately. */
void member_gossip_ask_for_list(struct node *node, const struct peer *from);
/* Stores the host at which a neighbour sees this node. Does not replace a stored host, unless
 * that is a loopback address. */
void member_gossip_on_observed(struct node *node, const struct bytes *host);

/* Removes the record of the member with this number from the queues of all neighbours, because
 * the member is not admitted. */
void member_gossip_forget(struct node *node, uint32_t number);
/* Requests the member lists of all neighbours. Call it when the admitted ids have changed. */
void member_gossip_relist(struct node *node);
/* Returns the number of records that are queued for neighbours. */
uint32_t member_gossip_waiting(const struct node *node);

/* The following functions decide which addresses to dial (dialer.c). */

/* Adds an address to dial. id: the node expected at the address; NULL = unknown. */
void dialer_add(struct node *node, const struct address *address, const uint8_t *id, bool is_seed);
/* Sets *action to a DIAL and returns true if an address is to be dialled now. */
bool dialer_next(struct node *node, struct action *action);
/* Hangs up on a neighbour that this node dialled, if SHUFFLE_NS has passed and another member
 * could be dialled instead. */
void dialer_shuffle(struct node *node);
/* Hangs up on a neighbour that dialled this node, if this node has too many neighbours in a
 * large swarm. That happens after many nodes have dialled one seed. */
void dialer_make_room(struct node *node);
/* Call it when the handshake has shown the peer's id. */
void dialer_on_met(struct node *node, const struct peer *peer);
/* Call it when the peer becomes a neighbour. */
void dialer_on_open(struct node *node, const struct peer *peer);
/* Call it when the dialled peer turns out to be this node itself. */
void dialer_on_self(struct node *node, const struct peer *peer);
/* Makes the dials due that wait longest because this node or the peer refused the other. */
void dialer_redial(struct node *node);
/* Makes a dial of each candidate due at once. */
void dialer_call_all(struct node *node);
void dialer_on_closed(struct node *node, const struct peer *peer);

/* Facts about the address that this node dialled to reach a peer. */
struct dialed {
    bool is_seed;      /* the user configured the address */
    uint32_t failures; /* failed dials of the address in a row */
    const uint8_t *id; /* id of the node expected at the address; NULL = unknown */
};
struct dialed dialer_dialed(const struct node *node, const struct peer *peer);

#endif
