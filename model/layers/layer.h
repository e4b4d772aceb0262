/* One layer of a chain: its text, its parameters, its computation. model/README.md lists all kinds.
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
#include "base/error.h"
#include "base/shape.h"

#define LAYERS_MAX       64
#define LAYER_TEXT_MAX   64 /* bytes of one layer's text, as written or in its canonical spelling */
#define LAYER_WORDS_MAX  8
#define LAYER_NUMBER_MAX 1000000   /* the largest size that a line may ask for */
#define LAYER_COUNT_MAX  INT32_MAX /* floats in one buffer: what a BLAS can count */

struct layer {
    const struct layer_kind *kind; /* how it computes */
    char text[LAYER_TEXT_MAX];     /* the canonical spelling */
    struct shape in;               /* of a sample before the layer */
    struct shape out;              /* of a sample behind it */
    struct conv conv;              /* conv only */
    struct pool pool;              /* maxpool only */
    enum activation activation;    /* dense and conv only: of the next layer, computed here */
    bool absorbed;                 /* an activation that the layer before computes */
    size_t dims[4];  /* of the weight tensor, outputs first; dims[0] biases follow it */
    int rank;        /* of the weight tensor; 0: no weights and no biases */
    size_t offset;   /* of the weights in the flat vector; the biases follow */
    float *y;        /* [batch_max, out]; if absorbed, that of the layer before */
    uint8_t *winner; /* maxpool only: [batch_max, out] */
};

/* One layer of the line in words, lower case. */
struct layer_words {
    int number;                        /* of the layer, from 1 */
    char raw[LAYER_TEXT_MAX];          /* as it was written */
    char lower[LAYER_TEXT_MAX];        /* the words point into it */
    const char *word[LAYER_WORDS_MAX]; /* the words */
    int count;                         /* of the words */
};

struct layer_kind {
    const char *name;           /* the first word */
    const char *usage;          /* all words */
    enum activation activation; /* of an activation */
    bool is_activation;

    /* Checks the words; layer->in is set. Sets text, out and what else the kind uses. */
    enum error (*read)(struct layer *layer, const struct layer_words *words,
                       struct problem *problem);
    /* Computes layer->y from x[batch, in]. */
    void (*forward)(const struct layer *layer, struct backend *backend, int batch,
                    const float *weights, const float *x);
    /* Computes dx[batch, in], unless it is NULL, and gradients from dy[batch, out]; dy is
     * overwritten. */
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
