/* One layer of a chain: how it is written, what it holds, how it computes.
 *
 *   layer_line.c        the line, cut at its commas and read
 *   layer_dense.c, layer_conv.c, layer_maxpool.c, layer_activation.c   one kind each
 *   model.c             the chain
 *
 * Private to these files; everyone else sees model.h.
 */
#ifndef HEARSAY_MODEL_LAYERS_LAYER_H
#define HEARSAY_MODEL_LAYERS_LAYER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "backend/backend.h"
#include "base/shape.h"
#include "base/error.h"

#define LAYERS_MAX       64
#define LAYER_TEXT_MAX   64 /* bytes of one layer's text, as written or in its canonical spelling */
#define LAYER_WORDS_MAX  8
#define LAYER_NUMBER_MAX 1000000   /* the largest size anyone may write */
#define LAYER_COUNT_MAX  INT32_MAX /* floats in one buffer: what a BLAS can count */

struct layer {
    const struct layer_kind *kind;
    char text[LAYER_TEXT_MAX]; /* the canonical spelling */
    struct shape in;
    struct shape out;
    struct conv conv;           /* conv only */
    struct pool pool;           /* maxpool only */
    enum activation activation; /* dense and conv only: that of the layer behind, done here */
    bool absorbed;              /* this is that layer */

    /* The weight tensor, outputs first, and the biases, dims[0] of them; rank 0: none of either.
     * Both lie in the flat vector from offset on, the biases behind the weights. */
    size_t dims[4];
    int rank;
    size_t offset;

    float *y;        /* [batch_max, out]; of one absorbed, that of the layer before */
    uint8_t *winner; /* maxpool only: [batch_max, out] */
};

/* One layer of the line in words, lower case. */
struct layer_words {
    int number;                 /* counted from 1, as people do */
    char raw[LAYER_TEXT_MAX];   /* as it was written */
    char lower[LAYER_TEXT_MAX]; /* what the words point into */
    const char *word[LAYER_WORDS_MAX];
    int count;
};

struct layer_kind {
    const char *name;  /* the first word */
    const char *usage; /* all words */
    enum activation activation;
    bool is_activation;

    /* layer->in is set. Check the words, set text, out, and what else the kind uses. */
    enum error (*read)(struct layer *layer, const struct layer_words *words,
                       struct problem *problem);
    /* x[batch, in] to layer->y. */
    void (*forward)(const struct layer *layer, struct backend *backend, int batch,
                    const float *weights, const float *x);
    /* dy[batch, out] to dx[batch, in], or to nothing if dx is NULL, and to gradients; dy is used
     * up. */
    void (*backward)(const struct layer *layer, struct backend *backend, int batch,
                     const float *weights, const float *x, float *dy, float *dx, float *gradients);
};

extern const struct layer_kind layer_dense, layer_conv, layer_maxpool;
extern const struct layer_kind layer_relu, layer_sigmoid, layer_tanh;

static inline size_t layer_weights(const struct layer *layer)
{
    size_t count = layer->rank > 0;
    for (int i = 0; i < layer->rank; i++)
        count *= layer->dims[i];
    return count;
}

static inline size_t layer_parameters(const struct layer *layer)
{
    return layer_weights(layer) + (layer->rank > 0 ? layer->dims[0] : 0);
}

/* Reads a whole number without sign, 0 .. LAYER_NUMBER_MAX, up to the end of the word. */
bool layer_number(const char *word, int *number);

/* MALFORMED, and the sentence begins with the layer's number and text. */
enum error layer_problem(const struct layer_words *words, struct problem *problem,
                         const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Reads the line into layer[LAYERS_MAX], from kind to rank; *count: how many there are. Checks
 * each layer by itself and against the one before, but neither the last nor the total. */
enum error layer_line_read(const char *line, struct shape in, struct layer *layers, int *count,
                           struct problem *problem) MUST_USE;

#endif
