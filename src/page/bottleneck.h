/* What limits a swarm now, as one sentence for whoever wonders what to buy: faster lines, more
 * machines, or nothing. Held by tests/unit/page/test_bottleneck.c.
 */
#ifndef HEARSAY_PAGE_BOTTLENECK_H
#define HEARSAY_PAGE_BOTTLENECK_H

#include <stdbool.h>
#include <stddef.h>

#define BOTTLENECK_BYTES 256

/* What is not known is not a number. */
struct bottleneck {
    const char *stage; /* as in the page of status: "running", "joining", … */
    double fetched;    /* part of the base that has been taken over */
    double alone_s;    /* for so long it has had no neighbour, and should have one */
    double link_use;   /* part of what the links carry that is used */
    bool is_bound;     /* link_use is at most so much: no link has been full yet */
    double lag_s;      /* for so long something has been missing here */
    double computing;  /* part of the learner's time in steps */
    double exchange;   /* in the exchange */
    bool trains;       /* false: it passes on what others learn */
    bool is_whole;     /* it is said of a swarm, not of one node */
};

void bottleneck_sentence(const struct bottleneck *found, char out[static BOTTLENECK_BYTES]);

#endif
