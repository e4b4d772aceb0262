/* Causal self-attention with its two projections.
 *
 *   x ─ qkv ─► queries, keys, values ─ [rope] ─► attention ─► mixed values ─ out ─► y
 */
#include <stdio.h>
#include <string.h>

#include "layers/layer.h"
#include "layers/layer_words.h"

enum kept { QKV, MIXED, LOG_SUMS };

/* Parses the words after "attention": HEADS [kv K] [rope] [plain]. Returns false if a word is
 * wrong. */
static bool read_words(const struct layer_words *words, int *heads, int *kv_heads, bool *turns,
                       bool *is_plain)
{
    int at = 2;
    if (words->count < 2 || words->count > LAYER_WORDS_MAX || !layer_number(words->word[1], heads))
        return false;
    *kv_heads = *heads;
    if (at + 1 < words->count && strcmp(words->word[at], "kv") == 0) {
        if (!layer_number(words->word[at + 1], kv_heads))
            return false;
        at += 2;
    }
    *turns = at < words->count && strcmp(words->word[at], "rope") == 0;
    at += *turns;
    *is_plain = at < words->count && strcmp(words->word[at], "plain") == 0;
    at += *is_plain;
    return at == words->count && *heads > 0 && *kv_heads > 0;
}

static enum error check(const struct layer *layer, const struct layer_words *words,
                        struct problem *problem)
{
    const int width = (int)layer_width(layer);
    const struct attention *attention = &layer->attention;
    if (layer->in.length == 0)
        return layer_problem(words, problem, "attention is over a sequence, after an embed");
    if (width % attention->heads != 0)
        return layer_problem(
            words, problem,
            "%d numbers come in, which %d heads cannot share; let the heads divide "
            "them",
            width, attention->heads);
    if (attention->heads % attention->kv_heads != 0)
        return layer_problem(words, problem,
                             "%d heads cannot share %d keys; let 'kv' divide the heads",
                             attention->heads, attention->kv_heads);
    if (layer->turns && (width / attention->heads) % 2 != 0)
        return layer_problem(words, problem,
                             "rope turns pairs of numbers, and a head has %d of them; let it be "
                             "even",
                             width / attention->heads);
    return OK;
}

static void set(struct layer *layer, bool is_plain)
{
    const size_t positions = shape_positions(layer->in), width = layer_width(layer);
    const struct attention *attention = &layer->attention;
    const size_t in = attention_input(attention), out = attention_output(attention);
    layer_add_tensor(layer, "qkv.weight", INIT_SMALL, (size_t[4]){in, width});
    if (!is_plain)
        layer_add_tensor(layer, "qkv.bias", INIT_ZERO, (size_t[4]){in});
    layer_add_tensor(layer, "out.weight", INIT_SMALL, (size_t[4]){width, out});
    if (!is_plain)
        layer_add_tensor(layer, "out.bias", INIT_ZERO, (size_t[4]){width});
    layer->kept_bytes[QKV] = positions * in * number_bytes(layer->type);
    layer->kept_bytes[MIXED] = positions * out * number_bytes(layer->type);
    layer->kept_bytes[LOG_SUMS] = positions * (size_t)attention->heads * sizeof(float);
    layer->scratch_bytes = positions * (in + out) * number_bytes(layer->type);
    layer->flops = (double)positions * (2 * (double)width * (double)(in + out) +
                                        2 * (double)(positions + 1) * (double)out);
}

static enum error attention_read(struct layer *layer, const struct layer_words *words,
                                 const struct chain *before, struct problem *problem)
{
    (void)before;
    struct attention *attention = &layer->attention;
    bool is_plain;
    if (!read_words(words, &attention->heads, &attention->kv_heads, &layer->turns, &is_plain))
        return layer_problem(words, problem, "write it as '%s', for example 'attention 4'",
                             layer_attention.usage);
    const enum error error = check(layer, words, problem);
    if (error != OK)
        return error;
    attention->length = layer->in.length;
    attention->size = (int)layer_width(layer) / attention->heads;
    int used = snprintf(layer->text, sizeof layer->text, "attention %d", attention->heads);
    if (attention->kv_heads != attention->heads)
        used += snprintf(layer->text + used, sizeof layer->text - (size_t)used, " kv %d",
                         attention->kv_heads);
    (void)snprintf(layer->text + used, sizeof layer->text - (size_t)used, "%s%s",
                   layer->turns ? " rope" : "", is_plain ? " plain" : "");
    set(layer, is_plain);
    return OK;
}

/* Returns the index of the tensor out.weight: 2 if the layer has biases, otherwise 1. */
static int out_weight(const struct layer *layer)
{
    return layer->tensors / 2;
}

static struct numbers bias(const struct layer *layer, const struct pass *pass, int weight)
{
    return layer->tensors == 4 ? layer_rounded(layer, pass, weight + 1) : floats(NULL);
}

static float *bias_gradients(const struct layer *layer, const struct pass *pass, int weight)
{
    return layer->tensors == 4 ? layer_gradients(layer, pass, weight + 1) : NULL;
}

/* The tensors kept for the backward pass are also the key-value cache: a pass that continues a
 * sequence appends its positions to those of earlier passes. */
static void attention_forward(const struct layer *layer, const struct pass *pass)
{
    struct backend *backend = pass->backend;
    const int rows = layer_rows(layer, pass), width = (int)layer_width(layer);
    const int out = out_weight(layer);
    struct attention attention = layer->attention;
    attention.from = pass->from;
    attention.length = pass->from + rows / pass->batch;
    const int in_width = (int)attention_input(&attention);
    const int out_width = (int)attention_output(&attention);
    const struct numbers qkv = layer_kept(layer, QKV), mixed = layer_kept(layer, MIXED);
    backend->dense->forward(backend, rows, width, in_width, pass->x, layer_rounded(layer, pass, 0),
                            bias(layer, pass, 0), LINEAR,
                            numbers_from(qkv, (size_t)pass->from * (size_t)in_width));
    if (layer->turns)
        backend->attention->rotate(backend, &attention, pass->batch, 1, qkv);
    backend->attention->forward(backend, &attention, pass->batch, qkv, mixed,
                                layer->kept[LOG_SUMS]);
    backend->dense->forward(backend, rows, out_width, width,
                            numbers_from(mixed, (size_t)pass->from * (size_t)out_width),
                            layer_rounded(layer, pass, out), bias(layer, pass, out), LINEAR,
                            layer->y);
}

static void attention_backward(const struct layer *layer, const struct pass *pass)
{
    struct backend *backend = pass->backend;
    const struct attention *attention = &layer->attention;
    const int rows = layer_rows(layer, pass), width = (int)layer_width(layer);
    const int out = out_weight(layer);
    const struct numbers qkv = layer_kept(layer, QKV), mixed = layer_kept(layer, MIXED);
    const struct numbers d_mixed = {pass->scratch, layer->type};
    const struct numbers d_qkv = numbers_from(d_mixed, (size_t)rows * attention_output(attention));
    backend->dense->backward(backend, rows, (int)attention_output(attention), width, mixed,
                             layer_rounded(layer, pass, out), layer->y, LINEAR, pass->dy, d_mixed,
                             layer_gradients(layer, pass, out), bias_gradients(layer, pass, out),
                             false);
    backend->attention->backward(backend, attention, pass->batch, qkv, mixed, layer->kept[LOG_SUMS],
                                 d_mixed, d_qkv);
    if (layer->turns)
        backend->attention->rotate(backend, attention, pass->batch, -1, d_qkv);
    backend->dense->backward(backend, rows, width, (int)attention_input(attention), pass->x,
                             layer_rounded(layer, pass, 0), qkv, LINEAR, d_qkv, pass->dx,
                             layer_gradients(layer, pass, 0), bias_gradients(layer, pass, 0),
                             false);
}

const struct layer_kind layer_attention = {
    .name = "attention",
    .usage = "attention HEADS [kv K] [rope] [plain]",
    .read = attention_read,
    .forward = attention_forward,
    .backward = attention_backward,
};
