/* The owner of a checkpoint: node, swarm and model as a text in the file.
 *
 *   describe: node ID in swarm "NAME": INPUT, layout N: LAYERS; START
 *
 * A node continues only from a checkpoint with its own text. Otherwise the message names the first
 * part that differs, and the remedy. Held by tests/process/test_from_model.sh. */
#ifndef HEARSAY_STATE_CHECKPOINT_OWNER_H
#define HEARSAY_STATE_CHECKPOINT_OWNER_H

#include "crypto/identity.h"
#include "state/checkpoint.h"

#define CHECKPOINT_OWNER_MAX      CHECKPOINT_MODEL_MAX
#define CHECKPOINT_DIFFERENCE_MAX 304

/* model: the description of setup.h, "INPUT, layout N: LAYERS; START". */
void checkpoint_owner_describe(const struct identity *identity, const char *swarm,
                               const char *model, char text[CHECKPOINT_OWNER_MAX]);

/* Writes the first part in which two different texts differ, and what to do, as the end of a
 * sentence that begins "it is of". theirs may be any text. */
void checkpoint_owner_difference(char out[CHECKPOINT_DIFFERENCE_MAX], const char *theirs,
                                 const char *ours);

#endif
