/* Parsing of a layers line and of the words of one layer.
 *
 *   line ─ layer_line.c: grammar ─► text of one layer ─ layer_words.c ─► words ─ its kind ─► layer
 *
 * Private to model/layers.
 */
#ifndef HEARSAY_MODEL_LAYERS_LAYER_WORDS_H
#define HEARSAY_MODEL_LAYERS_LAYER_WORDS_H

#include "layers/layer.h"

#define LAYER_SIGNS ",()|*" /* signs that end the text of one layer */
#define RESIDUAL    "residual"

/* Text of one layer, split into lower-case words. */
struct layer_words {
    int number;                 /* number of the layer for messages, from 1 */
    char raw[LAYER_TEXT_MAX];   /* the layer's text as written */
    char lower[LAYER_TEXT_MAX]; /* lower-case copy of raw; the words point into it */
    const char *word[LAYER_WORDS_MAX];
    int count;
};

/* The layers parsed so far, and facts about the model that are needed to parse a layer. */
struct chain {
    struct layer *layers; /* [LAYERS_MAX], of which `count` are parsed */
    int count;
    struct shape in;  /* shape of an input sample of the model */
    int classes;      /* number of classes of the data, or of different tokens */
    enum number type; /* type of the model's activations */
};

/* Functions of layer_words.c. */

/* Parses the word as an unsigned integer, 0 .. LAYER_NUMBER_MAX. Returns false if the word is not
 * such a number. */
bool layer_number(const char *word, int *number);

/* Returns MALFORMED and sets the problem to a message that begins with the layer's number and
 * text. */
enum error layer_problem(const struct layer_words *words, struct problem *problem,
                         const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Parses the text of one layer into *layer. `before` holds the layers parsed so far. Returns
 * MALFORMED if the text is wrong, or if this layer may not follow them. */
enum error layer_read(struct layer *layer, const char *text, size_t length,
                      const struct chain *before, struct problem *problem) MUST_USE;

/* Adds a tensor to the layer. Its rank is the number of dims before the first 0. */
void layer_add_tensor(struct layer *layer, const char *name, enum layer_init init,
                      const size_t dims[static 4]);

/* Functions of layer_line.c. */

/* Parses the line into chain->layers and checks each layer against its input. Buffers, tensor
 * offsets, y.type and absorbed activations are set later, by model.c and model_memory.c. Writes the
 * canonical spelling to text[capacity]. The caller checks that the last layer fits the task, and
 * the size of the whole model. */
enum error layer_line_read(const char *line, struct chain *chain, char *text, size_t capacity,
                           struct problem *problem) MUST_USE;

#endif
