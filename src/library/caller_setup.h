/* Makes the learner of a host program with its own model from the program's tensors: initial
 * weights and model description.
 *
 *   a run       description: the run, the list of tensors, the digest of the first weights
 *   no run      the model of the configuration, as in a daemon
 *
 * If there is a checkpoint to continue from, the tensors may hold any values. Held by
 * tests/unit/library.
 */
#ifndef HEARSAY_LIBRARY_CALLER_SETUP_H
#define HEARSAY_LIBRARY_CALLER_SETUP_H

#include "library/engine.h"

/* Implements the host's `make` (daemon/host.h) for a struct engine. Sets has_bad_tensors if the
 * tensors themselves are wrong. */
enum error caller_setup_make(void *self, struct setup *setup, struct problem *problem) MUST_USE;

/* Called after the checkpoints were read. If none of them can be used, the tensors must hold the
 * initial weights. FAILED: they do not. */
enum error caller_setup_check_start(const struct engine *engine, struct problem *problem) MUST_USE;

#endif
