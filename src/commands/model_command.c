#include "commands/model_command.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/arena.h"
#include "layers/model.h"
#include "state/model_folder.h"

#define DEFAULT_LENGTH 64
#define BYTES_EACH     24 /* of a parameter: weights, base, base at last publish, gradient, moments */

static const char usage[] =
    "hearsay model [options] LINE|NAME|DIR: the layers of a model as a table\n"
    "\n"
    "Shapes, parameters, and for one sample the operations of a forward pass and the bytes kept\n"
    "for the backward pass. NAME is a preset, DIR a folder with a config.json, as transformers\n"
    "save it; without any, the presets are listed.\n"
    "\n"
    "  --input CxHxW    the images of the data (default 1x28x28)\n"
    "  --context N      tokens of a sample, of a model that begins with 'embed' (default 64)\n"
    "  --classes N      that the data has (default 10; of tokens, as many as are embedded)\n"
    "  --batch N        samples of a step, for the memory that training takes (default 32)\n"
    "  --help           print this\n"
    "\n"
    "Exit codes: 0 shown, 1 there is no such model, or it does not fit the data, 2 wrong usage.\n";

struct options {
    const char *line; /* as given: a preset's name or a line; NULL: list the presets */
    struct shape image;
    int length;  /* 0: not given */
    int classes; /* 0: not given */
    int batch;
    bool help;
};

static enum error parse_number(const char *text, int most, int *number, struct problem *problem)
{
    char *end;
    const long value = strtol(text, &end, 10);
    if (end == text || *end != '\0' || value < 1 || value > most)
        return problem_set(problem, MALFORMED, "\"%.40s\": write a whole number from 1 to %d", text,
                           most);
    *number = (int)value;
    return OK;
}

static enum error parse_image(const char *text, struct shape *image, struct problem *problem)
{
    int length = 0;
    struct shape read = {0, 0, 0, 0};
    const bool is_read =
        sscanf(text, "%5dx%5dx%5d%n", &read.channels, &read.height, &read.width, &length) == 3 &&
        text[length] == '\0' && read.channels > 0 && read.height > 0 && read.width > 0;
    if (!is_read)
        return problem_set(problem, MALFORMED,
                           "\"%.40s\": write channels, height and width, as in 3x32x32", text);
    *image = read;
    return OK;
}

static enum error parse_option(struct options *options, int option, struct problem *problem)
{
    switch (option) {
    case 'i':
        return parse_image(optarg, &options->image, problem);
    case 'l':
        return parse_number(optarg, 1000000, &options->length, problem);
    case 'c':
        return parse_number(optarg, 1000000, &options->classes, problem);
    case 'b':
        return parse_number(optarg, 65536, &options->batch, problem);
    case 'h':
        options->help = true;
        return OK;
    default:
        return problem_set(problem, MALFORMED, "see: hearsay model --help");
    }
}

static enum error parse_options(struct options *options, int argc, char **argv,
                                struct problem *problem)
{
    static const struct option known[] = {
        {"input", required_argument, NULL, 'i'},   {"context", required_argument, NULL, 'l'},
        {"classes", required_argument, NULL, 'c'}, {"batch", required_argument, NULL, 'b'},
        {"help", no_argument, NULL, 'h'},          {NULL, 0, NULL, 0}};
    int option;
    while ((option = getopt_long(argc, argv, "h", known, NULL)) != -1) {
        enum error error = parse_option(options, option, problem);
        if (error != OK || options->help)
            return error;
    }
    if (argc - optind > 1)
        return problem_set(problem, MALFORMED,
                           "one LINE at a time: put it in quotes; see: hearsay model --help");
    options->line = argv[optind];
    return OK;
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

static enum error print_model(const struct options *options, struct problem *problem)
{
    const char *preset = model_preset(options->line);
    const char *line = preset ? preset : options->line;
    struct model_folder_about folder = {.positions = DEFAULT_LENGTH};
    if (model_folder_is(line)) {
        const enum error error = model_folder_read(line, &folder, problem);
        if (error != OK)
            return error;
        line = folder.layers;
    }
    const int tokens = model_line_tokens(line);
    const int usual = folder.positions < DEFAULT_LENGTH ? folder.positions : DEFAULT_LENGTH;
    const struct shape text = {1, 1, 1, options->length > 0 ? options->length : usual};
    const int classes = options->classes ? options->classes : tokens ? tokens : 10;
    struct arena arena;
    struct model *model = NULL;
    arena_init_growing(&arena);
    const enum error error =
        model_new(&model, &arena, NULL, line, tokens ? text : options->image, classes, 1, problem);
    if (error == OK) {
        model_print(model, stdout);
        print_memory(model, options);
        model_free(model);
    }
    arena_release(&arena);
    return error;
}

int model_command_run(int argc, char **argv)
{
    struct options options = {.image = {1, 28, 28, 0}, .batch = 32};
    struct problem problem;
    if (parse_options(&options, argc, argv, &problem) != OK) {
        (void)fprintf(stderr, "hearsay: %s\n", problem.text);
        return 2;
    }
    if (options.help)
        (void)fputs(usage, stdout);
    else if (!options.line)
        list_presets();
    else if (print_model(&options, &problem) != OK) {
        (void)fprintf(stderr, "hearsay: %s\n", problem.text);
        return 1;
    }
    return 0;
}
