/* Continues a sequence token by token, as nanoGPT and GPT-2 do.
 *
 *   the end of the text ─► model ─► logits of the token that follows
 *        ▲                              │ / temperature, the top_k likeliest, softmax
 *        └────────── token ◄── drawn ◄──┘
 *
 * The model caches the positions that it has read (model_step), so a new token costs one position.
 * When the text fills the model's length, the generator drops the older half and the model reads
 * the newer half again: two positions a token on average. The model also reads the text again if
 * another caller has used the model in between. On one machine the same seed gives the same text.
 * Tests: tests/unit/model/test_generator.c.
 */
#ifndef HEARSAY_MODEL_TRAINING_GENERATOR_H
#define HEARSAY_MODEL_TRAINING_GENERATOR_H

#include <stdint.h>

#include "backend/backend.h"
#include "base/arena.h"
#include "layers/model.h"

struct generator_options {
    double temperature; /* divides the logits; 0 = always the likeliest token */
    uint32_t top_k;     /* number of likeliest tokens from which to draw; 0 = all tokens */
    uint64_t seed;
};

struct generator;

/* Copies host_weights[P] to the backend. The model must read sequences. */
struct generator *generator_new(struct arena *arena, struct backend *backend, struct model *model,
                                const float *host_weights, const struct generator_options *options);

/* Appends a token to the text. Only the end of a text longer than the model's length counts. */
void generator_put(struct generator *generator, int32_t token);

/* Draws the next token, appends it to the text and returns it. Call generator_put at least once
 * before. */
int32_t generator_next(struct generator *generator);

void generator_free(struct generator *generator);

#endif
