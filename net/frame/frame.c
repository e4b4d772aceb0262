#include "frame/frame.h"

enum error frame_first(const uint8_t *have, size_t bytes, size_t limit, size_t *content_bytes)
{
    if (bytes < 2)
        return MISSING;
    size_t length = (size_t)have[0] << 8 | have[1];
    if (length == 0 || length > limit)
        return TOO_BIG;
    if (bytes - 2 < length)
        return MISSING;
    *content_bytes = length;
    return OK;
}

void frame_head(uint8_t *out, size_t content_bytes)
{
    CHECK(content_bytes >= 1 && content_bytes <= UINT16_MAX);
    out[0] = (uint8_t)(content_bytes >> 8);
    out[1] = (uint8_t)content_bytes;
}
