/* Reads and writes a model in the format of Hugging Face's transformers, which is a folder:
 *
 *   DIR/config.json         architecture: the numbers of a family (names/name_family.h)
 *   DIR/model.safetensors   tensors, with the names and layouts of the family
 *
 *   base.safetensors ─► hearsay export ─► DIR ─► from_pretrained(DIR)
 *   save_pretrained(DIR) ─► DIR ─► model.start, hearsay eval, generate, model
 *
 * Tests: tests/unit/state/test_model_folder.c and tests/process/against_transformers.py.
 */
#ifndef HEARSAY_STATE_MODEL_FOLDER_H
#define HEARSAY_STATE_MODEL_FOLDER_H

#include <stdbool.h>

#include "base/error.h"
#include "state/safetensors.h"

#define MODEL_FOLDER_PATH_BYTES 1056

/* Contents of config.json. */
struct model_folder_about {
    /* value for model.layers */
    char layers[MODEL_LINE_MAX];
    int positions; /* positions of the longest sequence */
    int tokens;    /* size of the vocabulary */
};

/* Returns true if the path is a folder with a config.json. */
bool model_folder_is(const char *path);

/* Writes the path of the tensors' file to `file`: PATH/model.safetensors if `path` is a folder
 * with a config.json, otherwise `path` itself. */
void model_folder_tensors(char file[static MODEL_FOLDER_PATH_BYTES], const char *path);

/* MISSING: the folder has no model.safetensors. MISMATCH: our layers cannot represent the model, or
 * its tensors are in several files. MALFORMED, TOO_BIG: config.json cannot be used. */
enum error model_folder_read(const char *folder, struct model_folder_about *about,
                             struct problem *problem) MUST_USE;

/* MISMATCH: config.json describes another model. MALFORMED, TOO_BIG: it cannot be used. */
enum error model_folder_check(const char *folder, const struct model *model,
                              struct problem *problem) MUST_USE;

/* Writes model.safetensors and, unless the model is a ResNet, config.json, over older files of this
 * model; creates the folder if necessary. MISMATCH: the model belongs to no family, or the folder
 * has the config.json of another model. */
enum error model_folder_save(const char *folder, const struct model *model,
                             const struct safetensors_about *about, const float *host_weights,
                             struct problem *problem) MUST_USE;

#endif
