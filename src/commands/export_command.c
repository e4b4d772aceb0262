#include "commands/export_command.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "commands/json_output.h"
#include "commands/saved_model.h"
#include "layers/model.h"
#include "onnx/onnx_file.h"
#include "state/model_folder.h"

static const char usage[] =
    "hearsay export [options] DIR|FILE.onnx: a saved model as other programs read it\n"
    "\n"
    "  --state DIR|FILE   a node's state folder (default state), or its .safetensors file\n"
    "  --format FORMAT    onnx or transformers; without it a name that ends in .onnx is the\n"
    "                     former, any other the latter\n"
    "  --json             what was written as a JSON object: format, files\n"
    "  --help             print this\n"
    "\n"
    "onnx: any model, as one file for ONNX Runtime and its like. It takes any number of samples\n"
    "at once: bytes as 'pixels', which it normalises as the training's were, floats as 'x', or\n"
    "'tokens'; and gives 'logits', or of regression 'numbers'.\n"
    "transformers: models with the layers of GPT-2 (GPT2LMHeadModel) or Llama (LlamaForCausalLM).\n"
    "Writes DIR/model.safetensors and DIR/config.json, for from_pretrained(DIR). DIR can be named\n"
    "as model.start, and to hearsay eval, generate and model. Of ResNets it writes\n"
    "DIR/model.safetensors, a state_dict with torchvision's names. See the presets gpt2-124m,\n"
    "llama-124m and resnet18 of 'hearsay model'.\n"
    "Exit codes: 0 done, 1 failed, 2 wrong usage.\n";

enum format { FORMAT_BY_NAME, FORMAT_ONNX, FORMAT_TRANSFORMERS };

struct options {
    const char *state; /* state folder or model file */
    const char *to;    /* path of the folder or file that is written */
    enum format format;
    bool as_json;
    bool help;
};

static enum error parse_format(const char *word, enum format *format, struct problem *problem)
{
    if (strcmp(word, "onnx") == 0)
        *format = FORMAT_ONNX;
    else if (strcmp(word, "transformers") == 0)
        *format = FORMAT_TRANSFORMERS;
    else
        return problem_set(problem, MALFORMED, "\"%.40s\" is no format; write onnx or transformers",
                           word);
    return OK;
}

static enum format format_by_name(const char *path)
{
    static const char end[] = ".onnx";
    const size_t length = strlen(path), least = sizeof end - 1;
    return length > least && strcmp(path + length - least, end) == 0 ? FORMAT_ONNX
                                                                     : FORMAT_TRANSFORMERS;
}

static enum error parse_options(struct options *options, int argc, char **argv,
                                struct problem *problem)
{
    static const struct option known[] = {{"state", required_argument, NULL, 's'},
                                          {"format", required_argument, NULL, 'f'},
                                          {"json", no_argument, NULL, 'j'},
                                          {"help", no_argument, NULL, 'h'},
                                          {NULL, 0, NULL, 0}};
    int option;
    while ((option = getopt_long(argc, argv, "h", known, NULL)) != -1) {
        if (option != 's' && option != 'f' && option != 'j' && option != 'h')
            return problem_set(problem, MALFORMED, "see: hearsay export --help");
        options->help |= option == 'h';
        options->as_json |= option == 'j';
        if (option == 's')
            options->state = optarg;
        if (option == 'f' && parse_format(optarg, &options->format, problem) != OK)
            return MALFORMED;
    }
    if (options->help)
        return OK;
    if (argc - optind != 1)
        return problem_set(
            problem, MALFORMED,
            "name what is to be written, as in: hearsay export model.onnx; see: hearsay "
            "export --help");
    options->to = argv[optind];
    if (options->format == FORMAT_BY_NAME)
        options->format = format_by_name(options->to);
    return OK;
}

static enum error export_model(const struct options *options, struct arena *arena,
                               struct problem *problem)
{
    char path[BASE_PATH_BYTES];
    struct safetensors_about about;
    struct model *model;
    enum error error = saved_model_find(path, options->state, problem);
    if (error == OK)
        error = safetensors_read_about(path, &about, problem);
    if (error == OK)
        error = model_new(&model, arena, NULL, about.layers, about.in, about.classes, 1, problem);
    if (error != OK)
        return error;
    float *weights = arena_alloc(arena, model_parameters(model), sizeof *weights);
    error = saved_model_load(path, model, weights, &about, problem);
    if (error == OK)
        error = options->format == FORMAT_ONNX
                    ? onnx_file_save(options->to, model, &about, weights, problem)
                    : model_folder_save(options->to, model, &about, weights, problem);
    model_free(model);
    return error;
}

static void say_written(const struct options *options)
{
    if (options->format == FORMAT_ONNX)
        (void)printf("%s is written\n", options->to);
    else
        (void)printf("%s/model.safetensors%s written\n", options->to,
                     model_folder_is(options->to) ? " and config.json are" : " is");
}

static void print_json(const struct options *options)
{
    json_t *object = json_object(), *files = json_array();
    const bool is_onnx = options->format == FORMAT_ONNX;
    json_output_put(object, "format", json_string(is_onnx ? "onnx" : "transformers"));
    (void)json_array_append_new(files, is_onnx ? json_string(options->to)
                                               : json_sprintf("%s/model.safetensors", options->to));
    if (!is_onnx && model_folder_is(options->to))
        (void)json_array_append_new(files, json_sprintf("%s/config.json", options->to));
    json_output_put(object, "files", files);
    json_output(object);
}

int export_command_run(int argc, char **argv)
{
    struct options options = {.state = "state"};
    struct problem problem;
    struct arena arena;
    if (parse_options(&options, argc, argv, &problem) != OK) {
        (void)fprintf(stderr, "hearsay: %s\n", problem.text);
        return 2;
    }
    if (options.help) {
        (void)fputs(usage, stdout);
        return 0;
    }
    arena_init_growing(&arena);
    const enum error error = export_model(&options, &arena, &problem);
    arena_release(&arena);
    if (error != OK) {
        (void)fprintf(stderr, "hearsay: %s\n", problem.text);
        return 1;
    }
    (options.as_json ? print_json : say_written)(&options);
    return 0;
}
