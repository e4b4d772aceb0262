/* The owner of a checkpoint: node, swarm and model as a text in the file.
 *
 *   describe: node ID in swarm "NAME": INPUT, layout N: LAYERS; START
 *   of_swarm: the same with "swarm HEX" for START: first weights taken over from a swarm
 *
 * A node continues only from a checkpoint with one of these texts. Otherwise the message names the
 * first part that differs, and the remedy. Held by tests/process/test_from_model.sh. */
#ifndef HEARSAY_STATE_CHECKPOINT_OWNER_H
#define HEARSAY_STATE_CHECKPOINT_OWNER_H

#include <stdbool.h>
#include <stdint.h>

#include "crypto/identity.h"
#include "state/checkpoint.h"

#define CHECKPOINT_OWNER_MAX      CHECKPOINT_MODEL_MAX
#define CHECKPOINT_DIFFERENCE_MAX 304

/* Writes the text. model: description of setup.h, "INPUT, layout N: LAYERS; START". */
void checkpoint_owner_describe(const struct identity *identity, const char *swarm,
                               const char *model, char text[CHECKPOINT_OWNER_MAX]);

/* Writes the text of a node that has taken over the first weights of the swarm with this model
 * hash. */
void checkpoint_owner_of_swarm(char text[CHECKPOINT_OWNER_MAX], const char *own,
                               const uint8_t model_hash[static 16]);
/* Returns whether theirs, any text, is such a text of the node with the text own. */
bool checkpoint_owner_is_of_swarm(const char *theirs, const char *own,
                                  uint8_t model_hash[static 16]);

/* Writes the first part in which two different texts differ, and what to do, as the end of a
 * sentence that begins "it is of". theirs may be any text. */
void checkpoint_owner_difference(char out[CHECKPOINT_DIFFERENCE_MAX], const char *theirs,
                                 const char *ours);

#endif
