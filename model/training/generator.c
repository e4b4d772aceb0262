#include "training/generator.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/rng.h"

struct generator {
    struct backend *backend; /* not owned */
    struct model *model;     /* not owned */
    struct generator_options options;
    struct rng rng;
    float *weights;  /* [P], on the backend */
    int32_t *x;      /* [length], on the backend: tokens that the model reads next */
    int32_t *tokens; /* [count], host: last tokens of the text */
    size_t count;
    size_t read;     /* number of `tokens` that the model has read */
    size_t length;   /* largest number of tokens that the model can read */
    float *logits;   /* [classes], host: logits of the next token */
    uint32_t *order; /* [classes], host: tokens, of which the likeliest are sorted and come first */
    uint32_t classes;
};

struct generator *generator_new(struct arena *arena, struct backend *backend, struct model *model,
                                const float *host_weights, const struct generator_options *options)
{
    const size_t parameters = model_parameters(model);
    const size_t length = shape_positions(model_input(model));
    const uint32_t classes = (uint32_t)model_outputs(model);
    CHECK(model_input(model).length > 0 && options->temperature >= 0);
    struct generator *generator = arena_alloc(arena, 1, sizeof *generator);
    *generator = (struct generator){
        .backend = backend,
        .model = model,
        .options = *options,
        .rng = rng_new(options->seed, 0),
        .weights = backend->alloc(backend, parameters * sizeof *generator->weights),
        .x = backend->alloc(backend, length * sizeof *generator->x),
        .tokens = arena_alloc(arena, length, sizeof *generator->tokens),
        .length = length,
        .logits = arena_alloc(arena, classes, sizeof *generator->logits),
        .order = arena_alloc(arena, classes, sizeof *generator->order),
        .classes = classes,
    };
    backend->upload(backend, generator->weights, host_weights, parameters * sizeof *host_weights);
    return generator;
}

/* If `tokens` is full, drops the first `dropped` ones. The other tokens change their positions, so
 * the model must read them again. */
static void make_room(struct generator *generator, size_t dropped)
{
    if (generator->count < generator->length)
        return;
    generator->count -= dropped;
    memmove(generator->tokens, generator->tokens + dropped,
            generator->count * sizeof *generator->tokens);
    generator->read = 0;
}

void generator_put(struct generator *generator, int32_t token)
{
    CHECK(token >= 0 && (uint32_t)token < generator->classes);
    make_room(generator, 1);
    generator->tokens[generator->count++] = token;
}

/* Lets the model read the unread tokens and downloads the logits of the token that follows. */
static void read_logits(struct generator *generator)
{
    struct backend *backend = generator->backend;
    if (model_stepped(generator->model, generator->weights) != (int)generator->read)
        generator->read = 0; /* another caller has used the model since the last token */
    CHECK(generator->count > generator->read);
    const size_t from = generator->read, count = generator->count - from;
    backend->upload(backend, generator->x, generator->tokens + from,
                    count * sizeof *generator->tokens);
    const float *logits =
        model_step(generator->model, generator->weights, (const float *)(const void *)generator->x,
                   (int)from, (int)count);
    generator->read = generator->count;
    backend->download(backend, generator->logits, logits + (count - 1) * generator->classes,
                      generator->classes * sizeof *logits);
}

/* Moves the `most` likeliest tokens to the front of `order`, by falling logit and rising token. */
static void order_by_logit(struct generator *generator, uint32_t most)
{
    const float *logits = generator->logits;
    uint32_t *order = generator->order;
    for (uint32_t i = 0; i < generator->classes; i++)
        order[i] = i;
    for (uint32_t place = 0; place < most; place++) {
        uint32_t best = place;
        for (uint32_t i = place + 1; i < generator->classes; i++)
            if (logits[order[i]] > logits[order[best]])
                best = i;
        const uint32_t token = order[best];
        memmove(order + place + 1, order + place, (best - place) * sizeof *order);
        order[place] = token;
    }
}

/* Draws one of the `most` likeliest tokens by softmax; returns its index in `order`. */
static uint32_t draw(struct generator *generator, uint32_t most, double temperature)
{
    const double top = (double)generator->logits[generator->order[0]];
    double sum = 0, passed = 0;
    for (uint32_t i = 0; i < most; i++)
        sum += exp(((double)generator->logits[generator->order[i]] - top) / temperature);
    const double drawn = rng_uniform(&generator->rng) * sum;
    for (uint32_t i = 0; i + 1 < most; i++) {
        passed += exp(((double)generator->logits[generator->order[i]] - top) / temperature);
        if (passed > drawn)
            return i;
    }
    return most - 1;
}

int32_t generator_next(struct generator *generator)
{
    const struct generator_options *options = &generator->options;
    const bool is_cut = options->top_k > 0 && options->top_k < generator->classes;
    read_logits(generator);
    order_by_logit(generator, is_cut ? options->top_k : 1);
    const uint32_t place =
        options->temperature > 0
            ? draw(generator, is_cut ? options->top_k : generator->classes, options->temperature)
            : 0;
    const int32_t token = (int32_t)generator->order[place];
    make_room(generator, generator->length - generator->length / 2);
    generator_put(generator, token);
    return token;
}

void generator_free(struct generator *generator)
{
    generator->backend->free(generator->backend, generator->weights);
    generator->backend->free(generator->backend, generator->x);
}
