/* One layer of a model: its text, its parameters, its computation. model/README.md lists all kinds.
 *
 *   layer_line.c     the line, cut at commas and parentheses, repeated where it says so
 *   layer_words.c    one layer's words, and which kind they name
 *   layer_*.c        one kind each, or some that are alike
 *   model.c          all of them: forward, backward
 *
 * A line becomes one list of layers in the order of the text. A residual is three of them, that
 * have no parameters: "residual(" opens it, "|" begins its shortcut, ")" adds the two. Each layer
 * reads the output of the layer `from`. For these files and model_layers.h; all else sees model.h.
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
#define LAYER_TEXT_MAX    64 /* bytes of one layer's text, as written or in its canonical spelling */
#define LAYER_WORDS_MAX   10
#define LAYER_TENSORS_MAX 4
#define LAYER_KEPT_MAX    3
#define LAYER_NUMBER_MAX  1000000   /* the largest size that a line may ask for */
#define LAYER_COUNT_MAX   INT32_MAX /* floats in one buffer: what a BLAS can count */
#define LAYER_INPUT       (-1)      /* `from`, of a layer that reads the model's input */

/* How a tensor begins; model_init.c. */
enum layer_init {
    INIT_ZERO,
    INIT_ONE,
    INIT_FAN,   /* by fan: He's rule before relu, Glorot's otherwise */
    INIT_SMALL, /* normal with deviation 0.02 */
    INIT_LAST,  /* the same / √residuals: last weights of a residual */
};

struct layer_tensor {
    const char *name; /* "weight": what follows the layer's name */
    size_t dims[4];   /* outputs first */
    int rank;         /* number of dims */
    enum layer_init init;
    size_t offset;     /* index of its first number in the flat vector */
    bool is_statistic; /* statistic of the layer's input; not trained */
};

struct layer {
    const struct layer_kind *kind; /* functions of this kind of layer */
    char text[LAYER_TEXT_MAX];     /* the canonical spelling */
    int number;                    /* index among layers that compute, from 0 */
    int depth;                     /* number of residuals around it */
    int from;                      /* the layer whose output it reads, or LAYER_INPUT */
    int partner;                   /* ")": layer whose output is added; tied logits: the embed */
    enum number type; /* type of input, kept numbers and output; the last output may differ */
    struct shape in;  /* shape of an input sample */
    struct shape out; /* shape of an output sample */
    union {
        struct conv conv;           /* conv */
        struct pool pool;           /* maxpool */
        struct attention attention; /* attention */
        struct channel_norm norm;   /* batchnorm, groupnorm */
    };
    float rate;                 /* dropout: part of the numbers that is dropped */
    bool turns;                 /* attention: rotary position embedding */
    bool is_tied;               /* embed: its table also serves as the weights of the logits */
    bool borrows;               /* logits: its one tensor is the embed's */
    enum activation activation; /* activation of the next layer, computed here */
    bool absorbed;              /* the layer before computes this activation */
    struct layer_tensor tensor[LAYER_TENSORS_MAX];
    int tensors;                       /* number of tensors */
    double flops;                      /* additions and multiplications per sample, forward */
    size_t kept_bytes[LAYER_KEPT_MAX]; /* bytes per sample for the backward pass beside x and y */
    size_t scratch_bytes;       /* bytes per sample that the layer needs in the shared scratch */
    void *kept[LAYER_KEPT_MAX]; /* [batch_max, kept_bytes] */
    struct numbers y;           /* [batch_max, out]; if absorbed, that of the layer before */
};

struct layer_words;
struct chain;

/* The work of a neighbouring layer that a layer does in the same operation. */
struct fused {
    const struct layer *sum;        /* norm: the ")" before it, whose sum the norm writes */
    const struct layer *activation; /* dense: activation after it (backward: before it) */
    struct numbers before;          /* input of that activation; backward only */
    struct numbers passed;          /* norm: gradient that is added to dx; backward only */
};

/* One layer's part of a pass over a batch. */
struct pass {
    struct backend *backend;
    int batch;              /* samples */
    bool training;          /* a backward pass follows */
    int from;               /* sequences: first position to compute; earlier ones are kept */
    int positions;          /* number of positions from there on; 0 = all */
    const uint32_t *draws;  /* [batch] seeds of dropout; NULL = no dropout */
    const float *weights;   /* [P] */
    struct numbers rounded; /* trained weights in the type of the activations */
    float *gradients;       /* [P]; backward only */
    struct numbers x;       /* [batch, in]; int32 tokens for an embed */
    struct numbers other;   /* ")" only: second addend */
    struct fused fused;     /* work that the layer does for its neighbour */
    struct numbers dy;      /* [batch, out]; backward only */
    struct numbers dx;      /* [batch, in], or none; backward only */
    void *scratch;          /* [batch_max, scratch_bytes] */
};

struct layer_kind {
    const char *name;           /* the first word */
    const char *usage;          /* all words */
    enum activation activation; /* the function, for an activation */
    bool is_activation;
    bool absorbs;  /* it computes the activation that follows it */
    bool is_joint; /* "residual(", "|" and ")" */

    /* Checks the words; layer->in is set. Sets text, out and what else the kind uses. */
    enum error (*read)(struct layer *layer, const struct layer_words *words,
                       const struct chain *before, struct problem *problem);
    void (*forward)(const struct layer *layer, const struct pass *pass); /* computes layer->y */
    /* Computes dx, unless it is NULL, and the layer's gradients from dy. dy is overwritten only by
     * a layer whose activation is not LINEAR. */
    void (*backward)(const struct layer *layer, const struct pass *pass);
};

extern const struct layer_kind layer_dense, layer_logits, layer_conv, layer_maxpool, layer_avgpool,
    layer_relu, layer_sigmoid, layer_tanh, layer_gelu, layer_silu, layer_embed, layer_position,
    layer_norm, layer_rmsnorm, layer_attention, layer_swiglu, layer_batchnorm, layer_groupnorm,
    layer_dropout, layer_open, layer_shortcut, layer_close;

size_t layer_tensor_count(const struct layer_tensor *tensor);
size_t layer_parameters(const struct layer *layer);

/* Activations that it keeps in `kept`. */
static inline struct numbers layer_kept(const struct layer *layer, int which)
{
    return (struct numbers){layer->kept[which], layer->type};
}

/* Of its tensor number `which`, or NULL. */
static inline const float *layer_weights(const struct layer *layer, const struct pass *pass,
                                         int which)
{
    return which < layer->tensors ? pass->weights + layer->tensor[which].offset : NULL;
}

/* Returns a tensor of the layer's weights, rounded to the type of the activations for products. */
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

/* Positions of a pass before the layer (an image is one), and numbers of a position. */
static inline int layer_rows(const struct layer *layer, const struct pass *pass)
{
    return pass->batch * (pass->positions > 0 ? pass->positions : (int)shape_positions(layer->in));
}

static inline size_t layer_width(const struct layer *layer)
{
    return shape_size(layer->in) / shape_positions(layer->in);
}

#endif
