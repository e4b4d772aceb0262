/* Private state of the discovery folder: of the dialer and of member gossip. */
#ifndef HEARSAY_NODE_DISCOVERY_DISCOVERY_PRIVATE_H
#define HEARSAY_NODE_DISCOVERY_DISCOVERY_PRIVATE_H

#include "base/bits.h"
#include "node/discovery/discovery.h"
#include "node/lifecycle/lifecycle.h"
#include "node/membership/membership.h"

struct discovery_neighbour {
    /* Bit per member number: the member's record must be sent to the neighbour. */
    uint64_t *updates;
    bool has_updates; /* some bit in `updates` may be set */
    /* Next member, by number, whose record to send to a neighbour that requested the list. */
    uint32_t list_next;
    /* Last member of the requested list, plus 1; <= list_next: no list is to be sent. */
    uint32_t list_end;
};

struct member_gossip {
    uint64_t renewed_ns; /* time when this node last signed its record */
    /* Part of the renewal period by which the next record comes early; random, 0 .. 0.25. */
    double renew_early;
    uint64_t listed_ns; /* time when a list was last requested or arrived; 0 = never */
    /* Digest of this node's base at the end of the last round of gossip. */
    uint64_t seen_digest;
    struct address observed; /* this node's address as neighbours see it */
};

/* An address that may be dialled. */
struct candidate {
    struct address address;
    /* Node that last answered at the address, or is expected there. */
    uint8_t id[ID_BYTES];
    bool has_id;
    bool is_seed;
    bool is_self;                  /* this node itself answered at the address */
    bool is_proven;                /* some member has answered at the address */
    uint32_t failures;             /* failed dials in a row */
    enum note_certainty certainty; /* how certain it is why the last conversation ended */
    /* Conversations with this address that soon fell silent with bytes in flight; selects the
     * packet size. A conversation that works takes back those counted at the present size. */
    uint32_t stalls;
    uint64_t next_ns; /* earliest time of the next dial */
    uint64_t conn;    /* conversation with this candidate; 0 = none */
};

struct dialer {
    struct candidate *candidates; /* [max] known addresses */
    uint32_t *hashes;             /* [max] hash of each candidate's address, for a fast search */
    uint32_t count;
    uint32_t max;
    /* Used tokens of the bucket for dials of addresses where no member has answered, except seeds;
     * falls by one per TRY_NS. */
    double tries;
    uint64_t tries_ns; /* time when `tries` was last lowered */
    uint64_t dial_ns;  /* earliest time of the next search for a candidate to dial */
    /* Earliest time of the next search among candidates with no known live member. */
    uint64_t reach_ns;
    /* earliest time of the next hang-up by dialer_shuffle; 0 = none planned yet */
    uint64_t shuffle_ns;
};

struct discovery {
    struct member_gossip gossip;
    struct dialer dialer;
    struct discovery_neighbour *neighbours; /* [peers_max] state per neighbour, by slot */
};

/* Moves a member's candidate from address `from` to address `to`. If that is impossible, for
 * example because the candidate is a seed or in a conversation, calls dialer_add for `to`.
 * from->host is "" if the member had no address. */
void dialer_moved(struct node *node, const struct address *from, const struct address *to,
                  const uint8_t id[static ID_BYTES]);

#endif
