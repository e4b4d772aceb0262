/* The state of this folder; only its own files include it. */
#ifndef HEARSAY_NODE_DISCOVERY_DISCOVERY_PRIVATE_H
#define HEARSAY_NODE_DISCOVERY_DISCOVERY_PRIVATE_H

#include "base/bits.h"
#include "node/discovery/discovery.h"
#include "node/lifecycle/lifecycle.h"
#include "node/membership/membership.h"

/* State per neighbour, by slot. */
struct discovery_neighbour {
    uint64_t *updates;  /* a bit per member number: the member's record is to be sent */
    bool has_updates;   /* some bit may be set */
    uint32_t list_next; /* member number to send next of the requested list */
    uint32_t list_end;  /* member number after the last of the list */
};

/* State of member_gossip.c. */
struct member_gossip {
    uint64_t renewed_ns;     /* last time the own record was signed */
    double renew_early;      /* part of the period by which the next record comes early; random */
    uint64_t listed_ns;      /* last time a list arrived or was requested; 0 = never */
    uint64_t seen_digest;    /* digest of the own base at the last round of gossip */
    struct address observed; /* own address as neighbours see it */
};

/* An address worth dialling. */
struct candidate {
    struct address address; /* where to dial */
    uint8_t id[ID_BYTES];   /* id of the node that answered there last */
    bool has_id;            /* `id` is valid */
    bool is_seed;           /* the address is from the user's configuration */
    bool is_self;           /* this node answered there */
    bool is_proven;         /* some member has answered there */
    uint32_t failures;      /* failed calls in a row */
    uint32_t stalls;        /* conversations that soon fell silent with bytes in flight */
    uint64_t next_ns;       /* earliest time of the next call */
    uint64_t conn;          /* conversation under way or open; 0 = none */
};

/* State of dialer.c. */
struct dialer {
    struct candidate *candidates; /* [max] */
    uint32_t *hashes;             /* [max] hashes of the candidates' addresses, for a fast search */
    uint32_t count;               /* number of candidates */
    uint32_t max;                 /* capacity */
    double tries;      /* calls to unproven addresses in the token bucket, which drains with time */
    uint64_t tries_ns; /* last time that the token bucket drained */
    uint64_t dial_ns;  /* earliest time of the next call */
    /* Earliest time of the next call to a lost candidate while there are enough neighbours. */
    uint64_t reach_ns;
    uint64_t shuffle_ns; /* time of the next hang-up that mixes the graph; 0 = not planned yet */
};

struct discovery {
    struct member_gossip gossip;            /* records in transit */
    struct dialer dialer;                   /* addresses to dial */
    struct discovery_neighbour *neighbours; /* [peers_max], by slot */
};

/* Moves a member's candidate to its new address. `from` has no host if the member had none. */
void dialer_moved(struct node *node, const struct address *from, const struct address *to,
                  const uint8_t id[static ID_BYTES]);

#endif
