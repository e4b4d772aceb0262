#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "layers/layer.h"

static const struct layer_kind *const kinds[] = {&layer_conv, &layer_maxpool, &layer_dense,
                                                 &layer_relu, &layer_sigmoid, &layer_tanh};
#define KINDS (sizeof kinds / sizeof kinds[0])

bool layer_number(const char *word, int *number)
{
    int value = 0;
    const char *at = word;
    for (; isdigit((unsigned char)*at); at++) {
        value = value * 10 + (*at - '0');
        if (value > LAYER_NUMBER_MAX)
            return false;
    }
    if (at == word || *at != '\0')
        return false;
    *number = value;
    return true;
}

enum error layer_problem(const struct layer_words *words, struct problem *problem,
                         const char *format, ...)
{
    char what[sizeof problem->text];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    return problem_set(problem, MALFORMED, "layer %d, '%s': %s", words->number, words->raw, what);
}

/* Copies the text without the blanks around it, and what cannot be printed as a question mark. */
static enum error words_copy(struct layer_words *words, const char *text, size_t length,
                             struct problem *problem)
{
    for (; length > 0 && isspace((unsigned char)*text); length--)
        text++;
    for (; length > 0 && isspace((unsigned char)text[length - 1]); length--)
        ;
    bool fits = length < LAYER_TEXT_MAX;
    for (size_t i = 0; i < length && i < LAYER_TEXT_MAX - 1; i++) {
        unsigned char c = (unsigned char)text[i];
        words->raw[i] = isspace(c) ? ' ' : isprint(c) ? (char)c : '?';
        words->lower[i] = (char)tolower((unsigned char)words->raw[i]);
    }
    if (!fits)
        return layer_problem(words, problem,
                             "too long for a layer; take at most %d characters between two commas",
                             LAYER_TEXT_MAX - 1);
    return OK;
}

/* Cuts lower at its blanks. More words than fit are counted, as no kind has so many. */
static void words_cut(struct layer_words *words)
{
    char *at = words->lower;
    for (;;) {
        at += strspn(at, " ");
        if (*at == '\0')
            return;
        if (words->count < LAYER_WORDS_MAX)
            words->word[words->count] = at;
        words->count++;
        at += strcspn(at, " ");
        if (*at != '\0')
            *at++ = '\0';
    }
}

static enum error kind_find(const struct layer_words *words, const struct layer_kind **kind,
                            struct problem *problem)
{
    if (words->count == 0)
        return layer_problem(words, problem, "nothing there; name a layer or remove a comma");
    for (size_t i = 0; i < KINDS; i++) {
        if (strcmp(words->word[0], kinds[i]->name) == 0) {
            *kind = kinds[i];
            return OK;
        }
    }
    char known[256] = "";
    for (size_t i = 0, length = 0; i < KINDS && length < sizeof known; i++)
        length += (size_t)snprintf(known + length, sizeof known - length, "%s%s", i > 0 ? ", " : "",
                                   kinds[i]->usage);
    return layer_problem(words, problem, "no such layer; there are %s", known);
}

static bool product_fits(const size_t *factors, int count)
{
    size_t product = 1;
    for (int i = 0; i < count; i++) {
        if (factors[i] > LAYER_COUNT_MAX / product)
            return false;
        product *= factors[i];
    }
    return true;
}

/* Nothing may outgrow what a BLAS can count: the weights, the outputs, the patches of a conv. */
static bool layer_fits(const struct layer *layer)
{
    const size_t places[] = {(size_t)layer->out.height, (size_t)layer->out.width};
    const size_t outputs[] = {(size_t)layer->out.channels, places[0], places[1]};
    if (!product_fits(layer->dims, layer->rank) || !product_fits(outputs, 3))
        return false;
    if (layer->kind != &layer_conv)
        return true;
    const size_t patches[] = {layer->dims[1], layer->dims[2], layer->dims[3], places[0], places[1]};
    return product_fits(patches, 5);
}

static enum error layer_read(struct layer *layer, const struct layer_words *words, struct shape in,
                             struct problem *problem)
{
    *layer = (struct layer){.in = in};
    enum error error = kind_find(words, &layer->kind, problem);
    if (error != OK)
        return error;
    error = layer->kind->read(layer, words, problem);
    if (error != OK)
        return error;
    if (!layer_fits(layer))
        return layer_problem(words, problem, "too large: more than %d numbers; take a smaller one",
                             LAYER_COUNT_MAX);
    return OK;
}

enum error layer_line_read(const char *line, struct shape in, struct layer *layers, int *count,
                           struct problem *problem)
{
    for (int i = 0;; i++) {
        struct layer_words words = {.number = i + 1};
        size_t length = strcspn(line, ",");
        enum error error = words_copy(&words, line, length, problem);
        if (error != OK)
            return error;
        words_cut(&words);
        if (i == LAYERS_MAX)
            return layer_problem(&words, problem, "a model has at most %d layers; remove some",
                                 LAYERS_MAX);
        error = layer_read(&layers[i], &words, in, problem);
        if (error != OK)
            return error;
        in = layers[i].out;
        line += length;
        if (*line++ == '\0') {
            *count = i + 1;
            return OK;
        }
    }
}
