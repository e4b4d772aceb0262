/* The first weights: by seed alone, the same bits on every machine. */
#include <math.h>

#include "base/rng.h"
#include "layers/model_private.h"

#define SMALL 0.02 /* the deviation of GPT-2's weights (Radford et al. 2019) */

/* The sum of twelve uniform numbers less six (Irwin, Hall 1927): variance 1 and close to normal.
 * Additions only, because every node must begin with the same bits, and log and cos, which other
 * ways need, differ in the last bit from one C library to the next. */
static double draw_normal(struct rng *rng)
{
    double sum = 0;
    for (int i = 0; i < 12; i++)
        sum += rng_uniform(rng);
    return sum - 6;
}

/* Whether what the layer gives goes into a relu; behind a norm of images, most of it does. */
static bool is_before_relu(const struct model *model, const struct layer *layer)
{
    const struct layer *next = layer + 1;
    return layer->activation == RELU ||
           (next < model->layers + model->count &&
            (next->kind == &layer_batchnorm || next->kind == &layer_groupnorm));
}

/* He, Zhang, Ren, Sun 2015 before relu; Glorot, Bengio 2010 otherwise. The square roots are exact
 * to the last bit by IEEE 754. */
static void draw_by_fan(const struct layer_tensor *tensor, bool before_relu, struct rng rng,
                        float *weights)
{
    const size_t count = layer_tensor_count(tensor);
    const size_t fan_in = count / tensor->dims[0], fan_out = count / tensor->dims[1];
    const double deviation = sqrt(2.0 / (double)fan_in);
    const double limit = sqrt(6.0 / (double)(fan_in + fan_out));
    for (size_t i = 0; i < count; i++)
        weights[i] = (float)(before_relu ? deviation * draw_normal(&rng)
                                         : limit * (2 * rng_uniform(&rng) - 1));
}

static void draw_small(size_t count, double deviation, struct rng rng, float *weights)
{
    for (size_t i = 0; i < count; i++)
        weights[i] = (float)(deviation * draw_normal(&rng));
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

void model_init(const struct model *model, uint64_t seed, float *host_weights)
{
    const double last = SMALL / sqrt(fmax(count_residuals(model), 1));
    for (int i = 0; i < model->tensors; i++) {
        const struct layer *layer = model->tensor[i].layer;
        const struct layer_tensor *tensor = &layer->tensor[model->tensor[i].which];
        const size_t count = layer_tensor_count(tensor);
        const struct rng rng =
            rng_new(seed, (uint64_t)layer->number | (uint64_t)model->tensor[i].which << 32);
        float *weights = host_weights + tensor->offset;
        if (tensor->init == INIT_FAN)
            draw_by_fan(tensor, is_before_relu(model, layer), rng, weights);
        else if (tensor->init == INIT_SMALL || tensor->init == INIT_LAST)
            draw_small(count, tensor->init == INIT_LAST ? last : SMALL, rng, weights);
        else
            fill(count, tensor->init == INIT_ONE ? 1 : 0, weights);
    }
}
