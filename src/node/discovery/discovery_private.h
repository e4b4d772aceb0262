/* The state of the room; nobody outside this folder includes this. */
#ifndef HEARSAY_NODE_DISCOVERY_DISCOVERY_PRIVATE_H
#define HEARSAY_NODE_DISCOVERY_DISCOVERY_PRIVATE_H

#include "base/bits.h"
#include "node/discovery/discovery.h"
#include "node/lifecycle/lifecycle.h"
#include "node/membership/membership.h"

/* What this room keeps of a neighbour, by slot. */
struct discovery_neighbour {
    uint64_t *updates;  /* bit per member, by number: its record is to be sent */
    bool has_updates;   /* perhaps some bit is set */
    uint32_t list_next; /* it asked for all members: the number of the next to be listed */
    uint32_t list_end;  /* the number after the last one to be listed */
};

/* member_gossip.c's. */
struct member_gossip {
    uint64_t renewed_ns;     /* when our own record was signed last */
    double renew_early;      /* part of the period by which the next one comes early, by chance */
    uint64_t listed_ns;      /* when members were last listed to us, or asked for; 0: never */
    uint64_t seen_digest;    /* our digest at the last round */
    struct address observed; /* how others reach us, as they see it */
};

/* An address worth dialling. */
struct candidate {
    struct address address; /* where */
    uint8_t id[ID_BYTES];   /* the node that answered there last */
    bool has_id;            /* that is known */
    bool is_seed;           /* the user gave it */
    bool is_self;           /* this node answered there */
    bool is_proven;         /* some member has answered there */
    uint32_t failures;      /* calls in turn that came to nothing */
    uint32_t stalls;        /* conversations that soon fell silent, with bytes under way */
    uint64_t next_ns;       /* it is not called before */
    uint64_t conn;          /* the conversation under way or open; 0: none */
};

/* dialer.c's. */
struct dialer {
    struct candidate *candidates; /* [max] */
    uint32_t *hashes;             /* [max] of their addresses, to be looked through quickly */
    uint32_t count;               /* how many there are */
    uint32_t max;                 /* room for so many */
    double tries;                 /* calls to where no member had answered, lately */
    uint64_t tries_ns;            /* when these were last counted down */
    uint64_t dial_ns;             /* nobody is to be called before */
    uint64_t reach_ns;            /* nor, with neighbours enough, a node that is lost, before */
    uint64_t shuffle_ns;          /* when a neighbour is left for another; 0: not thought of yet */
};

struct discovery {
    struct member_gossip gossip;            /* records of members on their way */
    struct dialer dialer;                   /* addresses to call */
    struct discovery_neighbour *neighbours; /* [peers_max], by slot */
};

/* A member has a new address; `from` has no host if it had none. */
void dialer_moved(struct node *node, const struct address *from, const struct address *to,
                  const uint8_t id[static ID_BYTES]);

#endif
