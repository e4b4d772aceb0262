/* One layer of a model: its text, its parameters, its computation. model/README.md lists all kinds.
 *
 *   layer_line.c     parses the whole layers line: commas, parentheses, repetitions, residuals
 *   layer_words.c    splits the text of one layer into words and finds its kind
 *   layer_*.c        one kind of layer each, or a few similar kinds
 *   model*.c         the whole model: layout of parameters, memory, forward and backward pass
 *
 * A layers line becomes one array of layers in the order of the text. A residual adds up to three
 * layers without parameters, called joints: "residual(" opens it, "|" begins its shortcut, and ")"
 * adds body and shortcut. Each layer reads the output of the layer `from`. Files outside this
 * folder include model.h. Those that need single layers include model_layers.h or this header.
 */
#ifndef HEARSAY_MODEL_LAYERS_LAYER_H
#define HEARSAY_MODEL_LAYERS_LAYER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "backend/backend.h"
#include "base/error.h"
#include "base/shape.h"

#define LAYERS_MAX        1024
#define LAYER_DEPTH_MAX   8  /* largest nesting of residuals */
#define LAYER_TEXT_MAX    64 /* bytes of one layer's text, as written or in canonical spelling */
#define LAYER_WORDS_MAX   10
#define LAYER_TENSORS_MAX 4
#define LAYER_KEPT_MAX    3
#define LAYER_NUMBER_MAX  1000000 /* largest number in a layers line */
/* Largest number of values in one buffer; BLAS counts in 32-bit int. */
#define LAYER_COUNT_MAX INT32_MAX
#define LAYER_INPUT     (-1) /* `from` of a layer that reads the model's input */

/* Distribution of the initial values of a tensor. model_init.c draws them. */
enum layer_init {
    INIT_ZERO,
    INIT_ONE,
    INIT_FAN,   /* He's rule before relu, batch or group norm; otherwise Glorot's */
    INIT_SMALL, /* normally distributed with standard deviation 0.02 */
    /* Replaces the last INIT_SMALL in a residual's body: normally distributed with standard
     * deviation 0.02 / √(number of residuals). */
    INIT_LAST,
};

struct layer_tensor {
    const char *name; /* last part of the tensor's full name: "weight" of "0.conv.weight" */
    /* Size of each dimension. Of a dense or conv weight, the first is the number of outputs. */
    size_t dims[4];
    int rank;
    enum layer_init init;
    size_t offset;     /* index of the tensor's first entry in the model's flat vector */
    bool is_statistic; /* running mean or variance of a batch norm; not trained */
};

struct layer {
    const struct layer_kind *kind;
    char text[LAYER_TEXT_MAX]; /* the layer's words in canonical spelling */
    int number;                /* index among all layers except joints, from 0 */
    int depth;                 /* number of residuals that enclose the layer */
    /* Index of the layer whose output this layer reads, or LAYER_INPUT. */
    int from;
    /* Joint ")": index of the layer whose output is added to the body's output, or LAYER_INPUT.
     * Tied logits: index of the embed layer. */
    int partner;
    enum number type; /* type of input and kept activations; the output has y.type */
    struct shape in;
    struct shape out;
    union {
        struct conv conv;
        struct pool pool;
        struct attention attention;
        struct channel_norm norm;
    };
    float rate;   /* dropout: probability that a number is set to 0 */
    bool turns;   /* attention: applies rotary position embedding (rope) */
    bool is_tied; /* embed: its table also serves as the weights of the logits */
    bool borrows; /* tied logits: the only tensor is the table of the embed layer */
    /* Activation that this layer also computes, for the activation layer after it; LINEAR = none.
     */
    enum activation activation;
    bool absorbed; /* true for an activation that the previous layer computes */
    struct layer_tensor tensor[LAYER_TENSORS_MAX];
    int tensors;
    double flops; /* operations of the forward pass per sample, as model_flops counts them */
    /* Bytes per sample of each buffer kept for the backward pass, x and y excluded. */
    size_t kept_bytes[LAYER_KEPT_MAX];
    /* Bytes per sample that the layer needs in the shared scratch buffer. */
    size_t scratch_bytes;
    void *kept[LAYER_KEPT_MAX]; /* buffers kept for the backward pass: [batch_max, kept_bytes] */
    struct numbers y; /* output: [batch_max, out]; if absorbed, the output of the previous layer */
};

struct layer_words;
struct chain;

/* Work of a neighbouring layer that a layer does in the same backend operation. */
struct fused {
    /* Norm: the joint ")" before the norm, if the norm also computes the joint's sum; otherwise
     * NULL. */
    const struct layer *sum;
    const struct layer *activation; /* dense: next layer (forward) or previous layer (backward) */
    struct numbers before;          /* dense, backward: input of `activation` */
    /* Norm, backward: gradient that bypassed the residual's body; the norm adds it to dx. */
    struct numbers passed;
};

/* Arguments of one layer's forward or backward pass over a batch. */
struct pass {
    struct backend *backend;
    int batch;
    bool training; /* true if a backward pass follows */
    /* Sequences: first position to compute; earlier positions are in the key-value cache. */
    int from;
    int positions;          /* sequences: number of positions to compute; 0 = all */
    const uint32_t *draws;  /* [batch] dropout seeds; NULL = no dropout */
    const float *weights;   /* [P] all parameters of the model */
    struct numbers rounded; /* trained weights, rounded to the type of the activations */
    float *gradients;       /* [P] gradients of all parameters; backward only */
    struct numbers x;       /* input: [batch, in]; int32 tokens for an embed */
    /* Second addend of the joint ")", or of a norm that computes the joint's sum. */
    struct numbers other;
    struct fused fused;
    struct numbers dy; /* gradient of the output: [batch, out]; backward only */
    /* Gradient of x: [batch, in]; backward only; dx.at NULL = not needed. */
    struct numbers dx;
    void *scratch; /* scratch buffer: [batch_max, scratch_bytes] */
};

struct layer_kind {
    const char *name;           /* first word in the layers line: "conv" */
    const char *usage;          /* syntax of the layer's words, for messages: "dense N [plain]" */
    enum activation activation; /* activation that this kind computes, if is_activation */
    bool is_activation;
    bool absorbs;  /* the layer can also compute the activation that follows it */
    bool is_joint; /* true for "residual(", "|" and ")" */

    /* Parses the layer's words. layer->in is already set. Sets layer->text, layer->out and the
     * members that this kind uses. Returns MALFORMED and sets the problem if a word is wrong. */
    enum error (*read)(struct layer *layer, const struct layer_words *words,
                       const struct chain *before, struct problem *problem);
    /* Computes layer->y from pass->x. */
    void (*forward)(const struct layer *layer, const struct pass *pass);
    /* Computes dx (unless dx.at is NULL) and the gradients of the layer's tensors from dy. Only a
     * layer whose activation is not LINEAR may overwrite dy. */
    void (*backward)(const struct layer *layer, const struct pass *pass);
};

/* Every kind except joints, and the function of src/onnx that writes it. */
/* clang-format off */
#define LAYERS(EACH) \
    EACH(conv, onnx_image_conv) \
    EACH(batchnorm, onnx_image_batchnorm) \
    EACH(groupnorm, onnx_image_groupnorm) \
    EACH(maxpool, onnx_image_maxpool) \
    EACH(avgpool, onnx_image_avgpool) \
    EACH(dense, onnx_numbers_dense) \
    EACH(relu, onnx_numbers_activation) \
    EACH(sigmoid, onnx_numbers_activation) \
    EACH(tanh, onnx_numbers_activation) \
    EACH(gelu, onnx_numbers_activation) \
    EACH(silu, onnx_numbers_activation) \
    EACH(embed, onnx_sequence_embed) \
    EACH(position, onnx_sequence_position) \
    EACH(attention, onnx_sequence_attention) \
    EACH(norm, onnx_numbers_norm) \
    EACH(rmsnorm, onnx_numbers_rmsnorm) \
    EACH(swiglu, onnx_numbers_swiglu) \
    EACH(dropout, onnx_layers_input) \
    EACH(logits, onnx_numbers_dense)
/* clang-format on */

#define LAYER_KIND(name, write) layer_##name,
extern const struct layer_kind LAYERS(LAYER_KIND) layer_open, layer_shortcut, layer_close;

size_t layer_tensor_count(const struct layer_tensor *tensor);
size_t layer_parameters(const struct layer *layer);

static inline struct numbers layer_kept(const struct layer *layer, int which)
{
    return (struct numbers){layer->kept[which], layer->type};
}

static inline const float *layer_weights(const struct layer *layer, const struct pass *pass,
                                         int which)
{
    return which < layer->tensors ? pass->weights + layer->tensor[which].offset : NULL;
}

/* Returns the rounded weights of the layer's tensor `which`, which matrix products read. The
 * address is NULL if the layer has fewer tensors. */
static inline struct numbers layer_rounded(const struct layer *layer, const struct pass *pass,
                                           int which)
{
    return which < layer->tensors ? numbers_from(pass->rounded, layer->tensor[which].offset)
                                  : floats(NULL);
}

static inline float *layer_gradients(const struct layer *layer, const struct pass *pass, int which)
{
    return which < layer->tensors ? pass->gradients + layer->tensor[which].offset : NULL;
}

/* Returns the number of input rows of the batch: batch · positions; an image is one row. */
static inline int layer_rows(const struct layer *layer, const struct pass *pass)
{
    return pass->batch * (pass->positions > 0 ? pass->positions : (int)shape_positions(layer->in));
}

/* Returns the length of an input row: the numbers of one position, or of a whole image. */
static inline size_t layer_width(const struct layer *layer)
{
    return shape_size(layer->in) / shape_positions(layer->in);
}

#endif
