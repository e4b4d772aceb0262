/* Counters of a simulated node over all its incarnations. */
#ifndef HEARSAY_SIM_WORLD_LIFETIME_H
#define HEARSAY_SIM_WORLD_LIFETIME_H

#include "world/world.h"

struct lifetime {
    struct node_stats ended; /* sum over incarnations that have ended */
    struct node_stats last;  /* statistics of the current incarnation, as last seen */
    uint32_t incarnation;    /* number of the incarnation of `last` */
    uint64_t block_bytes;    /* most bytes received in blocks for one base */
    double joining_s;        /* seconds from the first start to the first step; NAN = no step yet */
    uint64_t trained_ns;     /* time in which the node should have trained */
    uint64_t samples_then;   /* samples up to the last measured moment */
    uint64_t published_then; /* published rumor bytes up to the last measured moment */
    double up_s_then;        /* busy time of the uplink up to the last measured moment */
    double down_s_then;      /* busy time of the downlink up to the last measured moment */
};

void lifetime_init(struct lifetime *lifetime);

/* Returns the sum over all incarnations of node i up to now. Call it at least once in each
 * incarnation. */
struct node_stats lifetime_stats(struct lifetime *lifetime, const struct world *world, uint32_t i);

/* Adds counters to the sum. */
void lifetime_add(struct node_stats *sum, const struct node_stats *more);

#endif
