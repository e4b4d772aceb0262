/* Counters of a simulated node that outlive its processes. */
#ifndef HEARSAY_SIM_WORLD_PAST_H
#define HEARSAY_SIM_WORLD_PAST_H

#include "world/world.h"

struct past {
    struct node_stats ended; /* of lives that are over */
    struct node_stats last;  /* as last seen, of this life */
    uint32_t incarnation;    /* that one */
    uint64_t block_bytes;    /* the most for one base */
    double joining_s;        /* of its first life; NAN: it has not begun to train */
    uint64_t trained_ns;     /* time it was to train */

    /* As it was at the last moment that was measured. */
    uint64_t samples_then, told_then;
    double up_s_then, down_s_then; /* how long its pipes had been busy */
};

void past_init(struct past *past);

/* All lives of node i up to now; to be asked at least once in each. */
struct node_stats past_stats(struct past *past, const struct world *world, uint32_t i);

/* Adds the counters. */
void past_add(struct node_stats *sum, const struct node_stats *more);

#endif
