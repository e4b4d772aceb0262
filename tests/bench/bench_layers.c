/* Measures how fast image models train on this machine's CPU (forward, backward and SGD). Prints
 * samples per second, and the part of sgemm's maximum speed that they reach. bench_layers [THREADS]
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/rng.h"
#include "base/sort.h"
#include "base/system_clock.h"
#include "layers/model.h"

#define ROUNDS 15

/* Returns the seconds per call of `work`, as the median of ROUNDS measurements. */
static double median_seconds(void (*work)(void *), void *state, int calls)
{
    double seconds[ROUNDS];
    work(state);
    for (int round = 0; round < ROUNDS; round++) {
        double start = monotonic_s();
        for (int i = 0; i < calls; i++)
            work(state);
        seconds[round] = (monotonic_s() - start) / calls;
    }
    return double_median_high(seconds, ROUNDS);
}

static float *random_floats(struct backend *backend, size_t count)
{
    struct rng rng = rng_new(1, count);
    float *floats = backend->alloc(backend, count * sizeof *floats);
    for (size_t i = 0; i < count; i++)
        floats[i] = (float)rng_uniform(&rng) - 0.5f;
    return floats;
}

/* batch, input size and output size of the dense layer whose matrix product measures the peak */
#define SIDE 512

struct product {
    struct backend *backend;
    float *x, *w, *b, *y;
};

static void product_run(void *state)
{
    struct product *product = state;
    product->backend->dense->forward(product->backend, SIDE, SIDE, SIDE, floats(product->x),
                                     floats(product->w), floats(product->b), LINEAR,
                                     floats(product->y));
}

static double peak_flops(struct backend *backend)
{
    const size_t count = (size_t)SIDE * SIDE;
    struct product product = {backend, random_floats(backend, count), random_floats(backend, count),
                              random_floats(backend, SIDE), random_floats(backend, count)};
    double seconds = median_seconds(product_run, &product, 20);
    backend->free(backend, product.x);
    backend->free(backend, product.w);
    backend->free(backend, product.b);
    backend->free(backend, product.y);
    return 2.0 * SIDE * SIDE * SIDE / seconds;
}

struct training {
    struct backend *backend;
    struct model *model;
    int batch;
    float *weights, *gradients, *momenta, *x;
    int32_t *labels;
    struct score score;
};

static void training_step(void *state)
{
    struct training *training = state;
    const struct sgd sgd = {.rate = 0.01f, .momentum = 0.9f};
    model_learn(training->model, training->weights, training->gradients, training->x,
                training->labels, training->batch, &training->score);
    training->backend->optimize->sgd(training->backend, &sgd, NULL,
                                     model_parameters(training->model), training->weights,
                                     training->gradients, training->momenta);
}

#define NARROW(c) "residual(conv " c " 3x3 pad 1, relu, conv " c " 3x3 pad 1), relu"
#define HALVED(c)                                                                                  \
    "residual(conv " c " 3x3 stride 2 pad 1, relu, conv " c " 3x3 pad 1 | conv " c                 \
    " 1x1 stride 2), relu"

/* The models. mflop counts the multiplications and additions of a step: each layer's forward pass
 * and a backward pass of twice that. It leaves out the first layer's input gradient, which is not
 * computed. */
static const struct image_model {
    const char *name;
    const char *line; /* line of layers; NULL = the preset `name` */
    int batch;
    int steps;    /* steps per measurement */
    double mflop; /* million operations per sample and step */
} image_models[] = {
    {"lenet", NULL, 32, 10, 17.52},
    {"mlp", NULL, 32, 100, 1.007},
    {"cnn of 1.66 million",
     "conv 32 5x5 pad 2, relu, maxpool 2, conv 64 5x5 pad 2, relu, maxpool 2, dense 512, relu, "
     "dense 10",
     32, 5, 72.38},
    {"residual net of 20",
     "conv 16 3x3 pad 1, relu, "
     "3 * (" NARROW("16") "), "                /* of 28x28 pixels */
     HALVED("32") ", 2 * (" NARROW("32") "), " /* of 14x14 pixels */
     HALVED("64") ", 2 * (" NARROW("64") "), " /* of 7x7 pixels */
                                         "maxpool 7, dense 10",
     64, 2, 185.9},
    {"resnet20", NULL, 64, 2, 185.9},
};
#define IMAGE_MODELS (sizeof image_models / sizeof image_models[0])

static void bench_model(struct backend *backend, const struct image_model *of, double peak)
{
    const struct shape in = {1, 28, 28, 0};
    struct arena arena;
    arena_init(&arena, 1 << 20);
    struct problem problem;
    struct training training = {.backend = backend, .batch = of->batch};
    if (model_new(&training.model, &arena, backend, of->line ? of->line : model_preset(of->name),
                  in, 10, of->batch, &problem) != OK) {
        (void)fprintf(stderr, "%s\n", problem.text);
        exit(EXIT_FAILURE);
    }
    const size_t parameters = model_parameters(training.model);
    training.weights = random_floats(backend, parameters);
    model_init(training.model, 1, training.weights);
    training.gradients = backend->alloc(backend, parameters * sizeof(float));
    training.momenta = backend->alloc(backend, parameters * sizeof(float));
    training.x = random_floats(backend, (size_t)of->batch * shape_size(in));
    training.labels = backend->alloc(backend, (size_t)of->batch * sizeof *training.labels);
    for (int i = 0; i < of->batch; i++)
        training.labels[i] = i % 10;

    const double seconds = median_seconds(training_step, &training, of->steps);
    const double flops = of->mflop * 1e6 * of->batch / seconds;
    printf("%-20s batch %2d %8.0f samples/s  %6.1f GFLOP/s  %3.0f %% of the sgemm peak\n", of->name,
           of->batch, of->batch / seconds, flops * 1e-9, 100 * flops / peak);

    backend->free(backend, training.weights);
    backend->free(backend, training.gradients);
    backend->free(backend, training.momenta);
    backend->free(backend, training.x);
    backend->free(backend, training.labels);
    model_free(training.model);
    arena_release(&arena);
}

int main(int count, char **arguments)
{
    const int threads = count > 1 ? atoi(arguments[1]) : 1;
    struct backend *backend = backend_cpu(threads);
    const double peak = peak_flops(backend);
    printf("sgemm %dx%dx%d, threads %d: %.1f GFLOP/s\n", SIDE, SIDE, SIDE, threads, peak * 1e-9);
    for (size_t i = 0; i < IMAGE_MODELS; i++)
        bench_model(backend, &image_models[i], peak);
    return EXIT_SUCCESS;
}
