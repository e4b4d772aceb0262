/* Whose a checkpoint is: of which node, swarm and model, as text beside it; and of one that is not
 * ours, what differs. Held by tests/process/test_from_model.sh. */
#ifndef HEARSAY_WHOSE_H
#define HEARSAY_WHOSE_H

#include "state/checkpoint.h"
#include "crypto/identity.h"

/* What a checkpoint must be of, to be gone on from: swarm, model (setup.h) and identity. */
#define WHOSE_MAX CHECKPOINT_MODEL_MAX
void whose_describe(const struct identity *identity, const char *swarm, const char *model,
                    char text[WHOSE_MAX]);

/* Of two different such texts the first part that differs, and what to do (checkpoint.h). */
void whose_tell_apart(char out[CHECKPOINT_APART_MAX], const char *theirs, const char *ours);

#endif
