#include "commands/model_command.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/device.h"
#include "base/arena.h"
#include "commands/model_report.h"
#include "layers/model.h"
#include "state/model_folder.h"

#define DEFAULT_LENGTH 64
#define THREADS_MAX    256
#define PASSES_MAX     100000
/* Bytes per parameter: weights, gradients, 2 moments, 3 vectors for the base, in float32. */
#define BYTES_EACH 28

struct options {
    const char *line; /* name of a preset, or line of layers; NULL = list the presets */
    struct shape image;
    int length;  /* length of a sequence, in positions; 0 = not given */
    int classes; /* 0 = not given */
    int batch;
    const char *device; /* device on which the model is timed if `time` is set */
    int threads;
    int passes;
    bool time;
    bool json;
};

static enum error set_image(void *image, const struct command_option *option, const char *text,
                            struct problem *problem)
{
    (void)option;
    int length = 0;
    struct shape read = {0, 0, 0, 0};
    const bool is_read =
        sscanf(text, "%5dx%5dx%5d%n", &read.channels, &read.height, &read.width, &length) == 3 &&
        text[length] == '\0' && read.channels > 0 && read.height > 0 && read.width > 0;
    if (!is_read)
        return problem_set(problem, MALFORMED,
                           "\"%.40s\": write channels, height and width, as in 3x32x32", text);
    *(struct shape *)image = read;
    return OK;
}

static enum error set_device(void *device, const struct command_option *option, const char *word,
                             struct problem *problem)
{
    (void)option;
    *(const char **)device = word;
    return device_is_word(word) ? OK
                                : problem_set(problem, MALFORMED,
                                              "\"%.40s\" is no device; write " DEVICE_WORDS, word);
}

static enum error finish(void *self, int count, char **words, struct problem *problem)
{
    struct options *options = self;
    if (count > 1)
        return problem_set(problem, MALFORMED,
                           "one LINE at a time: put it in quotes; see: hearsay model --help");
    options->line = words[0];
    if (options->line && !model_preset(options->line) && !model_folder_is(options->line) &&
        model_line_check(options->line, problem) != OK && !strpbrk(options->line, " ,("))
        return problem_set(problem, MALFORMED, "\"%.40s\" is neither a layer nor a preset; %s",
                           options->line, model_preset_hint(options->line).text);
    if (options->time && !options->line)
        return problem_set(problem, MALFORMED,
                           "name the model that is to be timed, as in: hearsay model --time lenet");
    return OK;
}

static void list_presets_as_json(void)
{
    json_t *presets = json_object();
    for (int i = 0; model_preset_name(i); i++)
        (void)json_object_set_new(presets, model_preset_name(i),
                                  json_string(model_preset(model_preset_name(i))));
    (void)json_dumpf(presets, stdout, JSON_COMPACT);
    (void)fputc('\n', stdout);
    json_decref(presets);
}

static void list_presets(void)
{
    for (int i = 0; model_preset_name(i); i++)
        (void)printf("%-11s %s\n", model_preset_name(i), model_preset(model_preset_name(i)));
}

static void print_memory(const struct model *model, const struct options *options)
{
    const double each = (double)model_sample_bytes(model_line(model), model_input(model),
                                                   model_outputs(model), false);
    (void)printf(
        "\nTraining takes about %.0f MB: %d bytes for each parameter with Adam, and %.0f kB "
        "for each of %d samples.\n",
        1e-6 * ((double)model_parameters(model) * BYTES_EACH + each * options->batch), BYTES_EACH,
        1e-3 * each, options->batch);
}

static void report(const struct options *options, struct model *model, struct backend *backend,
                   struct arena *arena, const char *device)
{
    struct model_times times;
    if (options->time)
        model_time(model, backend, options->passes, arena, &times);
    if (options->json) {
        model_report_json(model, options->time ? &times : NULL, device);
    } else if (options->time) {
        model_report_times(model, &times, device);
    } else {
        model_print(model, stdout);
        print_memory(model, options);
    }
}

static enum error print_model(const struct options *options, struct problem *problem)
{
    const char *preset = model_preset(options->line);
    const char *line = preset ? preset : options->line;
    char fitted[MODEL_LINE_MAX];
    struct model_folder_about folder = {.positions = DEFAULT_LENGTH};
    enum error error = OK;
    if (preset && options->classes > 0) {
        (void)snprintf(fitted, sizeof fitted, "%s", preset);
        model_preset_fit(fitted, options->classes, true);
        line = fitted;
    } else if (!preset && model_folder_is(line)) {
        error = model_folder_read(line, &folder, problem);
        line = folder.layers;
    }
    struct backend *backend = NULL;
    char device[DEVICE_TEXT_MAX] = "";
    if (error == OK && options->time)
        error = device_open(options->device, options->threads, PRECISION_FP32, &backend, device,
                            problem);
    if (error != OK)
        return error;
    const int tokens = model_line_tokens(line);
    const int usual = int_min(folder.positions, DEFAULT_LENGTH);
    const struct shape text = {1, 1, 1, options->length > 0 ? options->length : usual};
    const int classes = options->classes ? options->classes : tokens ? tokens : 10;
    struct arena arena;
    struct model *model = NULL;
    arena_init_growing(&arena);
    error = model_new(&model, &arena, backend, line, tokens ? text : options->image, classes, 1,
                      problem);
    if (error == OK) {
        report(options, model, backend, &arena, device);
        model_free(model);
    } else if (line != folder.layers) {
        error = WRONG_SETTING;
    }
    if (backend)
        backend->close(backend);
    arena_release(&arena);
    return error;
}

static int run(int argc, char **argv)
{
    struct options options = {
        .image = {1, 28, 28, 0}, .batch = 32, .device = "cpu", .threads = 1, .passes = 100};
    struct problem problem;
    enum error error = OK;
    const int code = command_read(&model_command, &options, argc, argv);
    if (code != COMMAND_RUNS)
        return code;
    if (!options.line && options.json)
        list_presets_as_json();
    else if (!options.line)
        list_presets();
    else
        error = print_model(&options, &problem);
    return error == OK ? 0 : command_complain(&problem, error == WRONG_SETTING ? 2 : 1);
}

const struct command model_command = {
    .name = "model",
    .summary = "the layers of a model as a table: shapes, parameters, work",
    .forms = {{"hearsay model [options] LINE|NAME|DIR", "the layers of a model as a table"}},
    .about = "Prints shapes, parameters, and for one sample the operations of a forward pass and "
             "the bytes\n"
             "kept for the backward pass. NAME is a preset, DIR a folder with a config.json, as "
             "transformers\n"
             "save it. Without an argument, the command lists the presets.",
    .options =
        (const struct command_option[]){
            {"--input", "CxHxW", "the images of the data (default 1x28x28)",
             .member = offsetof(struct options, image), .set = set_image},
            {"--context", "N", "tokens per sample, if the model begins with 'embed' (default 64)",
             COMMAND_WHOLE(struct options, length, 1, 1000000)},
            {"--classes", "N",
             "number of classes (default 10; with tokens, the size of the vocabulary)",
             COMMAND_WHOLE(struct options, classes, 1, 1000000)},
            {"--batch", "N", "samples per step, to estimate the memory of training (default 32)",
             COMMAND_WHOLE(struct options, batch, 1, 65536)},
            {"--time", NULL,
             "measure how long one sample takes in the whole model and in each layer:\nmean, "
             "standard deviation and median",
             .member = offsetof(struct options, time)},
            {"--passes", "N",
             "number of timed passes, and of warm-up passes before them (default 100)",
             COMMAND_WHOLE(struct options, passes, 1, PASSES_MAX)},
            {"--device", "DEVICE", "device to time: cpu (default), auto, cuda:N",
             .member = offsetof(struct options, device), .set = set_device},
            {"--threads", "N", "number of CPU threads (default 1)",
             COMMAND_WHOLE(struct options, threads, 1, THREADS_MAX)},
            {"--json", NULL, "print one JSON object; times are milliseconds",
             .member = offsetof(struct options, json)},
            {0}},
    .column = 19,
    .exit_codes = "0 shown, 1 the model cannot be read, 2 wrong usage, or layers that do not fit.",
    .takes_operands = true,
    .finish = finish,
    .run = run,
};
