#include "commands/swarm/swarm_options.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "commands/swarm/swarm.h"
#include "commands/swarm/swarm_score.h"
#include "config/config_resolve.h"
#include "config/setup.h"
#include "data/arrays.h"

/* English text, 40 MB, from the Debian package dict-gcide. */
#define DICTIONARY  "/usr/share/dictd/gcide.dict.dz"
#define TEXT_PARTS  64
#define TARGET      0.88
#define TARGET_DEEP 0.92
#define TARGET_BITS 3.0

static enum error set_key(void *self, const struct command_option *option, const char *value,
                          struct problem *problem)
{
    struct swarm_options *options = self;
    char assignment[MODEL_LINE_MAX + 64];
    options->names_data |= strcmp(option->key, "data.source") == 0;
    if (snprintf(assignment, sizeof assignment, "%s=%s", option->key, value) >=
        (int)sizeof assignment)
        return problem_set(problem, TOO_BIG, "%s: the value is too long", option->name);
    return config_set(&options->config, assignment, problem);
}

static enum error add_set(void *self, const struct command_option *option, const char *assignment,
                          struct problem *problem)
{
    struct swarm_options *options = self;
    (void)option;
    if (options->sets == SWARM_SETS_MAX)
        return problem_set(problem, TOO_BIG, "--set is given more than %d times", SWARM_SETS_MAX);
    options->set[options->sets++] = assignment;
    return config_set(&options->config, assignment, problem);
}

bool swarm_options_has_files(const struct config *config)
{
    char path[CONFIG_PATH_BYTES + 64];
    (void)snprintf(path, sizeof path, "%s/train-images-idx3-ubyte.gz", config->data.dir);
    return access(path, R_OK) == 0;
}

static const char *layers_of(const struct config *config)
{
    const char *preset = model_preset(config->model.name);
    return config->model.layers[0] ? config->model.layers : preset ? preset : "";
}

/* Sets default training settings (SECTION.KEY=VALUE) for a kind of model, and then again the
 * settings that the user gave. */
static enum error set_usual(struct swarm_options *options, const char *const *usual, size_t count,
                            struct problem *problem)
{
    enum error error = OK;
    for (size_t i = 0; i < count && error == OK; i++)
        error = config_set(&options->config, usual[i], problem);
    for (int i = 0; i < options->sets && error == OK; i++)
        error = config_set(&options->config, options->set[i], problem);
    return error;
}

/* Sets the defaults for language models: batch, warm-up, beta1 and beta2 of nanoGPT on a CPU, and
 * no Nesterov momentum. */
static enum error set_for_text(struct swarm_options *options, struct problem *problem)
{
    static const char *const usual[] = {"train.momentum=0.9", "train.beta2=0.99", "train.batch=12",
                                        "train.warmup_samples=1200", "train.nesterov=no"};
    return set_usual(options, usual, sizeof usual / sizeof usual[0], problem);
}

static bool is_deep(const struct swarm_options *options)
{
    return strcasestr(layers_of(&options->config), "batchnorm") != NULL;
}

/* Sets the defaults for deep image networks: about seven epochs of Fashion-MNIST, at the end of
 * which the learning rate is 2 % of the initial one. */
static enum error set_for_deep(struct swarm_options *options, struct problem *problem)
{
    static const char *const usual[] = {"train.rate=0.05",           "train.nesterov=yes",
                                        "train.weight_decay=0.0005", "train.schedule=cosine",
                                        "train.decay=0.02",          "train.period_samples=400000"};
    return set_usual(options, usual, sizeof usual / sizeof usual[0], problem);
}

/* Chooses the text for a language model: the dictionary unless the user names text or tokens. */
static enum error choose_text(struct swarm_options *options, struct problem *problem)
{
    struct config_data *data = &options->config.data;
    const bool has_text = data->text[0] || data->tokens[0];
    if (has_text || dataset_is_sequences(data->source)) {
        if (!dataset_is_sequences(data->source))
            data->source = data->text[0] ? DATASET_TEXT : DATASET_TOKENS;
        options->evaluate_parts = 1;
    } else {
        if (access(DICTIONARY, R_OK) != 0)
            return problem_set(
                problem, MISSING,
                "the model learns from text, and none is installed: install the Debian package "
                "dict-gcide, or name a file with --set data.text=FILE");
        data->source = DATASET_TEXT;
        (void)snprintf(data->text, sizeof data->text, "%s", DICTIONARY);
        options->evaluate_parts = TEXT_PARTS;
    }
    return set_for_text(options, problem);
}

/* Converts the target that the user wrote to a score, 0 .. 1. The target is an accuracy or R², as a
 * fraction or in percent, or bits per byte; negative = the default. */
static double target_score(const struct swarm_options *options, double written)
{
    if (options->kind == SCORE_OF_TEXT)
        return swarm_score_of_bits(written < 0 ? TARGET_BITS : written);
    if (written < 0)
        return is_deep(options) && options->config.data.source == DATASET_IDX ? TARGET_DEEP
                                                                              : TARGET;
    return written > 1 ? written / 100 : written;
}

/* The target array and data.task distinguish classes from numbers. */
static enum error find_kind(struct swarm_options *options, struct problem *problem)
{
    const struct config_data *data = &options->config.data;
    bool is_regression = false;
    enum error error = OK;
    if (data->source == DATASET_NPY && data->y[0])
        error = arrays_are_regression(data->y, setup_dataset_options(data).task, &is_regression,
                                      problem);
    options->kind = data->source == DATASET_TEXT ? SCORE_OF_TEXT
                    : is_regression              ? SCORE_OF_NUMBERS
                                                 : SCORE_OF_CLASSES;
    return error;
}

enum error swarm_options_finish(void *self, int count, char **operands, struct problem *problem)
{
    struct swarm_options *options = self;
    enum error error = OK;
    (void)count, (void)operands;
    options->evaluate_parts = 1;
    if (model_line_tokens(layers_of(&options->config)) > 0 &&
        (!options->names_data || dataset_is_sequences(options->config.data.source)))
        error = choose_text(options, problem);
    else if (is_deep(options))
        error = set_for_deep(options, problem);
    if (error == OK)
        error = find_kind(options, problem);
    options->target = target_score(options, options->target);
    config_resolve(&options->config);
    if (error == OK && options->kind == SCORE_OF_TEXT && options->target < 0)
        return problem_set(problem, MALFORMED,
                           "--target: for text, write bits per byte, from 0 to 8");
    return error == OK ? config_check(&options->config, problem) : error;
}

void swarm_options_init(struct swarm_options *options)
{
    *options = (struct swarm_options){.nodes = 4, .target = -1, .seed = 1};
    config_defaults(&options->config);
    if (!swarm_options_has_files(&options->config))
        options->config.data.source = DATASET_GENERATED;
}

const struct command_option swarm_options_table[] = {
    {"--nodes", "N", "processes to start (default 4, at most 32)",
     COMMAND_WHOLE(struct swarm_options, nodes, 1, SWARM_NODES_MAX)},
    {"--model", "NAME", "xor, mlp, lenet, resnet20, gpt-char, ... (default lenet)", .set = set_key,
     .key = "model.name"},
    {"--layers", "LINE", "a model of your own, as in: \"dense 128, relu, dense 10\"",
     .set = set_key, .key = "model.layers"},
    {"--data", "NAME",
     DATASET_SOURCES_LISTED " (default: text for a\n"
                            "model that embeds tokens, else idx where it is installed); files\n"
                            "of text: --set data.text=FILE (default: the dictionary of Debian's\n"
                            "package dict-gcide), of arrays: --set data.x=FILE, data.y=FILE",
     .set = set_key, .key = "data.source"},
    {"--target", "A",
     "stop when the test accuracy stays above A (default 88; 92 for\n"
     "nets with batch norm on idx); a value above 1 is in percent, so\n"
     "88 and 0.88 are the same. For regression: R2. For text: stop\n"
     "when the bits per byte stay below A (default 3)",
     COMMAND_REAL(struct swarm_options, target, 0, 100)},
    {"--seconds", "S", "stop after this time at the latest",
     COMMAND_REAL(struct swarm_options, seconds, 1, 10000000)},
    {"--samples", "N",
     "stop when all nodes together have learned N samples (without\n"
     "--samples and --seconds: after 300 s and 400000 samples,\n"
     "whichever is later, since a busy machine learns more slowly)",
     COMMAND_WHOLE(struct swarm_options, samples, 1, 1000000000000000)},
    {"--seed", "N", "seed of the model, the data and random choices (default 1)",
     COMMAND_WHOLE(struct swarm_options, seed, 1, 1000000000000000)},
    {"--json", "FILE",
     "write the results to FILE as one JSON object; -: to standard output, and\nall other text to "
     "standard error",
     .member = offsetof(struct swarm_options, json)},
    {"--dir", "DIR",
     "keep keys, configurations, models and logs in DIR; a swarm in it\ncontinues (default: a "
     "temporary folder, removed at the end)",
     .member = offsetof(struct swarm_options, dir)},
    {"--set", "SECTION.KEY=VALUE",
     "set a key of every node's configuration (hearsay node\n--print-config lists all keys); may "
     "be repeated",
     .set = add_set},
    {0}};
