/* What all nodes of a swarm start from, b0: weights drawn by a seed, or those of a file.
 *
 *   model.seed ─────────────► model_init ─┐
 *   model.start, safetensors ─► tensors ──┴─► b0, in whole quanta (replica.h)
 *
 * So a model goes on to be trained on other data, or a swarm that has grown old begins anew. What
 * was saved of a base is float32: where its entries are within 1 of zero, as most are, b0 is that
 * base bit for bit, with its digest; beyond, it is as near as a float32 is. Held by
 * tests/unit/config/test_initial_weights.c and tests/process/test_from_model.sh.
 */
#ifndef HEARSAY_CONFIG_INITIAL_WEIGHTS_H
#define HEARSAY_CONFIG_INITIAL_WEIGHTS_H

#include <stdint.h>

#include "layers/model.h"
#include "base/error.h"

/* host_weights[P] of b0 from the file, and the digest of b0. Tensors go by name and shape, so files
 * of others will do. Fails as safetensors_load; MALFORMED, too, if a weight is no number, or too
 * large for a base. */
enum error initial_weights_load(const char *path, const struct model *model, float *host_weights,
                                uint64_t *digest, struct problem *problem) MUST_USE;

#endif
