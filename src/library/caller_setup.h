/* Makes the learner of a host program with its own model from the program's tensors: initial
 * weights and model description.
 *
 *   with a run      description: the run, the list of tensors, the digest of the initial weights
 *   without a run   the model of the configuration, as in `hearsay node`
 *
 * If the node continues from a checkpoint, the tensors may hold any values. Tests:
 * tests/unit/library.
 */
#ifndef HEARSAY_LIBRARY_CALLER_SETUP_H
#define HEARSAY_LIBRARY_CALLER_SETUP_H

#include "library/engine.h"

/* Implements the callback `make` of daemon/host.h; self: a struct engine. Sets has_bad_tensors if
 * the tensors themselves are wrong. */
enum error caller_setup_make(void *self, struct setup *setup, struct problem *problem) MUST_USE;

/* For tensors with a run: checks the initial weights after the checkpoints were read. FAILED: no
 * checkpoint was loaded, and the tensors do not have the initial weights of the first start. */
enum error caller_setup_check_start(const struct engine *engine, struct problem *problem) MUST_USE;

#endif
