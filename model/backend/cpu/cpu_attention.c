/* Causal attention on the CPU: one head at a time, in strips of queries, so that a strip's scores
 * stay in the cache. Scores of a query with later keys are computed only within its strip, and then
 * set to 0. */
#include <cblas.h>
#include <math.h>

#include "backend/cpu/cpu.h"
#include "backend/cpu/cpu_vector.h"

#define STRIP 64 /* queries per strip */

/* Queries, keys and values of one head in one sample. */
struct head {
    const float *query, *key, *value; /* [length] rows of `size` numbers */
    int stride;                       /* numbers from one row to the next */
};

static struct head head_of(const struct attention *attention, const float *x, int number)
{
    const int shared = number / (attention->heads / attention->kv_heads);
    const float *keys = x + attention->heads * attention->size;
    return (struct head){
        .query = x + number * attention->size,
        .key = keys + shared * attention->size,
        .value = keys + (attention->kv_heads + shared) * attention->size,
        .stride = (int)attention_input(attention),
    };
}

/* A strip: `rows` queries from `from` on, and keys 0 .. keys-1. */
struct strip {
    int from, rows, keys;
};

static struct strip strip_at(const struct attention *attention, int from)
{
    const int left = attention->length - from, rows = int_min(left, STRIP);
    return (struct strip){.from = from, .rows = rows, .keys = from + rows};
}

static float score_scale(const struct attention *attention)
{
    return 1 / sqrtf((float)attention->size);
}

/* Computes a strip's scores[rows, keys] = query · key / √size. */
static void compare(const struct attention *attention, const struct head *head, struct strip strip,
                    float *scores)
{
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, strip.rows, strip.keys, attention->size,
                score_scale(attention), head->query + (size_t)strip.from * (size_t)head->stride,
                head->stride, head->key, head->stride, 0, scores, strip.keys);
}

/* Computes the softmax of one query's row of scores over its first `seen` keys, and sets the
 * scores of later keys to 0. Returns the logarithm of the sum of exponentials. */
EACH_WIDTH static float softmax_row(int seen, int keys, float *row)
{
    const float top = vector_most(row, seen);
    for (int j = 0; j < seen; j++)
        row[j] = vector_exp(row[j] - top);
    const float sum = vector_sum(row, seen), scale = 1 / sum;
    for (int j = 0; j < seen; j++)
        row[j] *= scale;
    for (int j = seen; j < keys; j++)
        row[j] = 0;
    return top + logf(sum);
}

static void head_forward(const struct attention *attention, const struct head *head, float *scores,
                         float *y, float *log_sums)
{
    const int out = (int)attention_output(attention);
    for (int from = attention->from; from < attention->length; from += STRIP) {
        const struct strip strip = strip_at(attention, from);
        compare(attention, head, strip, scores);
        for (int i = 0; i < strip.rows; i++)
            log_sums[from + i] =
                softmax_row(from + i + 1, strip.keys, scores + (size_t)i * (size_t)strip.keys);
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, strip.rows, attention->size,
                    strip.keys, 1, scores, strip.keys, head->value, head->stride, 0,
                    y + (size_t)from * (size_t)out, out);
    }
}

static void cpu_attention_forward(struct backend *backend, const struct attention *attention,
                                  int batch, struct numbers xs, struct numbers ys, float *log_sums)
{
    const float *x = floats_of(xs);
    float *y = floats_of(ys);
    const size_t length = (size_t)attention->length;
    float *scores = cpu_scratch(backend, STRIP * length);
    for (int i = 0; i < batch; i++) {
        for (int h = 0; h < attention->heads; h++, log_sums += length) {
            const struct head head = head_of(attention, x, h);
            head_forward(attention, &head, scores, y + h * attention->size, log_sums);
        }
        x += length * attention_input(attention);
        y += length * attention_output(attention);
    }
}

/* Recomputes the softmax of a row of scores, as softmax_row does. log_sum: logarithm of the sum of
 * the row's exponentials. */
EACH_WIDTH static void softmax_again(int seen, int keys, float log_sum, float *row)
{
    for (int j = 0; j < seen; j++)
        row[j] = vector_exp(row[j] - log_sum);
    for (int j = seen; j < keys; j++)
        row[j] = 0;
}

/* Turns a row's gradients of the softmax, dp, into gradients of the scores: p · (dp - mixed). p
 * is the softmax, and mixed is the scalar product of y and dy. */
EACH_WIDTH static void gradient_row(int keys, float mixed, const float *restrict p,
                                    float *restrict dp)
{
    for (int j = 0; j < keys; j++)
        dp[j] = p[j] * (dp[j] - mixed);
}

/* Gradients of a head's queries, keys and values, in rows like those of struct head. */
struct head_gradients {
    float *query, *key, *value;
};

/* Output of a head and its gradient: [length] rows of `size` numbers, `stride` numbers apart. */
struct head_output {
    const float *y, *dy;
    int stride;
};

static void strip_backward(const struct attention *attention, const struct head *head,
                           struct strip strip, const struct head_output *output,
                           const float *log_sums, float *scores,
                           const struct head_gradients *gradients)
{
    const int size = attention->size, keys = strip.keys, stride = head->stride;
    float *ds = scores + (size_t)STRIP * (size_t)attention->length;
    const size_t first = (size_t)strip.from * (size_t)output->stride;
    const float *dy = output->dy + first, *y = output->y + first;
    compare(attention, head, strip, scores);
    for (int i = 0; i < strip.rows; i++)
        softmax_again(strip.from + i + 1, keys, log_sums[strip.from + i],
                      scores + (size_t)i * (size_t)keys);
    cblas_sgemm(CblasRowMajor, CblasTrans, CblasNoTrans, keys, size, strip.rows, 1, scores, keys,
                dy, output->stride, 1, gradients->value, stride);
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, strip.rows, keys, size, 1, dy,
                output->stride, head->value, stride, 0, ds, keys);
    for (int i = 0; i < strip.rows; i++) {
        const size_t row = (size_t)i * (size_t)output->stride;
        gradient_row(keys, vector_dot(y + row, dy + row, size), scores + (size_t)i * (size_t)keys,
                     ds + (size_t)i * (size_t)keys);
    }
    const float scale = score_scale(attention);
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, strip.rows, size, keys, scale, ds, keys,
                head->key, stride, 0, gradients->query + (size_t)strip.from * (size_t)stride,
                stride);
    cblas_sgemm(CblasRowMajor, CblasTrans, CblasNoTrans, keys, size, strip.rows, scale, ds, keys,
                head->query + (size_t)strip.from * (size_t)stride, stride, 1, gradients->key,
                stride);
}

/* Clears the gradients of keys and values, to which all query heads that share a key or value
 * add. */
static void clear_shared(const struct attention *attention, float *dx)
{
    const size_t queries = (size_t)attention->heads * (size_t)attention->size;
    const size_t all = attention_input(attention);
    for (int i = 0; i < attention->length; i++)
        memset(dx + (size_t)i * all + queries, 0, (all - queries) * sizeof *dx);
}

static void cpu_attention_backward(struct backend *backend, const struct attention *attention,
                                   int batch, struct numbers xs, struct numbers ys,
                                   const float *log_sums, struct numbers dys, struct numbers dxs)
{
    const float *x = floats_of(xs);
    const float *y = floats_of(ys);
    const float *dy = floats_of(dys);
    float *dx = floats_of(dxs);
    const size_t length = (size_t)attention->length;
    const size_t in = length * attention_input(attention);
    const size_t out = length * attention_output(attention);
    float *scores = cpu_scratch(backend, 2 * STRIP * length);
    for (int i = 0; i < batch; i++, x += in, dx += in, y += out, dy += out) {
        clear_shared(attention, dx);
        for (int h = 0; h < attention->heads; h++, log_sums += length) {
            const struct head head = head_of(attention, x, h);
            const struct head_gradients gradients = {.query = dx + (head.query - x),
                                                     .key = dx + (head.key - x),
                                                     .value = dx + (head.value - x)};
            const struct head_output output = {.y = y + h * attention->size,
                                               .dy = dy + h * attention->size,
                                               .stride = (int)attention_output(attention)};
            for (int from = 0; from < attention->length; from += STRIP)
                strip_backward(attention, &head, strip_at(attention, from), &output, log_sums,
                               scores, &gradients);
        }
    }
}

/* Computes the angles in double precision, once for each position and pair of numbers: all
 * samples and heads share them. */
static void cpu_rotate(struct backend *backend, const struct attention *attention, int batch,
                       int turn, struct numbers xs)
{
    float *x = floats_of(xs);
    const int half = attention->size / 2, heads = attention->heads + attention->kv_heads;
    const size_t stride = attention_input(attention);
    float *cosines = cpu_scratch(backend, 2 * (size_t)half), *sines = cosines + half;
    /* Factor from one pair's angle to the next pair's. */
    const double each = pow(ROPE_BASE, -1.0 / half);
    for (int position = attention->from; position < attention->length; position++) {
        double angle = position;
        for (int i = 0; i < half; i++, angle *= each) {
            cosines[i] = (float)cos(angle);
            sines[i] = (float)(turn * sin(angle));
        }
        for (int sample = 0; sample < batch; sample++) {
            float *at =
                x + ((size_t)sample * (size_t)attention->length + (size_t)position) * stride;
            for (int h = 0; h < heads; h++, at += attention->size)
                for (int i = 0; i < half; i++) {
                    const float a = at[i], b = at[half + i];
                    at[i] = a * cosines[i] - b * sines[i];
                    at[half + i] = a * sines[i] + b * cosines[i];
                }
        }
    }
}

const struct attention_operations cpu_attention = {
    .forward = cpu_attention_forward,
    .backward = cpu_attention_backward,
    .rotate = cpu_rotate,
};
