/* Data parallelism: the other GPUs of a learner each compute the gradients of a part of each step,
 * and nothing else.
 *
 *   learner, on the first     weights ──broadcast──► weights       each worker
 *                             input ───────upload──► input ─► gradients of its share
 *              optimizer ◄─── sum ◄────────reduce─── gradients
 *
 * A worker has weights and gradients, the layers' memory of a part, the training samples and the
 * input of a step. It keeps nothing from step to step that the learner does not have: what a
 * learner is, and saves, is on its first device.
 *
 * A step with workers is, bit for bit, that of one device that makes as many parts, if there are
 * two devices with a part each; else sums are rounded in another order.
 * Held by tests/unit/model/test_data_parallel.c.
 */
#ifndef HEARSAY_MODEL_TRAINING_DATA_PARALLEL_H
#define HEARSAY_MODEL_TRAINING_DATA_PARALLEL_H

#include "backend/team.h"
#include "base/arena.h"
#include "training/gradients.h"

struct data_parallel;

/* The team is lent; the model is copied to its devices. */
struct data_parallel *data_parallel_new(struct arena *arena, struct team *team,
                                        const struct model *model, const struct dataset *train,
                                        const struct gradients_options *options);

/* Devices that make a step, with the learner's own. */
uint32_t data_parallel_devices(const struct data_parallel *workers);

/* A step: its input, then what each worker makes of it with the weights[P] of the first device, and
 * then all of that is added to sum[P] of the first device. In between that device makes its own
 * share, beside the others. */
void data_parallel_upload(struct data_parallel *workers, const struct step_input *host,
                          size_t bytes);
void data_parallel_begin(struct data_parallel *workers, float *weights, const struct step_cut *cut);
void data_parallel_end(struct data_parallel *workers, float *sum);

/* Call it when the division of steps among devices has changed. */
void data_parallel_recut(struct data_parallel *workers);

/* Waits for the steps and returns the loss of all workers since the last call, summed. */
double data_parallel_take_loss(struct data_parallel *workers);

/* Returns true if a worker reads the training samples from the host. */
bool data_parallel_read_far(const struct data_parallel *workers);

void data_parallel_free(struct data_parallel *workers);

#endif
