#include "commands/export_command.h"

#include <getopt.h>
#include <stdio.h>

#include "base/arena.h"
#include "commands/saved_model.h"
#include "layers/model.h"
#include "state/model_folder.h"

static const char usage[] =
    "hearsay export [options] DIR: a saved model as PyTorch's libraries read it\n"
    "\n"
    "  --state DIR|FILE   a node's state folder (default state), or its .safetensors file\n"
    "  --help             print this\n"
    "\n"
    "Models with the layers of GPT-2 (GPT2LMHeadModel) or Llama (LlamaForCausalLM): writes\n"
    "DIR/model.safetensors and DIR/config.json, for transformers' from_pretrained(DIR). DIR can\n"
    "be named as model.start, and to hearsay eval, generate and model. ResNets: writes\n"
    "DIR/model.safetensors, a state_dict with torchvision's names. See the presets gpt2-124m,\n"
    "llama-124m and resnet18 of 'hearsay model'.\n"
    "Exit codes: 0 done, 1 failed, 2 wrong usage.\n";

struct options {
    const char *state; /* a folder or a file */
    const char *to;    /* the folder */
    bool help;
};

static enum error parse_options(struct options *options, int argc, char **argv,
                                struct problem *problem)
{
    static const struct option known[] = {{"state", required_argument, NULL, 's'},
                                          {"help", no_argument, NULL, 'h'},
                                          {NULL, 0, NULL, 0}};
    int option;
    while ((option = getopt_long(argc, argv, "h", known, NULL)) != -1) {
        if (option != 's' && option != 'h')
            return problem_set(problem, MALFORMED, "see: hearsay export --help");
        options->help |= option == 'h';
        if (option == 's')
            options->state = optarg;
    }
    if (options->help)
        return OK;
    if (argc - optind != 1)
        return problem_set(problem, MALFORMED,
                           "name the folder to write, as in: hearsay export model; see: hearsay "
                           "export --help");
    options->to = argv[optind];
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
    float *weights = arena_take(arena, model_parameters(model), sizeof *weights);
    error = saved_model_load(path, model, weights, &about, problem);
    if (error == OK)
        error = model_folder_save(options->to, model, &about, weights, problem);
    model_free(model);
    return error;
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
    (void)printf("%s/model.safetensors%s written\n", options.to,
                 model_folder_is(options.to) ? " and config.json are" : " is");
    return 0;
}
