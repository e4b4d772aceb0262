/* Saves and loads models in the safetensors format of Hugging Face. Saved tensors are F32.
 *
 *   length of the header (8 bytes, little-endian) ‖ JSON header ‖ the tensors, back to back
 *
 *   safetensors.c ─┬─► safetensors_file.h: an open file and its header
 *                  ├─► safetensors_tensor.h: one tensor ◄── names/tensor_names.h: names of tensors
 *                  └─► safetensors_metadata.h: metadata of our files
 *
 * A save is atomic (atomic_file.h). The file depends only on the arguments: equal weights with
 * equal metadata give equal files. Tests: tests/unit/state/test_safetensors.c and
 * test_safetensors_save.c.
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
    char layers[MODEL_LINE_MAX]; /* canonical line of the model */
    struct shape in;             /* shape of a sample */
    int classes;                 /* classes, or predicted numbers of a regression */
    bool is_regression;
    float mean;  /* a pixel is normalised as (pixel - mean) · scale */
    float scale; /* 1 / standard deviation of the pixels; see mean */
    uint64_t digest;
    uint64_t samples; /* samples that the whole swarm has learned */
    /* safetensors_checksum of the weights; a save computes it */
    uint64_t checksum;
    /* Version of the base, as text (base_version.h); NULL after a load. */
    const char *version;
};

/* host_weights: [P]. Takes layers and in from the model, the other metadata from `about`; mean and
 * scale must be finite. FAILED: no temporary file is left, and the file keeps its old content,
 * unless only the sync of the folder failed. */
enum error safetensors_save(const char *path, const struct model *model,
                            const struct safetensors_about *about, const float *host_weights,
                            struct problem *problem) MUST_USE;

/* Writes the model for other libraries, with the names and layouts of its family (tensor_names.h).
 * MISMATCH: the model belongs to no family. */
enum error safetensors_save_foreign(const char *path, const struct model *model,
                                    const struct safetensors_about *about,
                                    const float *host_weights, struct problem *problem) MUST_USE;

/* weights: [count]. Returns the digest (digest.h) of the bits of the weights, which protects a
 * file. The digest of the base cannot: a file's floats are rounded values of the base. */
uint64_t safetensors_checksum(const float *weights, size_t count);

/* Reads the metadata of a file that safetensors_save has written. MISMATCH: the file has no such
 * metadata. */
enum error safetensors_read_about(const char *path, struct safetensors_about *about,
                                  struct problem *problem) MUST_USE;

/* Reads the version text (base_version.h) of a base; "" if the file has none. */
enum error safetensors_read_version(const char *path, char version[static SAFETENSORS_VERSION_MAX],
                                    struct problem *problem) MUST_USE;

/* Reads host_weights[P]; metadata is ignored. Every tensor of the model must be in the file, with
 * our name or its family's (tensor_names.h), as F32, F16 or BF16, with its shape; further tensors
 * are refused, except those of tensor_names_spare. MISMATCH: the message lists the first tensors of
 * the file and the first that the model needs. Like the functions above, it refuses a file whose
 * size differs from what its header says. */
enum error safetensors_load(const char *path, const struct model *model, float *host_weights,
                            struct problem *problem) MUST_USE;

#endif
