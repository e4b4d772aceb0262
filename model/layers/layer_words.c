#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "layers/layer.h"
#include "layers/layer_words.h"
#include "layers/model.h"

#define KIND_AT(name, write) &layer_##name,
static const struct layer_kind *const kinds[] = {LAYERS(KIND_AT)};
#define KINDS (sizeof kinds / sizeof kinds[0])

size_t layer_tensor_count(const struct layer_tensor *tensor)
{
    size_t count = 1;
    for (int i = 0; i < tensor->rank; i++)
        count *= tensor->dims[i];
    return count;
}

size_t layer_parameters(const struct layer *layer)
{
    size_t count = 0;
    for (int i = 0; i < layer->tensors && !layer->borrows; i++)
        count += layer_tensor_count(&layer->tensor[i]);
    return count;
}

void layer_add_tensor(struct layer *layer, const char *name, enum layer_init init,
                      const size_t dims[static 4])
{
    CHECK(layer->tensors < LAYER_TENSORS_MAX && dims[0] > 0);
    struct layer_tensor *tensor = &layer->tensor[layer->tensors++];
    *tensor = (struct layer_tensor){.name = name, .init = init};
    while (tensor->rank < 4 && dims[tensor->rank] > 0) {
        tensor->dims[tensor->rank] = dims[tensor->rank];
        tensor->rank++;
    }
}

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

/* Copies a layer's text to words->raw and, in lower case, to words->lower. Trims blanks at both
 * ends and replaces unprintable characters by '?'. MALFORMED: the text is too long. */
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

/* Splits words->lower at blanks. Words beyond LAYER_WORDS_MAX are counted but not stored,
 * because no kind of layer has more words. */
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
    const char *known[KINDS + 1] = {RESIDUAL "(...)"};
    if (words->count == 0)
        return layer_problem(words, problem, "nothing there; name a layer or remove a comma");
    for (size_t i = 0; i < KINDS; i++) {
        known[i + 1] = kinds[i]->name;
        if (strcmp(words->word[0], kinds[i]->name) == 0) {
            *kind = kinds[i];
            return OK;
        }
    }
    return layer_problem(words, problem, "no such layer; %s",
                         words_hint(words->word[0], known, KINDS + 1).text);
}

/* Returns true if the text between two signs is a layer, rather than the N of "N * (...)", the
 * "residual" before a parenthesis, or nothing. */
static bool is_layer(const struct layer_words *words, char sign)
{
    int number;
    return words->count > 0 && !(sign == '*' && layer_number(words->word[0], &number)) &&
           !(sign == '(' && strcmp(words->word[0], RESIDUAL) == 0);
}

enum error model_line_check(const char *line, struct problem *problem)
{
    const struct layer_kind *ignored;
    int layers = 0;
    for (const char *at = line; *at;) {
        const size_t length = strcspn(at, LAYER_SIGNS);
        struct layer_words words = {.number = layers + 1};
        enum error error = words_copy(&words, at, length, problem);
        if (error == OK)
            words_cut(&words);
        at += length;
        if (error == OK && is_layer(&words, *at)) {
            error = kind_find(&words, &ignored, problem);
            layers++;
        }
        if (error != OK)
            return error;
        at += *at != '\0';
    }
    return OK;
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

/* Returns true if each weight tensor, the output of a sample, and a conv's patches and padded input
 * have at most LAYER_COUNT_MAX numbers. BLAS cannot count more. */
static bool layer_fits(const struct layer *layer)
{
    const size_t places[] = {(size_t)layer->out.height, (size_t)layer->out.width};
    const size_t outputs[] = {shape_positions(layer->out), (size_t)layer->out.channels, places[0],
                              places[1]};
    for (int i = 0; i < layer->tensors; i++)
        if (!product_fits(layer->tensor[i].dims, layer->tensor[i].rank))
            return false;
    if (!product_fits(outputs, 4))
        return false;
    if (layer->kind != &layer_conv)
        return true;
    const size_t channels = (size_t)layer->in.channels, kernel = (size_t)layer->conv.kernel;
    const size_t patches[] = {channels, kernel, kernel, places[0], places[1]};
    const size_t pad = (size_t)layer->conv.pad;
    const size_t padded[] = {channels, (size_t)layer->in.height + 2 * pad,
                             (size_t)layer->in.width + 2 * pad};
    return product_fits(patches, 5) && product_fits(padded, 3);
}

enum error layer_read(struct layer *layer, const char *text, size_t length,
                      const struct chain *before, struct problem *problem)
{
    int number = 0;
    for (int i = 0; i < before->count; i++)
        number += !before->layers[i].kind->is_joint;
    struct layer_words words = {.number = number + 1};
    enum error error = words_copy(&words, text, length, problem);
    if (error != OK)
        return error;
    words_cut(&words);
    if (before->count == LAYERS_MAX)
        return layer_problem(&words, problem, "a model has at most %d layers; remove some",
                             LAYERS_MAX);
    layer->number = number;
    error = kind_find(&words, &layer->kind, problem);
    if (error == OK && layer->in.length > 0 && layer->from == LAYER_INPUT &&
        layer->kind != &layer_embed)
        error = layer_problem(&words, problem, "tokens are embedded first: 'embed TOKENS N'");
    if (error == OK)
        error = layer->kind->read(layer, &words, before, problem);
    if (error == OK && !layer_fits(layer))
        error =
            layer_problem(&words, problem, "too large: more than %d numbers; take a smaller one",
                          LAYER_COUNT_MAX);
    return error;
}
