/* A model: a chain of layers, some of them within residuals, over one flat parameter vector.
 *
 *   layers = conv 16 5x5 pad 2, relu, maxpool 2, dense 128, relu, dense 10
 *   layers = embed 256 128, position 64, 4 * (residual(norm, attention 4), …), norm, logits tied
 *
 *   x ─► layer ─► layer ─► … ─► logits ─► softmax cross-entropy, or numbers ─► squared error
 *        └ its tensors in weights[P] and, at the same offsets, in gradients[P]
 *
 * x is images, or tokens (int32) where the input is a sequence; of a sequence each position has a
 * label, the token that follows. In the flat vector matrices and filters come first, in the order
 * of the layers, then biases and scales, then the running statistics of batch norms: those are not
 * trained, but follow what is measured, and are shared like all others.
 *
 * The weights are not the model's: each call is given some, so the same model computes with a
 * replica's weights, with the base, or with a saved file. Nothing that a call leaves in the model
 * (activations, gradients) matters to the next one, but for model_step's: one model serves any
 * number of learners and evaluators, one call at a time (tests/unit/model/test_evaluator.c).
 * model/README.md lists the layers and presets. Gradients of every layer agree with finite
 * differences: tests/unit/model/test_layers.c.
 */
#ifndef HEARSAY_MODEL_LAYERS_MODEL_H
#define HEARSAY_MODEL_LAYERS_MODEL_H

#include <stdint.h>
#include <stdio.h>

#include "backend/backend.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/shape.h"

#define MODEL_LINE_MAX 1024 /* characters of a layers line */

struct model;

/* One tensor of the flat vector, for saving by name. */
struct tensor {
    char name[40];  /* "0.conv.weight", "0.conv.bias": the first layer of the line is 0 */
    size_t offset;  /* in floats, from the start of the flat vector */
    size_t dims[4]; /* conv weight: filters, channels, kernel, kernel; dense: out, in */
    int rank;       /* number of dims, 1 .. 4 */
    bool is_hidden; /* a matrix or filters that neither read the input nor give the output */
    bool is_output; /* belongs to the last layer */
};
size_t tensor_entries(const struct tensor *tensor);

/* The layers line of a preset, or NULL; and all names, for messages. */
const char *model_preset(const char *name);
const char *model_presets(void);
const char *model_preset_name(int i); /* NULL past the last */

/* Tokens that a line embeds; 0: it reads images, or is wrong. */
int model_line_tokens(const char *line);

/* Outputs of the widest dense layer of a line; 0: there is none. */
int model_line_width(const char *line);

/* Parses and checks the line. batch_max bounds every later call. The last layer must give at least
 * `classes` numbers, and with model_use.exact no more. A wrong line:
 * MALFORMED and a sentence that names the layer and what would be right. Without a backend (NULL)
 * the model takes no memory for a batch, and can be looked at, not computed with. */
enum error model_new(struct model **model, struct arena *arena, struct backend *backend,
                     const char *line, struct shape in, int classes, int batch_max,
                     struct problem *problem) MUST_USE;

/* How a model is to be used. */
struct model_use {
    int batch_max;        /* largest number of samples in a call */
    bool recompute;       /* recomputes activations inside residuals in the backward pass instead of
                             keeping them */
    bool exact;           /* exactly `classes` outputs, which predict numbers */
    size_t logits_floats; /* logits computed at once, at least a sample's; 0 = backend's choice */
};
enum error model_new_for(struct model **model, struct arena *arena, struct backend *backend,
                         const char *line, struct shape in, int classes,
                         const struct model_use *use, struct problem *problem) MUST_USE;

/* Gives the backend its memory back; the struct itself is the arena's. */
void model_free(struct model *model);

/* Memory that each sample of a batch takes in such a model; 0: the line is wrong. */
size_t model_sample_bytes(const char *line, struct shape in, int classes, bool recompute);

/* Returns the bytes of backend memory for outputs, gradients and scratch; nothing is allocated. */
size_t model_bytes(const struct model *model);
size_t model_parameters(const struct model *model); /* P */
size_t model_decayed(const struct model *model);    /* first entries: matrices and filters */
size_t model_trained(const struct model *model);    /* first entries: all except statistics */
double model_flops(const struct model *model);      /* per sample, forward */
bool model_drops(const struct model *model);        /* it has dropout */
int model_batch_max(const struct model *model);
struct shape model_input(const struct model *model);
int model_outputs(const struct model *model); /* logits per position: at least the classes */
int model_tensors(const struct model *model);
struct tensor model_tensor(const struct model *model, int i);

/* The line in its canonical spelling: equal models have equal texts, whatever the blanks. */
const char *model_line(const struct model *model);

/* The layers in order, repeats written out, each in its canonical spelling, or "residual(", "|" or
 * ")". Models with equal texts compute the same. */
int model_layers(const struct model *model);
const char *model_layer(const struct model *model, int i);

/* Prints a table: layer, output shape, parameters; and for one sample: forward operations, and
 * bytes kept for the backward pass. */
void model_print(const struct model *model, FILE *out);

/* host_weights[P], by seed alone. Images: He normal before relu, Glorot uniform otherwise.
 * Sequences: normal with deviation 0.02, the last weights of a residual less by the root of how
 * many there are (GPT-2). Biases 0, scales 1. */
void model_init(const struct model *model, uint64_t seed, float *host_weights);
/* The same for entries first .. first+count-1 alone, of a model too large to be held twice. */
void model_init_part(const struct model *model, uint64_t seed, size_t first, size_t count,
                     float *host_weights);

/* logits[batch, classes] for x[batch, in]; memory of the model, valid until the next call. */
const float *model_forward(struct model *model, const float *weights, const float *x, int batch);

/* The same for one sequence with a key-value cache: logits[count, classes] of positions from ..
 * from+count-1, whose tokens are x[count]; the calls before computed those before (model_stepped).
 * Only for models of sequences. Held by tests/unit/model/test_step.c. */
const float *model_step(struct model *model, const float *weights, const float *x, int from,
                        int count);

/* Positions that model_step has computed with these weights; 0 after any other call. */
int model_stepped(const struct model *model, const float *weights);

/* Forward, loss, backward. Overwrites gradients[P] with the gradient of the *mean* loss, and adds
 * to the score. labels[batch, positions]. A statistic's gradient is its distance from the measured.
 */
void model_learn(struct model *model, const float *weights, float *gradients, const float *x,
                 const int32_t *labels, int batch, struct score *score);

/* The samples of a step, or some of them: a large step may be learned in parts, whose gradients are
 * added up. The loss is cross-entropy, or of numbers the mean of the squares of the differences. */
struct model_part {
    const float *x;        /* [samples, in] */
    const int32_t *labels; /* [samples, positions]; or NULL if numbers are to be predicted: */
    const float *numbers;  /* [samples, outputs] */
    int samples;
    int of;                /* samples of the step: the gradient is that of their mean loss */
    float smoothing;       /* label smoothing (backend.h) */
    const uint32_t *draws; /* [samples] seeds of dropout; NULL = no dropout */
};
void model_learn_part(struct model *model, const float *weights, float *gradients,
                      const struct model_part *part, struct score *score);
/* Forward and loss only, without smoothing. */
void model_score_part(struct model *model, const float *weights, const struct model_part *part,
                      struct score *score);

/* model_score_part for labels. */
void model_score(struct model *model, const float *weights, const float *x, const int32_t *labels,
                 int batch, struct score *score);

#endif
