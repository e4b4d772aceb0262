/* The words in which a node describes its inference service: the reader and a plain one accept the
 * same words, with equal numbers, and accepted words written again read back equal. */
#include <stdio.h>
#include <stdlib.h>

#include "config/inference_words.h"
#include "fuzz/fuzz.h"

#define SIDE_MAX 65536

void fuzz_begin(void)
{
}

/* The plain reader: text from `at` to its final zero. */
struct words {
    const char *at;
    bool is_wrong;
};

static bool is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static void skip_blanks(struct words *words)
{
    while (is_blank(*words->at))
        words->at++;
}

/* Skips blanks and reads a number of at most `most` characters, its sign included. */
static int number(struct words *words, int most)
{
    char text[8];
    int used = 0;
    skip_blanks(words);
    if (*words->at == '+' || *words->at == '-')
        text[used++] = *words->at++;
    const int sign = used;
    while (used < most && *words->at >= '0' && *words->at <= '9')
        text[used++] = *words->at++;
    text[used] = '\0';
    words->is_wrong |= used == sign;
    return atoi(text);
}

static void expect(struct words *words, char c)
{
    if (!words->is_wrong && *words->at == c)
        words->at++;
    else
        words->is_wrong = true;
}

/* Returns true and skips the word if it comes next. */
static bool has(struct words *words, const char *word)
{
    const size_t length = strlen(word);
    if (words->is_wrong || strncmp(words->at, word, length) != 0)
        return false;
    words->at += length;
    return true;
}

static bool read_plainly(const char *text, struct inference_shape *shape)
{
    struct words words = {text, false};
    shape->shape.channels = number(&words, 5);
    expect(&words, 'x');
    shape->shape.height = number(&words, 5);
    expect(&words, 'x');
    shape->shape.width = number(&words, 5);
    skip_blanks(&words);
    shape->is_floats = has(&words, "float32");
    words.is_wrong |= !shape->is_floats && !has(&words, "uint8");
    expect(&words, ',');
    shape->outputs = number(&words, 6);
    skip_blanks(&words);
    shape->is_regression = has(&words, "numbers");
    words.is_wrong |= !shape->is_regression && !has(&words, "classes");
    return !words.is_wrong && *words.at == '\0';
}

static bool is_within(const struct inference_shape *shape)
{
    const int sides[] = {shape->shape.channels, shape->shape.height, shape->shape.width};
    uint64_t bytes = shape->is_floats ? sizeof(float) : 1;
    for (size_t i = 0; i < sizeof sides / sizeof sides[0]; i++) {
        if (sides[i] < 1 || sides[i] > SIDE_MAX)
            return false;
        bytes *= (uint64_t)sides[i];
    }
    return shape->outputs >= 1 && shape->outputs <= NODE_PREDICT_MAX && bytes <= NODE_INFERENCE_MAX;
}

static void same_shape(const struct inference_shape *a, const struct inference_shape *b)
{
    CHECK(a->shape.channels == b->shape.channels && a->shape.height == b->shape.height);
    CHECK(a->shape.width == b->shape.width && a->outputs == b->outputs);
    CHECK(a->is_floats == b->is_floats && a->is_regression == b->is_regression);
}

static void comes_back(const struct inference_shape *shape)
{
    char text[INFERENCE_WORDS_BYTES];
    struct inference_shape again;
    const int length =
        snprintf(text, sizeof text, "%dx%dx%d %s, %d %s", shape->shape.channels,
                 shape->shape.height, shape->shape.width, shape->is_floats ? "float32" : "uint8",
                 shape->outputs, shape->is_regression ? "numbers" : "classes");
    CHECK(length > 0 && (size_t)length < sizeof text);
    CHECK(inference_words_read(text, (size_t)length, &again) == OK);
    same_shape(shape, &again);
    CHECK(again.bytes == shape->bytes);
}

void fuzz_one(const uint8_t *data, size_t bytes)
{
    char text[INFERENCE_WORDS_BYTES] = "";
    struct inference_shape shape, expected = {.outputs = 0};
    const enum error error = inference_words_read((const char *)data, bytes, &shape);
    const bool is_text = bytes < sizeof text && !(bytes > 0 && memchr(data, 0, bytes));
    if (is_text && bytes > 0)
        memcpy(text, data, bytes);
    CHECK((error == OK) == (is_text && read_plainly(text, &expected) && is_within(&expected)));
    if (error != OK)
        return;
    same_shape(&shape, &expected);
    CHECK(shape.bytes == shape_size(shape.shape) * (shape.is_floats ? sizeof(float) : 1));
    CHECK(shape.bytes > 0 && shape.bytes <= NODE_INFERENCE_MAX);
    comes_back(&shape);
}
