/* The gap of an origin: rumors that exist and have not arrived, which repair.c requests. */
#ifndef HEARSAY_NODE_BROADCAST_GAP_H
#define HEARSAY_NODE_BROADCAST_GAP_H

#include <stdbool.h>
#include <stdint.h>

struct gap {
    bool missing;              /* repair_review has to request missing rumors of the origin */
    uint32_t missing_to;       /* number after the origin's last rumor that is known to exist */
    uint32_t missing_at;       /* value of the origin's `next` at missing_since_ns */
    uint32_t missing_gap;      /* number of missing rumors at missing_since_ns */
    uint64_t missing_since_ns; /* time of the last check of this gap */
    uint64_t missing_from;     /* conn of a neighbour that has the missing rumors */
    uint64_t asked_ns;         /* time of the last request; 0 = never */
    uint64_t asked_conn;       /* conn of the neighbour that got the last request */
    /* Time when repair.c last changed the parent; 0 = never, or a GONE came since. */
    uint64_t changed_ns;
    uint32_t changed_to; /* value of missing_to at changed_ns */
    uint32_t behind_to;  /* value of missing_to at behind_ns */
    uint64_t behind_ns;  /* time since which rumors are missing; 0 = no rumor is missing */
    uint64_t shown_ns;   /* time when a neighbour last showed rumors that this node lacks */
    uint32_t gone;       /* GONE answers since the origin's last rumor arrived */
};

#endif
