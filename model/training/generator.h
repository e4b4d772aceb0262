/* Continues a sequence token by token, as nanoGPT and GPT-2 do.
 *
 *   the end of the text ─► model ─► logits of the token that follows
 *        ▲                              │ / temperature, the top_k likeliest, softmax
 *        └────────── token ◄── drawn ◄──┘
 *
 * The model remembers what it has read (model_step): a token costs the work of one position. Of a
 * text that is longer than the model's length, its end is read. Once what is written fills the
 * length, the older half is forgotten and the rest is read again: two positions a token on average.
 * The text is also read again if the model computed something else in between. On one machine the
 * result depends only on the seed.
 * Held by tests/unit/model/test_generator.c.
 */
#ifndef HEARSAY_MODEL_TRAINING_GENERATOR_H
#define HEARSAY_MODEL_TRAINING_GENERATOR_H

#include <stdint.h>

#include "backend/backend.h"
#include "base/arena.h"
#include "layers/model.h"

struct generator_options {
    double temperature; /* below 1 likely tokens become likelier; 0: always the likeliest */
    uint32_t top_k;     /* number of likeliest tokens to draw from; 0 = all */
    uint64_t seed;
};

struct generator;

/* The model reads sequences, and its batch is at least 1. host_weights[P] are copied. */
struct generator *generator_new(struct arena *arena, struct backend *backend, struct model *model,
                                const float *host_weights, const struct generator_options *options);

/* A token of the text that is gone on with, from 0 to below the model's tokens. */
void generator_put(struct generator *generator, int32_t token);

/* Draws the next token, which becomes part of the text. At least one was put. */
int32_t generator_next(struct generator *generator);

void generator_free(struct generator *generator);

#endif
