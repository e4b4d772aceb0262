/* The weights that all nodes of a swarm start from, b0: drawn by a seed, or read from a file.
 *
 *   model.seed ─────────────► model_init ─┐
 *   model.start, safetensors ─► tensors ──┴─► b0, in whole units (replica.h)
 *
 * So a saved model can be trained further with other data, and a swarm can restart from its own. A
 * saved base is float32: entries within 1 of zero, as most are, are restored exactly, with their
 * digest; larger ones are rounded to float32. Held by tests/unit/config/test_initial_weights.c and
 * tests/process/test_from_model.sh.
 */
#ifndef HEARSAY_CONFIG_INITIAL_WEIGHTS_H
#define HEARSAY_CONFIG_INITIAL_WEIGHTS_H

#include <stdint.h>

#include "base/error.h"
#include "layers/model.h"

/* Reads host_weights[P] of b0 from the file, or from a folder with a config.json
 * (state/model_folder.h), and computes the digest of b0. Finds tensors by name and shape and
 * ignores metadata, so files of other programs are accepted. Fails as safetensors_load and
 * model_folder_check do; also MALFORMED if a weight is NaN or too large for a base. */
enum error initial_weights_load(const char *path, const struct model *model, float *host_weights,
                                uint64_t *digest, struct problem *problem) MUST_USE;

/* Returns true if the base of such a model is companded (companding.h): the model has running
 * statistics, or a first weight is large. weights[P]: b0 of a file; or NULL. */
bool initial_weights_compand(const struct model *model, const float *weights);

#endif
