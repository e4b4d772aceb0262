/* Data parallelism: each additional GPU of a learner is a worker, which computes the gradients of
 * its share of every step and nothing else.
 *
 *   learner, on the first     weights ──broadcast──► weights       each worker
 *                             input ───────upload──► input ─► gradients of its share
 *              optimizer ◄─── sum ◄────────reduce─── gradients
 *
 * A worker has weights, gradients, layer buffers for one part, the training samples and the input
 * of a step. From one step to the next it keeps only the sum of the losses: the learner's state is
 * on its first device and is saved from there.
 *
 * Two devices that compute one part each make the same step, bit for bit, as one device that
 * computes both parts. With more devices or parts, sums are rounded in another order.
 * Tests: tests/unit/model/test_data_parallel.c.
 */
#ifndef HEARSAY_MODEL_TRAINING_DATA_PARALLEL_H
#define HEARSAY_MODEL_TRAINING_DATA_PARALLEL_H

#include "backend/team.h"
#include "base/arena.h"
#include "training/gradients.h"

struct data_parallel;

/* Copies the model and the training samples to all devices of the team except the first. The caller
 * owns the team, which must outlive the workers. */
struct data_parallel *data_parallel_new(struct arena *arena, struct team *team,
                                        const struct model *model, const struct dataset *train,
                                        const struct gradients_options *options);

/* Returns the number of devices that compute a step, including the learner's first device. */
uint32_t data_parallel_devices(const struct data_parallel *workers);

void data_parallel_upload(struct data_parallel *workers, const struct step_input *host,
                          size_t bytes);

/* Copies weights[P] of the learner's first device to the workers and starts their shares of the
 * step. Compute the first device's share between this call and data_parallel_end. */
void data_parallel_begin(struct data_parallel *workers, float *weights, const struct step_cut *cut);

/* Adds the workers' gradients to sum[P] of the first device. */
void data_parallel_end(struct data_parallel *workers, float *sum);

/* Call it when the division of steps among devices has changed: drops the recorded graphs. */
void data_parallel_recut(struct data_parallel *workers);

/* Waits for the workers' steps; returns the sum of their losses since the last call. */
double data_parallel_take_loss(struct data_parallel *workers);

/* Returns true if a worker reads the training samples from the host for lack of device memory. */
bool data_parallel_read_far(const struct data_parallel *workers);

void data_parallel_free(struct data_parallel *workers);

#endif
