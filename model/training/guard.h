/* The guard: detects from losses and scores that training diverges, and reports it once.
 *
 *   losses of steps ──────┐
 *   scores of the base ───┼──► guard ──► event ──► a sentence with the remedy; a halved rate
 *   vitals of the learner ┘
 *
 * What the guard watches:
 *
 *   loss    exponential moving average of the training loss over GUARD_STEPS steps, and its minimum
 *   RISING  loss > GUARD_RISES · minimum + GUARD_RISES_BY for GUARD_RISEN_STEPS steps and
 *           GUARD_SPAN_NS
 *   SLOWED  loss > GUARD_SLOWS · minimum + GUARD_RISES_BY for GUARD_FAR_STEPS steps and
 *           GUARD_SPAN_NS: the rate is halved, again after GUARD_AGAIN_STEPS more such steps,
 *           GUARD_HALVINGS times at most, but not while DEAD
 *   DEAD    the loss is near that of guessing, and no gradient reaches the first layer
 *   WORSE   for 50 steps, all evaluations (at least two) are below the best one by
 *           GUARD_WORSE_ACCURACY, or by GUARD_WORSE_LOSS of its loss for sequences and numbers,
 *           and by more than chance and the usual falls between evaluations explain. A node
 *           without steps needs two such evaluations in a row.
 *
 * Each state is reported when it begins, and RECOVERED when it ends. The guard cannot replace
 * defaults that bound the weights: some collapses come without a warning.
 *
 * The guard reads no clock: the caller passes the time. Tests: tests/unit/model/test_guard.c, and
 * scenarios with planted collapses (configs/sim-ruin-*.conf).
 */
#ifndef HEARSAY_MODEL_TRAINING_GUARD_H
#define HEARSAY_MODEL_TRAINING_GUARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "training/evaluator.h"
#include "training/vitals.h"

#define GUARD_STEPS       100 /* time constant of the average loss, in steps */
#define GUARD_RISES       2.0
#define GUARD_RISES_BY    0.1 /* added to the bounds of RISING and SLOWED, in nats */
#define GUARD_RISEN_STEPS 300
#define GUARD_SLOWS       3.0
#define GUARD_FAR_STEPS   200
#define GUARD_AGAIN_STEPS 1000
#define GUARD_HALVINGS    6
/* Minimum time above a bound before an event: an update of another node may soon lower the loss. */
#define GUARD_SPAN_NS        5000000000ull
#define GUARD_WORSE_ACCURACY 0.02
#define GUARD_WORSE_LOSS     0.03
#define GUARD_TEXT_BYTES     320
#define GUARD_REMEDY_BYTES   96

enum guard_event {
    GUARD_NOTHING,
    GUARD_RISING,
    GUARD_SLOWED, /* guard_rate_factor was halved */
    GUARD_DEAD,   /* the model predicts the same for all samples and can no longer learn */
    GUARD_WORSE,
    GUARD_RECOVERED,
    GUARD_EVENTS
};

/* A run of consecutive steps that meet a condition. */
struct guard_row {
    uint64_t steps;    /* 0 = no run */
    uint64_t since_ns; /* time of the run's first step */
};

struct guard {
    double guessing; /* loss of guessing in nats: ln(classes); NAN = unknown */

    /* The members down to is_dead are about the losses of this node's training steps. */
    double loss;  /* moving average of the loss, in nats; NAN = no step yet */
    double least; /* minimum of `loss`; NAN = fewer than GUARD_STEPS steps yet */
    uint64_t least_ns;
    uint64_t steps;
    struct guard_row risen;   /* run of steps with `loss` above the bound of RISING */
    struct guard_row far;     /* run of steps with `loss` above the bound of SLOWED */
    struct guard_row guessed; /* run of steps with `loss` near the loss of guessing */
    uint32_t halvings;
    bool is_rising; /* RISING or SLOWED was reported and is not over */
    bool is_dead;   /* DEAD was reported and is not over */

    /* The members down to is_worse are about evaluations of the base. */
    struct evaluation last; /* last evaluation; last.samples is 0 before the first one */
    struct evaluation best; /* best evaluation; best.samples is 0 before the first one */
    uint64_t best_ns;
    bool is_below;        /* the last evaluation was below the best one by the margins of WORSE */
    uint64_t below_steps; /* value of `steps` when evaluations began to be below the best one */
    double usual_fall;    /* root mean square of recent falls of the score; rises count as 0 */
    bool is_worse;        /* WORSE was reported and is not over */

    /* node whose labels are known to contradict the shared model: "this node", or an id; "" = none;
     * set by the caller */
    char mislabelled[16];

    struct vitals vitals; /* vitals at the last check; weight_norm NAN = none yet */
};

/* classes: number of classes or tokens; 0 = the model predicts numbers. */
void guard_init(struct guard *guard, uint32_t classes);

/* Records `steps` steps of `samples` samples in total, whose losses add up to loss_sum nats; 0 = no
 * loss is known. Returns the event that these steps cause. */
enum guard_event guard_on_steps(struct guard *guard, uint64_t now_ns, uint32_t steps,
                                uint64_t samples, double loss_sum);

/* Returns true if the loss has been near that of guessing for some steps and DEAD is not reported.
 * The caller should then measure the learner's vitals and pass them to guard_on_vitals, which may
 * report DEAD. */
bool guard_wants_vitals(const struct guard *guard);
enum guard_event guard_on_vitals(struct guard *guard, const struct vitals *vitals);

/* Records an evaluation of the base and returns the event that it causes. All evaluations must use
 * the same test samples. */
enum guard_event guard_on_evaluation(struct guard *guard, uint64_t now_ns,
                                     const struct evaluation *evaluation);

/* Returns true if the evaluation is below an earlier evaluation `from` by the margins of WORSE. If
 * the last evaluation was below the best one, the margin for usual falls is left out. Returns false
 * if `from` has no samples or if the numbers of samples differ. */
bool guard_is_below(const struct guard *guard, const struct evaluation *from,
                    const struct evaluation *evaluation);

/* Compares by accuracy or, for numbers and sequences, by loss. An evaluation without samples or
 * with a loss of NaN is never better than another. Any other evaluation is better than one without
 * samples. */
bool guard_is_better(const struct evaluation *evaluation, const struct evaluation *than);

/* Returns the present problem as one word for status and metrics: "rising", "dead" or "worse"; ""
 * if there is none. */
const char *guard_state(const struct guard *guard);

/* Returns the factor on this node's learning rate: 1, halved at each GUARD_SLOWED. */
double guard_rate_factor(const struct guard *guard);

/* Writes the remedy for wrong labels, if guard->mislabelled is known, otherwise `otherwise`. */
void guard_remedy(const struct guard *guard, const char *otherwise,
                  char text[static GUARD_REMEDY_BYTES]);
/* Writes "90.1 %" or "a loss of 1.23". */
void guard_score_text(const struct evaluation *evaluation, char text[static 32]);

/* A saved base to which `hearsay rewind --to best` returns. */
struct guard_saved {
    const char *where; /* options that name the state folder, with a leading space, or "" */
    struct evaluation score;
};
/* Writes the message for an event. saved: the best base on the disk; NULL: there is none.
 * steps_here: false if a script makes the steps with its own learning rate. */
void guard_text(const struct guard *guard, enum guard_event event, uint64_t now_ns,
                const struct guard_saved *saved, bool steps_here,
                char text[static GUARD_TEXT_BYTES]);

#endif
