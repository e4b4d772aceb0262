/* Frames in a stream that arrives in pieces: the frames do not depend on where the pieces end. */
#include "frame/frame.h"
#include "fuzz/fuzz.h"

void fuzz_begin(void)
{
}

/* Returns the end of the first frame, computed from the protocol's page. Returns 0 if the frame is
 * incomplete, SIZE_MAX if its length is invalid. */
static size_t plain_end(const uint8_t *have, size_t bytes, size_t limit)
{
    if (bytes < 2)
        return 0;
    const size_t length = have[0] * (size_t)256 + have[1];
    if (length == 0 || length > limit)
        return SIZE_MAX;
    return bytes >= 2 + length ? 2 + length : 0;
}

void fuzz_one(const uint8_t *data, size_t bytes)
{
    struct input input = {data, bytes};
    const size_t limit = 1 + input_number(&input, 2);
    while (input.left > 0) {
        size_t content = 0;
        const enum error error = frame_first(input.at, input.left, limit, &content);
        const size_t end = plain_end(input.at, input.left, limit);
        CHECK(error == (end == 0 ? MISSING : end == SIZE_MAX ? TOO_BIG : OK));
        if (error != OK)
            return;
        CHECK(content == end - 2);
        for (size_t cut = 0; cut < end; cut += 1 + end / 16) {
            size_t none = 0;
            CHECK(frame_first(input.at, cut, limit, &none) == MISSING && none == 0);
        }
        uint8_t head[2];
        frame_head(head, content);
        CHECK(memcmp(head, input.at, sizeof head) == 0);
        (void)input_bytes(&input, end, &content);
    }
}
