/* Prints the operations of one step of a sequence model, as the model and its optimizer request
 * them from a backend. Computes nothing and uses no memory for the tensors.
 *
 *   step_plan MODEL|LINE TOKENS LENGTH BATCH [MIB]
 *
 * Prints one JSON object a line: the operation and its sizes. One line has the rows and parameters
 * of the model. The step is AdamW with clipping. MIB: free memory of the GPU, which decides how
 * many logits are computed at once (65536). step_bytes.py sums up the operations. */
#include <stdio.h>
#include <stdlib.h>

#include "backend/backend.h"
#include "base/arena.h"
#include "layers/model.h"
#include "training/optimizer_step.h"

/* Prints {"op": NAME, FIELDS} as one line. */
#define PRINT(name, fields, ...) (void)printf("{\"op\": \"" name "\"" fields "}\n", __VA_ARGS__)

static size_t free_mib = 65536;
static size_t taken = 4096; /* next address to return; no operation reads from these addresses */

static const char *const names[] = {"linear", "relu", "sigmoid", "tanh", "gelu", "silu"};

static void *plan_alloc(struct backend *backend, size_t bytes)
{
    (void)backend;
    const size_t address = taken;
    taken += (bytes + 4095) / 4096 * 4096;
    return (void *)address;
}

static void plan_free(struct backend *backend, void *memory)
{
    (void)backend, (void)memory;
}

static void plan_dense_forward(struct backend *backend, int batch, int in, int out,
                               struct numbers x, struct numbers w, struct numbers b,
                               enum activation activation, struct numbers y)
{
    (void)backend, (void)x, (void)w, (void)y;
    PRINT("dense_forward",
          ", \"rows\": %d, \"in\": %d, \"out\": %d, \"bias\": %d, \"activation\": \"%s\", "
          "\"number\": %zu, \"result\": %zu",
          batch, in, out, b.at != NULL, names[activation], number_bytes(x.type),
          number_bytes(y.type));
}

static void plan_dense_backward(struct backend *backend, int batch, int in, int out,
                                struct numbers x, struct numbers w, struct numbers y,
                                enum activation activation, struct numbers dy, struct numbers dx,
                                float *dw, float *db, bool adds)
{
    (void)backend, (void)x, (void)w, (void)y, (void)dy, (void)dw;
    PRINT("dense_backward",
          ", \"rows\": %d, \"in\": %d, \"out\": %d, \"bias\": %d, \"activation\": \"%s\", \"dx\": "
          "%d, "
          "\"adds\": %d, \"number\": %zu, \"result\": %zu",
          batch, in, out, db != NULL, names[activation], dx.at != NULL, adds, number_bytes(x.type),
          number_bytes(dy.type));
}

static void plan_dense_activate_forward(struct backend *backend, int batch, int in, int out,
                                        struct numbers x, struct numbers w, struct numbers b,
                                        enum activation activation, struct numbers before,
                                        struct numbers y)
{
    (void)backend, (void)w, (void)before;
    PRINT("dense_activate_forward",
          ", \"rows\": %d, \"in\": %d, \"out\": %d, \"bias\": %d, \"activation\": \"%s\", "
          "\"number\": %zu, \"result\": %zu",
          batch, in, out, b.at != NULL, names[activation], number_bytes(x.type),
          number_bytes(y.type));
}

static void plan_dense_activate_backward(struct backend *backend, int batch, int in, int out,
                                         struct numbers x, struct numbers w, struct numbers dy,
                                         enum activation activation, struct numbers before,
                                         struct numbers dx, float *dw, float *db)
{
    (void)backend, (void)w, (void)before, (void)dx, (void)dw;
    PRINT("dense_activate_backward",
          ", \"rows\": %d, \"in\": %d, \"out\": %d, \"bias\": %d, \"activation\": \"%s\", "
          "\"number\": %zu, \"result\": %zu",
          batch, in, out, db != NULL, names[activation], number_bytes(x.type),
          number_bytes(dy.type));
}

static void plan_embed_forward(struct backend *backend, size_t rows, int size, const int32_t *token,
                               struct numbers table, struct numbers y)
{
    (void)backend, (void)token, (void)table, (void)y;
    PRINT("embed_forward", ", \"rows\": %zu, \"size\": %d, \"number\": %zu", rows, size,
          number_bytes(y.type));
}

static void plan_embed_backward(struct backend *backend, size_t rows, int size,
                                const int32_t *token, struct numbers dy, float *dtable)
{
    (void)backend, (void)token, (void)dy, (void)dtable;
    PRINT("embed_backward", ", \"rows\": %zu, \"size\": %d, \"number\": %zu", rows, size,
          number_bytes(dy.type));
}

static void plan_add_shared(struct backend *backend, int batch, size_t count, struct numbers x,
                            const float *shared, struct numbers y)
{
    (void)backend, (void)x, (void)shared, (void)y;
    PRINT("add_shared", ", \"batch\": %d, \"count\": %zu, \"number\": %zu", batch, count,
          number_bytes(x.type));
}

static void plan_sum_shared(struct backend *backend, int batch, size_t count, struct numbers dy,
                            float *dshared)
{
    (void)backend, (void)dy, (void)dshared;
    PRINT("sum_shared", ", \"batch\": %d, \"count\": %zu, \"number\": %zu", batch, count,
          number_bytes(dy.type));
}

static void plan_add(struct backend *backend, size_t count, struct numbers a, struct numbers b,
                     struct numbers y)
{
    (void)backend, (void)a, (void)b, (void)y;
    PRINT("add", ", \"count\": %zu, \"number\": %zu", count, number_bytes(a.type));
}

static void plan_copy(struct backend *backend, size_t count, struct numbers from, struct numbers to)
{
    (void)backend;
    PRINT("copy", ", \"count\": %zu, \"number\": %zu, \"result\": %zu", count,
          number_bytes(from.type), number_bytes(to.type));
}

static void plan_clear(struct backend *backend, size_t count, float *to)
{
    (void)backend, (void)to;
    PRINT("clear", ", \"count\": %zu", count);
}

static void plan_drop(struct backend *backend, const struct dropout *dropout, const uint32_t *draws,
                      struct numbers x, struct numbers y)
{
    (void)backend, (void)draws, (void)x, (void)y;
    PRINT("drop", ", \"count\": %zu, \"number\": %zu", (size_t)dropout->batch * dropout->size,
          number_bytes(x.type));
}

static void plan_norm_forward(struct backend *backend, size_t rows, int size, struct numbers x,
                              const float *w, const float *b, struct numbers y, float *stats)
{
    (void)backend, (void)x, (void)w, (void)b, (void)y, (void)stats;
    PRINT("norm_forward", ", \"rows\": %zu, \"size\": %d, \"number\": %zu", rows, size,
          number_bytes(x.type));
}

static void plan_norm_backward(struct backend *backend, size_t rows, int size, struct numbers x,
                               const float *w, const float *stats, struct numbers dy,
                               struct numbers passed, struct numbers dx, float *dw, float *db)
{
    (void)backend, (void)w, (void)stats, (void)dy, (void)dx, (void)dw, (void)db;
    PRINT("norm_backward", ", \"rows\": %zu, \"size\": %d, \"passed\": %d, \"number\": %zu", rows,
          size, passed.at != NULL, number_bytes(x.type));
}

static void plan_add_norm_forward(struct backend *backend, size_t rows, int size, struct numbers a,
                                  struct numbers b, struct numbers sum, const float *w,
                                  const float *norm_b, struct numbers y, float *stats)
{
    (void)backend, (void)b, (void)sum, (void)w, (void)norm_b, (void)y, (void)stats;
    PRINT("add_norm_forward", ", \"rows\": %zu, \"size\": %d, \"number\": %zu", rows, size,
          number_bytes(a.type));
}

#define SIZES_OF_ATTENTION                                                                         \
    ", \"batch\": %d, \"length\": %d, \"heads\": %d, \"kv_heads\": %d, \"size\": %d, \"number\": " \
    "%zu"

static void plan_attention_forward(struct backend *backend, const struct attention *attention,
                                   int batch, struct numbers x, struct numbers y, float *log_sums)
{
    (void)backend, (void)x, (void)y, (void)log_sums;
    PRINT("attention_forward", SIZES_OF_ATTENTION, batch, attention->length, attention->heads,
          attention->kv_heads, attention->size, number_bytes(x.type));
}

static void plan_attention_backward(struct backend *backend, const struct attention *attention,
                                    int batch, struct numbers x, struct numbers y,
                                    const float *log_sums, struct numbers dy, struct numbers dx)
{
    (void)backend, (void)x, (void)y, (void)log_sums, (void)dy, (void)dx;
    PRINT("attention_backward", SIZES_OF_ATTENTION, batch, attention->length, attention->heads,
          attention->kv_heads, attention->size, number_bytes(x.type));
}

static void plan_rotate(struct backend *backend, const struct attention *attention, int batch,
                        int turn, struct numbers x)
{
    (void)backend, (void)turn, (void)x;
    PRINT("rotate", SIZES_OF_ATTENTION, batch, attention->length, attention->heads,
          attention->kv_heads, attention->size, number_bytes(x.type));
}

static void plan_swiglu_forward(struct backend *backend, size_t rows, int size, struct numbers x,
                                struct numbers y)
{
    (void)backend, (void)x, (void)y;
    PRINT("swiglu_forward", ", \"rows\": %zu, \"size\": %d, \"number\": %zu", rows, size,
          number_bytes(x.type));
}

static void plan_swiglu_backward(struct backend *backend, size_t rows, int size, struct numbers x,
                                 struct numbers dy, struct numbers dx)
{
    (void)backend, (void)x, (void)dy, (void)dx;
    PRINT("swiglu_backward", ", \"rows\": %zu, \"size\": %d, \"number\": %zu", rows, size,
          number_bytes(x.type));
}

static void plan_activate(struct backend *backend, enum activation activation, size_t count,
                          struct numbers x, struct numbers y)
{
    (void)backend, (void)activation, (void)x, (void)y;
    PRINT("activate", ", \"count\": %zu, \"number\": %zu", count, number_bytes(x.type));
}

static void plan_activate_backward(struct backend *backend, enum activation activation,
                                   size_t count, struct numbers kept, struct numbers dy,
                                   struct numbers dx)
{
    (void)backend, (void)activation, (void)kept, (void)dy, (void)dx;
    PRINT("activate_backward", ", \"count\": %zu, \"number\": %zu", count, number_bytes(dy.type));
}

static void plan_cross_entropy(struct backend *backend, const struct cross_entropy *loss,
                               const float *logits, const int32_t *labels, float *dlogits,
                               struct score *score)
{
    (void)backend, (void)logits, (void)labels, (void)dlogits, (void)score;
    PRINT("cross_entropy", ", \"rows\": %d, \"classes\": %d", loss->rows, loss->classes);
}

static void plan_logits_loss(struct backend *backend, const struct logits *logits, struct numbers x,
                             struct numbers w, const int32_t *labels, struct numbers dx, float *dw,
                             struct score *score)
{
    (void)backend, (void)x, (void)w, (void)labels, (void)score;
    PRINT("logits_loss",
          ", \"rows\": %d, \"in\": %d, \"classes\": %d, \"at_once\": %d, \"dx\": %d, \"dw\": %d, "
          "\"number\": %zu",
          logits->loss.rows, logits->in, logits->loss.classes, logits->at_once, dx.at != NULL,
          dw != NULL, number_bytes(x.type));
}

/* Returns the maximum number of logits that are computed at once, as in backend_cuda_loss.c. */
static size_t plan_logits_budget(struct backend *backend)
{
    (void)backend;
    size_t budget = 1;
    while (2 * budget <= (free_mib << 20) / 16)
        budget *= 2;
    return budget / (sizeof(float) + sizeof(uint16_t));
}

static void plan_clip(struct backend *backend, const float *most, size_t count, const float *g,
                      float *factor)
{
    (void)backend, (void)most, (void)g, (void)factor;
    PRINT("clip", ", \"count\": %zu", count);
}

static void plan_adam(struct backend *backend, const struct adam *adam, const float *factor,
                      size_t count, float *w, const float *g, float *m, float *v)
{
    (void)backend, (void)adam, (void)factor, (void)w, (void)g, (void)m, (void)v;
    PRINT("adam", ", \"count\": %zu", count);
}

static const struct dense_operations plan_dense = {
    .forward = plan_dense_forward,
    .backward = plan_dense_backward,
    .activate_forward = plan_dense_activate_forward,
    .activate_backward = plan_dense_activate_backward,
};

static const struct element_operations plan_elements = {
    .add_shared = plan_add_shared,
    .sum_shared = plan_sum_shared,
    .add = plan_add,
    .copy = plan_copy,
    .drop = plan_drop,
    .clear = plan_clear,
};

static const struct sequence_operations plan_sequence = {
    .embed = plan_embed_forward,
    .embed_backward = plan_embed_backward,
    .norm = plan_norm_forward,
    .norm_backward = plan_norm_backward,
    .add_norm = plan_add_norm_forward,
    .swiglu = plan_swiglu_forward,
    .swiglu_backward = plan_swiglu_backward,
};

static const struct attention_operations plan_attention = {
    .forward = plan_attention_forward,
    .backward = plan_attention_backward,
    .rotate = plan_rotate,
};

static const struct activation_operations plan_activation = {
    .forward = plan_activate,
    .backward = plan_activate_backward,
};

static const struct loss_operations plan_loss = {
    .cross_entropy = plan_cross_entropy,
    .logits = plan_logits_loss,
    .logits_budget = plan_logits_budget,
};

static const struct optimizer_operations plan_optimize = {
    .clip = plan_clip,
    .adam = plan_adam,
};

static struct backend plan = {
    .name = "plan",
    .activations = BFLOAT16,
    .alloc = plan_alloc,
    .free = plan_free,
    .dense = &plan_dense,
    .elements = &plan_elements,
    .sequence = &plan_sequence,
    .attention = &plan_attention,
    .activation = &plan_activation,
    .loss = &plan_loss,
    .optimize = &plan_optimize,
};

static void print_step(struct model *model, int batch)
{
    static float place;
    static struct score score;
    static struct optimizer_step step;
    static const struct optimizer optimizer = {.kind = OPTIMIZER_ADAM, .clip = 1};
    const struct model_part part = {.x = &place,
                                    .labels = (const int32_t *)(const void *)&place,
                                    .samples = batch,
                                    .of = batch};
    model_learn_part(model, &place, &place, &part, &score);
    optimizer_step_make(&plan, &optimizer, model, &step, &place, &place,
                        (float *[2]){&place, &place});
}

int main(int argc, char **argv)
{
    if (argc != 5 && argc != 6) {
        (void)fputs("usage: step_plan MODEL|LINE TOKENS LENGTH BATCH [MIB]\n", stderr);
        return 2;
    }
    const int tokens = atoi(argv[2]), length = atoi(argv[3]), batch = atoi(argv[4]);
    if (argc == 6)
        free_mib = (size_t)strtoull(argv[5], NULL, 10);
    const char *preset = model_preset(argv[1]);
    const char *line = preset ? preset : argv[1];
    struct arena arena;
    struct model *model;
    struct problem problem = {"TOKENS, LENGTH and BATCH are numbers from 1"};
    if (model_line_tokens(line) == 0)
        problem = (struct problem){"the model must read sequences: its line begins with an embed"};
    if (model_line_tokens(line) == 0 || tokens < 1 || length < 1 || batch < 1) {
        (void)fprintf(stderr, "step_plan: %s\n", problem.text);
        return 2;
    }
    arena_init(&arena, 4096);
    const struct shape in = {1, 1, 1, length};
    if (model_new(&model, &arena, &plan, line, in, tokens, batch, &problem) != OK) {
        (void)fprintf(stderr, "step_plan: %s\n", problem.text);
        return 2;
    }
    PRINT("model", ", \"rows\": %d, \"parameters\": %zu", batch * length, model_parameters(model));
    print_step(model, batch);
    model_free(model);
    arena_release(&arena);
    return 0;
}
