/* Measures the speed of hearsay on a GPU: bench_gpu [DEVICE [PARAMETERS [PART [WORD...]]]].
 *
 *   DEVICE      cuda:0
 *   PARAMETERS  of the exchange (100000000)
 *   PART        divides the numbers of steps and the times to warm up and to publish (1)
 *   WORD        measures only this: fp32, tf32, bf16, a model, samples, exchange, publishing
 *
 * In each precision: samples per second of whole steps of a learner, from picking samples to the
 * weights, as medians. To compare with PyTorch on the same card, run python3
 * tests/bench/bench_torch.py --cuda right before or after. Only in fp32: the time to gather a batch
 * from memory of the device and of the host; then the exchange of PARAMETERS parameters: the pass
 * before a publication relative to a copy of equal memory, and again with the base 64 KiB further
 * on, in another memory bank than the weights; then publishing, with the encoding of its bodies;
 * then applying. Last, the part of its steps that a learner loses if it publishes four times a
 * second and applies three times as many updates: 10 million parameters in fp32, and GPT-2's 124
 * million in bf16. */
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/cuda/cuda_module.h"
#include "backend/device.h"
#include "base/rng.h"
#include "base/sort.h"
#include "base/system_clock.h"
#include "crypto/secret.h"
#include "training/learner.h"
#include "wire/body_codec.h"
#include "wire/rumor.h"

#define ROUNDS         9
#define PUBLICATIONS_S 4
#define WARM_S         0.5 /* seconds after which clocks and caches are steady */

static struct backend *gpu;

/* Waits until the device has finished its work. */
static void wait_for(const void *memory)
{
    char one;
    gpu->download(gpu, &one, memory, sizeof one);
}

struct net {
    const char *name;
    const char *layers; /* line of layers; NULL = the preset `name` */
    uint32_t batch;
    int steps;      /* steps per round */
    int length;     /* tokens of a sequence; 0 = the model takes images */
    int tokens;     /* number of different tokens */
    double density; /* part of the parameters in each of the learner's publications */
};

static const char cnn[] =
    "conv 32 5x5 pad 2, relu, maxpool 2, conv 64 5x5 pad 2, relu, maxpool 2, dense 512, relu, "
    "dense 10";
static const char wide[] = "dense 4096, relu, dense 4096, relu, dense 4096, relu, dense 10";
static const char ten_million[] = "dense 2048, relu, dense 2048, relu, dense 2048, relu, dense 10";

static const struct net nets[] = {
    {"lenet", NULL, 32, 500, 0, 0, 0},
    {"lenet", NULL, 256, 200, 0, 0, 0},
    {"cnn", cnn, 32, 200, 0, 0, 0},
    {"cnn", cnn, 256, 200, 0, 0, 0},
    {"mlp", NULL, 128, 500, 0, 0, 0},
    {"resnet20", NULL, 128, 50, 0, 0, 0},
    {"wide", wide, 4096, 20, 0, 0, 0},
    {"gpt-mini", NULL, 64, 20, 256, 256, 0},
    {"gpt2-124m", NULL, 16, 8, 1024, 50257, 0},
};

static const struct net publishing[] = {
    {"10 M", ten_million, 128, 0, 0, 0, 0.01},
    {"gpt2-124m", NULL, 16, 0, 1024, 50257, 0.001},
};

/* Makes a data set of sequences of random tokens. */
static void make_sequences(struct dataset *set, const struct net *net)
{
    struct rng rng = rng_new(1, 1);
    *set = (struct dataset){.tokens_count = 1 << 20,
                            .token_bytes = 4,
                            .shape = {1, 1, 1, net->length},
                            .classes = net->tokens};
    uint32_t *tokens = malloc(set->tokens_count * sizeof *tokens);
    CHECK(tokens);
    for (size_t i = 0; i < set->tokens_count; i++)
        tokens[i] = rng_below(&rng, (uint32_t)net->tokens);
    set->tokens = tokens;
    set->count = (uint32_t)((set->tokens_count - 1) / (size_t)net->length);
}

static struct optimizer optimizer_for(const struct net *net)
{
    if (net->length > 0)
        return (struct optimizer){.kind = OPTIMIZER_ADAM,
                                  .sgd = {.rate = 3e-4f, .momentum = 0.9f, .weight_decay = 0.1f},
                                  .beta2 = 0.99f,
                                  .clip = 1};
    return (struct optimizer){.sgd = {.rate = 0.001f, .momentum = 0.9f}};
}

static struct learner *learner_for(struct arena *arena, const struct net *net, uint32_t density_max,
                                   struct model **model)
{
    const struct dataset_options about = {
        .source = DATASET_GENERATED, .seed = 1, .train_count = 8192, .shards = 1};
    const struct learner_options options = {
        .optimizer = optimizer_for(net),
        .batch = net->batch,
        .model_seed = 1,
        .data_seed = 1,
        .density_max = density_max,
    };
    struct dataset train = {0};
    struct problem problem;
    enum error error = OK;
    const char *layers = net->layers ? net->layers : model_preset(net->name);
    if (net->length > 0)
        make_sequences(&train, net);
    else
        error = dataset_load_train(&train, &about, &problem);
    if (error != OK || model_new(model, arena, gpu, layers, train.shape, train.classes,
                                 (int)net->batch, &problem) != OK) {
        (void)fprintf(stderr, "%s\n", problem.text);
        exit(EXIT_FAILURE);
    }
    struct learner *learner = learner_new(arena, gpu, *model, &train, NULL, &options);
    dataset_free(&train);
    return learner;
}

/* Returns the learner's steps per second over for_s seconds. With `terms`, it also publishes
 * PUBLICATIONS_S times a second, and applies each of its own updates three times. */
static double steps_per_second(struct learner *learner, const struct publish_terms *terms,
                               double for_s)
{
    const double start = monotonic_s();
    double passed = 0;
    int steps = 0;
    for (int publications = 0; passed < for_s; passed = monotonic_s() - start, steps++) {
        (void)learner_step(learner);
        if (terms == NULL || passed * PUBLICATIONS_S < publications)
            continue;
        const struct update *update = learner_publish(learner, terms);
        for (int i = 0; i < 3; i++)
            learner_apply(learner, update, (float)terms->beta);
        publications++;
    }
    (void)learner_losses(learner);
    return steps / (monotonic_s() - start);
}

static void bench_net(const struct net *net, int part)
{
    struct arena arena;
    struct model *model;
    arena_init(&arena, (size_t)1 << 30);
    struct learner *learner = learner_for(&arena, net, 1, &model);
    const int steps = net->steps / part > 0 ? net->steps / part : 1;
    double seconds[ROUNDS];
    (void)steps_per_second(learner, NULL, WARM_S / part);
    for (int round = 0; round < ROUNDS; round++) {
        const double start = monotonic_s();
        for (int step = 0; step < steps; step++)
            (void)learner_step(learner);
        (void)learner_losses(learner);
        seconds[round] = (monotonic_s() - start) / steps;
    }
    const double step_s = double_median_high(seconds, ROUNDS);
    printf("%-9s batch %-5u %10.0f samples/s  %9.1f us a step\n", net->name, net->batch,
           net->batch / step_s, 1e6 * step_s);
    learner_free(learner);
    model_free(model);
    arena_release(&arena);
}

/* Number and bytes of the samples to gather. They are in the device's memory, or in page-locked
 * memory of the host, where `keep` (backend.h) puts samples that do not fit. */

#define SAMPLES     65536u
#define SAMPLE_SIZE 784

static double gather_seconds(const void *pixels, uint32_t batch)
{
    uint32_t *pick = malloc(batch * sizeof *pick);
    CHECK(pick);
    struct rng rng = rng_new(2, 2);
    for (uint32_t i = 0; i < batch; i++)
        pick[i] = rng_below(&rng, SAMPLES);
    uint32_t *picked = gpu->alloc(gpu, batch * sizeof *picked);
    float *x = gpu->alloc(gpu, (size_t)batch * SAMPLE_SIZE * sizeof *x);
    gpu->upload(gpu, picked, pick, batch * sizeof *pick);
    double seconds[ROUNDS];
    for (int round = -1; round < ROUNDS; round++) {
        wait_for(x);
        const double start = monotonic_s();
        for (int i = 0; i < 100; i++)
            gpu->gather->pixels(gpu, (int)batch, SAMPLE_SIZE, pixels, picked, 100, 0.01f, x);
        wait_for(x);
        if (round >= 0)
            seconds[round] = (monotonic_s() - start) / 100;
    }
    void *taken[] = {picked, x};
    for (size_t i = 0; i < sizeof taken / sizeof taken[0]; i++)
        gpu->free(gpu, taken[i]);
    free(pick);
    return double_median_high(seconds, ROUNDS);
}

/* Returns a function of the loaded CUDA runtime or of its stand-in. */
static void *cuda_function(const char *name)
{
    Dl_info module;
    CHECK(dladdr(cuda_module(), &module));
    void *loaded = dlopen(module.dli_fname, RTLD_NOW | RTLD_NOLOAD);
    void *found = loaded ? dlsym(loaded, name) : NULL;
    CHECK(found);
    return found;
}

static void bench_samples(uint32_t batch)
{
    int (*allocate)(void **memory, size_t bytes), (*release)(void *memory);
    void *const allocates = cuda_function("cudaMallocHost");
    void *const releases = cuda_function("cudaFreeHost");
    void *near = gpu->alloc(gpu, (size_t)SAMPLES * SAMPLE_SIZE), *far;
    memcpy(&allocate, &allocates, sizeof allocate);
    memcpy(&release, &releases, sizeof release);
    CHECK(allocate(&far, (size_t)SAMPLES * SAMPLE_SIZE) == 0);
    memset(far, 0, (size_t)SAMPLES * SAMPLE_SIZE);
    const double near_s = gather_seconds(near, batch), far_s = gather_seconds(far, batch);
    printf("a batch of %u samples of %d bytes: %.1f us from the device, %.1f from the host, %.1f "
           "GB/s\n",
           batch, SAMPLE_SIZE, 1e6 * near_s, 1e6 * far_s, 1e-9 * batch * SAMPLE_SIZE / far_s);
    CHECK(release(far) == 0);
    gpu->free(gpu, near);
}

static float laplace(struct rng *rng)
{
    const double size = -0.001 * log(1 - rng_uniform(rng));
    return (float)(rng_below(rng, 2) ? size : -size);
}

static double copy_seconds(size_t parameters)
{
    double seconds[ROUNDS];
    float *from = gpu->alloc(gpu, parameters * sizeof *from);
    float *to = gpu->alloc(gpu, parameters * sizeof *to);
    for (int round = -1; round < ROUNDS; round++) {
        wait_for(to);
        const double start = monotonic_s();
        for (int i = 0; i < 4; i++)
            gpu->elements->copy(gpu, parameters, floats(from), floats(to));
        wait_for(to);
        if (round >= 0)
            seconds[round] = (monotonic_s() - start) / 4;
    }
    gpu->free(gpu, from);
    gpu->free(gpu, to);
    return double_median_high(seconds, ROUNDS);
}

static double pass_seconds(struct replica *replica, float floor)
{
    static uint32_t bins[HISTOGRAM_BINS];
    const struct survey survey = {.floor = floor,
                                  .candidates = replica->candidates,
                                  .candidates_max = replica->candidates_max};
    double seconds[ROUNDS];
    for (int round = -1; round < ROUNDS; round++) {
        const double start = monotonic_s();
        (void)gpu->exchange->survey(gpu, &survey, replica->parameters, replica->weights,
                                    replica->base, bins);
        if (round >= 0)
            seconds[round] = monotonic_s() - start;
    }
    return double_median_high(seconds, ROUNDS);
}

/* Times a publication's pass with the base 64 KiB further on in its memory. The weight and the base
 * entry of one index are then in different memory banks. */
static double shifted_pass_seconds(const struct replica *replica, float floor)
{
    const size_t shift = ((size_t)64 << 10) / sizeof *replica->base;
    struct replica shifted = *replica;
    int32_t *memory = gpu->alloc(gpu, (replica->parameters + shift) * sizeof *memory);
    shifted.base = memory + shift;
    gpu->elements->copy(gpu, replica->parameters, floats((float *)replica->base),
                        floats((float *)shifted.base));
    const double seconds = pass_seconds(&shifted, floor);
    gpu->free(gpu, memory);
    return seconds;
}

/* Encodes the bodies of the update's rumors, without signatures. Returns their bytes. */
static size_t encode(const struct update *update)
{
    static uint8_t out[RUMOR_MAX];
    struct body_plan plan;
    size_t bytes = 0;
    for (uint32_t from = 0; from < update->count; from += plan.count) {
        body_plan_make(&plan, update->index + from, update->level + from, update->count - from,
                       RUMOR_MAX - HEAD_BYTES - SIGNATURE_BYTES);
        bytes += body_encode(&plan, update->index + from, update->level + from, out);
    }
    return bytes;
}

static void bench_exchange(size_t parameters, double density)
{
    struct arena arena;
    struct replica replica;
    arena_init(&arena, 16 * parameters);
    float *residuals = malloc(parameters * sizeof *residuals);
    CHECK(residuals);
    struct rng rng = rng_new(1, 1);
    for (size_t c = 0; c < parameters; c++)
        residuals[c] = laplace(&rng);
    float *zeros = arena_alloc(&arena, parameters, sizeof *zeros);
    replica_init(&replica, &arena, gpu, parameters, zeros, (uint32_t)(parameters / 10));
    const struct publish_terms terms = {
        .budget_bytes = (uint32_t)(density * (double)parameters * 1.6), .share = 0.5, .gain = 1};
    double publish_s[ROUNDS], apply_s[ROUNDS];
    uint32_t published = 0;
    size_t bytes = 0;
    for (int round = -2; round < ROUNDS; round++) {
        /* Restores the residuals, so that there is something to publish. */
        replica_write_weights(&replica, residuals);
        wait_for(weights_all(replica.weights));
        const double start = monotonic_s();
        const struct update *update = replica_publish(&replica, &terms);
        bytes = encode(update);
        const double between = monotonic_s();
        replica_apply(&replica, update, (float)terms.beta);
        wait_for(weights_all(replica.weights));
        if (round >= 0) {
            publish_s[round] = between - start;
            apply_s[round] = monotonic_s() - between;
        }
        published = update->count;
    }
    const double copy_s = copy_seconds(parameters);
    const float floor = (float)(-0.001 * log(density));
    const double pass_s = pass_seconds(&replica, floor);
    const double shifted_s = shifted_pass_seconds(&replica, floor);
    const double published_s = double_median_high(publish_s, ROUNDS),
                 applied_s = double_median_high(apply_s, ROUNDS);
    printf(
        "%zu parameters, %.2f %% published, %zu bytes: a copy moves %.0f GB/s, the pass reads %.0f "
        "(%.2f; with the base 64 KiB further on %.2f); publishing %.2f ms, applying %.2f ms\n",
        parameters, 100.0 * published / (double)parameters, bytes,
        8e-9 * (double)parameters / copy_s, 8e-9 * (double)parameters / pass_s, copy_s / pass_s,
        copy_s / shifted_s, 1e3 * published_s, 1e3 * applied_s);
    replica_free(&replica);
    free(residuals);
    arena_release(&arena);
}

static void bench_both(const struct net *net, int part)
{
    struct arena arena;
    struct model *model;
    double alone[ROUNDS], both[ROUNDS];
    arena_init(&arena, (size_t)1 << 30);
    struct learner *learner = learner_for(&arena, net, 1000000, &model);
    const struct publish_terms terms = {
        .budget_bytes = (uint32_t)(net->density * (double)model_parameters(model) * 1.6),
        .share = 0.5,
        .gain = 1,
        .beta = 0.3};
    (void)steps_per_second(learner, &terms, WARM_S / part);
    for (int round = 0; round < ROUNDS; round++) {
        alone[round] = steps_per_second(learner, NULL, 1.0 / part);
        both[round] = steps_per_second(learner, &terms, 1.0 / part);
    }
    const double alone_s = double_median_high(alone, ROUNDS),
                 both_s = double_median_high(both, ROUNDS);
    printf("%s, %zu parameters: %.1f steps/s, and %.1f with %d publications a second of %g %%, and "
           "three times as much applied: %.2f %% fewer\n",
           net->name, model_parameters(model), alone_s, both_s, PUBLICATIONS_S, 100 * net->density,
           100 * (1 - both_s / alone_s));
    learner_free(learner);
    model_free(model);
    arena_release(&arena);
}

/* Returns true if `words` requests `name`: it contains the name, or none of `names`. */
static bool is_asked(char *const *words, const char *const names[], size_t count, const char *name)
{
    bool any = false;
    for (; *words; words++) {
        bool is_one = false;
        for (size_t i = 0; i < count; i++)
            is_one = is_one || strcmp(*words, names[i]) == 0;
        if (is_one && strcmp(*words, name) == 0)
            return true;
        any = any || is_one;
    }
    return !any;
}

static const char *const parts[] = {"lenet",    "cnn",       "mlp",     "resnet20", "wide",
                                    "gpt-mini", "gpt2-124m", "samples", "exchange", "publishing"};

static bool has_part(char *const *words, const char *part)
{
    return is_asked(words, parts, sizeof parts / sizeof parts[0], part);
}

/* Measures samples and exchange, which do not depend on the precision of matrix products, and
 * publishing with 10 million parameters. */
static void bench_exchanges(char *const *words, size_t parameters, int part)
{
    if (has_part(words, "samples")) {
        bench_samples(128);
        bench_samples(4096);
    }
    if (has_part(words, "exchange")) {
        bench_exchange(parameters, 0.001);
        bench_exchange(parameters / 10, 0.01);
    }
    if (has_part(words, "publishing"))
        bench_both(&publishing[0], part);
}

int main(int argc, char **argv)
{
    const char *word = argc > 1 ? argv[1] : "cuda:0";
    const size_t parameters = argc > 2 ? strtoull(argv[2], NULL, 10) : 100000000;
    const int part = argc > 3 ? atoi(argv[3]) : 1;
    char *const *words = argv + (argc > 4 ? 4 : argc);
    static const enum precision precisions[] = {PRECISION_FP32, PRECISION_TF32, PRECISION_BF16};
    static const char *const names[] = {"fp32", "tf32", "bf16"};
    char text[DEVICE_TEXT_MAX];
    struct problem problem;
    secret_start();
    for (size_t p = 0; p < sizeof precisions / sizeof precisions[0]; p++) {
        if (!is_asked(words, names, 3, names[p]))
            continue;
        if (!device_is_word(word) ||
            device_open(word, 1, precisions[p], &gpu, text, &problem) != OK) {
            (void)fprintf(stderr, "bench_gpu: %s\n",
                          device_is_word(word) ? problem.text : DEVICE_WORDS);
            return EXIT_FAILURE;
        }
        printf("%s, %s\n", text, names[p]);
        for (size_t i = 0; i < sizeof nets / sizeof nets[0]; i++) {
            if (has_part(words, nets[i].name))
                bench_net(&nets[i], part);
        }
        if (p == 0)
            bench_exchanges(words, parameters, part);
        if (p == 2 && has_part(words, "publishing"))
            bench_both(&publishing[1], part);
        gpu->close(gpu);
    }
    return EXIT_SUCCESS;
}
