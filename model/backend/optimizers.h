/* All optimizers: a row of facts for each, which configuration, learner and notes use, and their
 * operations. optimizer_step.h says which rule moves which tensor. Tests:
 * tests/unit/config/test_config.c (facts), tests/unit/model/test_optimizer_step.c (operations).
 */
#ifndef HEARSAY_MODEL_BACKEND_OPTIMIZERS_H
#define HEARSAY_MODEL_BACKEND_OPTIMIZERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Every optimizer: constant, name in train.optimizer, facts (struct optimizer_row). */
/* clang-format off */
#define OPTIMIZERS(EACH) \
    EACH(SGD, sgd, .moments = 1, .adds_up = true, .rate = 0.02, .weight_decay = 0.0005, .clip = 5) \
    EACH(ADAM, adam, .moments = 2, .withholds = true, .rate = 0.001, .weight_decay = 0.1, .clip = 1) \
    EACH(LAMB, lamb, .moments = 2, .withholds = true, .rate = 0.001, .weight_decay = 0.1, .clip = 1) \
    EACH(MUON, muon, .moments = 2, .withholds = true, .adds_up = true, .rate = 0.004, \
         .rate_falling = 0.03, .weight_decay = 0.1, .clip = 1)
/* clang-format on */

/* Parts of help and messages that name optimizers. */
#define OPTIMIZERS_HELP     "adam: AdamW; lamb: for large batches; auto: muon for sequences, else sgd."
#define OPTIMIZERS_RATE     "0.02 with sgd, 0.03 with muon, else 0.001"
#define OPTIMIZERS_BETA2    "adam, lamb, muon"
#define OPTIMIZERS_ADD_UP   "sgd, muon"
#define OPTIMIZERS_NESTEROV "sgd or muon only; remove it with adam and lamb"

#define OPTIMIZER_CONSTANT(CONSTANT, ...)   OPTIMIZER_##CONSTANT,
#define OPTIMIZER_WORD(CONSTANT, name, ...) #name "|"
#define OPTIMIZERS_WORDS                    OPTIMIZERS(OPTIMIZER_WORD) "auto"

/* OPTIMIZER_AUTO: only in a configuration; config_resolve replaces it. */
enum optimizer_kind { OPTIMIZERS(OPTIMIZER_CONSTANT) OPTIMIZER_AUTO };

struct optimizer_row {
    const char *name; /* value of train.optimizer */
    /* Vectors of P floats that the optimizer keeps: the momentum and, unless it is SGD, the second
     * moment of Adam, LAMB or Muon's AdamW part. */
    uint32_t moments;
    /* True if the momentum is a decaying sum of gradients, of total weight 1 / (1 - momentum);
     * train.nesterov is then allowed. False for Adam and LAMB, whose momentum is an exponential
     * moving average, as is that of Muon's AdamW part. */
    bool adds_up;
    /* True if exchange.withheld = auto withholds progress. Adam and similar optimizers make steps
     * of one length even if gradients disagree, so their unpublished residual grows fast. With SGD
     * withholding gained nothing (tests/decisions/012-hold-back-with-adam.md). */
    bool withholds;
    double rate; /* default learning rate where rate_falling is not used */
    /* Learning rate at the start of INVERSE_ROOT (tests/decisions/036-falling-rate.md); 0 = none.
     * If it is above 0 and the user sets no rate, INVERSE_ROOT is the default schedule. */
    double rate_falling;
    /* Default weight decay. SGD: an L2 penalty in the gradient before the momentum; others:
     * decoupled, so a step subtracts rate · decay · weight. */
    double weight_decay;
    double clip; /* default of the largest global norm of a gradient */
};

/* The row of OPTIMIZER_AUTO assumes the most: two moments, and both withholds and adds_up. */
extern const struct optimizer_row optimizers[OPTIMIZER_AUTO + 1];

struct backend;

struct sgd {
    float rate;
    float momentum;
    float weight_decay;
    bool nesterov;
    uint64_t decayed; /* only the first `decayed` entries have weight decay */
};

struct adam {
    float rate;
    float beta1; /* decay of the moving average of the gradients */
    float beta2; /* decay of the moving average of the squared gradients */
    float epsilon;
    float weight_decay;
    uint64_t decayed; /* only the first `decayed` entries have weight decay */
    uint64_t step;    /* number of this step, from 1 */
};

/* MUON_SCALE · sqrt(longer side of the matrix) makes steps as long as Adam's. */
#define MUON_SCALE 0.2f
#define MUON_TURNS 5 /* number of Newton-Schulz iterations */

/* A Newton-Schulz iteration (Jordan et al. 2024):
 * x = MUON_A·x + MUON_B·xxᵀ·x + MUON_C·xxᵀ·xxᵀ·x */
#define MUON_A 3.4445f
#define MUON_B (-4.7750f)
#define MUON_C 2.0315f

/* Operations that move weights w[count] by gradients g[count]. */
struct optimizer_operations {
    /* Sets *factor to the number that scales g[count] to norm *most, or to 1 if the norm of g is
     * at most *most. `factor` and `most` point to memory of the backend. The optimizers below
     * multiply gradients by *factor unless `factor` is NULL. */
    void (*clip)(struct backend *, const float *most, size_t count, const float *g, float *factor);

    /* SGD: g' = g + decay·w; m = momentum·m + g'; w -= rate·(nesterov ? g' + momentum·m : m).
     * The settings of SGD and of the optimizers below are in memory of the backend. */
    void (*sgd)(struct backend *, const struct sgd *, const float *factor, size_t count, float *w,
                const float *g, float *m);

    /* AdamW: m = beta1·m + (1 - beta1)·g; v = beta2·v + (1 - beta2)·g²; m is divided by (1 -
     * beta1^step) and v by (1 - beta2^step), since both start at 0; w -= rate·(m / (sqrt(v) +
     * epsilon) + weight_decay·w) (Kingma, Ba 2015; decoupled weight decay: Loshchilov, Hutter
     * 2019) */
    void (*adam)(struct backend *, const struct adam *, const float *factor, size_t count, float *w,
                 const float *g, float *m, float *v);
    /* LAMB (You et al. 2020), for one tensor: u = m / (sqrt(v) + epsilon), with m and v as in
     * AdamW, plus weight_decay·w if `decays`; w -= rate · |w| / |u| · u. The ratio |w| / |u| is 1
     * if one of the norms is 0. g is overwritten. */
    void (*lamb)(struct backend *, const struct adam *, const float *factor, size_t count,
                 bool decays, float *w, float *g, float *m, float *v);
    /* Muon (Jordan et al. 2024), for one matrix w[rows, columns]: m = momentum·m + g; n = nesterov
     * ? g + momentum·m : m; o = n with all its singular values made about 1; w -= rate ·
     * (MUON_SCALE·sqrt(max(rows, columns))·o + weight_decay·w). So steps are as long as Adam's (Liu
     * et al. 2025). g is overwritten. */
    void (*muon)(struct backend *, const struct sgd *, const float *factor, int rows, int columns,
                 float *w, float *g, float *m);
};

#endif
