#include "node/rate/outer_step.h"

#include <math.h>
#include <stdbool.h>

#include "base/error.h"

#define INTERVAL_S_MAX 60.0
/* Gain times outer momentum of a learner without local momentum. Bench: bench_language_exchange.py
 * (tests/decisions/008-outer-momentum-with-adam.md). Half: a language model with Adam has a loss of
 * 1.861 nats (0.6: 1.851). Double: 0.8 has a loss of 1.867 nats. */
#define MOMENTUM 0.6
/* Part of a learner's own momentum that is subtracted from MOMENTUM. */
#define MOMENTUM_TAKEN (1.0 / 3)
#define HEAD_BYTES     150.0 /* bytes of a rumor's head, signature, record and message */
#define HEAD_PART      0.05  /* part of the published bytes that rumor heads may take */
/* A publication that moves a smaller part of the entries leaves much progress unpublished. */
#define PART_MOVED 0.25
/* Bench: library (tests/decisions/029-publications-and-the-learner.md). Half: not measured. Double:
 * not measured; 0.02 took 4.2 % of the training time with Adam, and the goal is 3 %. */
#define PUBLISH_PART 0.0125 /* part of a learner's time that cutting publications may take */

double outer_step_hops(uint32_t live, uint32_t mesh, uint32_t degree)
{
    CHECK(mesh > 0 && degree > 1);
    return live <= mesh ? 1 : 1 + log((double)live / mesh) / log(degree);
}

static double reaction_s(const struct outer_step_measured *measured)
{
    return measured->delay_s * measured->hops + OUTER_STEP_STEPS * measured->step_s;
}

/* Returns the largest gain up to which a longer interval improves training. It is larger with more
 * learners, whose average update has less noise, and where the budget cuts publications. */
static double usual_gain(const struct outer_step_measured *measured)
{
    const double most = fmax(sqrt(measured->learners) / 2, 1);
    return measured->is_cut ? most : sqrt(most);
}

static double heads_s(const struct outer_step_measured *measured)
{
    return HEAD_BYTES / HEAD_PART / measured->bytes_per_s;
}

/* Returns the shortest interval, in seconds, at which rumor heads take few of the published bytes
 * and publishing takes little of the learner's time. */
static double least_s(const struct outer_step_measured *measured)
{
    return fmax(heads_s(measured), measured->publish_s / PUBLISH_PART);
}

static double due_s(const struct outer_step_measured *measured, double gain)
{
    return fmax(gain * reaction_s(measured), least_s(measured));
}

/* Returns the time of OUTER_STEP_MANY steps, at least OUTER_STEP_MANY_S; INFINITY = unknown. */
static double many_s(const struct outer_step_measured *measured)
{
    const double many = OUTER_STEP_MANY * measured->step_s;
    return measured->step_s > 0 ? fmax(many, OUTER_STEP_MANY_S) : INFINITY;
}

/* Returns the shortest interval, in seconds: OUTER_STEP_S, or less if the last publication moved
 * few entries. If it moved many, publishing sooner gains nothing. */
static double shortest_s(const struct outer_step_measured *measured)
{
    return measured->part < PART_MOVED ? fmin(OUTER_STEP_S, many_s(measured)) : OUTER_STEP_S;
}

static double interval_s(const struct outer_step_measured *measured)
{
    const double begun = (1 + (double)measured->publications) / OUTER_STEP_BEGINNING;
    double due = due_s(measured, fmax(usual_gain(measured) * fmin(begun, 1), 1));
    if (measured->publications < OUTER_STEP_BEGINNING)
        due = fmin(due, fmin(fmax(OUTER_STEP_FIRST_S, heads_s(measured)), many_s(measured)));
    return fmin(fmax(due, shortest_s(measured)), INTERVAL_S_MAX);
}

static double gain(const struct outer_step_measured *measured, double wait_s)
{
    return fmax(fmin(wait_s / reaction_s(measured), sqrt(measured->learners)), 1);
}

static double beta(const struct outer_step_measured *measured, double gain)
{
    return (MOMENTUM - MOMENTUM_TAKEN * measured->momentum) / gain;
}

struct outer_step outer_step_of(const struct outer_step_measured *measured)
{
    CHECK(measured->learners > 0 && measured->hops >= 1 && measured->bytes_per_s > 0);
    CHECK(measured->delay_s >= 0 && measured->step_s >= 0 && measured->interval_s >= 0);
    CHECK(measured->publish_s >= 0 && measured->part >= 0 && measured->part <= 1);
    CHECK(measured->momentum >= 0 && measured->momentum < 1);
    const bool is_fixed = measured->interval_s > 0;
    struct outer_step outer_step = {
        .interval_s = is_fixed ? measured->interval_s : interval_s(measured),
        .gain = measured->gain > 0 ? measured->gain : 1,
    };
    CHECK(outer_step.interval_s > 0 && isfinite(outer_step.interval_s));
    if (measured->step_s == 0 || measured->learners <= 1)
        return outer_step;
    const double due = due_s(measured, usual_gain(measured));
    const double wait = fmin(is_fixed ? measured->interval_s : INTERVAL_S_MAX, due);
    if (measured->gain == 0)
        outer_step.gain = gain(measured, wait);
    outer_step.beta = wait / due * beta(measured, outer_step.gain);
    return outer_step;
}
