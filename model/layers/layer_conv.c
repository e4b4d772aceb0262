#include <stdio.h>
#include <string.h>

#include "layers/layer.h"
#include "layers/layer_words.h"

/* Parses a kernel size such as "5x5". Returns false if the word is no kernel size. */
static bool kernel_read(const char *word, int *height, int *width)
{
    char first[LAYER_TEXT_MAX];
    size_t length = strcspn(word, "x");
    if (word[length] != 'x')
        return false;
    (void)snprintf(first, sizeof first, "%.*s", (int)length, word);
    return layer_number(first, height) && layer_number(word + length + 1, width);
}

/* If the next word is `name`, reads the number after it and advances *at. Returns false only if
 * that number is missing or wrong. */
static bool read_named(const struct layer_words *words, int *at, const char *name, int *number)
{
    if (*at >= words->count || strcmp(words->word[*at], name) != 0)
        return true;
    if (*at + 1 >= words->count || !layer_number(words->word[*at + 1], number))
        return false;
    *at += 2;
    return true;
}

/* Parses the words after "conv": F KxK [stride S] [pad P] [groups G] [plain]. Returns false if a
 * word is wrong. */
static bool read_words(const struct layer_words *words, struct conv *conv, int *width,
                       bool *is_plain)
{
    int at = 3;
    if (words->count < at || words->count > LAYER_WORDS_MAX ||
        !layer_number(words->word[1], &conv->filters) ||
        !kernel_read(words->word[2], &conv->kernel, width))
        return false;
    if (!read_named(words, &at, "stride", &conv->stride) ||
        !read_named(words, &at, "pad", &conv->pad) ||
        !read_named(words, &at, "groups", &conv->groups))
        return false;
    *is_plain = at < words->count && strcmp(words->word[at], "plain") == 0;
    return at + *is_plain == words->count;
}

static enum error conv_read_words(struct conv *conv, bool *is_plain,
                                  const struct layer_words *words, struct problem *problem)
{
    int width = 0;
    if (!read_words(words, conv, &width, is_plain))
        return layer_problem(words, problem, "write it as '%s', for example 'conv 16 5x5 pad 2'",
                             layer_conv.usage);
    if (conv->filters == 0 || conv->kernel == 0 || width == 0)
        return layer_problem(words, problem, "filters and kernel count from 1");
    if (conv->stride == 0 || conv->groups == 0)
        return layer_problem(words, problem, "stride and groups count from 1");
    if (conv->kernel != width)
        return layer_problem(words, problem, "kernels are square; write 'conv %d %dx%d'",
                             conv->filters, conv->kernel, conv->kernel);
    return OK;
}

static enum error conv_check(const struct conv *conv, const struct layer_words *words,
                             struct problem *problem)
{
    if (conv->pad >= conv->kernel)
        return layer_problem(words, problem,
                             "the pad must be smaller than the kernel; at most 'pad %d'",
                             conv->kernel - 1);
    const int height = conv->in.height + 2 * conv->pad, width = conv->in.width + 2 * conv->pad;
    if (conv->kernel > height || conv->kernel > width)
        return layer_problem(words, problem,
                             "the kernel is larger than its input, which is %dx%d with the "
                             "padding; take a smaller kernel or a larger pad",
                             height, width);
    if (conv->in.channels % conv->groups != 0 || conv->filters % conv->groups != 0)
        return layer_problem(words, problem,
                             "%d channels come in and %d go out; let 'groups' divide both",
                             conv->in.channels, conv->filters);
    return OK;
}

static void spell_named(char text[static LAYER_TEXT_MAX], const char *name, int number, int usual)
{
    const size_t length = strlen(text);
    if (number != usual)
        (void)snprintf(text + length, LAYER_TEXT_MAX - length, " %s %d", name, number);
}

/* Writes the canonical spelling. It omits default values, so it is never longer than the input. */
static void spell(const struct conv *conv, bool is_plain, char text[static LAYER_TEXT_MAX])
{
    (void)snprintf(text, LAYER_TEXT_MAX, "conv %d %dx%d", conv->filters, conv->kernel,
                   conv->kernel);
    spell_named(text, "stride", conv->stride, 1);
    spell_named(text, "pad", conv->pad, 0);
    spell_named(text, "groups", conv->groups, 1);
    if (is_plain)
        strncat(text, " plain", LAYER_TEXT_MAX - 1 - strlen(text));
}

static enum error conv_read(struct layer *layer, const struct layer_words *words,
                            const struct chain *before, struct problem *problem)
{
    (void)before;
    bool is_plain = false;
    struct conv conv = {.in = layer->in, .stride = 1, .groups = 1};
    if (conv.in.length > 0)
        return layer_problem(words, problem, "convolutions are over images; here comes a sequence");
    enum error error = conv_read_words(&conv, &is_plain, words, problem);
    if (error == OK)
        error = conv_check(&conv, words, problem);
    if (error != OK)
        return error;
    spell(&conv, is_plain, layer->text);
    layer->conv = conv;
    layer->out = conv_output(&conv);
    const size_t kernel = (size_t)conv.kernel, filters = (size_t)conv.filters;
    const size_t channels = (size_t)(conv.in.channels / conv.groups);
    layer_add_tensor(layer, "weight", INIT_FAN, (size_t[4]){filters, channels, kernel, kernel});
    if (!is_plain)
        layer_add_tensor(layer, "bias", INIT_ZERO, (size_t[4]){filters});
    layer->flops = 2 * (double)layer_tensor_count(&layer->tensor[0]) * (double)layer->out.height *
                   (double)layer->out.width;
    return OK;
}

static void conv_forward(const struct layer *layer, const struct pass *pass)
{
    pass->backend->conv->forward(pass->backend, &layer->conv, pass->batch, floats_of(pass->x),
                                 layer_weights(layer, pass, 0), layer_weights(layer, pass, 1),
                                 layer->activation, floats_of(layer->y));
}

static void conv_backward(const struct layer *layer, const struct pass *pass)
{
    pass->backend->conv->backward(pass->backend, &layer->conv, pass->batch, floats_of(pass->x),
                                  layer_weights(layer, pass, 0), floats_of(layer->y),
                                  layer->activation, floats_of(pass->dy), floats_of(pass->dx),
                                  layer_gradients(layer, pass, 0), layer_gradients(layer, pass, 1));
}

const struct layer_kind layer_conv = {
    .name = "conv",
    .usage = "conv F KxK [stride S] [pad P] [groups G] [plain]",
    .absorbs = true,
    .read = conv_read,
    .forward = conv_forward,
    .backward = conv_backward,
};
