/* What all nodes of a swarm start from, b0: weights drawn by a seed, or those of a file.
 *
 *   model.seed ─────────────► model_init ─┐
 *   model.start, safetensors ─► tensors ──┴─► b0, in whole quanta (replica.h)
 *
 * A base that was saved is b0 of another swarm bit for bit, and has its digest there, too: so a
 * model goes on to be trained on other data, or a swarm that has grown old begins anew.
 * Held by tests/test_start.c and tests/test_from_model.sh.
 */
#ifndef HEARSAY_START_H
#define HEARSAY_START_H

#include <stdint.h>

#include "model.h"
#include "status.h"

/* host_weights[P] from the file; the digest is that of b0. Tensors go by name and shape, so files
 * of others will do. Fails as tensors_load; MALFORMED, too, if a weight is no number, or too large
 * for a base. */
enum status start_load(const char *path, const struct model *model, float *host_weights,
                       uint64_t *digest, struct problem *problem) MUST_USE;

#endif
