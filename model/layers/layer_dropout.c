/* Dropout: in training, sets random numbers to 0 and scales up all other numbers, which keeps the
 * expected value. */
#include <stdio.h>
#include <stdlib.h>

#include "layers/layer.h"
#include "layers/layer_words.h"

#define DROPOUT_MAX 0.95f

static bool rate_read(const char *word, float *rate)
{
    char *end = NULL;
    const double value = strtod(word, &end);
    *rate = (float)value;
    return end != word && *end == '\0' && value > 0 && value <= DROPOUT_MAX;
}

static enum error dropout_read(struct layer *layer, const struct layer_words *words,
                               const struct chain *before, struct problem *problem)
{
    (void)before;
    if (words->count != 2 || !rate_read(words->word[1], &layer->rate))
        return layer_problem(words, problem,
                             "write it as '%s' with the part that is dropped, above 0 and up to "
                             "%g, for example 'dropout 0.1'",
                             layer_dropout.usage, (double)DROPOUT_MAX);
    (void)snprintf(layer->text, sizeof layer->text, "dropout %g", (double)layer->rate);
    return OK;
}

/* Writes x with dropout to y, which is another buffer. Outside training, or if the pass has no
 * dropout seeds, copies x to y. */
static void drop(const struct layer *layer, const struct pass *pass, struct numbers x,
                 struct numbers y)
{
    struct backend *backend = pass->backend;
    const size_t rows = (size_t)layer_rows(layer, pass), size = rows * layer_width(layer);
    const struct dropout dropout = {.batch = pass->batch,
                                    .size = shape_size(layer->in),
                                    .rate = layer->rate,
                                    .layer = (uint32_t)layer->number};
    if (pass->training && pass->draws)
        backend->elements->drop(backend, &dropout, pass->draws, x, y);
    else
        backend->elements->copy(backend, size, x, y);
}

static void dropout_forward(const struct layer *layer, const struct pass *pass)
{
    drop(layer, pass, pass->x, layer->y);
}

static void dropout_backward(const struct layer *layer, const struct pass *pass)
{
    if (pass->dx.at)
        drop(layer, pass, pass->dy, pass->dx);
}

const struct layer_kind layer_dropout = {
    .name = "dropout",
    .usage = "dropout P",
    .read = dropout_read,
    .forward = dropout_forward,
    .backward = dropout_backward,
};
