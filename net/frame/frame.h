/* Frames in a byte stream: a 2-byte big-endian length, then the content.
 *
 * The caller keeps the received bytes; frame_first only looks at them.
 * Tests: tests/unit/net/test_session.c.
 */
#ifndef HEARSAY_NET_FRAME_FRAME_H
#define HEARSAY_NET_FRAME_FRAME_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* Looks for a frame at the start of have[bytes]; its content starts at have + 2. Returns MISSING if
 * the frame is incomplete, TOO_BIG if its length is 0 or above `limit`. */
enum error frame_first(const uint8_t *have, size_t bytes, size_t limit,
                       size_t *content_bytes) MUST_USE;

/* Writes the length of a frame to out[2]. Requires content_bytes 1 .. 65535. */
void frame_head(uint8_t *out, size_t content_bytes);

#endif
