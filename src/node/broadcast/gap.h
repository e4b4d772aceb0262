/* What is known to exist of an origin and has not come: the gap that repair.c closes. */
#ifndef HEARSAY_NODE_BROADCAST_GAP_H
#define HEARSAY_NODE_BROADCAST_GAP_H

#include <stdbool.h>
#include <stdint.h>

struct gap {
    bool missing;              /* somebody has shown more of it than we hold */
    uint32_t missing_to;       /* rumors before this one are known to exist */
    uint32_t missing_at;       /* what was next to come at the last look */
    uint32_t missing_gap;      /* how many were missing at the last look */
    uint64_t missing_since_ns; /* when that look was */
    uint64_t missing_from;     /* the conn that showed more, and can be asked */
    uint64_t asked_ns;         /* when the neighbour that feeds us was last asked to go on */
    uint64_t changed_ns;       /* when another neighbour took its place; 0: never */
    uint32_t changed_to;       /* how much was known to exist then */
    uint32_t behind_to;        /* rumors before this one were known to exist at behind_ns */
    uint64_t behind_ns;        /* since when something is missing; 0: nothing that was shown is */
    uint64_t shown_ns;         /* when more than we hold was shown last */
    uint32_t gone;             /* neighbours in turn that no longer had what comes next */
};

#endif
