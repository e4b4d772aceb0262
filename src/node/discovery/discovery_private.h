/* Private state of the discovery folder: of the dialer and of member gossip. */
#ifndef HEARSAY_NODE_DISCOVERY_DISCOVERY_PRIVATE_H
#define HEARSAY_NODE_DISCOVERY_DISCOVERY_PRIVATE_H

#include "base/bits.h"
#include "node/discovery/discovery.h"
#include "node/lifecycle/lifecycle.h"
#include "node/membership/membership.h"

/* State per neighbour, by slot. */
struct discovery_neighbour {
    /* Bit per member number: the member's record must be sent to the neighbour. */
    uint64_t *updates;
    bool has_updates; /* some bit in `updates` may be set */
    /* Number of the next member whose record to send to a neighbour that requested the member
     * list. */
    uint32_t list_next;
    /* Number of the last member of the requested list, plus 1; <= list_next: no list is to be
     * sent. */
    uint32_t list_end;
};

/* State of member_gossip.c. */
struct member_gossip {
    uint64_t renewed_ns; /* time when this node last signed its record */
    /* Part of the renewal period by which this node's next record comes early; drawn at random. */
    double renew_early;
    uint64_t listed_ns; /* time when a member list last arrived or was requested; 0 = never */
    /* Digest of this node's base at the end of the last round of gossip. */
    uint64_t seen_digest;
    struct address observed; /* address of this node as neighbours see it */
};

/* An address that may be dialled. */
struct candidate {
    struct address address; /* address to dial */
    /* Id of the node that last answered at the address, or is expected there. */
    uint8_t id[ID_BYTES];
    bool has_id;       /* `id` is valid */
    bool is_seed;      /* the user configured the address */
    bool is_self;      /* this node itself answered at the address */
    bool is_proven;    /* some member has answered at the address */
    uint32_t failures; /* failed dials of the address in a row */
    /* Conversations with this address that soon fell silent with bytes in flight; their number
     * selects the packet size. */
    uint32_t stalls;
    uint64_t next_ns; /* earliest time of the next dial of this address */
    uint64_t conn;    /* conn of the conversation with this candidate; 0 = none */
};

/* State of dialer.c. */
struct dialer {
    struct candidate *candidates; /* [max] all known addresses */
    uint32_t *hashes;             /* [max] hash of each candidate's address, for a fast search */
    uint32_t count;               /* number of candidates */
    uint32_t max;                 /* capacity of `candidates` */
    /* Token bucket: number of dials of addresses where no member has answered; falls by one per
     * TRY_NS. */
    double tries;
    uint64_t tries_ns; /* time when `tries` was last lowered */
    uint64_t dial_ns;  /* earliest time of the next search for a candidate to dial */
    /* Earliest time of the next dial of a candidate with no known live member. */
    uint64_t reach_ns;
    /* Time of the next hang-up that mixes the graph of neighbours; 0 = none planned yet. */
    uint64_t shuffle_ns;
};

struct discovery {
    struct member_gossip gossip;            /* state of member gossip */
    struct dialer dialer;                   /* state of the dialer */
    struct discovery_neighbour *neighbours; /* [peers_max] state per neighbour, by slot */
};

/* Changes a member's candidate from its old address `from` to its new address `to`. `from` has
 * no host if the member had no address. */
void dialer_moved(struct node *node, const struct address *from, const struct address *to,
                  const uint8_t id[static ID_BYTES]);

#endif
