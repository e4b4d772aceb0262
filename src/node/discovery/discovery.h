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
/* Forgets the records queued for a peer whose conversation has ended. */
void discovery_on_end(struct node *node, const struct peer *peer);

/* The following functions exchange member records (member_gossip.c). */

/* Returns the time in which this node must renew its record, in ns; shorter once its training has
 * ended. */
uint64_t member_gossip_period_ns(const struct node *node);
/* Sends the neighbour the record of a later incarnation of itself, if there is one: it may not know
 * that incarnation (identity_clash.h). */
void member_gossip_show_later(struct node *node, const struct peer *peer);
/* Signs a new record of this node if the last one is too old or no longer true. */
void member_gossip_renew(struct node *node);
/* Signs a new record of this node, for example because the context of signatures has changed. */
void member_gossip_sign_again(struct node *node);
/* Sends each neighbour the queued records, and the next part of a list that it requested. */
void member_gossip_flush(struct node *node);
/* Marks members that have been silent for too long as dead. After half of a member's permitted
 * silence, asks random neighbours for a sign of its life. Call it once in each round of gossip. */
void member_gossip_review(struct node *node);
/* Stores the digest of this node's base at the end of a round of gossip. After the end of training,
 * a new digest that has stayed the same for a round makes the node sign a new record. */
void member_gossip_end_round(struct node *node);

/* Handles records that a neighbour sent. pass_on: true = send new records on to other
 * neighbours. Returns false if a record is invalid; the conversation is then closed. */
bool member_gossip_on_records(struct node *node, const struct peer *from,
                              const struct bytes *records, bool pass_on);
void member_gossip_on_list(struct node *node);
/* Answers a MEMBER_QUERY. tag: origin tag of the member whose record to send; 0 = send the records
 * of all live members. */
void member_gossip_on_query(struct node *node, const struct peer *from, uint64_t tag);
/* Requests the neighbour's member list if it counts clearly more live members (`members`) than this
 * node. The neighbour may count dead members as live, so a large swarm's list is not requested
 * again soon. */
void member_gossip_compare(struct node *node, const struct peer *from, uint64_t members);
/* Requests the neighbour's member list, unless one was requested or arrived lately. */
void member_gossip_ask_for_list(struct node *node, const struct peer *from);
/* Stores the host at which a neighbour sees this node. Does not replace a stored host, unless
 * that is a loopback address. */
void member_gossip_on_observed(struct node *node, const struct bytes *host);

/* Removes the record of this member, which is not admitted, from the queues of all neighbours. */
void member_gossip_forget(struct node *node, uint32_t number);
/* Requests the member lists of all neighbours. Call it when the admitted ids have changed. */
void member_gossip_relist(struct node *node);
/* Returns the number of queued records, summed over all neighbours. */
uint32_t member_gossip_waiting(const struct node *node);

/* The following functions decide which addresses to dial (dialer.c). */

/* Adds an address to dial, if it may be dialled (dialer.c) and the table of candidates has room. If
 * the address is known, only sets its id, unless it is in a conversation. id: the node expected at
 * the address; NULL = unknown. */
void dialer_add(struct node *node, const struct address *address, const uint8_t *id, bool is_seed);
/* Sets *action to a DIAL and returns true if an address is due. */
bool dialer_next(struct node *node, struct action *action);
/* In a large swarm, hangs up about once a minute on a random neighbour that this node dialled, to
 * dial another member instead. Does so only if this node has dialled at least DEGREE / 2
 * neighbours, and enough other members can be dialled. */
void dialer_shuffle(struct node *node);
/* In a large swarm, hangs up on a neighbour that dialled this node if there are more than
 * connection_neighbours_most: a seed needs free slots to refer other callers. */
void dialer_make_room(struct node *node);
void dialer_on_met(struct node *node, const struct peer *peer);
/* Call it just before the peer becomes a neighbour. */
void dialer_on_open(struct node *node, const struct peer *peer);
/* Call it when the dialled peer turns out to be this node itself. */
void dialer_on_self(struct node *node, const struct peer *peer);
/* Makes dials due at once that wait for the longest time, for example after a refusal. Call it when
 * admission has changed. */
void dialer_redial(struct node *node);
/* Makes a dial of each candidate due at once. */
void dialer_call_all(struct node *node);
void dialer_on_closed(struct node *node, const struct peer *peer);

/* The address that this node dialled to reach a peer; all 0 if the peer dialled this node. */
struct dialed {
    bool is_seed;      /* the user configured the address */
    uint32_t failures; /* failed dials of the address in a row */
    /* how certain it is why the last conversation there ended; NOTE_GUESSED before the first */
    enum note_certainty certainty;
    const uint8_t *id; /* node that answered or is expected there; NULL = unknown */
};
struct dialed dialer_dialed(const struct node *node, const struct peer *peer);

#endif
