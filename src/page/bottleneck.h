/* Writes one sentence about the present bottleneck of a swarm, for a person who wonders what to
 * buy: faster links, more machines, or nothing. Tests: tests/unit/page/test_bottleneck.c. */
#ifndef HEARSAY_PAGE_BOTTLENECK_H
#define HEARSAY_PAGE_BOTTLENECK_H

#include <stdbool.h>
#include <stddef.h>

#define BOTTLENECK_BYTES 256

/* Measurements of a swarm or a node; unknown numbers are NAN. */
struct bottleneck {
    const char *stage; /* "stage" of the status JSON: "running", "joining", … */
    double fetched;    /* received part of the base while the node catches up, 0 .. 1 */
    /* seconds without a neighbour; NAN = the node has one, or needs none */
    double alone_s;
    /* used part of the links' capacity, 0 .. 1; if is_whole, of the busiest link */
    double link_use;
    /* link_use is an upper bound: no link was ever full */
    bool is_bound;
    double lag_s;     /* the node has lacked at least one rumor for this time */
    double computing; /* part of the learner's time in steps, 0 .. 1 */
    double exchange;  /* part of the learner's time in the exchange, 0 .. 1 */
    bool trains;      /* false = the node only relays */
    bool is_whole;    /* the sentence is about a swarm, not one node */
};

void bottleneck_sentence(const struct bottleneck *found, char out[static BOTTLENECK_BYTES]);

#endif
