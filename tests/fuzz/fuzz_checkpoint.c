/* Checkpoints: the digest of a loaded checkpoint is that of its base. */
#include "fuzz/fuzz.h"
#include "support/state/checkpoint_story.h"

#define PARAMETERS 30
#define GENERATION 1

void fuzz_begin(void)
{
}

/* The first byte sets the number of optimizer moments. It also decides whether the next bytes are a
 * whole file, or a stream to which the harness adds valid checksums. */
void fuzz_one(const uint8_t *data, size_t bytes)
{
    struct input input = {data, bytes};
    const uint8_t kind = input_byte(&input);
    size_t count;
    const uint8_t *from = input_bytes(&input, FILE_MAX / 2, &count);
    memory_disk_init(&disk);
    if (kind & 1)
        (void)memory_disk_put(&disk, "checkpoint-1", from, count);
    else
        story_put_stream(&disk, GENERATION, from, count);
    const enum error error = load_with(&disk, PARAMETERS, (kind >> 1) % (LEARNER_MOMENTS_MAX + 1));
    CHECK(error == OK || (refusals.count == 1 && refusals.last.text[0] != 0));
    CHECK(error != OK || loaded.checkpoint.digest == story_digest(&loaded.state));
}
