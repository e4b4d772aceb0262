/* A model's line of layers: its canonical form describes an equal model and is its own canonical
 * form. */
#include <stdio.h>

#include "fuzz/fuzz.h"
#include "layers/model.h"

#define LINE_BYTES 2048

static FILE *nowhere;

void fuzz_begin(void)
{
    nowhere = fopen("/dev/null", "w");
    CHECK(nowhere);
}

static struct shape read_shape(struct input *input)
{
    const uint8_t length = input_byte(input);
    const uint8_t channels = (uint8_t)(1 + input_byte(input) % 8);
    const uint8_t height = (uint8_t)(1 + input_byte(input) % 64);
    const uint8_t width = (uint8_t)(1 + input_byte(input) % 64);
    if (length > 0)
        return (struct shape){.channels = 1, .height = 1, .width = 1, .length = length};
    return (struct shape){.channels = channels, .height = height, .width = width};
}

static void comes_back(const struct model *model, struct shape in, int classes)
{
    struct problem problem = {""};
    struct model *again;
    struct arena arena;
    arena_init_growing(&arena);
    if (model_new(&again, &arena, NULL, model_line(model), in, classes, 4, &problem) == OK) {
        CHECK(strcmp(model_line(again), model_line(model)) == 0);
        CHECK(model_parameters(again) == model_parameters(model));
        CHECK(model_bytes(again) == model_bytes(model));
        model_free(again);
    } else {
        /* the canonical form would be too long */
        CHECK(strlen(model_line(model)) >= MODEL_LINE_MAX / 2);
    }
    arena_release(&arena);
}

static size_t tensor_size(const struct tensor *tensor)
{
    size_t size = 1;
    for (int i = 0; i < tensor->rank; i++)
        size *= tensor->dims[i];
    return size;
}

static void look_at(const struct model *model, struct shape in, int classes)
{
    size_t parameters = 0;
    for (int i = 0; i < model_tensors(model); i++) {
        const struct tensor tensor = model_tensor(model, i);
        parameters += tensor_size(&tensor);
    }
    CHECK(parameters == model_parameters(model));
    CHECK(model_decayed(model) <= model_trained(model) && model_trained(model) <= parameters);
    CHECK(model_outputs(model) >= classes);
    model_print(model, nowhere);
    comes_back(model, in, classes);
}

void fuzz_one(const uint8_t *data, size_t bytes)
{
    struct input input = {data, bytes};
    char line[LINE_BYTES];
    const struct shape in = read_shape(&input);
    const int classes = 2 + input_byte(&input) % 64;
    size_t count;
    const uint8_t *from = input_bytes(&input, sizeof line - 1, &count);
    if (count > 0)
        memcpy(line, from, count);
    line[count] = 0;
    struct problem problem = {""};
    struct model *model;
    struct arena arena;
    arena_init_growing(&arena);
    const enum error error = model_new(&model, &arena, NULL, line, in, classes, 4, &problem);
    CHECK((error == OK) == (problem.text[0] == 0));
    CHECK(model_line_tokens(line) >= 0);
    if (error == OK) {
        look_at(model, in, classes);
        model_free(model);
    }
    arena_release(&arena);
}
