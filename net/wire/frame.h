/* Frames in a stream of bytes: a 2-byte big-endian length, then that many bytes.
 *
 * The caller keeps the bytes received so far; this only looks at them.
 */
#ifndef HEARSAY_NET_WIRE_FRAME_H
#define HEARSAY_NET_WIRE_FRAME_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* The first frame in have[bytes]: OK and its content's size (content starts at have + 2);
 * MISSING: not whole yet; TOO_BIG: its length is 0 or above limit. */
enum error frame_first(const uint8_t *have, size_t bytes, size_t limit,
                       size_t *content_bytes) MUST_USE;

/* Write a length in front of content that starts at out + 2. */
void frame_head(uint8_t *out, size_t content_bytes);

#endif
