/* Writes layers that work on sequences: embeddings, positions and attention. */
#include <float.h>
#include <math.h>
#include <stdio.h>

#include "onnx/onnx_layers.h"

static const char *positions_of(struct onnx_writer *writer)
{
    if (!writer->positions) {
        writer->positions =
            onnx_graph_node(writer->graph, "Shape", "positions", ONNX_INPUTS(writer->tokens));
        onnx_graph_set_int(writer->graph, "start", 1);
        onnx_graph_set_int(writer->graph, "end", 2);
    }
    return writer->positions;
}

/* Takes the first rows of a table, one for each position of the input. */
static const char *first_rows(struct onnx_writer *writer, const char *word, const char *table)
{
    struct onnx_graph *graph = writer->graph;
    const char *end = positions_of(writer);
    char from[32];
    (void)snprintf(from, sizeof from, "%s_from", word);
    const char *zero = onnx_graph_ints(graph, from, 1, (int64_t[]){0});
    return onnx_graph_node(graph, "Slice", word, ONNX_INPUTS(table, zero, end, zero));
}

struct onnx_value onnx_sequence_embed(ONNX_LAYER)
{
    const char *y = onnx_graph_node(writer->graph, "Gather", "",
                                    ONNX_INPUTS(onnx_layers_tensor(writer, layer, 0), x.name));
    onnx_graph_set_int(writer->graph, "axis", 0);
    return (struct onnx_value){.name = y};
}

struct onnx_value onnx_sequence_position(ONNX_LAYER)
{
    const char *rows = first_rows(writer, "rows", onnx_layers_tensor(writer, layer, 0));
    return (struct onnx_value){
        .name = onnx_graph_node(writer->graph, "Add", "", ONNX_INPUTS(x.name, rows))};
}

/* Entry [i, j] of the mask is true where j <= i. The first call adds its nodes. */
static const char *causal(struct onnx_writer *writer)
{
    struct onnx_graph *graph = writer->graph;
    if (writer->causal)
        return writer->causal;
    const char *count =
        onnx_graph_node(graph, "Squeeze", "count", ONNX_INPUTS(positions_of(writer)));
    const char *first = onnx_graph_int(graph, "first", 0);
    const char *step = onnx_graph_int(graph, "step", 1);
    const char *axis = onnx_graph_ints(graph, "axis", 1, (int64_t[]){1});
    const char *across = onnx_graph_node(graph, "Range", "across", ONNX_INPUTS(first, count, step));
    const char *down = onnx_graph_node(graph, "Unsqueeze", "down", ONNX_INPUTS(across, axis));
    writer->causal = onnx_graph_node(graph, "GreaterOrEqual", "causal", ONNX_INPUTS(down, across));
    return writer->causal;
}

/* Sets the cosines and sines by which rotary embeddings rotate each position, as in cpu_rotate. */
static void find_angles(struct onnx_writer *writer, const struct layer *layer)
{
    struct onnx_graph *graph = writer->graph;
    const int half = layer->attention.size / 2, length = layer->in.length;
    const int64_t sides[] = {length, half};
    const size_t count = (size_t)length * (size_t)half;
    if (writer->turned == half)
        return;
    float *cosines = arena_alloc(graph->arena, count, sizeof *cosines);
    float *sines = arena_alloc(graph->arena, count, sizeof *sines);
    const double each = pow(ROPE_BASE, -1.0 / half);
    for (size_t position = 0, at = 0; position < (size_t)length; position++) {
        double angle = (double)position;
        for (int i = 0; i < half; i++, at++, angle *= each) {
            cosines[at] = (float)cos(angle);
            sines[at] = (float)sin(angle);
        }
    }
    const char *all = onnx_graph_floats(graph, "all_cosines", 2, sides, cosines);
    writer->cosines = first_rows(writer, "cosines", all);
    all = onnx_graph_floats(graph, "all_sines", 2, sides, sines);
    writer->sines = first_rows(writer, "sines", all);
    writer->turned = half;
}

/* Rotates each pair (k, k + size / 2) of the numbers in x[batch, heads, positions, size]. who:
 * letter at the start of the new nodes' names. */
static const char *rotate(struct onnx_writer *writer, char who, const char *x)
{
    struct onnx_graph *graph = writer->graph;
    const char *half[2];
    char word[6][16];
    static const char *const words[6] = {"half", "ac", "bs", "as", "bc", "turned"};
    for (int i = 0; i < 6; i++)
        (void)snprintf(word[i], sizeof word[i], "%c_%s", who, words[i]);
    onnx_graph_split(graph, word[0], x, 2, NULL, half);
    const char *ac = onnx_graph_node(graph, "Mul", word[1], ONNX_INPUTS(half[0], writer->cosines));
    const char *bs = onnx_graph_node(graph, "Mul", word[2], ONNX_INPUTS(half[1], writer->sines));
    const char *as = onnx_graph_node(graph, "Mul", word[3], ONNX_INPUTS(half[0], writer->sines));
    const char *bc = onnx_graph_node(graph, "Mul", word[4], ONNX_INPUTS(half[1], writer->cosines));
    (void)snprintf(word[1], sizeof word[1], "%c_first", who);
    (void)snprintf(word[2], sizeof word[2], "%c_second", who);
    const char *first = onnx_graph_node(graph, "Sub", word[1], ONNX_INPUTS(ac, bs));
    const char *second = onnx_graph_node(graph, "Add", word[2], ONNX_INPUTS(as, bc));
    const char *turned = onnx_graph_node(graph, "Concat", word[5], ONNX_INPUTS(first, second));
    onnx_graph_set_int(graph, "axis", -1);
    return turned;
}

/* Reshapes queries, keys or values from [batch, positions, heads · size] to [batch, heads,
 * positions, size]. who: letter at the start of the new nodes' names. */
static const char *by_heads(struct onnx_writer *writer, char who, const char *x, int heads,
                            int size)
{
    struct onnx_graph *graph = writer->graph;
    char word[3][16];
    static const char *const words[3] = {"sides", "cut", "heads"};
    for (int i = 0; i < 3; i++)
        (void)snprintf(word[i], sizeof word[i], "%c_%s", who, words[i]);
    const char *sides = onnx_graph_ints(graph, word[0], 4, (int64_t[]){0, 0, heads, size});
    const char *cut = onnx_graph_node(graph, "Reshape", word[1], ONNX_INPUTS(x, sides));
    const char *heads_first = onnx_graph_node(graph, "Transpose", word[2], ONNX_INPUTS(cut));
    onnx_graph_set_ints(graph, "perm", 4, (int64_t[]){0, 2, 1, 3});
    return heads_first;
}

/* Repeats a head of keys or values for each query head that shares it. who: letter at the start of
 * the new nodes' names. */
static const char *shared(struct onnx_writer *writer, const struct attention *attention, char who,
                          const char *x)
{
    struct onnx_graph *graph = writer->graph;
    char whose[16], each[16];
    if (attention->heads == attention->kv_heads)
        return x;
    (void)snprintf(whose, sizeof whose, "%c_whose", who);
    (void)snprintf(each, sizeof each, "%c_each", who);
    int64_t *which = arena_alloc(graph->arena, (size_t)attention->heads, sizeof *which);
    for (int i = 0; i < attention->heads; i++)
        which[i] = i / (attention->heads / attention->kv_heads);
    const char *indices = onnx_graph_ints(graph, whose, attention->heads, which);
    const char *y = onnx_graph_node(graph, "Gather", each, ONNX_INPUTS(x, indices));
    onnx_graph_set_int(graph, "axis", 1);
    return y;
}

/* Returns the mean of the values, weighted by attention: [batch, positions, heads · size]. */
static const char *mix(struct onnx_writer *writer, const struct attention *attention,
                       const char *queries, const char *keys, const char *values)
{
    struct onnx_graph *graph = writer->graph;
    const int64_t joined[] = {0, 0, attention->heads * attention->size};
    const float scale = 1 / sqrtf((float)attention->size);
    const char *seen = causal(writer);
    const char *turned = onnx_graph_node(graph, "Transpose", "k_turned_over", ONNX_INPUTS(keys));
    onnx_graph_set_ints(graph, "perm", 4, (int64_t[]){0, 1, 3, 2});
    const char *products =
        onnx_graph_node(graph, "MatMul", "products", ONNX_INPUTS(queries, turned));
    const char *scores = onnx_graph_node(
        graph, "Mul", "scores", ONNX_INPUTS(products, onnx_graph_float(graph, "scale", scale)));
    const char *masked =
        onnx_graph_node(graph, "Where", "masked",
                        ONNX_INPUTS(seen, scores, onnx_graph_float(graph, "unseen", -FLT_MAX)));
    const char *parts = onnx_graph_node(graph, "Softmax", "parts", ONNX_INPUTS(masked));
    onnx_graph_set_int(graph, "axis", -1);
    const char *mixed = onnx_graph_node(graph, "MatMul", "mixed", ONNX_INPUTS(parts, values));
    const char *back = onnx_graph_node(graph, "Transpose", "positions_first", ONNX_INPUTS(mixed));
    onnx_graph_set_ints(graph, "perm", 4, (int64_t[]){0, 2, 1, 3});
    return onnx_graph_node(graph, "Reshape", "joined",
                           ONNX_INPUTS(back, onnx_graph_ints(graph, "joined_sides", 3, joined)));
}

struct onnx_value onnx_sequence_attention(ONNX_LAYER)
{
    const struct attention *attention = &layer->attention;
    const int heads = attention->heads, kv_heads = attention->kv_heads, size = attention->size;
    const bool is_plain = layer->tensors == 2;
    const int64_t sizes[] = {heads * size, kv_heads * size, kv_heads * size};
    const char *part[3];
    const char *qkv = onnx_layers_project(writer, layer, "qkv", x.name, 0, is_plain ? -1 : 1);
    onnx_graph_split(writer->graph, "part", qkv, 3, sizes, part);
    const char *queries = by_heads(writer, 'q', part[0], heads, size);
    const char *keys = by_heads(writer, 'k', part[1], kv_heads, size);
    const char *values = by_heads(writer, 'v', part[2], kv_heads, size);
    if (layer->turns) {
        find_angles(writer, layer);
        queries = rotate(writer, 'q', queries);
        keys = rotate(writer, 'k', keys);
    }
    const char *mixed = mix(writer, attention, queries, shared(writer, attention, 'k', keys),
                            shared(writer, attention, 'v', values));
    return (struct onnx_value){
        .name = onnx_layers_project(writer, layer, "", mixed, is_plain ? 1 : 2, is_plain ? -1 : 3)};
}
