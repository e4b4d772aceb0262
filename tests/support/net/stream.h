/* Streams of rumors as signed heads, as in versions and histories. */
#ifndef HEARSAY_TESTS_SUPPORT_NET_STREAM_H
#define HEARSAY_TESTS_SUPPORT_NET_STREAM_H

#include "wire/signed_head.h"

/* Makes the signed head of rumor `seq` in a stream of this identity. All heads of the stream have
 * the same samples. */
struct signed_head stream_head(const struct identity *identity, uint64_t incarnation, uint32_t seq,
                               uint64_t samples, const uint8_t context[static CONTEXT_BYTES]);

struct signed_head stream_unsigned(const uint8_t id[static ID_BYTES], uint64_t incarnation,
                                   uint32_t seq, uint64_t samples,
                                   const uint8_t context[static CONTEXT_BYTES]);

#endif
