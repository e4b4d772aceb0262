#include "config/inference_words.h"

#include <stdio.h>
#include <string.h>

#define SIDE_MAX 65536
/* most samples of a request, which then takes no longer than a few steps */
#define SAMPLES_MAX 64u

enum error inference_words_form(const struct learner *learner,
                                char about[static INFERENCE_WORDS_BYTES],
                                struct inference_form *form, struct problem *problem)
{
    struct inference_shape shape;
    if (!learner_inference_shape(learner, &shape))
        return problem_set(problem, MISMATCH,
                           "[node] answers = yes: inference works only for models of images or "
                           "tables with hearsay's own layers; set answers = no");
    if (shape.bytes > NODE_INFERENCE_MAX || shape.outputs > NODE_PREDICT_MAX)
        return problem_set(problem, MISMATCH,
                           "[node] answers = yes: a sample of %zu bytes or its %d outputs do not "
                           "fit into a message (at most %d and %d); set answers = no",
                           shape.bytes, shape.outputs, NODE_INFERENCE_MAX, NODE_PREDICT_MAX);
    const size_t fitting = NODE_INFERENCE_MAX / shape.bytes;
    const uint32_t said = NODE_PREDICT_MAX / (uint32_t)shape.outputs;
    uint32_t most = u32_min(said, SAMPLES_MAX);
    if (fitting < most)
        most = (uint32_t)fitting;
    (void)snprintf(about, INFERENCE_WORDS_BYTES, "%dx%dx%d %s, %d %s", shape.shape.channels,
                   shape.shape.height, shape.shape.width, shape.is_floats ? "float32" : "uint8",
                   shape.outputs, shape.is_regression ? "numbers" : "classes");
    *form = (struct inference_form){.samples_max = most,
                                    .sample_bytes = shape.bytes,
                                    .outputs = (uint32_t)shape.outputs,
                                    .about = about};
    return OK;
}

static bool read_words(const char *text, struct inference_shape *shape)
{
    char type[8], said[8];
    int end = 0;
    const int found =
        sscanf(text, "%5dx%5dx%5d %7[a-z0-9], %6d %7[a-z]%n", &shape->shape.channels,
               &shape->shape.height, &shape->shape.width, type, &shape->outputs, said, &end);
    if (found != 6 || text[end] != '\0')
        return false;
    shape->is_floats = strcmp(type, "float32") == 0;
    shape->is_regression = strcmp(said, "numbers") == 0;
    return (shape->is_floats || strcmp(type, "uint8") == 0) &&
           (shape->is_regression || strcmp(said, "classes") == 0);
}

static bool is_side(int side)
{
    return side > 0 && side <= SIDE_MAX;
}

enum error inference_words_read(const char *about, size_t bytes, struct inference_shape *shape)
{
    char text[INFERENCE_WORDS_BYTES];
    struct inference_shape read = {.outputs = 0};
    if (bytes >= sizeof text || memchr(about, '\0', bytes))
        return MALFORMED;
    memcpy(text, about, bytes);
    text[bytes] = '\0';
    if (!read_words(text, &read) || !is_side(read.shape.channels) || !is_side(read.shape.height) ||
        !is_side(read.shape.width) || read.outputs < 1 || read.outputs > NODE_PREDICT_MAX)
        return MALFORMED;
    read.bytes = shape_size(read.shape) * (read.is_floats ? sizeof(float) : 1);
    if (read.bytes > NODE_INFERENCE_MAX)
        return MALFORMED;
    *shape = read;
    return OK;
}
