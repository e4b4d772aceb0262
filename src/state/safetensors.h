/* A model in a file that anybody can read: safetensors, F32 tensors by layer name.
 *
 *   8 bytes little-endian length of the header ‖ JSON header ‖ the tensors, back to back
 *   (format: huggingface/safetensors README)
 *
 *   safetensors.c ─┬─► safetensors_file.h: an open file and its header
 *                  ├─► safetensors_tensor.h: a tensor of it ◄── names/tensor_names.h: their names
 *                  └─► safetensors_metadata.h: what a file of ours says of itself
 *
 * A save is atomic (atomic_file.h), and depends on its arguments alone: equal models are equal
 * files. Held by tests/unit/state/test_safetensors.c and test_safetensors_save.c.
 */
#ifndef HEARSAY_STATE_SAFETENSORS_H
#define HEARSAY_STATE_SAFETENSORS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "layers/model.h"

#define SAFETENSORS_VERSION_MAX (256 * 1024)

struct safetensors_about {
    char layers[MODEL_LINE_MAX]; /* the model's canonical line */
    struct shape in;             /* of a sample */
    int classes;                 /* of the labels; or numbers that it predicts */
    bool is_regression;          /* it predicts numbers */
    float mean;                  /* a pixel is normalised as (pixel - mean) · scale */
    float scale;                 /* 1 / deviation */
    uint64_t digest;             /* of the base */
    uint64_t samples;            /* learned by the whole swarm */
    uint64_t checksum;           /* of the weights; a save works it out */
    const char *version;         /* for a save alone: base_version.h; NULL after a load */
};

/* Writes host_weights[P] of the model to path. layers and in are the model's; about's are not used.
 * mean and scale are finite. FAILED: errno's words; no temporary file is left, and the name keeps
 * its old content (except if the folder's fsync fails). */
enum error safetensors_save(const char *path, const struct model *model,
                            const struct safetensors_about *about, const float *host_weights,
                            struct problem *problem) MUST_USE;

/* The same with the names and layouts of the family that the model belongs to (tensor_names.h), for
 * its libraries. MISMATCH: it belongs to none. */
enum error safetensors_save_foreign(const char *path, const struct model *model,
                                    const struct safetensors_about *about,
                                    const float *host_weights, struct problem *problem) MUST_USE;

/* The sum of digest.h over the bits of weights[count]: floats round what a base holds, so the
 * digest of the base does not cover them. */
uint64_t safetensors_checksum(const float *weights, size_t count);

/* Reads what a file of ours says of itself. MISMATCH: another program wrote the file. */
enum error safetensors_read_about(const char *path, struct safetensors_about *about,
                                  struct problem *problem) MUST_USE;

/* Reads what a base of ours is the sum of (base_version.h); "": the file does not say. */
enum error safetensors_read_version(const char *path, char version[static SAFETENSORS_VERSION_MAX],
                                    struct problem *problem) MUST_USE;

/* Reads host_weights[P]. Metadata is not looked at: every tensor of the model must be there, under
 * our name or its family's (tensor_names.h), F32, F16 or BF16, with its shape, and no other.
 * MISMATCH: the sentence lists what the file holds and what the model needs. This and the above
 * refuse a file that is longer or shorter than its header says. */
enum error safetensors_load(const char *path, const struct model *model, float *host_weights,
                            struct problem *problem) MUST_USE;

#endif
