/* Finds and loads a model that a node has saved, for the commands that use saved models. */
#ifndef HEARSAY_COMMANDS_SAVED_MODEL_H
#define HEARSAY_COMMANDS_SAVED_MODEL_H

#include "base/error.h"
#include "state/export.h"
#include "state/safetensors.h"

/* Finds the model file. state: a .safetensors file, a state folder, or a folder of another
 * library (state/model_folder.h). Returns MISSING if the node has not saved a base yet. */
enum error saved_model_find(char path[static BASE_PATH_BYTES], const char *state,
                            struct problem *problem) MUST_USE;

/* Returns true if the model file at `path` is part of another library's model folder, `state`. */
bool saved_model_is_foreign(const char *path, const char *state);

/* Loads weights[P], and *about from the same version of the file. The caller has filled *about
 * with safetensors_read_about. Returns FORGED if the weights do not match the checksum in the file,
 * and FAILED if the file is replaced faster than it can be read. */
enum error saved_model_load(const char *path, const struct model *model, float *weights,
                            struct safetensors_about *about, struct problem *problem) MUST_USE;

#endif
