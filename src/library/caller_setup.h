/* The learner of a program with its own model, made of the caller's tensors: first weights and the
 * model description.
 *
 *   a run       description: the run, the list of tensors, the digest of the first weights
 *   no run      the model of the configuration, as a daemon has it
 *
 * Where there is a checkpoint to go on from, the tensors may hold anything. Held by
 * tests/unit/library.
 */
#ifndef HEARSAY_LIBRARY_CALLER_SETUP_H
#define HEARSAY_LIBRARY_CALLER_SETUP_H

#include "library/engine.h"

/* The host's `make` (daemon/host.h) for a struct engine. Sets has_bad_tensors if the tensors
 * themselves are wrong. */
enum error caller_setup_make(void *self, struct setup *setup, struct problem *problem) MUST_USE;

/* After the checkpoints were looked at: of those that are there none may be of use, and then the
 * tensors must hold the first weights. FAILED: they do not. */
enum error caller_setup_check_start(const struct engine *engine, struct problem *problem) MUST_USE;

#endif
