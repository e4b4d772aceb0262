/* Counters of a simulated node over all its incarnations. */
#ifndef HEARSAY_SIM_WORLD_LIFETIME_H
#define HEARSAY_SIM_WORLD_LIFETIME_H

#include "world/world.h"

struct lifetime {
    struct node_stats ended; /* sum over all incarnations before that of `last` */
    /* Numbers of the newest incarnation when lifetime_stats last read them. */
    struct node_stats last;
    uint32_t incarnation; /* number of the incarnation of `last` */
    uint64_t block_bytes; /* most bytes that the node received in blocks to fetch one base */
    /* seconds from the first start until training began; NAN = it has not begun, or the node
     * restarted before */
    double joining_s;
    uint64_t trained_ns; /* time until now in which the node should have trained */
    /* Totals up to the latest entry of outcome.moments. */
    uint64_t samples_then;
    uint64_t published_then; /* bytes of published rumors */
    double up_s_then;        /* seconds in which the uplink was busy */
    double down_s_then;      /* seconds in which the downlink was busy */
};

void lifetime_init(struct lifetime *lifetime);

/* Returns the node's statistics. The counters of lifetime_add are sums over all incarnations in
 * which this function was called; the other members are of the newest of these incarnations. */
struct node_stats lifetime_stats(struct lifetime *lifetime, const struct world *world, uint32_t i);

void lifetime_add(struct node_stats *sum, const struct node_stats *more);

#endif
