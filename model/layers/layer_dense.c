/* Dense layers and logits. A dense layer reads each position of a sequence as a row, or a whole
 * image as one row. Logits are a last layer without biases, with one output per token or class. */
#include <stdio.h>
#include <string.h>

#include "layers/layer.h"
#include "layers/layer_words.h"

static void set_dense(struct layer *layer, size_t units, bool is_biased)
{
    const size_t in = layer_width(layer);
    const enum layer_init init = layer->in.length > 0 ? INIT_SMALL : INIT_FAN;
    layer->out =
        (struct shape){.channels = (int)units, .height = 1, .width = 1, .length = layer->in.length};
    layer->flops = 2 * (double)(shape_positions(layer->in) * in) * (double)units;
    layer_add_tensor(layer, "weight", init, (size_t[4]){units, in});
    if (is_biased)
        layer_add_tensor(layer, "bias", INIT_ZERO, (size_t[4]){units});
}

static enum error dense_read(struct layer *layer, const struct layer_words *words,
                             const struct chain *before, struct problem *problem)
{
    (void)before;
    int units = 0;
    const bool is_plain = words->count == 3 && strcmp(words->word[2], "plain") == 0;
    if ((words->count != 2 && !is_plain) || !layer_number(words->word[1], &units) || units == 0)
        return layer_problem(words, problem, "write it as '%s' with N from 1 to %d",
                             layer_dense.usage, LAYER_NUMBER_MAX);
    (void)snprintf(layer->text, sizeof layer->text, "dense %d%s", units, is_plain ? " plain" : "");
    set_dense(layer, (size_t)units, !is_plain);
    return OK;
}

static struct numbers bias(const struct layer *layer, const struct pass *pass)
{
    return layer->y.type == FLOAT32 ? floats(layer_weights(layer, pass, 1))
                                    : layer_rounded(layer, pass, 1);
}

static void dense_forward(const struct layer *layer, const struct pass *pass)
{
    const struct layer *next = pass->fused.activation;
    if (next != NULL) {
        pass->backend->dense->activate_forward(
            pass->backend, layer_rows(layer, pass), (int)layer_width(layer), layer->out.channels,
            pass->x, layer_rounded(layer, pass, 0), bias(layer, pass), next->kind->activation,
            layer->y, next->y);
        return;
    }
    pass->backend->dense->forward(pass->backend, layer_rows(layer, pass), (int)layer_width(layer),
                                  layer->out.channels, pass->x, layer_rounded(layer, pass, 0),
                                  bias(layer, pass), layer->activation, layer->y);
}

static void dense_backward(const struct layer *layer, const struct pass *pass)
{
    const struct layer *last = pass->fused.activation;
    if (last != NULL) {
        pass->backend->dense->activate_backward(
            pass->backend, layer_rows(layer, pass), (int)layer_width(layer), layer->out.channels,
            pass->x, layer_rounded(layer, pass, 0), pass->dy, last->kind->activation,
            pass->fused.before, pass->dx, layer_gradients(layer, pass, 0),
            layer_gradients(layer, pass, 1));
        return;
    }
    pass->backend->dense->backward(
        pass->backend, layer_rows(layer, pass), (int)layer_width(layer), layer->out.channels,
        pass->x, layer_rounded(layer, pass, 0), layer->y, layer->activation, pass->dy, pass->dx,
        layer_gradients(layer, pass, 0), layer_gradients(layer, pass, 1), false);
}

const struct layer_kind layer_dense = {
    .name = "dense",
    .usage = "dense N [plain]",
    .absorbs = true,
    .read = dense_read,
    .forward = dense_forward,
    .backward = dense_backward,
};

/* Makes the logits use the table of the model's embed as their weights. MALFORMED: the line does
 * not begin with an embed, or the embed's vectors are not as long as the vectors that the logits
 * read. */
static enum error tie(struct layer *layer, const struct layer_words *words,
                      const struct chain *before, struct problem *problem)
{
    struct layer *embed = before->count > 0 ? &before->layers[0] : NULL;
    if (!embed || embed->kind != &layer_embed)
        return layer_problem(words, problem, "there is no 'embed' to be tied to at the beginning");
    if ((size_t)embed->out.channels != layer_width(layer))
        return layer_problem(words, problem,
                             "the embed gives %d numbers and here %zu come in; they must agree",
                             embed->out.channels, layer_width(layer));
    set_dense(layer, embed->tensor[0].dims[0], false);
    embed->is_tied = true;
    layer->borrows = true;
    layer->partner = 0;
    return OK;
}

static enum error logits_read(struct layer *layer, const struct layer_words *words,
                              const struct chain *before, struct problem *problem)
{
    const bool is_tied = words->count == 2 && strcmp(words->word[1], "tied") == 0;
    if (words->count != 1 && !is_tied)
        return layer_problem(words, problem, "write it as '%s'", layer_logits.usage);
    (void)snprintf(layer->text, sizeof layer->text, "logits%s", is_tied ? " tied" : "");
    if (is_tied)
        return tie(layer, words, before, problem);
    set_dense(layer, (size_t)before->classes, false);
    return OK;
}

/* Logits have no backward function: one backend operation computes logits, loss and gradients
 * (struct logits in backend.h). */
const struct layer_kind layer_logits = {
    .name = "logits",
    .usage = "logits [tied]",
    .read = logits_read,
    .forward = dense_forward,
};
