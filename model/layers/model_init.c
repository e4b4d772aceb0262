/* Draws initial weights from a seed, with identical bits on every machine. */
#include <math.h>
#include <string.h>

#include "backend/cpu/cpu_vector.h"
#include "base/error.h"
#include "base/rng.h"
#include "layers/model_private.h"

#define SMALL 0.02 /* standard deviation of GPT-2's initial weights (Radford et al. 2019) */

/* entries that the inner loop draws at once, to fill several SIMD registers */
#define SIDE_BY_SIDE 64

/* Returns the value in [0, 1) that call number n of rng_uniform, counted from 0, would return.
 * Does not need the calls before it, because SplitMix64 mixes a counter. Few processors convert
 * 64-bit integers to doubles in a vector, so two halves of the 53 bits are converted separately,
 * both exactly. */
static inline double uniform_at(struct rng rng, uint64_t n)
{
    const uint64_t bits = rng_mix(rng.state + (n + 1) * RNG_STEP) >> 11;
    /* Bits of the double 2^52 + low. */
    const uint64_t low_bits = 0x4330000000000000u | (bits & UINT32_MAX);
    /* Bits of the double 2^84 + 2^32 · high. */
    const uint64_t high_bits = 0x4530000000000000u | bits >> 32;
    double low, high;
    memcpy(&low, &low_bits, sizeof low);
    memcpy(&high, &high_bits, sizeof high);
    return ((high - 0x1p84) + (low - 0x1p52)) * 0x1p-53;
}

/* Draws approximately normal numbers: the sum of twelve uniform numbers minus six has variance 1
 * (Irwin, Hall 1927). Every node must begin with identical bits. The additions therefore keep this
 * order, and other methods are ruled out: their log and cos differ in the last bit between C
 * libraries. Entry i depends only on the generator and on i. */
EACH_WIDTH static void draw_normal(struct rng rng, double deviation, size_t first, size_t count,
                                   float *restrict weights)
{
    for (size_t from = 0; from < count; from += SIDE_BY_SIDE) {
        double sum[SIDE_BY_SIDE] = {0};
        for (uint64_t draw = 0; draw < 12; draw++)
            for (size_t i = 0; i < SIDE_BY_SIDE; i++)
                sum[i] += uniform_at(rng, 12 * (first + from + i) + draw);
        const size_t left = size_min(count - from, SIDE_BY_SIDE);
        for (size_t i = 0; i < left; i++)
            weights[from + i] = (float)(deviation * (sum[i] - 6));
    }
}

EACH_WIDTH static void draw_uniform(struct rng rng, double limit, size_t first, size_t count,
                                    float *restrict weights)
{
    for (size_t i = 0; i < count; i++)
        weights[i] = (float)(limit * (2 * uniform_at(rng, first + i) - 1));
}

/* Returns true if a relu or a channel norm reads the layer's output. A relu usually follows a
 * channel norm. */
static bool is_before_relu(const struct model *model, const struct layer *layer)
{
    const struct layer *next = layer + 1;
    return layer->activation == RELU ||
           (next < model->layers + model->count &&
            (next->kind == &layer_batchnorm || next->kind == &layer_groupnorm));
}

/* Draws weights by He, Zhang, Ren, Sun 2015 before a relu, and by Glorot, Bengio 2010 otherwise.
 * IEEE 754 fixes every bit of a square root, so all machines agree. */
static void draw_by_fan(const struct layer_tensor *tensor, bool before_relu, struct rng rng,
                        size_t first, size_t count, float *weights)
{
    const size_t all = layer_tensor_count(tensor);
    const size_t fan_in = all / tensor->dims[0], fan_out = all / tensor->dims[1];
    if (before_relu)
        draw_normal(rng, sqrt(2.0 / (double)fan_in), first, count, weights);
    else
        draw_uniform(rng, sqrt(6.0 / (double)(fan_in + fan_out)), first, count, weights);
}

static void fill(size_t count, float value, float *weights)
{
    for (size_t i = 0; i < count; i++)
        weights[i] = value;
}

static int count_residuals(const struct model *model)
{
    int count = 0;
    for (int i = 0; i < model->count; i++)
        count += model->layers[i].kind == &layer_close;
    return count;
}

/* Draws entries first .. first+count-1 of tensor t. */
static void init_tensor(const struct model *model, int t, uint64_t seed, size_t first, size_t count,
                        float *weights)
{
    const struct layer *layer = model->tensor[t].layer;
    const struct layer_tensor *tensor = &layer->tensor[model->tensor[t].which];
    const double last = SMALL / sqrt(fmax(count_residuals(model), 1));
    const struct rng rng =
        rng_new(seed, (uint64_t)layer->number | (uint64_t)model->tensor[t].which << 32);
    CHECK(count <= layer_tensor_count(tensor) && first <= layer_tensor_count(tensor) - count);
    if (tensor->init == INIT_FAN)
        draw_by_fan(tensor, is_before_relu(model, layer), rng, first, count, weights);
    else if (tensor->init == INIT_SMALL || tensor->init == INIT_LAST)
        draw_normal(rng, tensor->init == INIT_LAST ? last : SMALL, first, count, weights);
    else
        fill(count, tensor->init == INIT_ONE ? 1 : 0, weights);
}

void model_init_part(const struct model *model, uint64_t seed, size_t first, size_t count,
                     float *host_weights)
{
    const size_t end = first + count;
    CHECK(first <= end && end <= model_parameters(model));
    for (int t = 0; t < model->tensors; t++) {
        const struct layer *layer = model->tensor[t].layer;
        const struct layer_tensor *tensor = &layer->tensor[model->tensor[t].which];
        const size_t begins = tensor->offset, ends = begins + layer_tensor_count(tensor);
        const size_t from = size_max(begins, first), to = size_min(ends, end);
        if (from < to)
            init_tensor(model, t, seed, from - begins, to - from, host_weights + (from - first));
    }
}

void model_init(const struct model *model, uint64_t seed, float *host_weights)
{
    model_init_part(model, seed, 0, model_parameters(model), host_weights);
}
