/* The operations of sequence models, with arrays in main memory (host_backend.h). */
#include "support/model/host_backend.h"

/* Returns how many rows of a table the tokens reach. */
static size_t rows_of_table(size_t rows, const int32_t *token)
{
    size_t count = 0;
    for (size_t i = 0; i < rows; i++)
        count = (size_t)token[i] >= count ? (size_t)token[i] + 1 : count;
    return count;
}

static void host_embed_forward(struct backend *b_, size_t rows, int size, const int32_t *token,
                               struct numbers table, struct numbers y)
{
    (void)b_;
    const size_t width = (size_t)size, all = rows_of_table(rows, token) * width;
    device_of_tests->sequence->embed(device_of_tests, rows, size,
                                     carry(token, rows * sizeof *token), WEIGHT_NUMBERS(table, all),
                                     NUMBERS(y, rows * width));
    carry_back();
}

static void host_embed_backward(struct backend *b_, size_t rows, int size, const int32_t *token,
                                struct numbers dy, float *dtable)
{
    (void)b_;
    const size_t width = (size_t)size, all = rows_of_table(rows, token) * width;
    device_of_tests->sequence->embed_backward(device_of_tests, rows, size,
                                              carry(token, rows * sizeof *token),
                                              NUMBERS(dy, rows * width), WEIGHTS(dtable, all));
    carry_back();
}

static void host_add_shared(struct backend *b_, int batch, size_t count, struct numbers x,
                            const float *shared, struct numbers y)
{
    (void)b_;
    const size_t all = (size_t)batch * count;
    device_of_tests->elements->add_shared(device_of_tests, batch, count, NUMBERS(x, all),
                                          WEIGHTS(shared, count), NUMBERS(y, all));
    carry_back();
}

static void host_sum_shared(struct backend *b_, int batch, size_t count, struct numbers dy,
                            float *dshared)
{
    (void)b_;
    device_of_tests->elements->sum_shared(
        device_of_tests, batch, count, NUMBERS(dy, (size_t)batch * count), WEIGHTS(dshared, count));
    carry_back();
}

static void host_add(struct backend *b_, size_t count, struct numbers a, struct numbers b,
                     struct numbers y)
{
    (void)b_;
    device_of_tests->elements->add(device_of_tests, count, NUMBERS(a, count), NUMBERS(b, count),
                                   NUMBERS(y, count));
    carry_back();
}

static void host_copy(struct backend *b_, size_t count, struct numbers from, struct numbers to)
{
    (void)b_;
    device_of_tests->elements->copy(device_of_tests, count, NUMBERS(from, count),
                                    NUMBERS(to, count));
    carry_back();
}

static void host_clear(struct backend *b_, size_t count, float *to)
{
    (void)b_;
    device_of_tests->elements->clear(device_of_tests, count, WEIGHTS(to, count));
    carry_back();
}

static void host_drop(struct backend *b_, const struct dropout *dropout, const uint32_t *draws,
                      struct numbers x, struct numbers y)
{
    (void)b_;
    const size_t batch = (size_t)dropout->batch, all = batch * dropout->size;
    device_of_tests->elements->drop(device_of_tests, dropout, carry(draws, batch * sizeof *draws),
                                    NUMBERS(x, all), NUMBERS(y, all));
    carry_back();
}

static void host_norm_forward(struct backend *b_, size_t rows, int size, struct numbers x,
                              const float *w, const float *b, struct numbers y, float *stats)
{
    (void)b_;
    const size_t width = (size_t)size;
    device_of_tests->sequence->norm(device_of_tests, rows, size, NUMBERS(x, rows * width),
                                    WEIGHTS(w, width), WEIGHTS(b, width), NUMBERS(y, rows * width),
                                    FLOATS(stats, 2 * rows));
    carry_back();
}

static void host_norm_backward(struct backend *b_, size_t rows, int size, struct numbers x,
                               const float *w, const float *stats, struct numbers dy,
                               struct numbers passed, struct numbers dx, float *dw, float *db)
{
    (void)b_;
    const size_t width = (size_t)size, all = rows * width;
    device_of_tests->sequence->norm_backward(
        device_of_tests, rows, size, NUMBERS(x, all), WEIGHTS(w, width), FLOATS(stats, 2 * rows),
        NUMBERS(dy, all), NUMBERS(passed, all), NUMBERS(dx, all), WEIGHTS(dw, width),
        WEIGHTS(db, width));
    carry_back();
}

static void host_add_norm_forward(struct backend *b_, size_t rows, int size, struct numbers a,
                                  struct numbers b, struct numbers sum, const float *w,
                                  const float *norm_b, struct numbers y, float *stats)
{
    (void)b_;
    const size_t width = (size_t)size, all = rows * width;
    device_of_tests->sequence->add_norm(
        device_of_tests, rows, size, NUMBERS(a, all), NUMBERS(b, all), NUMBERS(sum, all),
        WEIGHTS(w, width), WEIGHTS(norm_b, width), NUMBERS(y, all), FLOATS(stats, 2 * rows));
    carry_back();
}

static size_t positions(const struct attention *attention, int batch)
{
    return (size_t)batch * (size_t)attention->length;
}

static void host_attention_forward(struct backend *b_, const struct attention *attention, int batch,
                                   struct numbers x, struct numbers y, float *log_sums)
{
    (void)b_;
    const size_t rows = positions(attention, batch);
    device_of_tests->attention->forward(device_of_tests, attention, batch,
                                        NUMBERS(x, rows * attention_input(attention)),
                                        NUMBERS(y, rows * attention_output(attention)),
                                        FLOATS(log_sums, rows * (size_t)attention->heads));
    carry_back();
}

static void host_attention_backward(struct backend *b_, const struct attention *attention,
                                    int batch, struct numbers x, struct numbers y,
                                    const float *log_sums, struct numbers dy, struct numbers dx)
{
    (void)b_;
    const size_t rows = positions(attention, batch), out = rows * attention_output(attention);
    const size_t in = rows * attention_input(attention);
    device_of_tests->attention->backward(
        device_of_tests, attention, batch, NUMBERS(x, in), NUMBERS(y, out),
        FLOATS(log_sums, rows * (size_t)attention->heads), NUMBERS(dy, out), NUMBERS(dx, in));
    carry_back();
}

static void host_rotate(struct backend *b_, const struct attention *attention, int batch, int turn,
                        struct numbers x)
{
    (void)b_;
    device_of_tests->attention->rotate(
        device_of_tests, attention, batch, turn,
        NUMBERS(x, positions(attention, batch) * attention_input(attention)));
    carry_back();
}

static void host_swiglu_forward(struct backend *b_, size_t rows, int size, struct numbers x,
                                struct numbers y)
{
    (void)b_;
    const size_t out = rows * (size_t)size;
    device_of_tests->sequence->swiglu(device_of_tests, rows, size, NUMBERS(x, 2 * out),
                                      NUMBERS(y, out));
    carry_back();
}

static void host_swiglu_backward(struct backend *b_, size_t rows, int size, struct numbers x,
                                 struct numbers dy, struct numbers dx)
{
    (void)b_;
    const size_t out = rows * (size_t)size;
    device_of_tests->sequence->swiglu_backward(device_of_tests, rows, size, NUMBERS(x, 2 * out),
                                               NUMBERS(dy, out), NUMBERS(dx, 2 * out));
    carry_back();
}

const struct element_operations host_elements = {
    .add_shared = host_add_shared,
    .sum_shared = host_sum_shared,
    .add = host_add,
    .copy = host_copy,
    .drop = host_drop,
    .clear = host_clear,
};

const struct sequence_operations host_sequence = {
    .embed = host_embed_forward,
    .embed_backward = host_embed_backward,
    .norm = host_norm_forward,
    .norm_backward = host_norm_backward,
    .add_norm = host_add_norm_forward,
    .swiglu = host_swiglu_forward,
    .swiglu_backward = host_swiglu_backward,
};

const struct attention_operations host_attention = {
    .forward = host_attention_forward,
    .backward = host_attention_backward,
    .rotate = host_rotate,
};
