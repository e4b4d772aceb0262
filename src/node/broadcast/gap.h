/* The gap of an origin: rumors that exist and have not arrived, which repair.c requests. */
#ifndef HEARSAY_NODE_BROADCAST_GAP_H
#define HEARSAY_NODE_BROADCAST_GAP_H

#include <stdbool.h>
#include <stdint.h>

struct gap {
    bool missing; /* a neighbour has rumors of the origin that this node lacks */
    /* Number of the origin's last rumor that is known to exist, plus 1. */
    uint32_t missing_to;
    /* Number of the next rumor expected from the origin, at the last check of this gap. */
    uint32_t missing_at;
    uint32_t missing_gap;      /* number of missing rumors at the last check of this gap */
    uint64_t missing_since_ns; /* time of the last check of this gap */
    uint64_t missing_from;     /* conn of the neighbour that has the missing rumors */
    uint64_t asked_ns;         /* time of the last request to our parent; 0 = never */
    /* Time when the parent in the origin's tree last changed; 0 = never. */
    uint64_t changed_ns;
    uint32_t changed_to; /* value of missing_to at changed_ns */
    uint32_t behind_to;  /* value of missing_to at behind_ns */
    /* Time since which rumors of the origin are missing; 0 = no rumor is missing. */
    uint64_t behind_ns;
    /* Time when a neighbour last showed more rumors of the origin than this node has. */
    uint64_t shown_ns;
    uint32_t gone; /* number of consecutive neighbours that answered GONE for the next rumor */
};

#endif
