/* A model: a chain of layers, some of them within residuals, over one flat parameter vector.
 *
 *   layers = conv 16 5x5 pad 2, relu, maxpool 2, dense 128, relu, dense 10
 *   layers = embed 256 128, position 64, 4 * (residual(norm, attention 4), …), norm, logits tied
 *
 *   x ─► layer ─► layer ─► … ─► logits ─► softmax cross-entropy, or numbers ─► squared error
 *        └ tensors of the layer: in weights[P] and, at the same offsets, in gradients[P]
 *
 * The input x is images, or int32 tokens of sequences. Each position of a sequence has a label: the
 * next token. The flat vector begins with matrices and filters in the order of the layers. Biases
 * and scales follow, then the running statistics of batch norms. Running statistics are not
 * trained: they follow the measured statistics. Nodes share them like all other parameters.
 *
 * The model owns no weights: the caller passes them to each call. The same model thus computes with
 * a replica's weights, with the base, or with a saved file. A call does not depend on earlier
 * calls, except for model_step. One model therefore serves any number of learners and evaluators,
 * one call at a time (tests/unit/model/test_evaluator.c). model/README.md lists the layers and
 * presets. tests/unit/model/test_layers.c, test_sequence_layers.c and test_residual_layers.c
 * compare gradients with finite differences.
 */
#ifndef HEARSAY_MODEL_LAYERS_MODEL_H
#define HEARSAY_MODEL_LAYERS_MODEL_H

#include <stdint.h>
#include <stdio.h>

#include "backend/backend.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/shape.h"
#include "base/words.h"

#define MODEL_LINE_MAX 1024 /* bytes of a layers line, with its NUL */

struct model;

/* Name and location of one tensor of the flat vector. */
struct tensor {
    char name[40];  /* "0.conv.weight", "0.conv.bias": the first layer of the line is 0 */
    size_t offset;  /* index of the tensor's first entry in the flat vector */
    size_t dims[4]; /* conv weight: filters, channels of a group, kernel, kernel; dense: out, in */
    int rank;       /* number of dimensions, 1 .. 4 */
    /* matrix or filters, but not of a layer that reads the model's input, of position embeddings,
     * or of the last layer */
    bool is_hidden;
    bool is_output;
};
size_t tensor_entries(const struct tensor *tensor);

/* Returns MALFORMED, with a sentence, if a layer of the line has an unknown name or a too long
 * text. model_new checks the rest of the line, for which it needs the shape of the data. */
enum error model_line_check(const char *line, struct problem *problem) MUST_USE;

/* Returns the layers line of a preset, or NULL if no preset has this name. */
const char *model_preset(const char *name);
/* Adapts the outputs of a preset to the number of classes, or of numbers to predict. A preset of
 * sequences keeps its line. is_final: false if other data of the swarm may have more classes; the
 * line then keeps its outputs if they are more than `classes`. */
void model_preset_fit(char line[static MODEL_LINE_MAX], int classes, bool is_final);
/* Returns the end of a message about an unknown preset. */
struct words_hint model_preset_hint(const char *name);
/* Returns the name of preset i, or NULL past the last preset. */
const char *model_preset_name(int i);

/* Returns the vocabulary size of the embed that begins the line, or 0 if the line begins
 * otherwise. */
int model_line_tokens(const char *line);

/* Returns the number of outputs of the widest dense layer of the line, or 0 if it has no dense
 * layer. */
int model_line_width(const char *line);

/* Creates a model from a layers line. batch_max: number of samples of the largest batch in later
 * calls. The last layer must have at least `classes` outputs. Returns MALFORMED if the line is
 * wrong; the problem then names the layer and the remedy. If the backend is NULL, the model
 * allocates no memory for batches: it can be inspected and printed, but computes nothing. */
enum error model_new(struct model **model, struct arena *arena, struct backend *backend,
                     const char *line, struct shape in, int classes, int batch_max,
                     struct problem *problem) MUST_USE;

/* Options of model_new_for, which is otherwise like model_new. */
struct model_use {
    int batch_max;  /* largest number of samples in a call */
    bool recompute; /* the backward pass recomputes activations inside residuals to save memory */
    bool exact;     /* regression: the last layer must have exactly `classes` outputs */
    size_t logits_floats; /* number of logits to compute at once; 0 = the backend chooses */
};
enum error model_new_for(struct model **model, struct arena *arena, struct backend *backend,
                         const char *line, struct shape in, int classes,
                         const struct model_use *use, struct problem *problem) MUST_USE;

/* Frees all memory of the model except the struct itself, which belongs to the arena. */
void model_free(struct model *model);

/* Returns the bytes of memory that each sample of a batch needs in a float32 model of this line, or
 * 0 if the line is wrong. */
size_t model_sample_bytes(const char *line, struct shape in, int classes, bool recompute);

/* Returns the bytes of backend memory for a batch of batch_max: outputs, kept activations,
 * gradients, rounded weights and scratch. Allocates nothing. */
size_t model_bytes(const struct model *model);

/* Returns P, the length of the flat vector. */
size_t model_parameters(const struct model *model);
/* Returns the number of entries with weight decay: matrices, embeddings and filters, which come
 * first. */
size_t model_decayed(const struct model *model);
/* Returns the number of trained entries: all except the running statistics, which come last. */
size_t model_trained(const struct model *model);
/* Returns the floating-point operations of the forward pass per sample. Counts only matrix
 * products, convolutions and attention. */
double model_flops(const struct model *model);
/* Returns true if the model has a dropout layer. */
bool model_drops(const struct model *model);
int model_batch_max(const struct model *model);
struct shape model_input(const struct model *model);
/* Returns the number of outputs per position, at least `classes`. */
int model_outputs(const struct model *model);
int model_tensors(const struct model *model);
struct tensor model_tensor(const struct model *model, int i);

/* Returns the layers line in canonical spelling, which does not depend on blanks, letter case or
 * default options of the original line. */
const char *model_line(const struct model *model);

/* Returns the number of layers, joints included. A repeated layer counts each time. */
int model_layers(const struct model *model);
/* Returns the canonical spelling of layer i, or "residual(", "|" or ")" for a joint. Two models
 * of equal input shapes and classes compute equal functions if all layers have equal texts. */
const char *model_layer(const struct model *model, int i);

/* Prints a table with a row per layer: text, output shape, parameters, floating-point operations of
 * the forward pass per sample, and bytes per sample kept for the backward pass. */
void model_print(const struct model *model, FILE *out);

/* Sets host_weights[P] to initial values that depend only on the model and the seed. Images: He
 * normal before relu or a norm of channels, Glorot uniform otherwise. Sequences: normal with
 * standard deviation 0.02; the last matrix of each residual has 0.02 / √residuals, as in GPT-2.
 * Biases are 0, scales 1. */
void model_init(const struct model *model, uint64_t seed, float *host_weights);
/* Sets host_weights[count] to the initial values of entries first .. first+count-1. Use it for a
 * model whose weights do not fit in host memory twice. */
void model_init_part(const struct model *model, uint64_t seed, size_t first, size_t count,
                     float *host_weights);

/* Returns the outputs of the last layer, [batch, positions, model_outputs], for x[batch, in]. The
 * outputs lie in memory of the model until its next call. `batch` may be at most
 * model_use.batch_max. If the last layer is `logits`, `batch` may be at most the number of samples
 * whose logits are computed at once (model_use.logits_floats). */
const float *model_forward(struct model *model, const float *weights, const float *x, int batch);

/* Continues one sequence with a key-value cache. Returns the outputs [count, model_outputs] of
 * positions from .. from+count-1, whose tokens are x[count]. Earlier calls must have computed all
 * positions before `from`: from <= model_stepped. Only for models of sequences that do not
 * recompute. Tests: tests/unit/model/test_step.c. */
const float *model_step(struct model *model, const float *weights, const float *x, int from,
                        int count);

/* Returns the number of positions that model_step has computed with these weights; 0 after any
 * other pass of the model. */
int model_stepped(const struct model *model, const float *weights);

/* Computes forward pass, loss and backward pass for labels[batch, positions]. Overwrites
 * gradients[P] with the gradient of the *mean* loss and adds the loss to the score. The gradient of
 * a running statistic is its value minus the statistic measured on the batch. */
void model_learn(struct model *model, const float *weights, float *gradients, const float *x,
                 const int32_t *labels, int batch, struct score *score);

/* Samples of a training step, or a part of them: the caller may split a large step and add up the
 * gradients of its parts. The loss is cross-entropy, or mean squared error for regression. */
struct model_part {
    const float *x;        /* input: [samples, in] */
    const int32_t *labels; /* labels [samples, positions]; NULL for regression */
    const float *numbers;  /* regression: target values [samples, outputs]; otherwise NULL */
    int samples;
    int of; /* samples of the whole step, by which gradients are divided */
    /* Label smoothing: part of each label that is spread over all classes. */
    float smoothing;
    const uint32_t *draws; /* [samples] dropout seeds; NULL = no dropout */
};
/* Does what model_learn does for a part of a step, but divides gradients by part->of. */
void model_learn_part(struct model *model, const float *weights, float *gradients,
                      const struct model_part *part, struct score *score);
/* Computes forward pass and loss, without label smoothing, and adds the loss to the score. */
void model_score_part(struct model *model, const float *weights, const struct model_part *part,
                      struct score *score);

/* Calls model_score_part for a whole batch with labels[batch, positions]. */
void model_score(struct model *model, const float *weights, const float *x, const int32_t *labels,
                 int batch, struct score *score);

#endif
