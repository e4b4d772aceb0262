/* The base as a file for anybody: base.safetensors in a node's folder.
 *
 *   base, history ─► export_save ─► safetensors.h ─► STATE_DIR/base.safetensors
 *
 * It is written after each checkpoint, so the model can be had while it trains and after a crash.
 * Nodes of equal version whose data is normalised alike write equal files, byte for byte. Held by
 * tests/process/test_from_model.sh.
 */
#ifndef HEARSAY_STATE_EXPORT_H
#define HEARSAY_STATE_EXPORT_H

#include "state/safetensors.h"

#define BASE_PATH_BYTES 1056

struct export
{
    char path[BASE_PATH_BYTES];     /* of the file */
    const struct model *model;      /* gives the tensors their names and shapes */
    bool companded;                 /* the base (companding.h) */
    struct safetensors_about about; /* the metadata that is the same in each save */
};

void export_path(char path[static BASE_PATH_BYTES], const char *folder);

/* Writes the base units[P], which has this digest and is the sum of the rumors in history
 * (version.h). The units are overwritten: they are the buffer. Fails as safetensors_save. May run
 * in a thread of its own. */
enum error export_save(const struct export *file, int32_t *units, uint64_t digest,
                       const uint8_t *history, size_t history_bytes,
                       struct problem *problem) MUST_USE;

#endif
