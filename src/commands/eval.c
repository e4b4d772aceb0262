#include "commands/eval.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/arena.h"
#include "backend/backend.h"
#include "state/export.h"
#include "config/config.h"
#include "data/dataset.h"
#include "training/evaluator.h"
#include "layers/model.h"
#include "state/safetensors.h"

#define BATCH       100
#define LOOKS       100                /* at a file that becomes another meanwhile */
#define ARENA_BYTES ((size_t)16 << 30) /* address space; only what is touched costs memory */

static const char usage[] =
    "hearsay eval [options]: loss and accuracy of a saved model\n"
    "\n"
    "  --state DIR|FILE    a node's state folder (default state), or a .safetensors file\n"
    "  --data-source NAME  idx, generated or xor (default idx)\n"
    "  --data-dir DIR      folder of the IDX files (default Fashion-MNIST)\n"
    "  --data-seed N       of the generated samples (default 1)\n"
    "  --test-count N      generated test samples (default 2000)\n"
    "  --json              print one JSON object\n"
    "  --help              print this\n"
    "\n"
    "A file whose weights were damaged or changed since is refused.\n"
    "Exit codes: 0 done, 1 failed, 2 wrong usage.\n";

struct options {
    const char *state;
    struct config config; /* its [data] says which test set */
    bool json;
    bool help;
};

struct result {
    struct safetensors_about about;
    struct evaluation score;
};

/* The --data options are the keys of [data], with their bounds and messages. */
static enum error set_data(struct options *options, const char *key, const char *value,
                           struct problem *problem)
{
    char assignment[CONFIG_PATH_BYTES + 64];
    (void)snprintf(assignment, sizeof assignment, "data.%s=%s", key, value);
    return config_set(&options->config, assignment, problem);
}

static enum error parse_option(struct options *options, int option, struct problem *problem)
{
    switch (option) {
    case 's':
        options->state = optarg;
        return OK;
    case 'S':
        return set_data(options, "source", optarg, problem);
    case 'D':
        return set_data(options, "dir", optarg, problem);
    case 'E':
        return set_data(options, "seed", optarg, problem);
    case 'N':
        return set_data(options, "test_count", optarg, problem);
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

/* Where a node still trains, its file may become another between two looks: until two are the same,
 * what lies between them is not known to be of either. */
static enum error load_weights(const char *path, const struct model *model, float *weights,
                               struct safetensors_about *about, struct problem *problem)
{
    for (int i = 0; i < LOOKS; i++) {
        const struct safetensors_about before = *about;
        enum error error = safetensors_load(path, model, weights, problem);
        if (error == OK)
            error = safetensors_read_about(path, about, problem);
        if (error != OK || (about->digest == before.digest && about->samples == before.samples))
            return error;
    }
    return problem_set(problem, FAILED, "%s: becomes another faster than it can be read; copy it",
                       path);
}

static enum error score_file(struct arena *arena, struct backend *backend, const char *path,
                             struct model *model, const struct dataset *test, struct result *result,
                             struct problem *problem)
{
    const size_t count = model_parameters(model);
    float *weights = arena_take(arena, count, sizeof *weights);
    enum error error = load_weights(path, model, weights, &result->about, problem);
    if (error == OK && safetensors_checksum(weights, count) != result->about.checksum)
        error = problem_set(problem, FORGED,
                            "%.300s: its weights are not those that were saved: it was damaged or "
                            "changed; use another copy",
                            path);
    if (error != OK)
        return error;
    struct evaluator *evaluator = evaluator_new(arena, backend, model, test);
    result->score = evaluator_mark(evaluator, weights, 0, test->count);
    evaluator_free(evaluator);
    return OK;
}

static enum error evaluate(struct arena *arena, const char *path, const struct options *options,
                           struct result *result, struct problem *problem)
{
    const struct safetensors_about *about = &result->about;
    struct backend *backend = backend_cpu(1);
    struct model *model = NULL;
    struct dataset test = {0};
    enum error error = safetensors_read_about(path, &result->about, problem);
    if (error == OK)
        error = model_new(&model, arena, backend, about->layers, about->in, about->classes, BATCH,
                          problem);
    if (error == OK)
        error = load_test(&test, &options->config.data, about, problem);
    if (error == OK)
        error = score_file(arena, backend, path, model, &test, result, problem);
    dataset_free(&test);
    if (model)
        model_free(model);
    backend->close(backend);
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
                 "\", \"samples\": %" PRIu64 "}\n",
                 (double)score->correct / score->samples, score->samples, result->about.digest,
                 result->about.samples);
}

static void print_text(const struct result *result)
{
    const struct evaluation *score = &result->score;
    (void)printf("layers    %s\n", result->about.layers);
    (void)printf("learned   %" PRIu64 " samples\n", result->about.samples);
    (void)printf("digest    %016" PRIx64 "\n", result->about.digest);
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
    if (options.help) {
        (void)fputs(usage, stdout);
        return 0;
    }
    char path[BASE_PATH_BYTES];
    struct result result;
    struct arena arena;
    arena_init(&arena, ARENA_BYTES);
    enum error error = find_file(path, options.state, &problem);
    if (error == OK)
        error = evaluate(&arena, path, &options, &result, &problem);
    arena_release(&arena);
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
