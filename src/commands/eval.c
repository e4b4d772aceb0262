#include "commands/eval.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <jansson.h>

#include "backend/backend.h"
#include "base/arena.h"
#include "commands/config_options.h"
#include "commands/progress.h"
#include "commands/saved_model.h"
#include "config/config.h"
#include "config/initial_weights.h"
#include "config/saved_config.h"
#include "config/setup.h"
#include "data/dataset.h"
#include "layers/model.h"
#include "state/export.h"
#include "state/model_folder.h"
#include "state/safetensors.h"
#include "training/evaluator.h"

#define GIVEN_MAX 64

struct given {
    const char *key; /* configuration key; NULL = value is the KEY=VALUE of --set */
    const char *value;
};

struct options {
    const char *state;         /* path of the state folder or model file */
    const char *file;          /* file of --config; NULL = not given */
    char saved[DISK_PATH_MAX]; /* path of started.conf; "" = the file is not read */
    bool names_data;           /* an option or --set names the source or the files of the data */
    bool names_source;         /* --data-source or --set names data.source */
    struct config config;      /* configuration of data and model */
    bool names_model; /* --model or --layers was given, so the description in the file is ignored */
    /* Settings of data and model, applied after the configuration is read. */
    struct given given[GIVEN_MAX];
    int count;
    bool json;
};

struct result {
    char layers[MODEL_LINE_MAX];
    uint64_t digest;
    uint64_t samples; /* samples that the whole swarm had learned when the model was saved */
    bool has_samples; /* the file contains `samples` */
    struct evaluation score;
    int token_bytes; /* bytes per test token; 0 = the test samples are no tokens */
};

/* Resources of an evaluation, which are released together. */
struct bench {
    struct arena arena;
    struct backend *backend;
    struct model *model;
    struct dataset test;
};

static enum error set_key(struct options *options, const char *key, const char *value,
                          struct problem *problem)
{
    char assignment[CONFIG_FILES_BYTES + MODEL_LINE_MAX];
    (void)snprintf(assignment, sizeof assignment, "%s=%s", key, value);
    return config_set(&options->config, assignment, problem);
}

/* Returns the name of the data source that reads this key; the key may end at a `=`. data.test_x
 * counts as data.x, for example. NULL if the key lists no samples. */
static const char *source_of(const char *key)
{
    if (strncmp(key, "data.", 5) != 0)
        return NULL;
    const char *name = key + strlen("data.");
    name += strncmp(name, "test_", 5) == 0 ? 5 : 0;
    const size_t bytes = strcspn(name, "=");
    for (int i = 0; i < DATASET_SOURCES_COUNT; i++) {
        const struct dataset_source_row *row = &dataset_sources[i];
        const char *const keys[] = {row->files, row->needs[0], row->needs[1]};
        for (size_t k = 0; k < sizeof keys / sizeof *keys; k++)
            if (keys[k] && strlen(keys[k]) == bytes && strncmp(keys[k], name, bytes) == 0)
                return row->name;
    }
    return NULL;
}

static bool is_source(const char *key)
{
    return strncmp(key, "data.source", strlen("data.source")) == 0;
}

/* Stores a setting of the command line. With --set, the word contains the key. */
static enum error note(void *self, const struct command_option *option, const char *word,
                       struct problem *problem)
{
    struct options *options = self;
    if (options->count == GIVEN_MAX)
        return problem_set(
            problem, TOO_BIG,
            "more than %d settings are given; write them to a file and name it with --config",
            GIVEN_MAX);
    const char *key = option->key ? option->key : word;
    options->given[options->count++] = (struct given){option->key, word};
    options->names_source |= is_source(key);
    options->names_data |= is_source(key) || source_of(key);
    options->names_model |= option->key && strncmp(option->key, "model.", 6) == 0;
    return OK;
}

/* A setting that names files of samples also sets data.source. --set does so only if no setting on
 * the command line names the source. */
static enum error apply(struct options *options, const struct given *given, struct problem *problem)
{
    const char *source = given->key              ? source_of(given->key)
                         : options->names_source ? NULL
                                                 : source_of(given->value);
    const enum error error = source ? set_key(options, "data.source", source, problem) : OK;
    if (error != OK)
        return error;
    return given->key ? set_key(options, given->key, given->value, problem)
                      : config_set(&options->config, given->value, problem);
}

/* Reads data and model from a node's configuration: the file of --config, or the one that the node
 * saved beside the model. If an option names the data, the saved lists of files do not apply. */
static enum error read_config(struct options *options, struct problem *problem)
{
    struct config_data *data = &options->config.data;
    if (!options->file && !saved_config_find(options->saved, options->state))
        options->saved[0] = '\0';
    const char *file = options->file ? options->file : options->saved;
    const struct config_options of_file = {.file = file};
    const enum error error =
        file[0] ? config_options_read(&options->config, &of_file, problem) : OK;
    if (options->saved[0] && options->names_data)
        data->x[0] = data->y[0] = data->test_x[0] = data->test_y[0] = data->text[0] =
            data->tokens[0] = data->valid[0] = '\0';
    return error;
}

/* Reads the configuration, and then applies the options. Returns 0, or the exit code: 2 if a given
 * file or option is wrong, 1 if the saved configuration cannot be read. */
static int configure(struct options *options, struct problem *problem)
{
    if (read_config(options, problem) != OK)
        return options->saved[0] ? 1 : 2;
    enum error error = OK;
    for (int i = 0; error == OK && i < options->count; i++)
        error = apply(options, &options->given[i], problem);
    return error == OK ? 0 : 2;
}

/* Returns the input of a model that takes samples of this shape and the test set's token size. */
static struct setup_input input_of(struct shape shape, const struct dataset *test)
{
    const struct dataset samples = {.shape = shape, .token_bytes = test->token_bytes};
    return setup_input(&samples);
}

static bool fits(const struct dataset *test, const struct safetensors_about *about)
{
    if (memcmp(&test->shape, &about->in, sizeof test->shape) != 0 ||
        dataset_is_regression(test) != about->is_regression)
        return false;
    if (about->is_regression)
        return test->classes == about->classes;
    return test->tokens || test->classes <= about->classes;
}

/* Checks whether the samples have the type that the model needs: bytes if the model file stores
 * a normalisation of bytes, otherwise float32. */
static enum error check_type(const struct dataset *test, const struct safetensors_about *about,
                             struct problem *problem)
{
    const bool learned_floats = about->mean == 0 && about->scale == 1;
    if (!test->tokens && learned_floats != (test->numbers != NULL))
        return problem_set(problem, MISMATCH,
                           "the model was trained on %s, but the test samples are %s; give test "
                           "samples of the same type",
                           learned_floats ? "float32" : "bytes (uint8)",
                           learned_floats ? "bytes (uint8)" : "float32");
    return OK;
}

static const char *noun(bool is_regression, int count)
{
    if (is_regression)
        return count == 1 ? "number" : "numbers";
    return count == 1 ? "class" : "classes";
}

/* Checks the test samples against the model. The test set may have fewer classes than the model,
 * and a text may contain tokens that the model lacks. */
static enum error check_fits(const struct dataset *test, const struct safetensors_about *about,
                             struct problem *problem)
{
    if (fits(test, about))
        return check_type(test, about, problem);
    if (dataset_is_regression(test) || about->is_regression)
        return problem_set(problem, MISMATCH,
                           "the model predicts %d %s of %s samples, the test set has %d %s of %s; "
                           "choose the data it was trained on with --x and --y",
                           about->classes, noun(about->is_regression, about->classes),
                           input_of(about->in, test).text, test->classes,
                           noun(dataset_is_regression(test), test->classes),
                           input_of(test->shape, test).text);
    return problem_set(problem, MISMATCH,
                       "the model is for %s samples of %d classes, the test set has %s of %d; "
                       "choose the data it was trained on with --data-source%s",
                       input_of(about->in, test).text, about->classes,
                       input_of(test->shape, test).text, test->classes,
                       about->in.length > 0 ? ", --text or --tokens" : "");
}

/* Loads the test set with the normalisation and sequence length that the model file names. */
static enum error load_test(struct dataset *test, const struct config_data *data,
                            const struct safetensors_about *about, struct problem *problem)
{
    struct dataset_options options = setup_dataset_options(data);
    if (about->in.length > 0 && !dataset_is_sequences(data->source))
        return problem_set(
            problem, MISMATCH,
            "the model takes sequences of %d tokens; name test data with --text or --tokens",
            about->in.length);
    options.shard = 0;
    options.shards = 1;
    if (about->in.length > 0)
        options.context = (uint32_t)about->in.length;
    enum error error = dataset_load_test(test, &options, problem);
    if (error != OK)
        return error;
    test->mean = about->mean;
    test->scale = about->scale;
    return check_fits(test, about, problem);
}

static void on_scored(void *progress, uint32_t done, uint32_t all)
{
    progress_at(progress, (double)done / all);
}

static void score(struct bench *bench, const float *weights, struct result *result)
{
    struct evaluator *evaluator =
        evaluator_new(&bench->arena, bench->backend, bench->model, &bench->test);
    struct progress progress;
    progress_begin(&progress, "evaluating");
    evaluator_watch(evaluator, on_scored, &progress);
    result->score = evaluator_run(evaluator, weights, 0, bench->test.count);
    progress_end(&progress);
    result->token_bytes = bench->test.tokens ? bench->test.token_bytes : 0;
    (void)snprintf(result->layers, sizeof result->layers, "%s", model_line(bench->model));
    evaluator_free(evaluator);
}

/* A test set may contain tokens that the training data lacked. If the model has no outputs for
 * them, this function fails, or the loading of the weights fails (tokens_missing). */
static enum error make_model(struct bench *bench, const struct safetensors_about *about,
                             struct problem *problem)
{
    const struct dataset *test = &bench->test;
    const int classes = int_max(test->classes, about->classes);
    const uint32_t batch = setup_evaluation_batch(about->layers, about->in, classes);
    return model_new(&bench->model, &bench->arena, bench->backend, about->layers, about->in,
                     classes, (int)batch, problem);
}

/* Replaces the problem of a model that does not fit the test set's tokens. */
static enum error tokens_missing(const struct dataset *test, const struct safetensors_about *about,
                                 enum error error, struct problem *problem)
{
    CHECK(error != OK);
    if (!test->tokens || test->classes <= about->classes)
        return error;
    return problem_set(problem, MISMATCH,
                       "the model has learned tokens 0 to %d, but the test set has tokens up to %d; "
                       "name a test set of the same vocabulary with --text or --tokens",
                       about->classes - 1, test->classes - 1);
}

/* Evaluates a model file whose metadata has its layers and the normalisation of its data. */
static enum error evaluate_saved(struct bench *bench, const char *path,
                                 const struct options *options, struct safetensors_about *about,
                                 struct result *result, struct problem *problem)
{
    enum error error = load_test(&bench->test, &options->config.data, about, problem);
    if (error != OK)
        return error;
    error = make_model(bench, about, problem);
    if (error != OK)
        return tokens_missing(&bench->test, about, error, problem);
    float *weights = arena_alloc(&bench->arena, model_parameters(bench->model), sizeof *weights);
    error = saved_model_load(path, bench->model, weights, about, problem);
    if (error == MISMATCH)
        return tokens_missing(&bench->test, about, error, problem);
    if (error != OK)
        return error;
    result->digest = about->digest;
    result->samples = about->samples;
    result->has_samples = true;
    score(bench, weights, result);
    return OK;
}

/* Evaluates a weights file without its metadata: loads it like model.start, with the configured
 * model and data. */
static enum error evaluate_start(struct bench *bench, const char *path,
                                 const struct options *options, struct result *result,
                                 struct problem *problem)
{
    struct dataset train = {0};
    struct setup_model made = {0};
    enum error error = setup_data(&options->config, &train, &bench->test, problem);
    if (error == OK)
        error =
            setup_model(&options->config, 1, &train, &bench->arena, bench->backend, &made, problem);
    dataset_free(&train);
    if (error != OK)
        return error;
    bench->model = made.model;
    float *weights = arena_alloc(&bench->arena, model_parameters(made.model), sizeof *weights);
    error = initial_weights_load(path, made.model, weights, &result->digest, problem);
    if (error == OK)
        score(bench, weights, result);
    return error;
}

/* Sets model.layers from the description in the model folder of another library. */
static enum error name_foreign_model(struct options *options, struct problem *problem)
{
    struct model_folder_about about;
    const enum error error = model_folder_read(options->state, &about, problem);
    if (error != OK)
        return error;
    options->names_model = true;
    memcpy(options->config.model.layers, about.layers, sizeof about.layers);
    return OK;
}

static void note_default_data(const struct options *options)
{
    if (!options->file && !options->saved[0] && !options->names_data)
        (void)fprintf(stderr,
                      "hearsay: there is no started.conf beside %s, so the model is tested on the "
                      "default data, %s; name the data it was trained on with --config FILE, or "
                      "with --x and --y, --text or --data-source\n",
                      options->state, options->config.data.dir);
}

static void note_default(const struct options *options)
{
    const struct config_model *model = &options->config.model;
    if (!options->names_model)
        (void)fprintf(stderr,
                      "hearsay: the file does not name its model: \"%s\" is assumed; name another "
                      "with --model or --layers\n",
                      model->layers[0] ? model->layers : model->name);
}

static enum error evaluate(const char *path, const struct options *options, struct result *result,
                           struct problem *problem)
{
    struct bench bench = {.backend = backend_cpu(1)};
    struct safetensors_about about;
    *result = (struct result){0};
    arena_init_growing(&bench.arena);
    enum error error =
        options->names_model ? MISMATCH : safetensors_read_about(path, &about, problem);
    if (error == OK)
        error = evaluate_saved(&bench, path, options, &about, result, problem);
    else if (error == MISMATCH) {
        note_default(options);
        error = evaluate_start(&bench, path, options, result, problem);
    }
    dataset_free(&bench.test);
    if (bench.model)
        model_free(bench.model);
    bench.backend->close(bench.backend);
    arena_release(&bench.arena);
    return error;
}

static void print_real(const char *key, double value)
{
    if (isfinite(value))
        (void)printf("\"%s\": %.9g, ", key, value);
    else
        (void)printf("\"%s\": null, ", key);
}

/* Returns the file that describes the data and model; NULL = options or defaults describe them. */
static const char *configuration(const struct options *options)
{
    return options->file ? options->file : options->saved[0] ? options->saved : NULL;
}

static void print_json(const struct options *options, const struct result *result)
{
    const struct evaluation *score = &result->score;
    const char *file = configuration(options);
    json_t *name = file ? json_string(file) : json_null();
    (void)fputs("{", stdout);
    print_real("loss", score->loss);
    if (result->token_bytes == 1)
        print_real("bits_per_byte", score->loss / log(2));
    if (result->token_bytes > 0)
        print_real("perplexity", exp(score->loss));
    if (score->is_regression) {
        print_real("rmse", sqrt(score->loss));
        print_real("r2", evaluation_r2(score));
    } else
        (void)printf("\"accuracy\": %.6f, ", evaluation_accuracy(score));
    (void)printf("\"test_samples\": %" PRIu32 ", \"digest\": \"%016" PRIx64 "\", \"samples\": ",
                 score->samples, result->digest);
    if (result->has_samples)
        (void)printf("%" PRIu64, result->samples);
    else
        (void)fputs("null", stdout);
    (void)fputs(", \"config\": ", stdout);
    /* errors of stdout are checked at the end of the program */
    (void)json_dumpf(name ? name : json_null(), stdout, JSON_ENCODE_ANY);
    json_decref(name);
    (void)fputs("}\n", stdout);
}

static void print_score(const struct result *result)
{
    const struct evaluation *score = &result->score;
    const double share = 100 * evaluation_accuracy(score);
    if (score->is_regression) {
        (void)printf("error     %.6g (root mean square; mean square %.6g) on %" PRIu32
                     " test samples\n",
                     sqrt(score->loss), score->loss, score->samples);
        (void)printf("R2        %.4f (variance of the targets %.6g)\n", evaluation_r2(score),
                     score->variance);
        return;
    }
    if (result->token_bytes == 0) {
        (void)printf("loss      %.4f\n", score->loss);
        (void)printf("accuracy  %.2f %% (%" PRIu32 " of %" PRIu32 " test samples)\n", share,
                     score->correct, score->samples);
        return;
    }
    const char *unit = result->token_bytes == 1 ? "byte" : "token";
    (void)printf("loss      %.4f nats per %s", score->loss, unit);
    if (result->token_bytes == 1)
        (void)printf(", %.4f bits per byte", score->loss / log(2));
    (void)printf("\nperplexity %.2f\n", exp(score->loss));
    (void)printf("accuracy  %.2f %% (%" PRIu32 " of %" PRIu32 " next %ss predicted correctly)\n",
                 share, score->correct, score->samples, unit);
}

static void print_text(const struct options *options, const struct result *result)
{
    const char *file = configuration(options);
    (void)printf("config    %s\n", file ? file : "none, only options and defaults");
    (void)printf("layers    %s\n", result->layers);
    if (result->has_samples)
        (void)printf("learned   %" PRIu64 " samples\n", result->samples);
    else
        (void)puts("learned   unknown: the file does not say");
    (void)printf("digest    %016" PRIx64 "\n", result->digest);
    print_score(result);
}

static int run(int argc, char **argv)
{
    struct options options = {.state = "state"};
    struct problem problem;
    config_defaults(&options.config);
    int code = command_read(&eval_command, &options, argc, argv);
    if (code != COMMAND_RUNS)
        return code;
    code = configure(&options, &problem);
    if (code != 0)
        return command_complain(&problem, code);
    options.config.model.start[0] = '\0'; /* the file that is evaluated replaces model.start */
    char path[BASE_PATH_BYTES];
    struct result result;
    if (saved_model_find(path, options.state, &problem) != OK)
        return command_complain(&problem, 1);
    enum error error = OK;
    if (!options.names_model && saved_model_is_foreign(path, options.state))
        error = name_foreign_model(&options, &problem);
    if (error == OK) {
        if (access(path, R_OK) == 0)
            note_default_data(&options);
        error = evaluate(path, &options, &result, &problem);
    }
    if (error != OK) {
        (void)fprintf(stderr, "hearsay: %s%s\n", problem.text,
                      options.saved[0] && !options.names_data
                          ? "; started.conf beside the model names the data, relative to the "
                            "folder where the node was started: run the command there, or name the "
                            "data (--data-source, --x, --text)"
                          : "");
        return error == WRONG_SETTING ? 2 : 1;
    }
    if (options.json)
        print_json(&options, &result);
    else
        print_text(&options, &result);
    return 0;
}

const struct command eval_command = {
    .name = "eval",
    .summary = "loss and accuracy of a saved model",
    .forms = {{"hearsay eval [options]", "loss and accuracy of a saved model"}},
    .options =
        (const struct command_option[]){
            {"--state", "DIR|FILE",
             "a node's state folder (default state), a .safetensors file, or a folder\n"
             "with a config.json, as transformers save it",
             .member = offsetof(struct options, state)},
            {"--config", "FILE",
             "the configuration of a node, which names the data and the test part\n"
             "(default: started.conf in the state folder or beside the file); other\n"
             "options override it",
             .member = offsetof(struct options, file)},
            {"--data-source", "NAME", DATASET_SOURCES_LISTED " (default idx)", .set = note,
             .key = "data.source"},
            {"--data-dir", "DIR", "folder of the IDX files (default Fashion-MNIST)", .set = note,
             .key = "data.dir"},
            {"--x", "FILES", "NumPy arrays: the test samples, all of them", .set = note,
             .key = "data.test_x"},
            {"--y", "FILES", "NumPy arrays: the labels of --x, or the numbers to predict",
             .set = note, .key = "data.test_y"},
            {"--text", "FILES", "text files, whose last tenth is the test set", .set = note,
             .key = "data.text"},
            {"--tokens", "FILES", "files of tokens, whose last tenth is the test set", .set = note,
             .key = "data.tokens"},
            {"--valid", "FILES", "files that are only the test set", .set = note,
             .key = "data.valid"},
            {"--data-seed", "N", "seed of the generated samples (default 1)", .set = note,
             .key = "data.seed"},
            {"--test-count", "N", "number of generated test samples (default 2000)", .set = note,
             .key = "data.test_count"},
            {"--model", "NAME", "the model, if the file does not name it: a preset (model.name)",
             .set = note, .key = "model.name"},
            {"--layers", "LINE", "the model as a line of layers (model.layers)", .set = note,
             .key = "model.layers"},
            {"--set", "KEY=VALUE", "any other key of [data] or [model]", .set = note},
            {"--json", NULL, "print one JSON object", .member = offsetof(struct options, json)},
            {0}},
    .column = 22,
    .notes =
        "A file that hearsay saved contains its layers, the normalisation of its data and a "
        "checksum; a\n"
        "file with damaged or changed weights is refused. Any other safetensors file is read as\n"
        "model.start reads it: its tensors must have the names and shapes of the model, and the "
        "training\n"
        "data give the normalisation. With --model or --layers, every file is read this way.\n"
        "For a model that predicts numbers, the command prints the error and the explained part of "
        "the\n"
        "variance (R2). For a model of sequences it prints the loss per token in nats (for bytes "
        "also in\n"
        "bits), the perplexity, and how many next tokens it predicts correctly.",
    .exit_codes = "0 done, 1 failed, 2 wrong usage.",
    .run = run,
};
