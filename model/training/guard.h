/* The guard: sees from losses and scores that training comes apart, and says so once.
 *
 *   losses of steps ──────┐
 *   scores of the base ───┼──► guard ──► event ──► a sentence with the remedy; a halved rate
 *   vitals of the learner ┘
 *
 * What it watches:
 *
 *   loss    exponential moving average of the training loss over GUARD_STEPS steps, and its minimum
 *   RISING  loss > GUARD_RISES · minimum + GUARD_RISES_BY for GUARD_RISEN_STEPS steps and
 *           GUARD_SPAN_NS
 *   SLOWED  loss > GUARD_SLOWS · minimum + GUARD_RISES_BY for GUARD_FAR_STEPS steps and
 *           GUARD_SPAN_NS: the rate is halved, again after GUARD_AGAIN_STEPS more of such steps,
 *           GUARD_HALVINGS times at most
 *   DEAD    the loss is that of guessing, and no gradient reaches the first layer
 *   WORSE   two evaluations in a row, 50 steps apart, are below the best one by
 *           GUARD_WORSE_ACCURACY, or by GUARD_WORSE_LOSS of its loss for sequences and numbers,
 *           and by more than scores usually fall from one evaluation to the next
 *
 * Each state is reported when it begins, and RECOVERED when it ends. The guard complements defaults
 * that bound the weights and does not replace them: some collapses give no notice.
 *
 * It reads no clock: the caller passes the time. Held by tests/unit/model/test_guard.c, and by
 * scenarios with planted collapses (configs/sim-ruin-*.conf).
 */
#ifndef HEARSAY_MODEL_TRAINING_GUARD_H
#define HEARSAY_MODEL_TRAINING_GUARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "training/evaluator.h"
#include "training/vitals.h"

#define GUARD_STEPS          100 /* time constant of the average, in steps */
#define GUARD_RISES          2.0
#define GUARD_RISES_BY       0.1 /* nats */
#define GUARD_RISEN_STEPS    300
#define GUARD_SLOWS          3.0
#define GUARD_FAR_STEPS      200
#define GUARD_AGAIN_STEPS    1000
#define GUARD_HALVINGS       6
#define GUARD_SPAN_NS        5000000000ull /* fast steps: time for others' progress to arrive */
#define GUARD_WORSE_ACCURACY 0.02
#define GUARD_WORSE_LOSS     0.03
#define GUARD_TEXT_BYTES     320

enum guard_event {
    GUARD_NOTHING,
    GUARD_RISING,    /* the training loss has risen */
    GUARD_SLOWED,    /* it is far above its minimum: the caller halves this node's rate */
    GUARD_DEAD,      /* the model answers all samples alike and can no longer learn */
    GUARD_WORSE,     /* the base is worse than before */
    GUARD_RECOVERED, /* the reported problem is over */
    GUARD_EVENTS
};

/* Steps in a row of which something holds. */
struct guard_row {
    uint64_t steps;    /* so far */
    uint64_t since_ns; /* time of the first of them */
};

struct guard {
    double guessing; /* loss of guessing in nats: ln(classes); NAN = unknown */

    /* This node's steps. */
    double loss;              /* moving average, in nats; NAN: no step yet */
    double least;             /* its minimum; NAN: fewer than GUARD_STEPS steps yet */
    uint64_t least_ns;        /* time of that minimum */
    uint64_t steps;           /* so far */
    struct guard_row risen;   /* steps above the bound of RISING */
    struct guard_row far;     /* steps above the bound of SLOWED */
    struct guard_row guessed; /* steps at the loss of guessing */
    uint32_t halvings;        /* number of halvings of the rate */
    bool is_rising;           /* RISING was reported and is not over */
    bool is_dead;             /* DEAD was reported */

    /* Evaluations of the base. */
    struct evaluation last; /* samples 0: none yet */
    struct evaluation best; /* samples 0: none yet */
    uint64_t best_ns;       /* when the best was measured */
    bool is_below;          /* the last evaluation was clearly below the best */
    uint64_t below_steps;   /* steps when evaluations fell below the best */
    double usual_fall;      /* root mean square of recent falls of the score; rises count as 0 */
    bool is_worse;          /* WORSE was reported and is not over */

    struct vitals vitals; /* vitals at the last check; weight_norm NAN = none yet */
};

/* classes: of the labels or tokens; 0: numbers are predicted. */
void guard_init(struct guard *guard, uint32_t classes);

/* So many steps were made; loss_sum is that of all their samples, in nats. */
enum guard_event guard_on_steps(struct guard *guard, uint64_t now_ns, uint32_t steps,
                                uint64_t samples, double loss_sum);
/* The loss is where a look at the learner's vitals would tell a dead model from a bad one. */
bool guard_wants_vitals(const struct guard *guard);
enum guard_event guard_on_vitals(struct guard *guard, const struct vitals *vitals);
/* An evaluation of the base, always on the same samples. */
enum guard_event guard_on_evaluation(struct guard *guard, uint64_t now_ns,
                                     const struct evaluation *evaluation);

/* Is this evaluation of the same samples further below the last one than evaluations usually are?
 */
bool guard_has_fallen(const struct guard *guard, const struct evaluation *evaluation);

/* Is an evaluation better than another? By accuracy of images, else by loss. */
bool guard_is_better(const struct evaluation *evaluation, const struct evaluation *than);
/* "", or what is wrong now, as one word for status and metrics: rising, dead, worse. */
const char *guard_state(const struct guard *guard);
/* 1, or less after halvings. */
double guard_rate_factor(const struct guard *guard);

/* The sentence for a person. where: how to name the state folder for `hearsay rewind`; NULL: there
 * is no best base to return to. steps_here: false where a script steps, whose rate is its own. */
void guard_text(const struct guard *guard, enum guard_event event, uint64_t now_ns,
                const char *where, bool steps_here, char text[static GUARD_TEXT_BYTES]);

#endif
