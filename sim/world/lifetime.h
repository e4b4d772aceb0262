/* Counters of a simulated node over all its incarnations. */
#ifndef HEARSAY_SIM_WORLD_LIFETIME_H
#define HEARSAY_SIM_WORLD_LIFETIME_H

#include "world/world.h"

struct lifetime {
    struct node_stats ended; /* counters of all incarnations that have ended */
    /* Statistics of the newest incarnation when lifetime_stats last read them. */
    struct node_stats last;
    uint32_t incarnation; /* number of the incarnation that `last` describes */
    /* Largest number of bytes that the node received in blocks to fetch one base. */
    uint64_t block_bytes;
    double joining_s;        /* seconds from the first start to the first step; NAN = no step yet */
    uint64_t trained_ns;     /* nanoseconds in which the node should have trained so far */
    uint64_t samples_then;   /* samples of the node up to the last moment that was measured */
    uint64_t published_then; /* published rumor bytes up to the last moment that was measured */
    double up_s_then;   /* seconds in which the uplink was busy, up to the last measured moment */
    double down_s_then; /* seconds in which the downlink was busy, up to the last measured moment */
};

void lifetime_init(struct lifetime *lifetime);

/* Returns the node's counters up to now, summed over all its incarnations. Call it at least once
 * in each incarnation, or the counters of that incarnation are lost. */
struct node_stats lifetime_stats(struct lifetime *lifetime, const struct world *world, uint32_t i);

/* Adds the counters of `more` to `sum`. */
void lifetime_add(struct node_stats *sum, const struct node_stats *more);

#endif
