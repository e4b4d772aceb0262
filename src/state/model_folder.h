/* Reads and writes a model in the format of Hugging Face's transformers, a folder of its own:
 *
 *   DIR/config.json         architecture: the numbers of a family (names/name_family.h)
 *   DIR/model.safetensors   its tensors, with the family's names and layouts
 *
 *   base.safetensors ─► hearsay export ─► DIR ─► from_pretrained(DIR)
 *   save_pretrained(DIR) ─► DIR ─► model.start, hearsay eval, generate, model
 *
 * Held by tests/unit/state/test_model_folder.c and tests/process/against_transformers.py.
 */
#ifndef HEARSAY_STATE_MODEL_FOLDER_H
#define HEARSAY_STATE_MODEL_FOLDER_H

#include <stdbool.h>

#include "base/error.h"
#include "state/safetensors.h"

#define MODEL_FOLDER_PATH_BYTES 1056

/* The content of a config.json. */
struct model_folder_about {
    char layers[MODEL_LINE_MAX]; /* layers line of the model */
    int positions;               /* positions of the longest sequence */
    int tokens;                  /* number of tokens */
};

/* Returns true if the path is a folder with a config.json. */
bool model_folder_is(const char *path);

/* Writes the path of the tensors' file: in such a folder, or `path` itself otherwise. */
void model_folder_tensors(char file[static MODEL_FOLDER_PATH_BYTES], const char *path);

/* Reads config.json. MISMATCH: our layers cannot compute this model. */
enum error model_folder_read(const char *folder, struct model_folder_about *about,
                             struct problem *problem) MUST_USE;

/* Compares the model with config.json. MISMATCH: they differ. */
enum error model_folder_check(const char *folder, const struct model *model,
                              struct problem *problem) MUST_USE;

/* Writes both files, or only the tensors for a ResNet; creates the folder if necessary. MISMATCH:
 * the model belongs to no family. */
enum error model_folder_save(const char *folder, const struct model *model,
                             const struct safetensors_about *about, const float *host_weights,
                             struct problem *problem) MUST_USE;

#endif
