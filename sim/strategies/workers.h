/* Workers that need not all wait for each other: the framework of asynchronous strategies.
 *
 *      ┌─ on_message ◄── messages ◄─┐
 *      ▼                            │
 *   may_step? ─► time of a step ─► on_step ─► workers_send
 *
 * A method defines messages and their use; the framework has learners, network, time and moments. A
 * worker makes one step at a time, at the speed of its node. The step is computed at its end, from
 * the weights at that time. A method that sends more than its links carry is held up as by a full
 * send buffer: no step starts while the messages of two steps wait.
 *
 * By default the mean over all workers is evaluated; gathering it is free, in favour of these
 * strategies. Faults are not played. Tests: tests/unit/sim/test_workers.c.
 */
#ifndef HEARSAY_SIM_STRATEGIES_WORKERS_H
#define HEARSAY_SIM_STRATEGIES_WORKERS_H

#include "base/rng.h"
#include "experiment/experiment.h"
#include "network/messages.h"

struct workers;

/* Workers are numbered from 0. `self` is the state that begin returns. */
struct workers_method {
    /* Returns `self`. All workers start with the weights start[P]. */
    void *(*begin)(struct workers *workers, const float *start);
    /* Returns true if worker i may start a step. Called at the start, after each of its steps,
     * after each message to it, and when its waiting messages leave. NULL = a worker may always
     * start. */
    bool (*may_step)(void *self, uint32_t i);
    /* Called at the end of a step of worker i. Must call workers_step once, or workers_gradient and
     * then workers_descend once. */
    void (*on_step)(void *self, uint32_t i);
    void (*on_message)(void *self, uint32_t i, uint32_t from, const struct sim_message *message);
    /* Writes the weights[P] to evaluate. NULL = the mean over all workers. */
    void (*weights)(void *self, float *weights);
    void (*end)(void *self);
};

/* Plays a method. Returns the weights to evaluate (strategy.h). */
const float *workers_play(const struct workers_method *method, struct experiment *experiment,
                          struct outcome *outcome);

/* The functions below are for the functions of a workers_method. */

uint32_t workers_count(const struct workers *workers);
size_t workers_parameters(const struct workers *workers);
const struct scenario *workers_scenario(const struct workers *workers);
const struct experiment *workers_experiment(const struct workers *workers);
struct rng *workers_rng(struct workers *workers);
uint64_t workers_now_ns(const struct workers *workers);

uint64_t workers_steps(const struct workers *workers, uint32_t i);
uint64_t workers_step_ns(const struct workers *workers, uint32_t i);
/* Returns the samples per step of worker i. */
uint32_t workers_batch(const struct workers *workers, uint32_t i);

/* Returns the bytes per second from worker i to worker j now, if every worker sends to all others
 * and they share uplinks, downlinks and links between regions; 0 = unlimited. */
double workers_share(const struct workers *workers, uint32_t i, uint32_t j);

/* Returns the seconds until worker i has sent `bytes` to every other worker while all workers do
 * the same; 0 = no link limits a transfer. */
double workers_seconds_to_all(const struct workers *workers, uint32_t i, double bytes);

/* Makes a step of worker i. Returns the change of its weights, [P], valid until the next call. */
const float *workers_step(struct workers *workers, uint32_t i);

/* Make a step of worker i in two halves. workers_gradient returns the gradient[P], which the
 * method may change until the next step. workers_descend gives a gradient[P] to the optimizer. The
 * worker's weights may be changed before or after both calls, not in between. */
float *workers_gradient(struct workers *workers, uint32_t i);
void workers_descend(struct workers *workers, uint32_t i, const float *gradient);

/* Returns the sum of the losses of all samples in worker i's steps since the last call. */
double workers_losses(struct workers *workers, uint32_t i);

/* Read, write, or add scale · values[P] or scale · content to the weights[P] of worker i. */
void workers_read(const struct workers *workers, uint32_t i, float *weights);
void workers_write(struct workers *workers, uint32_t i, const float *weights);
void workers_add(struct workers *workers, uint32_t i, float scale, const float *values);
void workers_add_content(struct workers *workers, uint32_t i, float scale,
                         const struct content *content);

/* Takes over the caller's reference to the message's content. A message to the sender itself is
 * free. */
void workers_send(struct workers *workers, uint32_t from, uint32_t to,
                  const struct sim_message *message);
/* Sends to all other workers. Takes over the caller's one reference to the message's content. */
void workers_send_all(struct workers *workers, uint32_t from, const struct sim_message *message);

/* Returns the number of messages from `from` to `to` of which no byte has been sent yet. */
uint32_t workers_waiting(const struct workers *workers, uint32_t from, uint32_t to);

#endif
