#include "commands/generate.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/backend.h"
#include "base/arena.h"
#include "base/memory.h"
#include "commands/json_output.h"
#include "commands/saved_model.h"
#include "layers/model.h"
#include "state/model_folder.h"
#include "training/generator.h"

#define BYTES 256 /* a model with at most this many tokens reads and writes bytes */
/* Maximum sequence length with a model of another library; its own maximum may be larger. */
#define LENGTH_MAX 1024

struct options {
    const char *state; /* path of the state folder or model file */
    const char *prompt;
    uint64_t tokens;
    struct generator_options generator;
    bool json;
};

/* Resources of a generation, which are released together. */
struct bench {
    struct arena arena;
    struct backend *backend;
    struct model *model;
    struct generator *generator;
    bool writes_bytes; /* true: prints bytes; false: prints the numbers of tokens */
};

/* folder: a model folder of another library. */
static enum error read_foreign(const char *folder, struct safetensors_about *about,
                               struct problem *problem)
{
    struct model_folder_about said;
    const enum error error = model_folder_read(folder, &said, problem);
    if (error != OK)
        return error;
    const int length = int_min(said.positions, LENGTH_MAX);
    *about = (struct safetensors_about){.in = {1, 1, 1, length}, .classes = said.tokens};
    memcpy(about->layers, said.layers, sizeof about->layers);
    return OK;
}

static enum error open_model(struct bench *bench, const struct options *options,
                             struct problem *problem)
{
    char path[BASE_PATH_BYTES];
    struct safetensors_about about;
    enum error error = saved_model_find(path, options->state, problem);
    const bool is_foreign = error == OK && saved_model_is_foreign(path, options->state);
    if (error == OK)
        error = is_foreign ? read_foreign(options->state, &about, problem)
                           : safetensors_read_about(path, &about, problem);
    if (error != OK)
        return error;
    if (about.in.length == 0)
        return problem_set(problem, MISMATCH,
                           "%.300s: a model of images cannot continue a text; name a model of "
                           "sequences with --state",
                           path);
    error = model_new(&bench->model, &bench->arena, bench->backend, about.layers, about.in,
                      about.classes, 1, problem);
    if (error != OK)
        return error;
    float *weights = arena_alloc(&bench->arena, model_parameters(bench->model), sizeof *weights);
    error = is_foreign ? safetensors_load(path, bench->model, weights, problem)
                       : saved_model_load(path, bench->model, weights, &about, problem);
    if (error != OK)
        return error;
    bench->generator =
        generator_new(&bench->arena, bench->backend, bench->model, weights, &options->generator);
    bench->writes_bytes = model_outputs(bench->model) <= BYTES;
    return OK;
}

/* Parses the prompt as token numbers with blanks in between, and feeds them to the generator. */
static enum error put_numbers(struct bench *bench, const char *prompt, struct problem *problem)
{
    const int tokens = model_outputs(bench->model);
    bool any = false;
    for (const char *at = prompt + strspn(prompt, " \n"); *at; at += strspn(at, " \n")) {
        char *end;
        const long token = strtol(at, &end, 10);
        if (end == at || token < 0 || token >= tokens)
            return problem_set(problem, MALFORMED,
                               "--prompt at \"%.20s\": this model needs token numbers from 0 to "
                               "%d, separated by blanks",
                               at, tokens - 1);
        generator_put(bench->generator, (int32_t)token);
        at = end;
        any = true;
    }
    if (!any)
        return problem_set(problem, MALFORMED,
                           "this model needs token numbers from 0 to %d; give some with --prompt",
                           tokens - 1);
    return OK;
}

static enum error put_prompt(struct bench *bench, const char *prompt, struct problem *problem)
{
    if (!bench->writes_bytes)
        return put_numbers(bench, prompt, problem);
    for (const char *at = prompt; *at; at++) {
        const int32_t token = (unsigned char)*at;
        if (token >= model_outputs(bench->model))
            return problem_set(problem, MALFORMED,
                               "the model does not know byte %d of the prompt; leave it out",
                               token);
        generator_put(bench->generator, token);
    }
    return OK;
}

/* Generates all tokens and prints them as one JSON object. Adds them as text if they are bytes; the
 * text is null if the bytes are no UTF-8. */
static void generate_json(struct bench *bench, const struct options *options)
{
    json_t *tokens = json_array(), *object = json_object();
    char *text = memory_new(options->tokens + 1, 1);
    for (uint64_t i = 0; i < options->tokens; i++) {
        const int32_t token = generator_next(bench->generator);
        CHECK(json_array_append_new(tokens, json_integer(token)) == 0);
        text[i] = (char)token;
    }
    json_output_put(object, "prompt", json_string(options->prompt));
    json_output_put(object, "tokens", tokens);
    json_output_put(object, "text",
                    bench->writes_bytes ? json_stringn(text, options->tokens) : NULL);
    json_output(object);
    free(text);
}

static enum error generate(struct bench *bench, const struct options *options,
                           struct problem *problem)
{
    enum error error = open_model(bench, options, problem);
    if (error == OK)
        error = put_prompt(bench, options->prompt, problem);
    if (error != OK)
        return error;
    if (options->json) {
        generate_json(bench, options);
        return OK;
    }
    (void)fputs(options->prompt, stdout);
    for (uint64_t i = 0; i < options->tokens; i++) {
        const int32_t token = generator_next(bench->generator);
        if (bench->writes_bytes)
            (void)putchar(token);
        else
            (void)printf(" %" PRId32, token);
        if (fflush(stdout) != 0)
            return problem_set(problem, FAILED, "cannot write to standard output");
    }
    (void)putchar('\n');
    return OK;
}

static int run(int argc, char **argv)
{
    struct options options = {.state = "state",
                              .prompt = "\n",
                              .tokens = 300,
                              .generator = {.temperature = 0.8, .seed = 1}};
    struct problem problem;
    const int code = command_read(&generate_command, &options, argc, argv);
    if (code != COMMAND_RUNS)
        return code;
    if (options.prompt[0] == '\0')
        options.prompt = "\n";
    struct bench bench = {.backend = backend_cpu(1)};
    arena_init_growing(&bench.arena);
    const enum error error = generate(&bench, &options, &problem);
    if (error != OK)
        (void)fprintf(stderr, "hearsay: %s\n", problem.text);
    if (bench.generator)
        generator_free(bench.generator);
    if (bench.model)
        model_free(bench.model);
    bench.backend->close(bench.backend);
    arena_release(&bench.arena);
    return error == OK ? 0 : 1;
}

const struct command generate_command = {
    .name = "generate",
    .summary = "continue a text with a saved model",
    .forms = {{"hearsay generate [options]", "continue a text with a saved model"}},
    .options =
        (const struct command_option[]){
            {"--state", "DIR|FILE",
             "a node's state folder (default state), its .safetensors file, or a folder\n"
             "with a config.json, as transformers save it",
             .member = offsetof(struct options, state)},
            {"--prompt", "TEXT",
             "the text to continue (default: a new line). If the model's tokens are\nnot bytes: "
             "token numbers, separated by blanks",
             .member = offsetof(struct options, prompt)},
            {"--tokens", "N", "number of tokens to write (default 300)",
             COMMAND_WHOLE(struct options, tokens, 0, UINT32_MAX)},
            {"--temperature", "T",
             "below 1, likely tokens become likelier; 0: always the likeliest (default 0.8)",
             COMMAND_REAL(struct options, generator.temperature, 0, 100)},
            {"--top-k", "K", "draw from the K likeliest tokens; 0: from all (default 0)",
             COMMAND_WHOLE(struct options, generator.top_k, 0, UINT32_MAX)},
            {"--seed", "N", "seed of the random choices (default 1)",
             COMMAND_WHOLE(struct options, generator.seed, 0, UINT64_MAX)},
            {"--json", NULL, "print one JSON object: the tokens, and the text where it is UTF-8",
             .member = offsetof(struct options, json)},
            {0}},
    .column = 21,
    .exit_codes = "0 done, 1 failed, 2 wrong usage.",
    .run = run,
};
