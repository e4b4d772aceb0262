/* Frames in a stream of bytes: a 2-byte big-endian length, then that many bytes.
 *
 * The caller keeps the bytes received so far; frame_first only looks at them.
 * Held by tests/unit/net/test_session.c.
 */
#ifndef HEARSAY_NET_WIRE_FRAME_H
#define HEARSAY_NET_WIRE_FRAME_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* Looks for the first frame in have[bytes]. OK: *content_bytes is the size of its content, which
 * starts at have + 2. MISSING: it is not whole yet. TOO_BIG: its length is 0 or above limit. */
enum error frame_first(const uint8_t *have, size_t bytes, size_t limit,
                       size_t *content_bytes) MUST_USE;

/* Writes the length in front of content that starts at out + 2. */
void frame_head(uint8_t *out, size_t content_bytes);

#endif
