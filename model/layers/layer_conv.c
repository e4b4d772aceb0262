#include <stdio.h>
#include <string.h>

#include "layers/layer.h"
#include "layers/layer_words.h"

/* "5x5" */
static bool kernel_read(const char *word, int *height, int *width)
{
    char first[LAYER_TEXT_MAX];
    size_t length = strcspn(word, "x");
    if (word[length] != 'x')
        return false;
    (void)snprintf(first, sizeof first, "%.*s", (int)length, word);
    return layer_number(first, height) && layer_number(word + length + 1, width);
}

static enum error conv_read_words(struct conv *conv, const struct layer_words *words,
                                  struct problem *problem)
{
    int height = 0, width = 0;
    bool padded = words->count == 5 && strcmp(words->word[3], "pad") == 0;
    if ((words->count != 3 && !padded) || !layer_number(words->word[1], &conv->filters) ||
        !kernel_read(words->word[2], &height, &width) ||
        (padded && !layer_number(words->word[4], &conv->pad)))
        return layer_problem(words, problem, "write it as '%s', for example 'conv 16 5x5 pad 2'",
                             layer_conv.usage);
    if (conv->filters == 0 || height == 0 || width == 0)
        return layer_problem(words, problem, "filters and kernel count from 1");
    if (height != width)
        return layer_problem(words, problem, "kernels are square; write 'conv %d %dx%d'",
                             conv->filters, height, height);
    conv->kernel = height;
    return OK;
}

static enum error conv_check(const struct conv *conv, const struct layer_words *words,
                             struct problem *problem)
{
    if (conv->pad >= conv->kernel)
        return layer_problem(words, problem,
                             "the pad must be smaller than the kernel; at most 'pad %d'",
                             conv->kernel - 1);
    const struct shape out = conv_output(conv);
    if (out.height < 1 || out.width < 1)
        return layer_problem(words, problem,
                             "the kernel is larger than its input, which is %dx%d with the "
                             "padding; take a smaller kernel or a larger pad",
                             conv->in.height + 2 * conv->pad, conv->in.width + 2 * conv->pad);
    return OK;
}

static enum error conv_read(struct layer *layer, const struct layer_words *words,
                            const struct chain *before, struct problem *problem)
{
    (void)before;
    struct conv conv = {.in = layer->in};
    if (conv.in.length > 0)
        return layer_problem(words, problem, "convolutions are over images; here comes a sequence");
    enum error error = conv_read_words(&conv, words, problem);
    if (error == OK)
        error = conv_check(&conv, words, problem);
    if (error != OK)
        return error;
    int length = snprintf(layer->text, sizeof layer->text, "conv %d %dx%d", conv.filters,
                          conv.kernel, conv.kernel);
    if (conv.pad > 0)
        (void)snprintf(layer->text + length, sizeof layer->text - (size_t)length, " pad %d",
                       conv.pad);
    layer->conv = conv;
    layer->out = conv_output(&conv);
    const size_t kernel = (size_t)conv.kernel, filters = (size_t)conv.filters;
    layer_add_tensor(layer, "weight", INIT_FAN,
                     (size_t[4]){filters, (size_t)conv.in.channels, kernel, kernel});
    layer_add_tensor(layer, "bias", INIT_ZERO, (size_t[4]){filters});
    layer->flops = 2 * (double)layer_tensor_count(&layer->tensor[0]) * (double)layer->out.height *
                   (double)layer->out.width;
    return OK;
}

static void conv_forward(const struct layer *layer, const struct pass *pass)
{
    pass->backend->conv_forward(pass->backend, &layer->conv, pass->batch, pass->x,
                                layer_weights(layer, pass, 0), layer_weights(layer, pass, 1),
                                layer->activation, layer->y);
}

static void conv_backward(const struct layer *layer, const struct pass *pass)
{
    pass->backend->conv_backward(pass->backend, &layer->conv, pass->batch, pass->x,
                                 layer_weights(layer, pass, 0), layer->y, layer->activation,
                                 pass->dy, pass->dx, layer_gradients(layer, pass, 0),
                                 layer_gradients(layer, pass, 1));
}

const struct layer_kind layer_conv = {
    .name = "conv",
    .usage = "conv F KxK [pad P]",
    .absorbs = true,
    .read = conv_read,
    .forward = conv_forward,
    .backward = conv_backward,
};
