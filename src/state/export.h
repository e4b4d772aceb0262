/* Exports the base as a file for other programs: base.safetensors in a node's folder.
 *
 *   base, history ─► export_save ─► safetensors.h ─► STATE_DIR/base.safetensors
 *
 * The file is written after each checkpoint, so the model is available during training and after a
 * crash. Nodes whose versions and data normalisation are equal write equal files, byte for
 * byte. Tests: tests/process/test_from_model.sh.
 */
#ifndef HEARSAY_STATE_EXPORT_H
#define HEARSAY_STATE_EXPORT_H

#include "state/safetensors.h"

#define BASE_PATH_BYTES 1056

struct export
{
    char path[BASE_PATH_BYTES];
    const struct model *model;      /* has the names and shapes of the tensors */
    bool companded;                 /* the base is companded (companding.h) */
    struct safetensors_about about; /* each save sets its digest, samples and version */
};

void export_path(char path[static BASE_PATH_BYTES], const char *folder);

/* Writes the base units[P] with its digest to file->path. history: the rumors whose sum is the base
 * (history.h). Overwrites the units, because they also serve as the output buffer. Returns the
 * errors of safetensors_save. May run on its own thread. */
enum error export_save(const struct export *file, int32_t *units, uint64_t digest,
                       const uint8_t *history, size_t history_bytes,
                       struct problem *problem) MUST_USE;

#endif
