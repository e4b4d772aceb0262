/* Makes a saved model with random weights, and computes the logits of one, for
 * against_transformers.py.
 *
 *   model_file make LINE TOKENS LENGTH FILE        FILE: as a node saves it
 *   model_file logits FILE|DIR LENGTH              int32 on standard input ─► floats on the output
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
#define TOKENS_MAX  4096

static struct arena arena;

static int fail(const struct problem *problem)
{
    (void)fprintf(stderr, "%s\n", problem->text);
    return 1;
}

static int make(const char *line, int tokens, int length, const char *file)
{
    struct model *model;
    struct problem problem;
    struct safetensors_about about = {.classes = tokens, .scale = 1};
    struct rng rng = rng_new(5, 0);
    if (model_new(&model, &arena, NULL, line, (struct shape){1, 1, 1, length}, tokens, 1,
                  &problem) != OK)
        return fail(&problem);
    const size_t parameters = model_parameters(model);
    float *weights = arena_take(&arena, parameters, sizeof *weights);
    for (size_t i = 0; i < parameters; i++)
        weights[i] = (float)(0.6 * (rng_uniform(&rng) - 0.5));
    const enum error error = safetensors_save(file, model, &about, weights, &problem);
    model_free(model);
    return error == OK ? 0 : fail(&problem);
}

/* What a saved model says of itself, be it ours or another library's. */
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

static int print_logits(const char *path, int length)
{
    static int32_t tokens[TOKENS_MAX];
    struct model *model;
    struct problem problem;
    struct safetensors_about about;
    struct backend *backend = backend_cpu(1);
    uint64_t digest;
    if (length > TOKENS_MAX ||
        fread(tokens, sizeof *tokens, (size_t)length, stdin) != (size_t)length)
        return 2;
    if (read_about(path, &about, &problem) != OK ||
        model_new(&model, &arena, backend, about.layers, (struct shape){1, 1, 1, length},
                  about.classes, 1, &problem) != OK)
        return fail(&problem);
    float *weights = arena_take(&arena, model_parameters(model), sizeof *weights);
    if (initial_weights_load(path, model, weights, &digest, &problem) != OK)
        return fail(&problem);
    const float *logits = model_forward(model, weights, (const float *)(const void *)tokens, 1);
    (void)fwrite(logits, sizeof *logits, (size_t)length * (size_t)model_outputs(model), stdout);
    model_free(model);
    backend->close(backend);
    return 0;
}

int main(int argc, char **argv)
{
    arena_init(&arena, ARENA_BYTES);
    if (argc == 6 && strcmp(argv[1], "make") == 0)
        return make(argv[2], atoi(argv[3]), atoi(argv[4]), argv[5]);
    if (argc == 4 && strcmp(argv[1], "logits") == 0)
        return print_logits(argv[2], atoi(argv[3]));
    (void)fprintf(stderr, "see the head of model_file.c\n");
    return 2;
}
