/* DLion (Hong, Chandra, HPDC 2021, after their workshop paper of 2019): micro-clouds that differ in
 * speed and links. Each worker steps with the gradients of all workers, without waiting.
 *
 *   batch_k = sum of all batches · speed_k / sum of speeds                  batch_by_speed
 *   W_k = W_k − η · gain/n · (g_k + Σ_j (batch_j / batch_k) g_j)     g_j: arrived since last step
 *   messages: the entries of g within Max N (max_n.h)                       max_n
 *   every transfer_steps: asks the worker of lowest recent loss for its weights W_best
 *   when W_best arrives:  W = W − 0.75 (W − W_best)
 *
 * With max_n = auto, N is as large as the link carries in the time of a step while the worker sends
 * to all other workers, and at least 0.85. max_n = 100 sends all entries; transfer_steps = 0
 * disables the move towards W_best. Entries beyond Max N are dropped, not remembered. A message of
 * gradients has 8 more bytes, for batch and loss; a request has 8 bytes. The recent loss is an
 * exponential moving average with factor 0.1. Link rates are known, not measured, and assume no
 * other traffic, in favour of this method. The optimizer receives the weighted sum as gradient.
 * experiment_batch sets the batches. Tests: tests/unit/sim/test_dlion.c. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "config/config.h"
#include "strategies/max_n.h"
#include "strategies/strategy.h"
#include "strategies/workers.h"

#define NOTE_BYTES  8
#define NEARER      0.75f
#define LOSS_FORGET 0.1

enum { GRADIENT, REQUEST, WEIGHTS };

struct dlion {
    struct workers *workers;
    size_t parameters;
    uint32_t count;
    uint32_t transfer_steps;
    double n;    /* N of Max N in percent; CONFIG_AUTO_REAL = as much as each link carries */
    float gain;  /* gain / n, factor on each worker's gradient */
    float *came; /* [count][P] sum of weighted gradients received since each worker's last step */
    float *own;  /* [P] weights of one worker, or the gradient of its step */
    double *losses; /* [i][j] recent loss of worker j as known to worker i; 0 = unknown */
    struct max_n *max_n;
};

static void *begin(struct workers *workers, const float *start)
{
    const uint32_t count = workers_count(workers);
    const size_t parameters = workers_parameters(workers);
    const struct strategy_settings *settings = &workers_scenario(workers)->settings;
    struct dlion *dlion = memory_new(1, sizeof *dlion);
    (void)start;
    *dlion = (struct dlion){
        .workers = workers,
        .parameters = parameters,
        .count = count,
        .transfer_steps = settings->transfer_steps,
        .n = settings->max_n,
        .gain = (float)(settings->gain / count),
        .came = memory_new(count * parameters, sizeof *dlion->came),
        .own = memory_new(parameters, sizeof *dlion->own),
        .losses = memory_new((size_t)count * count, sizeof *dlion->losses),
        .max_n = max_n_new(workers_experiment(workers)->made.model, parameters),
    };
    return dlion;
}

static void end(void *self)
{
    struct dlion *dlion = self;
    free(dlion->came);
    free(dlion->own);
    free(dlion->losses);
    max_n_free(dlion->max_n);
    free(dlion);
}

static double *loss_of(const struct dlion *dlion, uint32_t i, uint32_t j)
{
    return &dlion->losses[(size_t)i * dlion->count + j];
}

static void publish(struct dlion *dlion, uint32_t i, const float *gradient)
{
    const double step_s = (double)workers_step_ns(dlion->workers, i) * 1e-9;
    max_n_rank(dlion->max_n, gradient);
    for (uint32_t j = 0; j < dlion->count; j++) {
        const double bytes = j != i ? workers_share(dlion->workers, i, j) * step_s : 0;
        if (j == i)
            continue;
        const uint32_t fitting =
            bytes > 0 ? max_n_fit(dlion->max_n, bytes - NOTE_BYTES) : MAX_N_ALL;
        const uint32_t n =
            dlion->n == CONFIG_AUTO_REAL ? fitting : (uint32_t)(dlion->n * 100 + 0.5);
        const struct sim_message message = {.bytes = NOTE_BYTES + max_n_bytes(dlion->max_n, n),
                                            .kind = GRADIENT,
                                            .weight = *loss_of(dlion, i, i),
                                            .content = max_n_content(dlion->max_n, gradient, n)};
        workers_send(dlion->workers, i, j, &message);
    }
}

static void ask_best(struct dlion *dlion, uint32_t i)
{
    const struct sim_message request = {.bytes = NOTE_BYTES, .kind = REQUEST};
    uint32_t best = i;
    for (uint32_t j = 0; j < dlion->count; j++)
        if (*loss_of(dlion, i, j) > 0 && *loss_of(dlion, i, j) < *loss_of(dlion, i, best))
            best = j;
    if (best != i)
        workers_send(dlion->workers, i, best, &request);
}

/* Compares recent losses before it updates the recent loss of worker i. The losses of other workers
 * are about one step old; a newer own loss would look too good beside them. */
static void on_step(void *self, uint32_t i)
{
    struct dlion *dlion = self;
    float *came = dlion->came + i * dlion->parameters;
    const float *gradient = workers_gradient(dlion->workers, i);
    for (size_t c = 0; c < dlion->parameters; c++) {
        dlion->own[c] = dlion->gain * (gradient[c] + came[c]);
        came[c] = 0;
    }
    workers_descend(dlion->workers, i, dlion->own);
    if (dlion->transfer_steps > 0 && workers_steps(dlion->workers, i) % dlion->transfer_steps == 0)
        ask_best(dlion, i);
    const double loss = workers_losses(dlion->workers, i) / workers_batch(dlion->workers, i);
    double *recent = loss_of(dlion, i, i);
    *recent = *recent > 0 ? *recent + LOSS_FORGET * (loss - *recent) : loss;
    publish(dlion, i, gradient);
}

static void send_weights(struct dlion *dlion, uint32_t i, uint32_t to)
{
    struct content *content = content_run(0, dlion->parameters);
    workers_read(dlion->workers, i, content->values);
    const struct sim_message message = {
        .bytes = dlion->parameters * sizeof(float), .kind = WEIGHTS, .content = content};
    workers_send(dlion->workers, i, to, &message);
}

static void draw_nearer(struct dlion *dlion, uint32_t i, const float *best)
{
    workers_read(dlion->workers, i, dlion->own);
    for (size_t c = 0; c < dlion->parameters; c++)
        dlion->own[c] -= NEARER * (dlion->own[c] - best[c]);
    workers_write(dlion->workers, i, dlion->own);
}

static void on_message(void *self, uint32_t i, uint32_t from, const struct sim_message *message)
{
    struct dlion *dlion = self;
    const float weight =
        (float)workers_batch(dlion->workers, from) / (float)workers_batch(dlion->workers, i);
    if (message->kind == REQUEST) {
        send_weights(dlion, i, from);
    } else if (message->kind == WEIGHTS) {
        draw_nearer(dlion, i, message->content->values);
    } else {
        content_add(message->content, weight, dlion->came + i * dlion->parameters);
        *loss_of(dlion, i, from) = message->weight;
    }
}

const float *dlion_play(struct experiment *experiment, struct outcome *outcome)
{
    static const struct workers_method METHOD = {
        .begin = begin, .on_step = on_step, .on_message = on_message, .end = end};
    return workers_play(&METHOD, experiment, outcome);
}
