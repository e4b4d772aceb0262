#include "commands/export_command.h"

#include <stdio.h>
#include <string.h>

#include <ctype.h>
#include <sys/stat.h>

#include "base/arena.h"
#include "commands/json_output.h"
#include "commands/saved_model.h"
#include "layers/model.h"
#include "onnx/onnx_file.h"
#include "state/model_folder.h"

enum format { FORMAT_BY_NAME, FORMAT_ONNX, FORMAT_TRANSFORMERS };

struct options {
    const char *state; /* path of the state folder or model file */
    const char *to;    /* path of the folder or file that is written */
    enum format format;
    bool as_json;
};

static enum error set_format(void *format, const struct command_option *option, const char *word,
                             struct problem *problem)
{
    const bool is_onnx = strcmp(word, "onnx") == 0;
    (void)option;
    if (!is_onnx && strcmp(word, "transformers") != 0)
        return problem_set(problem, MALFORMED, "\"%.40s\" is no format; write onnx or transformers",
                           word);
    *(enum format *)format = is_onnx ? FORMAT_ONNX : FORMAT_TRANSFORMERS;
    return OK;
}

/* Returns the extension of the last part of the path, without its dot; "" if it has none. An
 * extension consists of letters, so "llama-1.1b" and "v2.0" are names of folders. */
static const char *extension_of(const char *path)
{
    const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
    const char *dot = strrchr(name, '.');
    if (!dot || dot == name)
        return "";
    for (const char *at = dot + 1; *at; at++)
        if (!isalpha((unsigned char)*at))
            return "";
    return dot + 1;
}

/* Sets the format by the name: ONNX if it ends in .onnx, else transformers. Refuses another
 * extension, unless the path is a folder. */
static enum error set_format_by_name(struct options *options, struct problem *problem)
{
    struct stat about;
    const char *extension = extension_of(options->to);
    const bool is_folder = stat(options->to, &about) == 0 && S_ISDIR(about.st_mode);
    options->format = strcmp(extension, "onnx") == 0 ? FORMAT_ONNX : FORMAT_TRANSFORMERS;
    if (!extension[0] || is_folder || options->format == FORMAT_ONNX)
        return OK;
    return problem_set(problem, MALFORMED,
                       "%.200s: no format has the extension .%.32s: write %.*sonnx for ONNX, or a "
                       "folder for transformers (--format transformers: one of this name)",
                       options->to, extension, (int)(extension - options->to), options->to);
}

static enum error finish(void *self, int count, char **words, struct problem *problem)
{
    struct options *options = self;
    if (count != 1)
        return problem_set(problem, MALFORMED,
                           "name one file or folder to write, as in: hearsay export model.onnx; "
                           "see: hearsay export --help");
    options->to = words[0];
    return options->format == FORMAT_BY_NAME ? set_format_by_name(options, problem) : OK;
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

static int run(int argc, char **argv)
{
    struct options options = {.state = "state"};
    struct problem problem;
    struct arena arena;
    const int code = command_read(&export_command, &options, argc, argv);
    if (code != COMMAND_RUNS)
        return code;
    arena_init_growing(&arena);
    const enum error error = export_model(&options, &arena, &problem);
    arena_release(&arena);
    if (error != OK)
        return command_complain(&problem, 1);
    (options.as_json ? print_json : say_written)(&options);
    return 0;
}

const struct command export_command = {
    .name = "export",
    .summary = "write a saved model for other programs: ONNX, transformers",
    .forms = {{"hearsay export [options] DIR|FILE.onnx", "write a saved model for other programs"}},
    .options =
        (const struct command_option[]){
            {"--state", "DIR|FILE",
             "a node's state folder (default state), or its .safetensors file",
             .member = offsetof(struct options, state)},
            {"--format", "FORMAT",
             "onnx or transformers (default: onnx if the name ends in .onnx, else\ntransformers)",
             .member = offsetof(struct options, format), .set = set_format},
            {"--json", NULL, "print one JSON object: format, files",
             .member = offsetof(struct options, as_json)},
            {0}},
    .column = 21,
    .notes =
        "onnx: any model, as one file for ONNX Runtime and similar programs. Its input is any "
        "number of\n"
        "samples: bytes 'pixels', which it normalises as in training, floats 'x', or 'tokens'. Its "
        "output\n"
        "is 'logits', or 'numbers' for regression.\n"
        "transformers: models with the layers of GPT-2 (GPT2LMHeadModel) or Llama "
        "(LlamaForCausalLM).\n"
        "Writes DIR/model.safetensors and DIR/config.json, for from_pretrained(DIR). model.start\n"
        "and hearsay eval, generate and model accept DIR. For ResNets it writes\n"
        "DIR/model.safetensors, a state_dict with torchvision's names. Refuses a DIR with the\n"
        "config.json of another model. See the presets gpt2-124m, llama-124m and resnet18 of\n"
        "'hearsay model'.",
    .exit_codes = "0 done, 1 failed, 2 wrong usage.",
    .takes_operands = true,
    .finish = finish,
    .run = run,
};
