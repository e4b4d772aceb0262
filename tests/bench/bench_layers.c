/* How fast the models learn on this machine's CPU, one thread: samples per second of lenet and
 * mlp (forward, backward and sgd, batches of 32), and how near that comes to the peak of sgemm. */
#include <stdio.h>
#include <stdlib.h>

#include "base/rng.h"
#include "layers/model.h"
#include "support/base/timing.h"

#define BATCH  32
#define ROUNDS 15

/* The median over ROUNDS of the seconds that one call takes, each measured over `calls`. */
static double median_seconds(void (*work)(void *), void *state, int calls)
{
    double seconds[ROUNDS];
    work(state);
    for (int round = 0; round < ROUNDS; round++) {
        double start = now_seconds();
        for (int i = 0; i < calls; i++)
            work(state);
        seconds[round] = (now_seconds() - start) / calls;
    }
    return median(seconds, ROUNDS);
}

static float *random_floats(struct backend *backend, size_t count)
{
    struct rng rng = rng_new(1, count);
    float *floats = backend->take(backend, count * sizeof *floats);
    for (size_t i = 0; i < count; i++)
        floats[i] = (float)rng_uniform(&rng) - 0.5f;
    return floats;
}

/* A dense layer of equal sides is a plain matrix product. */
#define SIDE 512

struct product {
    struct backend *backend;
    float *x, *w, *b, *y;
};

static void product_run(void *state)
{
    struct product *product = state;
    product->backend->dense_forward(product->backend, SIDE, SIDE, SIDE, product->x, product->w,
                                    product->b, LINEAR, product->y);
}

static double peak_flops(struct backend *backend)
{
    const size_t count = (size_t)SIDE * SIDE;
    struct product product = {backend, random_floats(backend, count), random_floats(backend, count),
                              random_floats(backend, SIDE), random_floats(backend, count)};
    double seconds = median_seconds(product_run, &product, 20);
    backend->give(backend, product.x);
    backend->give(backend, product.w);
    backend->give(backend, product.b);
    backend->give(backend, product.y);
    return 2.0 * SIDE * SIDE * SIDE / seconds;
}

struct training {
    struct backend *backend;
    struct model *model;
    float *weights, *gradients, *momenta, *x;
    int32_t *labels;
    struct score score;
};

static void training_step(void *state)
{
    struct training *training = state;
    const struct sgd sgd = {.rate = 0.01f, .momentum = 0.9f};
    model_learn(training->model, training->weights, training->gradients, training->x,
                training->labels, BATCH, &training->score);
    training->backend->optimize.sgd(training->backend, &sgd, model_parameters(training->model),
                                    training->weights, training->gradients, training->momenta);
}

/* Multiplications and additions of one sample: a weight is used once per place of the output,
 * forward, for its gradient and, but in the first layer, for the gradient of its input. */
static double model_flops(const struct model *model, const double *places)
{
    double flops = 0;
    for (int i = 0; i < model_tensors(model) && model_tensor(model, i).rank > 1; i++) {
        const struct tensor weight = model_tensor(model, i);
        double count = 1;
        for (int d = 0; d < weight.rank; d++)
            count *= (double)weight.dims[d];
        flops += 2 * count * places[i] * (i == 0 ? 2 : 3);
    }
    return flops;
}

static void bench_model(struct backend *backend, const char *preset, const double *places,
                        int steps, double peak)
{
    const struct shape in = {1, 28, 28, 0};
    struct arena arena;
    arena_init(&arena, 1 << 20);
    struct problem problem;
    struct training training = {.backend = backend};
    if (model_new(&training.model, &arena, backend, model_preset(preset), in, 10, BATCH,
                  &problem) != OK) {
        (void)fprintf(stderr, "%s\n", problem.text);
        exit(EXIT_FAILURE);
    }
    const size_t parameters = model_parameters(training.model);
    training.weights = random_floats(backend, parameters);
    model_init(training.model, 1, training.weights);
    training.gradients = backend->take(backend, parameters * sizeof(float));
    training.momenta = backend->take(backend, parameters * sizeof(float));
    training.x = random_floats(backend, BATCH * shape_size(in));
    training.labels = backend->take(backend, BATCH * sizeof *training.labels);
    for (int i = 0; i < BATCH; i++)
        training.labels[i] = i % 10;

    double seconds = median_seconds(training_step, &training, steps);
    double flops = model_flops(training.model, places) * BATCH / seconds;
    printf("%-6s %8.0f samples/s  %6.1f GFLOP/s  %3.0f %% of the sgemm peak\n", preset,
           BATCH / seconds, flops * 1e-9, 100 * flops / peak);

    backend->give(backend, training.weights);
    backend->give(backend, training.gradients);
    backend->give(backend, training.momenta);
    backend->give(backend, training.x);
    backend->give(backend, training.labels);
    model_free(training.model);
    arena_release(&arena);
}

int main(void)
{
    struct backend *backend = backend_cpu(1);
    double peak = peak_flops(backend);
    printf("sgemm %dx%dx%d, one thread: %.1f GFLOP/s\n", SIDE, SIDE, SIDE, peak * 1e-9);
    bench_model(backend, "lenet", (const double[]){28 * 28, 14 * 14, 1, 1}, 10, peak);
    bench_model(backend, "mlp", (const double[]){1, 1, 1}, 100, peak);
    return EXIT_SUCCESS;
}
