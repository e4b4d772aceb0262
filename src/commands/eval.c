#include "commands/eval.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "backend/backend.h"
#include "base/arena.h"
#include "config/config.h"
#include "config/initial_weights.h"
#include "config/setup.h"
#include "data/dataset.h"
#include "layers/model.h"
#include "state/export.h"
#include "state/safetensors.h"
#include "training/evaluator.h"

#define BATCH       100
#define READS_MAX   100                /* of a file that is being replaced */
#define ARENA_BYTES ((size_t)16 << 30) /* address space; only what is touched costs memory */

static const char usage[] =
    "hearsay eval [options]: loss and accuracy of a saved model\n"
    "\n"
    "  --state DIR|FILE    a node's state folder (default state), or a .safetensors file\n"
    "  --data-source NAME  idx, generated or xor (default idx)\n"
    "  --data-dir DIR      folder of the IDX files (default Fashion-MNIST)\n"
    "  --data-seed N       of the generated samples (default 1)\n"
    "  --test-count N      generated test samples (default 2000)\n"
    "  --model NAME        the model of a file that does not say it: a preset (model.name)\n"
    "  --layers LINE       the same, as a line of layers (model.layers)\n"
    "  --set KEY=VALUE     any other key of [data] or [model]\n"
    "  --json              print one JSON object\n"
    "  --help              print this\n"
    "\n"
    "A file that hearsay saved says its model, how its data was normalised and a checksum: one\n"
    "whose weights were damaged or changed since is refused. Any other safetensors file is taken\n"
    "as model.start takes it: its tensors must have the names and shapes of the model, and the\n"
    "training data says how to normalise. --model and --layers have any file taken so.\n"
    "Exit codes: 0 done, 1 failed, 2 wrong usage.\n";

struct options {
    const char *state;    /* a folder or a file */
    struct config config; /* [data] and [model] */
    bool names_model;     /* --model or --layers was given: metadata is not looked at */
    bool json;
    bool help;
};

struct result {
    char layers[MODEL_LINE_MAX];
    uint64_t digest;
    uint64_t samples; /* learned by the whole swarm */
    bool has_samples; /* false: the file does not say */
    struct evaluation score;
};

/* What evaluating takes, given back in one place. */
struct bench {
    struct arena arena;
    struct backend *backend;
    struct model *model;
    struct dataset test;
};

/* The options are keys of [data] and [model], with their bounds and messages. */
static enum error set_key(struct options *options, const char *key, const char *value,
                          struct problem *problem)
{
    char assignment[CONFIG_PATH_BYTES + MODEL_LINE_MAX];
    (void)snprintf(assignment, sizeof assignment, "%s=%s", key, value);
    return config_set(&options->config, assignment, problem);
}

static enum error set_model(struct options *options, const char *key, const char *value,
                            struct problem *problem)
{
    options->names_model = true;
    return set_key(options, key, value, problem);
}

static enum error parse_option(struct options *options, int option, struct problem *problem)
{
    switch (option) {
    case 's':
        options->state = optarg;
        return OK;
    case 'S':
        return set_key(options, "data.source", optarg, problem);
    case 'D':
        return set_key(options, "data.dir", optarg, problem);
    case 'E':
        return set_key(options, "data.seed", optarg, problem);
    case 'N':
        return set_key(options, "data.test_count", optarg, problem);
    case 'M':
        return set_model(options, "model.name", optarg, problem);
    case 'L':
        return set_model(options, "model.layers", optarg, problem);
    case 'K':
        return config_set(&options->config, optarg, problem);
    case 'j':
        options->json = true;
        return OK;
    case 'h':
        options->help = true;
        return OK;
    default:
        return problem_set(problem, MALFORMED, "see: hearsay eval --help");
    }
}

static enum error parse_options(struct options *options, int argc, char **argv,
                                struct problem *problem)
{
    static const struct option known[] = {{"state", required_argument, NULL, 's'},
                                          {"data-source", required_argument, NULL, 'S'},
                                          {"data-dir", required_argument, NULL, 'D'},
                                          {"data-seed", required_argument, NULL, 'E'},
                                          {"test-count", required_argument, NULL, 'N'},
                                          {"model", required_argument, NULL, 'M'},
                                          {"layers", required_argument, NULL, 'L'},
                                          {"set", required_argument, NULL, 'K'},
                                          {"json", no_argument, NULL, 'j'},
                                          {"help", no_argument, NULL, 'h'},
                                          {NULL, 0, NULL, 0}};
    int option;
    while ((option = getopt_long(argc, argv, "h", known, NULL)) != -1) {
        enum error error = parse_option(options, option, problem);
        if (error != OK || options->help)
            return error;
    }
    if (optind < argc)
        return problem_set(problem, MALFORMED,
                           "eval takes no argument \"%.80s\"; see: hearsay "
                           "eval --help",
                           argv[optind]);
    return OK;
}

/* The file itself, or the base in a state folder. */
static enum error find_file(char path[static BASE_PATH_BYTES], const char *state,
                            struct problem *problem)
{
    struct stat found;
    const bool is_folder = stat(state, &found) == 0 && S_ISDIR(found.st_mode);
    if (is_folder)
        export_path(path, state);
    else
        (void)snprintf(path, BASE_PATH_BYTES, "%s", state);
    if (is_folder && stat(path, &found) != 0 && errno == ENOENT)
        return problem_set(problem, MISSING,
                           "%.300s: is not there yet: a node writes it every node.save_s, with "
                           "each checkpoint, and when it leaves",
                           path);
    return OK;
}

/* Loads the test set, normalised as the file says. */
static enum error load_test(struct dataset *test, const struct config_data *data,
                            const struct safetensors_about *about, struct problem *problem)
{
    struct dataset_options options = {.source = data->source,
                                      .directory = data->dir,
                                      .seed = data->seed,
                                      .train_count = data->train_count,
                                      .test_count = data->test_count,
                                      .shards = 1};
    enum error error = dataset_load_test(test, &options, problem);
    if (error != OK)
        return error;
    test->mean = about->mean;
    test->scale = about->scale;
    const bool fits = test->shape.channels == about->in.channels &&
                      test->shape.height == about->in.height &&
                      test->shape.width == about->in.width && test->classes == about->classes;
    if (fits)
        return OK;
    return problem_set(problem, MISMATCH,
                       "the model is for %dx%dx%d samples of %d classes, the test set has "
                       "%dx%dx%d of %d; choose the data it was trained on with --data-source",
                       about->in.channels, about->in.height, about->in.width, about->classes,
                       test->shape.channels, test->shape.height, test->shape.width, test->classes);
}

/* A node that trains may replace its file between two reads. Weights and metadata are known to be
 * of one file once the metadata before and after the weights is the same. */
static enum error load_weights(const char *path, const struct model *model, float *weights,
                               struct safetensors_about *about, struct problem *problem)
{
    for (int i = 0; i < READS_MAX; i++) {
        const struct safetensors_about before = *about;
        enum error error = safetensors_load(path, model, weights, problem);
        if (error == OK)
            error = safetensors_read_about(path, about, problem);
        if (error != OK)
            return error;
        if (about->digest == before.digest && about->samples == before.samples)
            return safetensors_checksum(weights, model_parameters(model)) == about->checksum
                       ? OK
                       : problem_set(problem, FORGED,
                                     "%.300s: its weights are not those that were saved: it was "
                                     "damaged or changed; use another copy",
                                     path);
    }
    return problem_set(problem, FAILED, "%s: is replaced faster than it can be read; copy it",
                       path);
}

static void score(struct bench *bench, const float *weights, struct result *result)
{
    struct evaluator *evaluator =
        evaluator_new(&bench->arena, bench->backend, bench->model, &bench->test);
    result->score = evaluator_run(evaluator, weights, 0, bench->test.count);
    (void)snprintf(result->layers, sizeof result->layers, "%s", model_line(bench->model));
    evaluator_free(evaluator);
}

/* A file that says its model and how its data was normalised. */
static enum error evaluate_saved(struct bench *bench, const char *path,
                                 const struct options *options, struct safetensors_about *about,
                                 struct result *result, struct problem *problem)
{
    enum error error = model_new(&bench->model, &bench->arena, bench->backend, about->layers,
                                 about->in, about->classes, BATCH, problem);
    if (error == OK)
        error = load_test(&bench->test, &options->config.data, about, problem);
    if (error != OK)
        return error;
    float *weights = arena_take(&bench->arena, model_parameters(bench->model), sizeof *weights);
    error = load_weights(path, bench->model, weights, about, problem);
    if (error != OK)
        return error;
    result->digest = about->digest;
    result->samples = about->samples;
    result->has_samples = true;
    score(bench, weights, result);
    return OK;
}

/* Any other file: what a swarm with this configuration would start from. */
static enum error evaluate_start(struct bench *bench, const char *path,
                                 const struct options *options, struct result *result,
                                 struct problem *problem)
{
    struct dataset train = {0};
    struct setup_model made = {0};
    enum error error = setup_data(&options->config, &train, &bench->test, problem);
    if (error == OK)
        error = setup_model(&options->config, BATCH, &train, &bench->arena, bench->backend, &made,
                            problem);
    dataset_free(&train);
    if (error != OK)
        return error;
    bench->model = made.model;
    float *weights = arena_take(&bench->arena, model_parameters(made.model), sizeof *weights);
    error = initial_weights_load(path, made.model, weights, &result->digest, problem);
    if (error == OK)
        score(bench, weights, result);
    return error;
}

static void note_default(const struct options *options)
{
    const struct config_model *model = &options->config.model;
    if (!options->names_model)
        (void)fprintf(stderr,
                      "hearsay: the file does not say its model: taken as \"%s\"; name another "
                      "with --model or --layers\n",
                      model->layers[0] ? model->layers : model->name);
}

static enum error evaluate(const char *path, const struct options *options, struct result *result,
                           struct problem *problem)
{
    struct bench bench = {.backend = backend_cpu(1)};
    struct safetensors_about about;
    *result = (struct result){0};
    arena_init(&bench.arena, ARENA_BYTES);
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

static void print_json(const struct result *result)
{
    const struct evaluation *score = &result->score;
    (void)fputs("{\"loss\": ", stdout);
    if (isfinite(score->loss))
        (void)printf("%.9g", score->loss);
    else
        (void)fputs("null", stdout);
    (void)printf(", \"accuracy\": %.6f, \"test_samples\": %" PRIu32 ", \"digest\": \"%016" PRIx64
                 "\", \"samples\": ",
                 (double)score->correct / score->samples, score->samples, result->digest);
    if (result->has_samples)
        (void)printf("%" PRIu64 "}\n", result->samples);
    else
        (void)fputs("null}\n", stdout);
}

static void print_text(const struct result *result)
{
    const struct evaluation *score = &result->score;
    (void)printf("layers    %s\n", result->layers);
    if (result->has_samples)
        (void)printf("learned   %" PRIu64 " samples\n", result->samples);
    else
        (void)puts("learned   not said in the file");
    (void)printf("digest    %016" PRIx64 "\n", result->digest);
    (void)printf("loss      %.4f\n", score->loss);
    (void)printf("accuracy  %.2f %% (%" PRIu32 " of %" PRIu32 " test samples)\n",
                 100.0 * score->correct / score->samples, score->correct, score->samples);
}

int eval_run(int argc, char **argv)
{
    struct options options = {.state = "state"};
    struct problem problem;
    config_defaults(&options.config);
    if (parse_options(&options, argc, argv, &problem) != OK) {
        (void)fprintf(stderr, "hearsay: %s\n", problem.text);
        return 2;
    }
    options.config.model.start[0] = '\0'; /* the file is what is started from */
    if (options.help) {
        (void)fputs(usage, stdout);
        return 0;
    }
    char path[BASE_PATH_BYTES];
    struct result result;
    enum error error = find_file(path, options.state, &problem);
    if (error == OK)
        error = evaluate(path, &options, &result, &problem);
    if (error != OK) {
        (void)fprintf(stderr, "hearsay: %s\n", problem.text);
        return 1;
    }
    if (options.json)
        print_json(&result);
    else
        print_text(&result);
    return 0;
}
