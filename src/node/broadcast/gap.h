/* The gap of an origin: rumors that exist and have not arrived, which repair.c requests. */
#ifndef HEARSAY_NODE_BROADCAST_GAP_H
#define HEARSAY_NODE_BROADCAST_GAP_H

#include <stdbool.h>
#include <stdint.h>

struct gap {
    bool missing;              /* a neighbour has shown more than we hold */
    uint32_t missing_to;       /* number after the last rumor that is known to exist */
    uint32_t missing_at;       /* next expected number at the last look */
    uint32_t missing_gap;      /* number of missing rumors at the last look */
    uint64_t missing_since_ns; /* time of that look */
    uint64_t missing_from;     /* conn of the neighbour that has the missing rumors */
    uint64_t asked_ns;         /* last request to our parent */
    uint64_t changed_ns;       /* last change of the parent; 0 = never */
    uint32_t changed_to;       /* value of missing_to at that change */
    uint32_t behind_to;        /* value of missing_to at behind_ns */
    uint64_t behind_ns;        /* since when rumors are missing; 0 = none is */
    uint64_t shown_ns;         /* last time that a neighbour showed more than we hold */
    uint32_t gone;             /* consecutive neighbours whose logs lack the next rumor */
};

#endif
