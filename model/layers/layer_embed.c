/* Token embeddings, and learned position embeddings that are added to them. */
#include <stdio.h>

#include "layers/layer.h"
#include "layers/layer_words.h"

static enum error embed_read(struct layer *layer, const struct layer_words *words,
                             const struct chain *before, struct problem *problem)
{
    int tokens = 0, size = 0;
    if (words->count != 3 || !layer_number(words->word[1], &tokens) ||
        !layer_number(words->word[2], &size) || tokens == 0 || size == 0)
        return layer_problem(words, problem, "write it as '%s', for example 'embed 256 128'",
                             layer_embed.usage);
    if (before->count > 0)
        return layer_problem(words, problem, "an embed is the first layer, outside of residuals");
    if (layer->in.length == 0)
        return layer_problem(words, problem,
                             "an embed reads tokens, and the data are images; give it data.text or "
                             "data.tokens");
    if (tokens < before->classes)
        return layer_problem(words, problem, "there are %d tokens in the data; write 'embed %d %d'",
                             before->classes, before->classes, size);
    (void)snprintf(layer->text, sizeof layer->text, "embed %d %d", tokens, size);
    layer->out.channels = size;
    layer_add_tensor(layer, "weight", INIT_SMALL, (size_t[4]){(size_t)tokens, (size_t)size});
    return OK;
}

static const int32_t *tokens_of(const struct pass *pass)
{
    return pass->x.at;
}

static void embed_forward(const struct layer *layer, const struct pass *pass)
{
    pass->backend->sequence->embed(pass->backend, (size_t)layer_rows(layer, pass),
                                   layer->out.channels, tokens_of(pass),
                                   layer_rounded(layer, pass, 0), layer->y);
}

/* Adds the gradients of the embedded tokens to the gradient of the table. If the logits share
 * the table, their backward pass has already written the logits' part of that gradient. Otherwise
 * the gradient is cleared first. */
static void embed_backward(const struct layer *layer, const struct pass *pass)
{
    float *gradients = layer_gradients(layer, pass, 0);
    if (!layer->is_tied)
        pass->backend->elements->clear(pass->backend, layer_tensor_count(&layer->tensor[0]),
                                       gradients);
    pass->backend->sequence->embed_backward(pass->backend, (size_t)layer_rows(layer, pass),
                                            layer->out.channels, tokens_of(pass), pass->dy,
                                            gradients);
}

const struct layer_kind layer_embed = {
    .name = "embed",
    .usage = "embed TOKENS N",
    .read = embed_read,
    .forward = embed_forward,
    .backward = embed_backward,
};

static enum error position_read(struct layer *layer, const struct layer_words *words,
                                const struct chain *before, struct problem *problem)
{
    (void)before;
    int positions = 0;
    if (words->count != 2 || !layer_number(words->word[1], &positions) || positions == 0)
        return layer_problem(words, problem, "write it as '%s', for example 'position 128'",
                             layer_position.usage);
    if (layer->in.length == 0)
        return layer_problem(words, problem, "positions are those of a sequence, after an embed");
    if (layer->in.length > positions)
        return layer_problem(words, problem,
                             "the sequences of the data have %d positions (data.context); write "
                             "'position %d', or take a shorter context",
                             layer->in.length, layer->in.length);
    (void)snprintf(layer->text, sizeof layer->text, "position %d", positions);
    layer_add_tensor(layer, "weight", INIT_SMALL,
                     (size_t[4]){(size_t)positions, layer_width(layer)});
    return OK;
}

static void position_forward(const struct layer *layer, const struct pass *pass)
{
    const size_t width = layer_width(layer);
    const size_t positions = (size_t)(layer_rows(layer, pass) / pass->batch);
    pass->backend->elements->add_shared(pass->backend, pass->batch, positions * width, pass->x,
                                        layer_weights(layer, pass, 0) + (size_t)pass->from * width,
                                        layer->y);
}

/* Computes the gradient of the position table. Rows beyond the length of the sequences get
 * gradient 0. */
static void position_backward(const struct layer *layer, const struct pass *pass)
{
    struct backend *backend = pass->backend;
    const size_t used = shape_size(layer->in), all = layer_tensor_count(&layer->tensor[0]);
    float *gradients = layer_gradients(layer, pass, 0);
    backend->elements->sum_shared(backend, pass->batch, used, pass->dy, gradients);
    if (used < all)
        backend->elements->clear(backend, all - used, gradients + used);
    if (pass->dx.at)
        backend->elements->copy(backend, (size_t)pass->batch * used, pass->dy, pass->dx);
}

const struct layer_kind layer_position = {
    .name = "position",
    .usage = "position LENGTH",
    .read = position_read,
    .forward = position_forward,
    .backward = position_backward,
};
