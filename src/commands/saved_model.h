/* A model that a node has saved, for the commands that use it: where it is, and its weights. */
#ifndef HEARSAY_COMMANDS_SAVED_MODEL_H
#define HEARSAY_COMMANDS_SAVED_MODEL_H

#include "base/error.h"
#include "state/export.h"
#include "state/safetensors.h"

/* state: a .safetensors file, or a state folder, of which it is the base, or a folder of another
 * library's (state/model_folder.h). MISSING: the node has not saved one yet. */
enum error saved_model_find(char path[static BASE_PATH_BYTES], const char *state,
                            struct problem *problem) MUST_USE;

/* Whether that is a folder of another library's. */
bool saved_model_is_foreign(const char *path, const char *state);

/* weights[P], and *about as the same file says, which safetensors_read_about has read before.
 * FORGED: the weights were damaged or changed. */
enum error saved_model_load(const char *path, const struct model *model, float *weights,
                            struct safetensors_about *about, struct problem *problem) MUST_USE;

#endif
