/* A token bucket: a credit of bytes that may be sent, or of work (work.c). The credit grows at a
 * rate, up to a depth. Each link has a bucket that paces it (congestion.h); another bucket limits
 * the sum over all links to uplink_max (pacer.c). Tests: tests/unit/node/test_congestion.c.
 */
#ifndef HEARSAY_NODE_RATE_TOKEN_BUCKET_H
#define HEARSAY_NODE_RATE_TOKEN_BUCKET_H

#include <stdint.h>

struct token_bucket {
    double credit;  /* bytes or work permitted now; negative = overdrawn */
    uint64_t at_ns; /* time when the bucket was last filled */
};

/* Adds credit for the time since the last call, at `rate` units per second, up to `depth`. Callers
 * subtract what they use. */
void token_bucket_fill(struct token_bucket *bucket, uint64_t now_ns, double rate, double depth);

#endif
