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
void discovery_on_end(struct node *node, const struct peer *peer); /* the conversation has ended */

/* Member gossip. */

/* Returns the time within which each member renews its record; shorter while this node leaves. */
uint64_t member_gossip_period_ns(const struct node *node);
/* Signs a new own record if the last one is too old or no longer true. */
void member_gossip_renew(struct node *node);
/* Signs a new own record, because the context of signatures has changed. */
void member_gossip_sign_again(struct node *node);
/* Sends pending records to neighbours. */
void member_gossip_flush(struct node *node);
/* Finds silent members and requests signs of life in time; called once a second. */
void member_gossip_review(struct node *node);
/* Ends a round of gossip and remembers the base's digest. If the digest is the same in the next
 * round, a leaving node signs a new record. */
void member_gossip_end_round(struct node *node);

/* Handles received records; pass_on: also sends new ones to other neighbours. Returns false if the
 * sender is broken; its conversation is closed by then. */
bool member_gossip_on_records(struct node *node, const struct peer *from,
                              const struct bytes *records, bool pass_on);
void member_gossip_on_list(struct node *node); /* a MEMBER_LIST arrived */
/* Answers a MEMBER_QUERY: with all members for tag 0, otherwise with a sign of life of that member.
 */
void member_gossip_on_query(struct node *node, const struct peer *from, uint64_t tag);
/* Compares a neighbour's count of live members with ours, and requests its list if the count is
 * clearly larger. */
void member_gossip_compare(struct node *node, const struct peer *from, uint64_t members);
/* Requests the list of a neighbour, unless a list was requested lately. */
void member_gossip_ask_for_list(struct node *node, const struct peer *from);
/* Stores the address at which a neighbour sees this node, if it is better than the one known. */
void member_gossip_on_observed(struct node *node, const struct bytes *host);

/* Drops pending records of a member that is not admitted. */
void member_gossip_forget(struct node *node, uint32_t number);
/* Requests lists from all neighbours, after admissions changed. */
void member_gossip_relist(struct node *node);
uint32_t member_gossip_waiting(const struct node *node); /* records about to be sent */

/* Dialer. */

/* Adds an address to dial. id: the node at that address; NULL = unknown. */
void dialer_add(struct node *node, const struct address *address, const uint8_t *id, bool is_seed);
bool dialer_next(struct node *node, struct action *action); /* sets DIAL if a call is due */
/* Hangs up, from time to time, on a neighbour that this node dialled, if there are other members to
 * dial. */
void dialer_shuffle(struct node *node);
/* Hangs up on a neighbour that dialled this node if it has too many neighbours in a large swarm,
 * for example after all nodes dialled one seed. */
void dialer_make_room(struct node *node);
void dialer_on_met(struct node *node, const struct peer *peer);  /* the peer's id is known */
void dialer_on_open(struct node *node, const struct peer *peer); /* the peer became a neighbour */
/* The dialled peer is this node itself. */
void dialer_on_self(struct node *node, const struct peer *peer);
/* Ends the long wait before calls to nodes that refused this node, or that it refused. */
void dialer_redial(struct node *node);
/* Ends every wait: all candidates without a conversation are dialled at once. */
void dialer_call_all(struct node *node);
void dialer_on_closed(struct node *node, const struct peer *peer);

/* Information on the address that was dialled for this conversation. */
struct dialed {
    bool is_seed;      /* the address is from the user's configuration */
    uint32_t failures; /* failed calls in a row */
    const uint8_t *id; /* id of the member that advertises the address; NULL = none */
};
struct dialed dialer_dialed(const struct node *node, const struct peer *peer);

#endif
