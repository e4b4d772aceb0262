/* Makes a saved model with random weights, and computes a model's logits, for
 * against_transformers.py.
 *
 *   model_file make LINE CLASSES INPUT FILE
 *   model_file logits FILE|DIR INPUT [LINE CLASSES]
 *
 * `make` writes FILE as a node would. `logits` reads one sample from standard input and writes
 * floats. INPUT is the length of a sequence, whose samples are int32, or CxHxW of an image, whose
 * samples are floats. LINE is needed if the file does not describe the layers.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/backend.h"
#include "base/arena.h"
#include "base/rng.h"
#include "config/initial_weights.h"
#include "layers/model.h"
#include "state/model_folder.h"
#include "state/safetensors.h"

#define ARENA_BYTES ((size_t)4 << 30)
#define SAMPLE_MAX  16384 /* maximum count of numbers in a sample */

static struct arena arena;

static int fail(const struct problem *problem)
{
    (void)fprintf(stderr, "%s\n", problem->text);
    return 1;
}

static struct shape shape_of(const char *input)
{
    struct shape shape = {1, 1, 1, 0};
    if (sscanf(input, "%dx%dx%d", &shape.channels, &shape.height, &shape.width) == 3)
        return shape;
    return (struct shape){1, 1, 1, atoi(input)};
}

/* Makes the variances positive. */
static void lift_variances(const struct model *model, float *weights)
{
    for (int i = 0; i < model_tensors(model); i++) {
        const struct tensor tensor = model_tensor(model, i);
        for (size_t k = 0; strstr(tensor.name, "running_var") && k < tensor.dims[0]; k++)
            weights[tensor.offset + k] += 1;
    }
}

static int make(const char *line, int classes, struct shape in, const char *file)
{
    struct model *model;
    struct problem problem;
    struct safetensors_about about = {.classes = classes, .scale = 1};
    struct rng rng = rng_new(5, 0);
    if (model_new(&model, &arena, NULL, line, in, classes, 1, &problem) != OK)
        return fail(&problem);
    const size_t parameters = model_parameters(model);
    float *weights = arena_alloc(&arena, parameters, sizeof *weights);
    for (size_t i = 0; i < parameters; i++)
        weights[i] = (float)(0.6 * (rng_uniform(&rng) - 0.5));
    lift_variances(model, weights);
    const enum error error = safetensors_save(file, model, &about, weights, &problem);
    model_free(model);
    return error == OK ? 0 : fail(&problem);
}

/* Reads the metadata of a model file of this project, or of a model folder. */
static enum error read_about(const char *path, struct safetensors_about *about,
                             struct problem *problem)
{
    struct model_folder_about folder;
    if (!model_folder_is(path))
        return safetensors_read_about(path, about, problem);
    const enum error error = model_folder_read(path, &folder, problem);
    if (error == OK) {
        memcpy(about->layers, folder.layers, sizeof about->layers);
        about->classes = folder.tokens;
    }
    return error;
}

static int print_logits(const char *path, struct shape in, const char *line, int classes)
{
    static float sample[SAMPLE_MAX];
    struct model *model;
    struct problem problem;
    struct safetensors_about about = {.classes = classes};
    struct backend *backend = backend_cpu(1);
    const size_t numbers = shape_size(in);
    uint64_t digest;
    if (numbers > SAMPLE_MAX || fread(sample, sizeof *sample, numbers, stdin) != numbers)
        return 2;
    if (line)
        (void)snprintf(about.layers, sizeof about.layers, "%s", line);
    else if (read_about(path, &about, &problem) != OK)
        return fail(&problem);
    if (model_new(&model, &arena, backend, about.layers, in, about.classes, 1, &problem) != OK)
        return fail(&problem);
    float *weights = arena_alloc(&arena, model_parameters(model), sizeof *weights);
    if (initial_weights_load(path, model, weights, &digest, &problem) != OK)
        return fail(&problem);
    const float *logits = model_forward(model, weights, sample, 1);
    (void)fwrite(logits, sizeof *logits, shape_positions(in) * (size_t)model_outputs(model),
                 stdout);
    model_free(model);
    backend->close(backend);
    return 0;
}

int main(int argc, char **argv)
{
    arena_init(&arena, ARENA_BYTES);
    if (argc == 6 && strcmp(argv[1], "make") == 0)
        return make(argv[2], atoi(argv[3]), shape_of(argv[4]), argv[5]);
    if ((argc == 4 || argc == 6) && strcmp(argv[1], "logits") == 0)
        return print_logits(argv[2], shape_of(argv[3]), argc == 6 ? argv[4] : NULL,
                            argc == 6 ? atoi(argv[5]) : 0);
    (void)fprintf(stderr, "see the head of model_file.c\n");
    return 2;
}
