/* A token bucket: it fills with bytes that may be handed over, at a rate and up to a depth. One
 * paces each link (congestion.h), another limits all links to uplink_max (pacer.c).
 *
 * Held by tests/unit/node/test_congestion.c.
 */
#ifndef HEARSAY_NODE_RATE_TOKEN_BUCKET_H
#define HEARSAY_NODE_RATE_TOKEN_BUCKET_H

#include <stdint.h>

struct token_bucket {
    double credit;  /* bytes that may be handed over now; negative = overdrawn */
    uint64_t at_ns; /* last time that the bucket was filled */
};

/* Fills a bucket at `rate`, up to `depth` bytes. Callers subtract what they hand over. */
void token_bucket_fill(struct token_bucket *bucket, uint64_t now_ns, double rate, double depth);

#endif
