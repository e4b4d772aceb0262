/* An ONNX graph under construction: nodes, constants and the model's tensors.
 *
 *   scope "3.attention"
 *   onnx_graph_node(graph, "MatMul", "scores", ONNX_INPUTS(q, k))  ─►  "3.attention/scores"
 *
 * A node and its output share one name: the layer's name, a slash and a word. Values are identified
 * by name. All memory is from the arena, except the floats of tensors, which the caller owns.
 * Private to src/onnx.
 */
#ifndef HEARSAY_ONNX_ONNX_GRAPH_H
#define HEARSAY_ONNX_ONNX_GRAPH_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

#include <onnx.pb-c.h>

#define ONNX_RANK_MAX   6
#define ONNX_INPUTS_MAX 6

/* For `inputs` of onnx_graph_node: a list of names that ends with NULL. */
#define ONNX_INPUTS(...) ((const char *const[ONNX_INPUTS_MAX + 1]){__VA_ARGS__})

struct onnx_graph {
    struct arena *arena;
    Onnx__GraphProto proto;
    char scope[48]; /* prefix of the names of new nodes and constants */
};

void onnx_graph_init(struct onnx_graph *graph, struct arena *arena, const char *name);

/* Later names are SCOPE/word, or SCOPE if the word is "". */
__attribute__((format(printf, 2, 3))) void onnx_graph_enter(struct onnx_graph *graph,
                                                            const char *format, ...);

/* Returns SCOPE/word, the name of the node and of its only output. */
const char *onnx_graph_node(struct onnx_graph *graph, const char *operation, const char *word,
                            const char *const *inputs);

/* Divides the last dimension into `count` parts, and sets parts[count] to their names:
 * SCOPE/word.0, SCOPE/word.1, … sizes[count]: sizes of the parts; NULL = equal parts. */
void onnx_graph_split(struct onnx_graph *graph, const char *word, const char *input, int count,
                      const int64_t *sizes, const char **parts);

/* Set an attribute of the node that was added last. `name` is a string literal. */
void onnx_graph_set_int(struct onnx_graph *graph, const char *name, int64_t value);
void onnx_graph_set_ints(struct onnx_graph *graph, const char *name, int count,
                         const int64_t *values);
void onnx_graph_set_float(struct onnx_graph *graph, const char *name, float value);

/* Add a constant, named SCOPE/word, with a copy of the numbers; return its name. onnx_graph_int
 * and onnx_graph_float add a single number (a tensor of rank 0). */
const char *onnx_graph_int(struct onnx_graph *graph, const char *word, int64_t value);
const char *onnx_graph_ints(struct onnx_graph *graph, const char *word, int count,
                            const int64_t *values);
const char *onnx_graph_floats(struct onnx_graph *graph, const char *word, int rank,
                              const int64_t *dims, const float *values);
const char *onnx_graph_float(struct onnx_graph *graph, const char *word, float value);

/* Adds a tensor of the model under its own name, without the scope. values must stay valid. */
void onnx_graph_tensor(struct onnx_graph *graph, const char *name, int rank, const size_t *dims,
                       const float *values);

/* A dimension. size: its fixed size; 0 = the size may vary, and `name` stands for it. */
struct onnx_side {
    const char *name;
    int64_t size;
};
void onnx_graph_input(struct onnx_graph *graph, const char *name, int type, int rank,
                      const struct onnx_side *sides);
void onnx_graph_output(struct onnx_graph *graph, const char *name, int rank,
                       const struct onnx_side *sides);

#endif
