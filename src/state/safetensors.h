/* Saves and loads models in the common format safetensors, as F32 tensors with layer names.
 *
 *   8 bytes little-endian length of the header ‖ JSON header ‖ the tensors, back to back
 *   (format: huggingface/safetensors README)
 *
 *   safetensors.c ─┬─► safetensors_file.h: an open file and its header
 *                  ├─► safetensors_tensor.h: one tensor ◄── names/tensor_names.h: names of tensors
 *                  └─► safetensors_metadata.h: metadata of our files
 *
 * A save is atomic (atomic_file.h), and depends only on its arguments: equal models give equal
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
    char layers[MODEL_LINE_MAX]; /* canonical layers line of the model */
    struct shape in;             /* shape of a sample */
    int classes;                 /* number of classes, or of predicted numbers */
    bool is_regression;          /* the model predicts numbers */
    float mean;                  /* a pixel is normalised as (pixel - mean) · scale */
    float scale;                 /* 1 / deviation */
    uint64_t digest;             /* digest of the base */
    uint64_t samples;            /* samples learned by the whole swarm */
    uint64_t checksum;           /* checksum of the weights; a save computes it */
    const char *version;         /* version text of a save (base_version.h); NULL after a load */
};

/* Writes host_weights[P] of the model to path. layers and in come from the model, not from about.
 * mean and scale must be finite. FAILED: with errno's text; no temporary file is left, and the name
 * keeps its old content (except if the folder's fsync fails). */
enum error safetensors_save(const char *path, const struct model *model,
                            const struct safetensors_about *about, const float *host_weights,
                            struct problem *problem) MUST_USE;

/* Writes the model with the names and layouts of its family (tensor_names.h), for other libraries.
 * MISMATCH: it belongs to no family. */
enum error safetensors_save_foreign(const char *path, const struct model *model,
                                    const struct safetensors_about *about,
                                    const float *host_weights, struct problem *problem) MUST_USE;

/* Returns the sum of digest.h over the bits of weights[count]. The digest of the base does not
 * cover them, since floats round the values of a base. */
uint64_t safetensors_checksum(const float *weights, size_t count);

/* Reads the metadata of one of our files. MISMATCH: another program wrote the file. */
enum error safetensors_read_about(const char *path, struct safetensors_about *about,
                                  struct problem *problem) MUST_USE;

/* Reads the version text of one of our bases (base_version.h); "" if the file has none. */
enum error safetensors_read_version(const char *path, char version[static SAFETENSORS_VERSION_MAX],
                                    struct problem *problem) MUST_USE;

/* Reads host_weights[P] and ignores metadata. Every tensor of the model must be there, under our
 * name or its family's (tensor_names.h), as F32, F16 or BF16, with its shape; further tensors are
 * refused. MISMATCH: the sentence lists the tensors of the file and those that the model needs.
 * This and the functions above refuse a file whose length differs from its header. */
enum error safetensors_load(const char *path, const struct model *model, float *host_weights,
                            struct problem *problem) MUST_USE;

#endif
