/* Whose a checkpoint is: of which node, swarm and model, as text beside it; and of one that is not
 * ours, what differs. Held by tests/process/test_from_model.sh. */
#ifndef HEARSAY_STATE_CHECKPOINT_OWNER_H
#define HEARSAY_STATE_CHECKPOINT_OWNER_H

#include "state/checkpoint.h"
#include "crypto/identity.h"

/* What a checkpoint must be of, to be gone on from: swarm, model (setup.h) and identity. */
#define CHECKPOINT_OWNER_MAX CHECKPOINT_MODEL_MAX
void checkpoint_owner_describe(const struct identity *identity, const char *swarm,
                               const char *model, char text[CHECKPOINT_OWNER_MAX]);

/* Of two different such texts the first part that differs, and what to do (checkpoint.h). */
void checkpoint_owner_difference(char out[CHECKPOINT_DIFFERENCE_MAX], const char *theirs,
                                 const char *ours);

#endif
