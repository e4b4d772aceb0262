/* The owner's text in a checkpoint: identifies the node, the swarm and the model.
 *
 *   describe: node ID in swarm "NAME": INPUT, layout N: LAYERS; START
 *   of_swarm: START is "swarm HEX": the initial weights came from the swarm with that model hash
 *
 * A node continues only from a checkpoint with one of these texts. For any other text, the
 * message names the first part that differs, and the remedy. Tests:
 * tests/process/test_from_model.sh. */
#ifndef HEARSAY_STATE_CHECKPOINT_OWNER_H
#define HEARSAY_STATE_CHECKPOINT_OWNER_H

#include <stdbool.h>
#include <stdint.h>

#include "crypto/identity.h"
#include "state/checkpoint.h"

#define CHECKPOINT_OWNER_MAX      CHECKPOINT_MODEL_MAX
#define CHECKPOINT_DIFFERENCE_MAX 304

/* model: "INPUT, layout N: LAYERS; START", the description from config/setup.h. */
void checkpoint_owner_describe(const struct identity *identity, const char *swarm,
                               const char *model, char text[CHECKPOINT_OWNER_MAX]);

/* Writes the text of a node whose initial weights came from the swarm with this model hash. own:
 * the node's text from checkpoint_owner_describe. */
void checkpoint_owner_of_swarm(char text[CHECKPOINT_OWNER_MAX], const char *own,
                               const uint8_t model_hash[static 16]);
/* Returns true and sets model_hash if `theirs` is a text that checkpoint_owner_of_swarm writes
 * for the node whose text is `own`. `theirs` may be any text. */
bool checkpoint_owner_is_of_swarm(const char *theirs, const char *own,
                                  uint8_t model_hash[static 16]);

/* Writes the first part in which two different texts differ, and what to do, as the end of a
 * sentence that begins with "FILE: is of". `theirs` may be any text. */
void checkpoint_owner_difference(char out[CHECKPOINT_DIFFERENCE_MAX], const char *theirs,
                                 const char *ours);

#endif
