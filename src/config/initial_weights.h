/* Loads b0, the initial weights of all nodes of a swarm. They are random from a seed, or from a
 * file.
 *
 *   model.seed ─────────────► model_init ─┐
 *   model.start, safetensors ─► tensors ──┴─► b0, in base units (replica.h)
 *
 * So a saved model can be trained further with other data, and a swarm can restart from its own
 * base. A saved base is float32. Entries between -1 and 1, as most are, are restored exactly, with
 * their digest; others are rounded to float32. Tests: tests/unit/config/test_initial_weights.c and
 * tests/process/test_from_model.sh.
 */
#ifndef HEARSAY_CONFIG_INITIAL_WEIGHTS_H
#define HEARSAY_CONFIG_INITIAL_WEIGHTS_H

#include <stdint.h>

#include "base/error.h"
#include "layers/model.h"

/* Reads b0 into host_weights[P] from a file, or from a folder with a config.json
 * (state/model_folder.h), and computes its digest. Finds tensors by name and shape and ignores
 * metadata, so files of other programs are accepted. Returns the errors of safetensors_load and
 * model_folder_check; MALFORMED also means that a weight is NaN or too large. */
enum error initial_weights_load(const char *path, const struct model *model, float *host_weights,
                                uint64_t *digest, struct problem *problem) MUST_USE;

/* Returns true if the base of the model is companded (companding.h): if the model has running
 * statistics, or an initial weight is large. weights[P]: b0 from a file; NULL = b0 is random. */
bool initial_weights_compand(const struct model *model, const float *weights);

#endif
