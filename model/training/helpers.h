/* The other GPUs of a learner: each computes the gradients of its share of each step, and nothing
 * else.
 *
 *   learner, on the first     weights ──broadcast──► weights       each helper
 *                             input ───────upload──► input ─► gradients of its share
 *              optimizer ◄─── sum ◄────────reduce─── gradients
 *
 * A helper has weights and gradients, the layers' memory of a part, the training samples and the
 * input of a step. It keeps nothing from step to step that the learner does not have: what a
 * learner is, and saves, is on its first device.
 *
 * A step with helpers is, bit for bit, that of one device that makes as many parts, if there are
 * two devices with a part each; else sums are rounded in another order.
 * Held by tests/unit/model/test_helpers.c.
 */
#ifndef HEARSAY_MODEL_TRAINING_HELPERS_H
#define HEARSAY_MODEL_TRAINING_HELPERS_H

#include "backend/team.h"
#include "base/arena.h"
#include "training/gradients.h"

struct helpers;

/* The team is lent; the model is copied to its devices. */
struct helpers *helpers_new(struct arena *arena, struct team *team, const struct model *model,
                            const struct dataset *train, const struct gradients_options *options);

/* Devices that make a step, with the learner's own. */
uint32_t helpers_devices(const struct helpers *helpers);

/* A step: its input, then what each helper makes of it with the weights[P] of the first device, and
 * then all of that is added to sum[P] of the first device. In between that device makes its own
 * share, beside the others. */
void helpers_upload(struct helpers *helpers, const struct step_input *host, size_t bytes);
void helpers_begin(struct helpers *helpers, float *weights, const struct step_cut *cut);
void helpers_end(struct helpers *helpers, float *sum);

/* Steps are cut differently from now on. */
void helpers_recut(struct helpers *helpers);

/* The loss of all of them since the last call, added up. It waits for the steps. */
double helpers_take_loss(struct helpers *helpers);

/* True: one of them reads the training samples from the host. */
bool helpers_read_far(const struct helpers *helpers);

void helpers_free(struct helpers *helpers);

#endif
