/* Private header of the discovery folder: the state of dialer and member gossip. */
#ifndef HEARSAY_NODE_DISCOVERY_DISCOVERY_PRIVATE_H
#define HEARSAY_NODE_DISCOVERY_DISCOVERY_PRIVATE_H

#include "base/bits.h"
#include "node/discovery/discovery.h"
#include "node/lifecycle/lifecycle.h"
#include "node/membership/membership.h"

/* State per neighbour, by slot. */
struct discovery_neighbour {
    /* A bit per member number: the neighbour is to be sent the member's record. */
    uint64_t *updates;
    bool has_updates; /* some bit in `updates` may be set */
    /* Number of the next member to send to a neighbour that requested the list. */
    uint32_t list_next;
    uint32_t list_end; /* number after the last member to send; <= list_next: no list is due */
};

/* State of member_gossip.c. */
struct member_gossip {
    uint64_t renewed_ns; /* time when this node last signed its record */
    double renew_early; /* random part of the period by which this node's next record comes early */
    uint64_t listed_ns; /* time when a list last arrived or was requested; 0 = never */
    uint64_t seen_digest;    /* digest of this node's base at the end of the last round */
    struct address observed; /* address of this node as neighbours see it */
};

/* An address that may be dialled. */
struct candidate {
    struct address address; /* where to dial */
    uint8_t id[ID_BYTES];   /* id of the node that last answered there, or is expected there */
    bool has_id;            /* `id` is valid */
    bool is_seed;           /* the user configured the address */
    bool is_self;           /* this node itself answered at the address */
    bool is_proven;         /* some member has answered at the address */
    uint32_t failures;      /* failed calls in a row */
    /* Conversations that soon fell silent with bytes in flight; they select the packet size. */
    uint32_t stalls;
    uint64_t next_ns; /* earliest time of the next call to this address */
    uint64_t conn;    /* conn of the conversation with this candidate; 0 = none */
};

/* State of dialer.c. */
struct dialer {
    struct candidate *candidates; /* [max] all known addresses */
    uint32_t *hashes;             /* [max] hash of each candidate's address, for a fast search */
    uint32_t count;               /* number of candidates */
    uint32_t max;                 /* capacity of `candidates` */
    /* Token bucket: calls to addresses where no member has answered, less one per TRY_NS. */
    double tries;
    uint64_t tries_ns; /* time when `tries` was last lowered */
    uint64_t dial_ns;  /* earliest time of the next call to any candidate */
    /* Earliest time of the next call to a candidate with no known live member. */
    uint64_t reach_ns;
    uint64_t shuffle_ns; /* time of the next hang-up that mixes the graph; 0 = none planned yet */
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
