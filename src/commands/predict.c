#include "commands/predict.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backend/backend.h"
#include "base/arena.h"
#include "base/memory.h"
#include "commands/inference_client.h"
#include "commands/png_image.h"
#include "commands/progress.h"
#include "commands/saved_model.h"
#include "config/setup.h"
#include "data/arrays.h"
#include "layers/model.h"

#define INPUTS_MAX 1024
#define TOP_MAX    100

struct options {
    const char *state; /* path of the state folder or model file */
    const char *node;  /* address of the node that predicts; NULL = use a saved model */
    /* Paths of the key files for asking a node; identity may be NULL. */
    const char *swarm_key, *identity;
    const char *input[INPUTS_MAX];
    int inputs;
    int top;
    bool json;
};

/* Resources of a prediction, which are released together. */
struct bench {
    struct arena arena;
    struct backend *backend;
    struct model *model;             /* the saved model; NULL = a node predicts */
    struct inference_client *client; /* connection to the node; NULL = the saved model is used */
    struct safetensors_about about;
    size_t outputs; /* numbers per prediction */
    float *weights; /* [P] weights in the backend's memory */
    float *x;       /* [batch, in] samples in the backend's memory */
    float *host_x;  /* [batch, in] in main memory: normalised samples, or float32 samples as read */
    float *host_y;  /* [batch, outputs] predictions in main memory */
    /* [batch, in] samples of 1 byte (uint8) as read from the file; float32 samples go to host_x */
    unsigned char *bytes;
    uint32_t batch;
    const struct options *options;
};

static enum error add_input(void *self, const struct command_option *option, const char *path,
                            struct problem *problem)
{
    struct options *options = self;
    (void)option;
    if (options->inputs == INPUTS_MAX)
        return problem_set(problem, TOO_BIG, "more than %d files; name fewer at once", INPUTS_MAX);
    options->input[options->inputs++] = path;
    return OK;
}

static enum error finish(void *self, int count, char **words, struct problem *problem)
{
    const struct options *options = self;
    enum error error = OK;
    for (int i = 0; error == OK && i < count; i++)
        error = add_input(self, NULL, words[i], problem);
    if (error == OK && options->inputs == 0)
        return problem_set(problem, MALFORMED,
                           "there is nothing to predict: name a file with --input; see: hearsay "
                           "predict --help");
    return error;
}

/* Returns true if the model was trained with float32 samples: its file then stores mean 0 and scale
 * 1. */
static bool learned_floats(const struct safetensors_about *about)
{
    return about->mean == 0 && about->scale == 1;
}

static enum error read_about(struct bench *bench, const char *path, struct problem *problem)
{
    const enum error error = safetensors_read_about(path, &bench->about, problem);
    if (error == MISMATCH)
        return problem_set(problem, MISMATCH,
                           "%.300s: the file does not contain its layers and the normalisation of "
                           "its data; name a file that a node has saved",
                           path);
    if (error == OK && bench->about.in.length > 0)
        return problem_set(problem, MISMATCH,
                           "%.300s: this is a model of sequences, which continues a text: hearsay "
                           "generate --state %.100s",
                           path, path);
    return error;
}

static void make_room(struct bench *bench)
{
    const size_t numbers = bench->batch * shape_size(bench->about.in);
    bench->host_x = arena_alloc(&bench->arena, numbers, sizeof *bench->host_x);
    bench->bytes = arena_alloc(&bench->arena, numbers, sizeof(float));
    bench->host_y =
        arena_alloc(&bench->arena, bench->batch * bench->outputs, sizeof *bench->host_y);
}

static enum error load_model(struct bench *bench, const char *path, struct problem *problem)
{
    struct safetensors_about *about = &bench->about;
    enum error error = read_about(bench, path, problem);
    if (error != OK)
        return error;
    bench->batch = setup_evaluation_batch(about->layers, about->in, about->classes);
    error = model_new(&bench->model, &bench->arena, bench->backend, about->layers, about->in,
                      about->classes, (int)bench->batch, problem);
    if (error != OK)
        return error;
    const size_t parameters = model_parameters(bench->model);
    float *weights = arena_alloc(&bench->arena, parameters, sizeof *weights);
    error = saved_model_load(path, bench->model, weights, about, problem);
    if (error != OK)
        return error;
    bench->outputs = (size_t)model_outputs(bench->model);
    const size_t numbers = bench->batch * shape_size(about->in);
    bench->weights = bench->backend->alloc(bench->backend, parameters * sizeof *weights);
    bench->backend->upload(bench->backend, bench->weights, weights, parameters * sizeof *weights);
    bench->x = bench->backend->alloc(bench->backend, numbers * sizeof *bench->x);
    make_room(bench);
    return OK;
}

/* The node normalises bytes itself, so about.scale only marks the type of samples: 0 = bytes, 1 =
 * float32. */
static enum error meet_node(struct bench *bench, struct problem *problem)
{
    struct inference_client_options options = {.swarm_key = bench->options->swarm_key,
                                               .identity = bench->options->identity};
    enum error error = address_parse(&options.address, bench->options->node, problem);
    if (error == OK)
        error = inference_client_open(&bench->client, &options, problem);
    if (error != OK)
        return error;
    const struct inference_shape *shape = inference_client_shape(bench->client);
    bench->about = (struct safetensors_about){.in = shape->shape,
                                              .classes = shape->outputs,
                                              .is_regression = shape->is_regression,
                                              .scale = shape->is_floats ? 1 : 0};
    bench->outputs = (size_t)shape->outputs;
    bench->batch = inference_client_samples_max(bench->client);
    make_room(bench);
    return OK;
}

static void softmax(const float *logits, size_t classes, double *probabilities)
{
    double top = (double)logits[0], sum = 0;
    for (size_t c = 1; c < classes; c++)
        top = fmax(top, (double)logits[c]);
    for (size_t c = 0; c < classes; c++)
        sum += probabilities[c] = exp((double)logits[c] - top);
    for (size_t c = 0; c < classes; c++)
        probabilities[c] /= sum;
}

/* Returns the most probable class, the first one if several are equal. Sets *probability, and marks
 * the class in the array so that the next call returns another one. */
static size_t take_likeliest(double *probabilities, size_t classes, double *probability)
{
    size_t best = 0;
    for (size_t c = 1; c < classes; c++)
        if (probabilities[c] > probabilities[best])
            best = c;
    *probability = probabilities[best];
    probabilities[best] = -1;
    return best;
}

static void print_json(json_t *object)
{
    (void)json_dumpf(object, stdout, JSON_COMPACT | JSON_REAL_PRECISION(6));
    (void)fputc('\n', stdout);
    json_decref(object);
}

static void say_classes(const struct bench *bench, const char *path, uint64_t sample,
                        const float *logits)
{
    const size_t classes = (size_t)bench->about.classes;
    double *probabilities = memory_new(classes, sizeof *probabilities), probability;
    json_t *names = json_array(), *shares = json_array();
    softmax(logits, classes, probabilities);
    if (!bench->options->json)
        (void)printf("%6" PRIu64, sample);
    for (int i = 0; i < bench->options->top && (size_t)i < classes; i++) {
        const size_t class = take_likeliest(probabilities, classes, &probability);
        (void)json_array_append_new(names, json_integer((json_int_t) class));
        (void)json_array_append_new(shares, json_real(probability));
        if (!bench->options->json)
            (void)printf("%s%zu %.2f %%", i > 0 ? ", " : "  ", class, 100 * probability);
    }
    if (bench->options->json)
        print_json(json_pack("{s:s, s:I, s:O, s:O}", "file", path, "sample", (json_int_t)sample,
                             "classes", names, "probabilities", shares));
    else
        (void)fputc('\n', stdout);
    json_decref(names);
    json_decref(shares);
    free(probabilities);
}

static void say_numbers(const struct bench *bench, const char *path, uint64_t sample,
                        const float *numbers)
{
    json_t *list = json_array();
    for (int k = 0; k < bench->about.classes; k++)
        (void)json_array_append_new(list, json_real((double)numbers[k]));
    if (bench->options->json) {
        print_json(json_pack("{s:s, s:I, s:O}", "file", path, "sample", (json_int_t)sample,
                             "numbers", list));
    } else {
        (void)printf("%6" PRIu64, sample);
        for (int k = 0; k < bench->about.classes; k++)
            (void)printf("  %.6g", (double)numbers[k]);
        (void)fputc('\n', stdout);
    }
    json_decref(list);
}

/* Computes host_y[count, outputs], with the model from host_x[count, in], or by a request to the
 * node. */
static enum error compute(const struct bench *bench, uint32_t count, struct problem *problem)
{
    struct backend *backend = bench->backend;
    const void *raw = learned_floats(&bench->about) ? (const void *)bench->host_x : bench->bytes;
    if (bench->client)
        return inference_client_request(bench->client, raw, count, bench->host_y, problem);
    backend->upload(backend, bench->x, bench->host_x,
                    count * shape_size(bench->about.in) * sizeof *bench->x);
    const float *y = model_forward(bench->model, bench->weights, bench->x, (int)count);
    backend->download(backend, bench->host_y, y, count * bench->outputs * sizeof *y);
    return OK;
}

/* first: index of the first of these samples in the file. */
static enum error predict(const struct bench *bench, const char *path, uint64_t first,
                          uint32_t count, struct problem *problem)
{
    const enum error error = compute(bench, count, problem);
    for (uint32_t i = 0; error == OK && i < count; i++) {
        const float *said = bench->host_y + i * bench->outputs;
        if (bench->about.is_regression)
            say_numbers(bench, path, first + i, said);
        else
            say_classes(bench, path, first + i, said);
    }
    return error;
}

/* Normalises samples as in training (dataset.h): (pixel - mean) · scale. */
static void normalise(const struct bench *bench, size_t numbers)
{
    for (size_t i = 0; i < numbers; i++)
        bench->host_x[i] = ((float)bench->bytes[i] - bench->about.mean) * bench->about.scale;
}

/* A list of dimensions, such as "28, 28". */
struct dims_text {
    char text[80];
};

static struct dims_text dims_text(const uint64_t *dims, int rank)
{
    struct dims_text list = {""};
    size_t used = 0;
    for (int i = 0; i < rank && used < sizeof list.text; i++)
        used += (size_t)snprintf(list.text + used, sizeof list.text - used, "%s%" PRIu64,
                                 i > 0 ? ", " : "", dims[i]);
    return list;
}

/* Refuses an array whose samples have another shape than those of the model. Names a remedy if the
 * array is one sample, or has the right number of values in another shape. */
static enum error refuse_shape(const struct npy_file *file, struct shape in,
                               struct problem *problem)
{
    const uint64_t sides[] = {(uint64_t)in.channels, (uint64_t)in.height, (uint64_t)in.width};
    const int first = in.channels > 1 ? 0 : in.height > 1 ? 1 : 2; /* a table has rows only */
    const struct dims_text taken = dims_text(sides + first, 3 - first);
    const struct dims_text given = dims_text(file->stored_dims, file->rank);
    const struct dims_text last = dims_text((uint64_t[]){sides[1], sides[2], sides[0]}, 3);
    const size_t size = shape_size(in);
    const bool is_one = strcmp(given.text, taken.text) == 0 || strcmp(given.text, last.text) == 0;
    /* values of several channels may be in another order */
    const bool is_flat =
        in.channels == 1 && (file->size == size || file->dims[0] * file->size == size);
    char remedy[120] = "give samples of that shape";
    if (is_one)
        (void)snprintf(remedy, sizeof remedy, "give one sample as x[None]");
    else if (is_flat)
        (void)snprintf(remedy, sizeof remedy, "x.reshape(-1, %s) has it", taken.text);
    return problem_set(problem, MISMATCH,
                       "%.200s: its shape is [%s], and the model takes n samples as [n, %s]; %s",
                       file->path, given.text, taken.text, remedy);
}

static enum error check_npy(const struct bench *bench, const struct npy_file *file,
                            struct problem *problem)
{
    const bool floats = learned_floats(&bench->about);
    struct shape given;
    char type[NPY_NAME_BYTES];
    const enum error error = arrays_shape(file, &given, problem);
    if (error != OK)
        return error;
    if (memcmp(&given, &bench->about.in, sizeof given) != 0)
        return refuse_shape(file, bench->about.in, problem);
    if ((file->kind == 'f') == floats && (floats || file->bytes == 1) && file->kind != 'i')
        return OK;
    return problem_set(
        problem, MISMATCH,
        "%.300s: contains %s, but the model was trained on %s; give samples of the same type",
        file->path, npy_file_type(type, file), floats ? "float32" : "bytes (uint8)");
}

static enum error check_finite(const struct npy_file *file, const float *x, uint64_t first,
                               size_t count, struct problem *problem)
{
    const size_t numbers = count * file->size, at = arrays_first_broken(x, numbers);
    if (at == numbers)
        return OK;
    return problem_set(problem, MALFORMED,
                       "%.300s: sample %" PRIu64
                       " contains a number that is not finite; remove such samples",
                       file->path, first + at / file->size);
}

/* Shows a line of progress unless standard output is a terminal, where the predictions themselves
 * show the progress. */
static enum error predict_npy(const struct bench *bench, struct npy_file *file,
                              struct problem *problem)
{
    struct progress progress = {.what = "predicting"};
    enum error error = check_npy(bench, file, problem);
    if (isatty(STDOUT_FILENO) == 0)
        progress_begin(&progress, "predicting");
    while (error == OK && file->at < file->dims[0]) {
        const uint64_t first = file->at, left = file->dims[0] - first;
        const uint32_t count = left < bench->batch ? (uint32_t)left : bench->batch;
        if (file->kind == 'f') {
            error = npy_file_read(file, bench->host_x, count, problem);
            if (error == OK)
                error = check_finite(file, bench->host_x, first, count, problem);
        } else {
            error = npy_file_read(file, bench->bytes, count, problem);
            normalise(bench, count * file->size);
        }
        if (error == OK)
            error = predict(bench, file->path, first, count, problem);
        progress_at(&progress, (double)file->at / (double)file->dims[0]);
    }
    progress_end(&progress);
    return error;
}

static enum error predict_png(const struct bench *bench, const char *path, struct problem *problem)
{
    if (learned_floats(&bench->about))
        return problem_set(problem, MISMATCH,
                           "%.300s: contains bytes, but the model was trained on float32; give a "
                           ".npy file of float32, scaled as in training",
                           path);
    const enum error error = png_image_read(path, bench->about.in, bench->bytes, problem);
    if (error != OK)
        return error;
    normalise(bench, shape_size(bench->about.in));
    return predict(bench, path, 0, 1, problem);
}

static bool is_png(const char *path)
{
    static const unsigned char magic[] = {0x89, 'P', 'N', 'G'};
    unsigned char begin[sizeof magic] = {0};
    FILE *file = fopen(path, "rb");
    const bool is_read = file && fread(begin, 1, sizeof begin, file) == sizeof begin;
    if (file)
        (void)fclose(file);
    return is_read && memcmp(begin, magic, sizeof magic) == 0;
}

/* Takes the channels as the last dimension if this matches the model's input, otherwise as the
 * first. */
static enum error order_as_learned(const struct bench *bench, struct npy_file *file,
                                   struct problem *problem)
{
    const struct shape in = bench->about.in;
    const bool is_last = file->rank == 4 && file->dims[1] == (uint64_t)in.height &&
                         file->dims[2] == (uint64_t)in.width &&
                         file->dims[3] == (uint64_t)in.channels;
    return npy_file_order(file, is_last ? NPY_CHANNELS_LAST : NPY_CHANNELS_FIRST, problem);
}

static enum error predict_file(const struct bench *bench, const char *path, struct problem *problem)
{
    struct npy_file file;
    if (!bench->options->json && bench->options->inputs > 1)
        (void)printf("%s\n", path);
    if (is_png(path))
        return predict_png(bench, path, problem);
    enum error error = npy_file_open(&file, path, problem);
    if (error != OK)
        return error;
    error = order_as_learned(bench, &file, problem);
    if (error == OK)
        error = predict_npy(bench, &file, problem);
    npy_file_close(&file);
    return error;
}

static enum error predict_all(struct bench *bench, struct problem *problem)
{
    const struct options *options = bench->options;
    char path[BASE_PATH_BYTES];
    enum error error =
        options->node ? meet_node(bench, problem) : saved_model_find(path, options->state, problem);
    if (error == OK && !options->node)
        error = load_model(bench, path, problem);
    for (int i = 0; error == OK && i < options->inputs; i++)
        error = predict_file(bench, options->input[i], problem);
    return error;
}

static void bench_free(struct bench *bench)
{
    if (bench->model)
        model_free(bench->model);
    if (bench->weights) {
        bench->backend->free(bench->backend, bench->weights);
        bench->backend->free(bench->backend, bench->x);
    }
    if (bench->client)
        inference_client_close(bench->client);
    bench->backend->close(bench->backend);
    arena_release(&bench->arena);
}

static int run(int argc, char **argv)
{
    struct options options = {.state = "state", .swarm_key = "swarm.key", .top = 5};
    struct problem problem;
    const int code = command_read(&predict_command, &options, argc, argv);
    if (code != COMMAND_RUNS)
        return code;
    struct bench bench = {.backend = backend_cpu(1), .options = &options};
    arena_init_growing(&bench.arena);
    const enum error error = predict_all(&bench, &problem);
    (void)fflush(stdout);
    if (error != OK)
        (void)fprintf(stderr, "hearsay: %s\n", problem.text);
    bench_free(&bench);
    return error == OK ? 0 : 1;
}

const struct command predict_command = {
    .name = "predict",
    .summary = "predict classes or numbers for samples with a saved model",
    .forms = {{"hearsay predict [options] FILE...",
               "predict with a saved model, or with a running node"}},
    .options =
        (const struct command_option[]){
            {"--state", "DIR|FILE",
             "a node's state folder (default state), or its .safetensors file",
             .member = offsetof(struct options, state)},
            {"--node", "HOST:PORT", "ask this node of a swarm, which needs node.answers = yes",
             .member = offsetof(struct options, node)},
            {"--swarm-key", "FILE", "the swarm key, for --node (default swarm.key)",
             .member = offsetof(struct options, swarm_key)},
            {"--identity", "FILE",
             "identity of this client, for --node (default: a new one); needed if the\nnode has a "
             "list of members",
             .member = offsetof(struct options, identity)},
            {"--input", "FILE",
             "a NumPy array (.npy) whose first dimension is the number of samples, or\none image "
             "(.png), converted to grey or colours as the model needs",
             .set = add_input},
            {"--top", "K", "number of classes to print, the likeliest first (default 5)",
             COMMAND_WHOLE(struct options, top, 1, TOP_MAX)},
            {"--json", NULL, "print one JSON object per line",
             .member = offsetof(struct options, json)},
            {0}},
    .column = 21,
    .notes = "Prints one line per sample: its number in the file, then classes with their "
             "probabilities, or the\n"
             "numbers that a regression model predicts. Bytes are normalised as in training; a "
             "model that was\n"
             "trained on float32 needs float32, scaled as in training.",
    .exit_codes = "0 done, 1 failed, 2 wrong usage.",
    .takes_operands = true,
    .finish = finish,
    .run = run,
};
