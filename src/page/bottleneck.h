/* The present bottleneck of a swarm in one sentence, for a person who wonders what to buy: faster
 * lines, more machines, or nothing. Held by tests/unit/page/test_bottleneck.c.
 */
#ifndef HEARSAY_PAGE_BOTTLENECK_H
#define HEARSAY_PAGE_BOTTLENECK_H

#include <stdbool.h>
#include <stddef.h>

#define BOTTLENECK_BYTES 256

/* Measurements of a swarm or a node. Unknown values are NAN. */
struct bottleneck {
    const char *stage; /* as in the status JSON: "running", "joining", … */
    double fetched;    /* part of the base that has been taken over */
    double alone_s;    /* seconds without a neighbour, although it should have one */
    double link_use;   /* part of what the links carry that is used */
    bool is_bound;     /* link_use is an upper bound, since no link has been full */
    double lag_s;      /* seconds for which a rumor has been missing here */
    double computing;  /* part of the learner's time in steps */
    double exchange;   /* part of the learner's time in the exchange */
    bool trains;       /* false = the node only relays */
    bool is_whole;     /* the sentence is about a swarm, not one node */
};

void bottleneck_sentence(const struct bottleneck *found, char out[static BOTTLENECK_BYTES]);

#endif
