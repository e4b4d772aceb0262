/* A model in a file that anyone can read: safetensors, F32 tensors by layer name.
 *
 *   8 bytes little-endian length of the header ‖ JSON header ‖ the tensors, back to back
 *   (format: huggingface/safetensors README). "__metadata__" holds strings: ours are below.
 *
 * At any moment the name holds the old file or the new one, whole (draft.h).
 * Held by tests/unit/state/test_safetensors.c and test_tensors_save.c.
 */
#ifndef HEARSAY_STATE_SAFETENSORS_H
#define HEARSAY_STATE_SAFETENSORS_H

#include <stddef.h>
#include <stdint.h>

#include "layers/model.h"
#include "base/error.h"

#define SAFETENSORS_VERSION_MAX (256 * 1024)

struct safetensors_about {
    char layers[MODEL_LINE_MAX]; /* the model's canonical line */
    struct shape in;
    int classes;
    float mean; /* how the data was normalised */
    float scale;
    uint64_t digest;     /* of the base */
    uint64_t samples;    /* learned by the whole swarm */
    uint64_t checksum;   /* of the weights; save works it out */
    const char *version; /* save only: text, "origin/incarnation:next …"; NULL after a load */
};

/* Write host_weights[P] of the model to path. layers and in are the model's; about's are not used.
 * mean and scale are finite. FAILED: errno's words; no temporary file is left, and what the name
 * held before it still holds (but for a failure of the folder's fsync). */
enum error safetensors_save(const char *path, const struct model *model,
                            const struct safetensors_about *about, const float *host_weights,
                            struct problem *problem) MUST_USE;

/* Over the bits of weights[count], as digest.h over those of a base: floats round what a base
 * holds. */
uint64_t safetensors_checksum(const float *weights, size_t count);

/* Two steps, because the model is only known after the first. Both refuse a file that is longer or
 * shorter than its header says. */
enum error safetensors_read_about(const char *path, struct safetensors_about *about,
                                  struct problem *problem) MUST_USE;
/* host_weights[P]; every tensor of the model must be there, F32, with its shape, inside the file.
 */
enum error safetensors_load(const char *path, const struct model *model, float *host_weights,
                            struct problem *problem) MUST_USE;

#endif
