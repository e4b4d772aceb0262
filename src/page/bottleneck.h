/* Writes one sentence about the present bottleneck of a swarm, for a person who wonders what to
 * buy: faster links, more machines, or nothing. Tests: tests/unit/page/test_bottleneck.c. */
#ifndef HEARSAY_PAGE_BOTTLENECK_H
#define HEARSAY_PAGE_BOTTLENECK_H

#include <stdbool.h>
#include <stddef.h>

#define BOTTLENECK_BYTES 256

/* Measurements of a swarm or a node; unknown numbers are NAN. */
struct bottleneck {
    const char *stage; /* stage of the node in the status JSON: "running", "joining", … */
    double fetched;    /* received part of the base while the node catches up, 0 .. 1 */
    /* Seconds for which the node has had no neighbour; 0 = it has one, or needs none. */
    double alone_s;
    double link_use; /* used fraction of the links' capacity, 0 .. 1 */
    /* link_use is an upper bound: no link was ever full, so the true capacity is unknown. */
    bool is_bound;
    double lag_s;     /* seconds for which this node has lacked at least one rumor */
    double computing; /* fraction of the learner's time spent in steps, 0 .. 1 */
    double exchange;  /* fraction of the learner's time spent in the exchange, 0 .. 1 */
    bool trains;      /* false = the node only relays */
    bool is_whole;    /* the sentence is about a swarm, not one node */
};

void bottleneck_sentence(const struct bottleneck *found, char out[static BOTTLENECK_BYTES]);

#endif
