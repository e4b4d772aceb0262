/* Reading layers: one layer's words, and the line of all.
 *
 *   line ─ layer_line.c: grammar ─► text of one layer ─ layer_words.c ─► words ─ its kind ─► layer
 *
 * Private to model/layers.
 */
#ifndef HEARSAY_MODEL_LAYERS_LAYER_WORDS_H
#define HEARSAY_MODEL_LAYERS_LAYER_WORDS_H

#include "layers/layer.h"

/* One layer of the line in words, lower case. */
struct layer_words {
    int number;                        /* of the layer, from 1 */
    char raw[LAYER_TEXT_MAX];          /* the text as written */
    char lower[LAYER_TEXT_MAX];        /* lower-case copy that the words point into */
    const char *word[LAYER_WORDS_MAX]; /* the words */
    int count;                         /* number of words */
};

/* The layers read so far. */
struct chain {
    struct layer *layers; /* [LAYERS_MAX] */
    int count;
    struct shape in;  /* input of the model */
    int classes;      /* number of classes or tokens */
    enum number type; /* type of activations */
};

/* layer_words.c */

/* Reads a whole number without sign, 0 .. LAYER_NUMBER_MAX, up to the end of the word. */
bool layer_number(const char *word, int *number);

/* MALFORMED, and the sentence begins with the layer's number and text. */
enum error layer_problem(const struct layer_words *words, struct problem *problem,
                         const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Parses one layer's text into *layer, the next of the chain, and checks that it may follow the
 * others. */
enum error layer_read(struct layer *layer, const char *text, size_t length,
                      const struct chain *before, struct problem *problem) MUST_USE;

/* Adds a tensor of these dims, up to the first 0. */
void layer_add_tensor(struct layer *layer, const char *name, enum layer_init init,
                      const size_t dims[static 4]);

/* layer_line.c */

/* Reads the line into the chain, from kind to tensors, except offsets. text[capacity]: its
 * canonical spelling. Checks each layer by itself and against the one before, but neither the last
 * nor the total. */
enum error layer_line_read(const char *line, struct chain *chain, char *text, size_t capacity,
                           struct problem *problem) MUST_USE;

#endif
