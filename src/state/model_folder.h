/* A model as Hugging Face's transformers keep it, in a folder of its own:
 *
 *   DIR/config.json         what it is: the numbers of a family (names/name_family.h)
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
    char layers[MODEL_LINE_MAX]; /* the line */
    int positions;               /* of the longest sequence */
    int tokens;                  /* that there are */
};

/* A folder with a config.json in it. */
bool model_folder_is(const char *path);

/* Where the tensors are: in such a folder, or `path` itself, if it is none. */
void model_folder_tensors(char file[static MODEL_FOLDER_PATH_BYTES], const char *path);

/* MISMATCH: a model that our layers cannot compute. */
enum error model_folder_read(const char *folder, struct model_folder_about *about,
                             struct problem *problem) MUST_USE;

/* MISMATCH: the model is not what config.json says. */
enum error model_folder_check(const char *folder, const struct model *model,
                              struct problem *problem) MUST_USE;

/* Writes both files, of a ResNet the tensors alone; the folder is made if it is not there.
 * MISMATCH: the model belongs to no family. */
enum error model_folder_save(const char *folder, const struct model *model,
                             const struct safetensors_about *about, const float *host_weights,
                             struct problem *problem) MUST_USE;

#endif
