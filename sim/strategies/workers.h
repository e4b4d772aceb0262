/* Workers that do not all wait for each other: the frame of strategies that send as they step.
 *
 *      ┌─ on_message ◄── messages ◄─┐
 *      ▼                            │
 *   may_step? ─► time of a step ─► on_step ─► workers_send
 *
 * The frame has the learners, the network, the time and the moments; what is sent when, and what
 * becomes of it, is the method's own. A worker makes one step at a time, at the speed of its node.
 * The step is computed when its time is over, from the weights of then. A method that sends more
 * than its links carry is held up as by a full send buffer: as long as the messages of two steps
 * wait, no step begins.
 *
 * Where a method does not say which weights are to be evaluated, it is the mean over all workers;
 * gathering it is not charged, in favour of these strategies. Faults are not played. Held by
 * tests/unit/sim/test_workers.c.
 */
#ifndef HEARSAY_SIM_STRATEGIES_WORKERS_H
#define HEARSAY_SIM_STRATEGIES_WORKERS_H

#include "base/rng.h"
#include "network/messages.h"
#include "scenario/experiment.h"

struct workers; /* opaque: of one play */

/* Workers are numbered from 0; `self` is what begin returned. */
struct workers_method {
    /* All workers have the weights start[P]. */
    void *(*begin)(struct workers *workers, const float *start);
    /* May worker i begin a step? Asked after its last one and after each message. NULL: always. */
    bool (*may_step)(void *self, uint32_t i);
    /* The time of a step of worker i is over. It calls workers_step, or workers_gradient and
     * workers_descend, once. */
    void (*on_step)(void *self, uint32_t i);
    void (*on_message)(void *self, uint32_t i, uint32_t from, const struct sim_message *message);
    /* weights[P], to be evaluated. NULL: the mean over all workers. */
    void (*weights)(void *self, float *weights);
    void (*end)(void *self);
};

/* As strategy.h. */
const float *workers_play(const struct workers_method *method, struct experiment *experiment,
                          struct outcome *outcome);

/* For methods. */

uint32_t workers_count(const struct workers *workers);
size_t workers_parameters(const struct workers *workers); /* P */
const struct scenario *workers_scenario(const struct workers *workers);
const struct experiment *workers_experiment(const struct workers *workers);
struct rng *workers_rng(struct workers *workers);
uint64_t workers_now_ns(const struct workers *workers);

uint64_t workers_steps(const struct workers *workers, uint32_t i); /* made so far */
uint64_t workers_step_ns(const struct workers *workers, uint32_t i);
uint32_t workers_batch(const struct workers *workers, uint32_t i); /* samples of a step */

/* Bytes per second of the way from i to j at this time, if all send to all others: uplinks,
 * downlinks and lines between regions are shared. 0: no limit. i and j differ. */
double workers_share(const struct workers *workers, uint32_t i, uint32_t j);

/* Seconds in which worker i can send that many bytes to each of the others, if all do so at a time:
 * by its uplink, the ways to them, and their downlinks; 0: no limit. */
double workers_seconds_to_all(const struct workers *workers, uint32_t i, double bytes);

/* A step. Returns what it did to the weights, [P], which stays so until the next call. */
const float *workers_step(struct workers *workers, uint32_t i);

/* A step in two halves: its gradient, [P], the method's to change until the next step; and the step
 * with a gradient[P]. The weights may be changed before or after the two, not in between. */
float *workers_gradient(struct workers *workers, uint32_t i);
void workers_descend(struct workers *workers, uint32_t i, const float *gradient);

/* The losses of the samples of its steps since the last call, added up. */
double workers_losses(struct workers *workers, uint32_t i);

/* Weights of worker i, [P]: read, written, and content or values added, times scale. */
void workers_read(const struct workers *workers, uint32_t i, float *weights);
void workers_write(struct workers *workers, uint32_t i, const float *weights);
void workers_add(struct workers *workers, uint32_t i, float scale, const float *values);
void workers_add_content(struct workers *workers, uint32_t i, float scale,
                         const struct content *content);

/* Takes over the caller's reference to the content. A message to oneself costs nothing. */
void workers_send(struct workers *workers, uint32_t from, uint32_t to,
                  const struct sim_message *message);
/* The same to all others; the content has one reference. */
void workers_send_all(struct workers *workers, uint32_t from, const struct sim_message *message);

/* Messages from one to the other that have not begun to leave. */
uint32_t workers_waiting(const struct workers *workers, uint32_t from, uint32_t to);

#endif
