/* Parses a layers line. Its grammar:
 *
 *   chain  item, item, ...
 *   item   a layer's words | N * item | (chain) | residual(chain) | residual(chain | chain)
 *
 * An item after "N *" is parsed N times, because its input shape may differ each time. */
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "layers/layer.h"
#include "layers/layer_words.h"

#define NESTED 32 /* largest nesting of parentheses, without those of residuals */

struct reader {
    const char *at; /* next character of the line to parse */
    struct chain *chain;
    int cursor;         /* index of the layer whose output the next layer reads */
    struct shape shape; /* shape of the output that the next layer reads */
    int depth;          /* number of residuals open at this point */
    int nested;         /* number of parentheses open at this point, without those of residuals */
    char *text;         /* canonical spelling of the line so far */
    size_t used;
    size_t capacity;
    /* Above 0 while an item after "N *" is parsed again: its spelling is already in `text`. */
    int repeats;
    struct problem *problem;
};

static enum error read_item(struct reader *reader);

__attribute__((format(printf, 2, 3))) static enum error spell(struct reader *reader,
                                                              const char *format, ...)
{
    va_list arguments;
    if (reader->repeats > 0)
        return OK;
    va_start(arguments, format);
    const int more =
        vsnprintf(reader->text + reader->used, reader->capacity - reader->used, format, arguments);
    va_end(arguments);
    CHECK(more >= 0);
    if ((size_t)more >= reader->capacity - reader->used)
        return problem_set(reader->problem, MALFORMED,
                           "the layers line is longer than %zu characters; take fewer layers",
                           reader->capacity - 1);
    reader->used += (size_t)more;
    return OK;
}

static void skip_blanks(struct reader *reader)
{
    while (isspace((unsigned char)*reader->at))
        reader->at++;
}

/* Returns MALFORMED. The message quotes up to 20 characters of the line from the current
 * position, followed by the complaint `what`. */
static enum error misplaced(const struct reader *reader, const char *what)
{
    if (*reader->at == '\0')
        return problem_set(reader->problem, MALFORMED, "the layers line ends, but %s", what);
    return problem_set(reader->problem, MALFORMED, "the layers line at '%.20s': %s", reader->at,
                       what);
}

static enum error expect(struct reader *reader, char sign, const char *what)
{
    skip_blanks(reader);
    if (*reader->at != sign)
        return misplaced(reader, what);
    reader->at++;
    return OK;
}

/* Points *layer to the next free entry of the chain and sets the members common to all kinds.
 * Returns MALFORMED if the chain is full. */
static enum error next_layer(struct reader *reader, struct layer **layer)
{
    if (reader->chain->count == LAYERS_MAX)
        return problem_set(reader->problem, MALFORMED,
                           "the layers line has more than %d layers; remove some", LAYERS_MAX);
    *layer = &reader->chain->layers[reader->chain->count];
    **layer = (struct layer){.depth = reader->depth,
                             .from = reader->cursor,
                             .partner = LAYER_INPUT,
                             .type = reader->chain->type,
                             .in = reader->shape,
                             .out = reader->shape};
    return OK;
}

static enum error read_layer(struct reader *reader)
{
    struct layer *layer = NULL;
    const size_t length = strcspn(reader->at, LAYER_SIGNS);
    enum error error = next_layer(reader, &layer);
    if (error == OK)
        error = layer_read(layer, reader->at, length, reader->chain, reader->problem);
    if (error != OK)
        return error;
    reader->at += length;
    reader->cursor = reader->chain->count++;
    reader->shape = layer->out;
    return spell(reader, "%s", layer->text);
}

static enum error read_chain(struct reader *reader)
{
    for (;;) {
        enum error error = read_item(reader);
        if (error != OK)
            return error;
        skip_blanks(reader);
        if (*reader->at != ',')
            return OK;
        reader->at++;
        error = spell(reader, ", ");
        if (error != OK)
            return error;
    }
}

static enum error read_repeated(struct reader *reader, int times)
{
    skip_blanks(reader);
    const char *begin = reader->at;
    enum error error = spell(reader, "%d * ", times);
    for (int i = 0; i < times && error == OK; i++) {
        reader->at = begin;
        reader->repeats += i > 0;
        error = read_item(reader);
        reader->repeats -= i > 0;
    }
    return error;
}

static enum error read_parentheses(struct reader *reader)
{
    enum error error = reader->nested < NESTED
                           ? expect(reader, '(', "a '(' is to come")
                           : misplaced(reader, "too many parentheses within each other");
    if (error == OK)
        error = spell(reader, "(");
    reader->nested++;
    if (error == OK)
        error = read_chain(reader);
    reader->nested--;
    if (error == OK)
        error = expect(reader, ')', "a ',' or a ')' is to come");
    return error == OK ? spell(reader, ")") : error;
}

static enum error put_joint(struct reader *reader, const struct layer_kind *kind,
                            struct layer **layer)
{
    const enum error error = next_layer(reader, layer);
    if (error != OK)
        return error;
    (*layer)->kind = kind;
    (void)snprintf((*layer)->text, sizeof(*layer)->text, "%s", kind->name);
    reader->chain->count++;
    return OK;
}

static enum error read_shortcut(struct reader *reader, int open)
{
    struct layer *joint = NULL;
    const struct layer *opened = &reader->chain->layers[open];
    enum error error = put_joint(reader, &layer_shortcut, &joint);
    if (error != OK)
        return error;
    reader->at++;
    reader->cursor = opened->from;
    reader->shape = opened->in;
    error = spell(reader, " | ");
    return error == OK ? read_chain(reader) : error;
}

/* Appends the joint ")", which adds the outputs of body and shortcut. Returns MALFORMED if their
 * shapes differ. */
static enum error close_residual(struct reader *reader, int body, struct shape body_shape)
{
    struct layer *joint = NULL;
    const struct shape other = reader->shape;
    enum error error = put_joint(reader, &layer_close, &joint);
    if (error != OK)
        return error;
    if (memcmp(&body_shape, &other, sizeof other) != 0)
        return problem_set(reader->problem, MALFORMED,
                           "residual: its layers give %dx%dx%d and are to be added to %dx%dx%d; "
                           "let the shapes agree, or give it a shortcut: residual(... | ...)",
                           body_shape.channels, body_shape.height, body_shape.width, other.channels,
                           other.height, other.width);
    joint->from = body;
    joint->partner = reader->cursor;
    reader->cursor = reader->chain->count - 1;
    return OK;
}

/* Gives the last of the matrices with INIT_SMALL in the residual's body smaller initial weights
 * (INIT_LAST), so that the sum of many residuals stays small. */
static void mark_last(struct chain *chain, int open)
{
    for (int i = chain->count - 1; i > open; i--)
        for (int k = chain->layers[i].tensors - 1; k >= 0; k--)
            if (chain->layers[i].tensor[k].init == INIT_SMALL) {
                chain->layers[i].tensor[k].init = INIT_LAST;
                return;
            }
}

static enum error read_residual(struct reader *reader)
{
    struct layer *joint = NULL;
    const int open = reader->chain->count;
    if (reader->depth == LAYER_DEPTH_MAX)
        return misplaced(reader, "too many residuals within each other");
    enum error error = put_joint(reader, &layer_open, &joint);
    if (error == OK)
        error = expect(reader, '(', "a '(' is to come after 'residual'");
    if (error == OK)
        error = spell(reader, RESIDUAL "(");
    reader->depth++;
    if (error == OK)
        error = read_chain(reader);
    if (error != OK)
        return error;
    mark_last(reader->chain, open);
    const int body = reader->cursor;
    const struct shape shape = reader->shape;
    reader->cursor = reader->chain->layers[open].from;
    reader->shape = reader->chain->layers[open].in;
    if (*reader->at == '|')
        error = read_shortcut(reader, open);
    reader->depth--;
    if (error == OK)
        error = expect(reader, ')', "a ',', a '|' or a ')' is to come");
    if (error == OK)
        error = close_residual(reader, body, shape);
    return error == OK ? spell(reader, ")") : error;
}

static bool begins_with_residual(const char *at)
{
    const size_t length = sizeof RESIDUAL - 1;
    for (size_t i = 0; i < length; i++)
        if (tolower((unsigned char)at[i]) != RESIDUAL[i])
            return false;
    return at[length + strspn(at + length, " \t")] == '(';
}

static enum error read_item(struct reader *reader)
{
    int times = 0, length = 0;
    skip_blanks(reader);
    if (sscanf(reader->at, "%6d * %n", &times, &length) == 1 && length > 0) {
        if (times < 1 || times > LAYERS_MAX || !isdigit((unsigned char)*reader->at))
            return misplaced(reader, "what is repeated stands there once to 1024 times");
        reader->at += length;
        return read_repeated(reader, times);
    }
    if (begins_with_residual(reader->at)) {
        reader->at += sizeof RESIDUAL - 1;
        return read_residual(reader);
    }
    return *reader->at == '(' ? read_parentheses(reader) : read_layer(reader);
}

enum error layer_line_read(const char *line, struct chain *chain, char *text, size_t capacity,
                           struct problem *problem)
{
    struct reader reader = {.at = line,
                            .chain = chain,
                            .cursor = LAYER_INPUT,
                            .shape = chain->in,
                            .text = text,
                            .capacity = capacity,
                            .problem = problem};
    chain->count = 0;
    const enum error error = read_chain(&reader);
    if (error == OK && *reader.at != '\0')
        return misplaced(&reader, "a ',' is to come between two layers");
    return error;
}
