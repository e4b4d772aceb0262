/* Makes a few steps of a model on generated samples, and writes them for another framework to
 * repeat (against_torch.py):
 *
 *   learn_steps LINE INPUT CLASSES BATCH STEPS OUT
 *
 * INPUT is a length for sequences of tokens, or CxHxW. All STEPS steps of AdamW use one batch. OUT
 * gets arrays of 4-byte numbers: samples, labels, first weights, gradients of the first step, last
 * weights. Standard output gets a line "NAME OFFSET DIMS..." for each tensor, and "loss FIRST
 * LAST".
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "layers/model.h"

#define RATE   1e-3f
#define BETA1  0.9f
#define BETA2  0.99f
#define DECAY  0.1f
#define FOLLOW 0.1f /* weight of a new batch in the running statistics */

static struct shape shape_of(const char *text)
{
    struct shape shape = {1, 1, 1, 0};
    if (sscanf(text, "%dx%dx%d", &shape.channels, &shape.height, &shape.width) == 3)
        return shape;
    shape.channels = 1;
    shape.length = atoi(text);
    return shape;
}

/* Draws samples and labels. Samples of images are floats. Samples of sequences are tokens: int32 in
 * the memory of x. */
static void draw(float *x, int32_t *labels, struct shape in, int classes, size_t batch)
{
    struct rng rng = rng_new(7, 0);
    for (size_t i = 0; i < batch * shape_size(in); i++) {
        const int32_t token = (int32_t)rng_below(&rng, (uint32_t)classes);
        x[i] = (float)(2 * rng_uniform(&rng) - 1);
        if (in.length > 0)
            memcpy(&x[i], &token, sizeof token);
    }
    for (size_t i = 0; i < batch * shape_positions(in); i++)
        labels[i] = (int32_t)rng_below(&rng, (uint32_t)classes);
}

static void print_tensors(const struct model *model)
{
    for (int i = 0; i < model_tensors(model); i++) {
        const struct tensor tensor = model_tensor(model, i);
        printf("%s %zu", tensor.name, tensor.offset);
        for (int d = 0; d < tensor.rank; d++)
            printf(" %zu", tensor.dims[d]);
        printf("\n");
    }
}

static void write_floats(FILE *out, const void *floats, size_t count)
{
    CHECK(fwrite(floats, sizeof(float), count, out) == count);
}

int main(int argc, char **argv)
{
    struct model *model;
    struct arena arena;
    struct problem problem;
    CHECK(argc == 7);
    const struct shape in = shape_of(argv[2]);
    const int classes = atoi(argv[3]), batch = atoi(argv[4]), steps = atoi(argv[5]);
    struct backend *backend = backend_cpu(1);
    arena_init(&arena, 1 << 20);
    if (model_new(&model, &arena, backend, argv[1], in, classes, batch, &problem) != OK) {
        (void)fprintf(stderr, "%s\n", problem.text);
        return 1;
    }
    const size_t count = model_parameters(model), size = (size_t)batch * shape_size(in);
    const size_t labels_count = (size_t)batch * shape_positions(in);
    float *weights = calloc(4 * count, sizeof *weights), *gradients = weights + count;
    float *x = calloc(size, sizeof *x);
    int32_t *labels = calloc(labels_count, sizeof *labels);
    FILE *out = fopen(argv[6], "wb");
    CHECK(weights && x && labels && out);
    model_init(model, 1, weights);
    draw(x, labels, in, classes, (size_t)batch);
    print_tensors(model);
    write_floats(out, x, size);
    write_floats(out, labels, labels_count);
    write_floats(out, weights, count);
    struct score first = {0}, score = {0};
    model_learn(model, weights, gradients, x, labels, batch, &first);
    write_floats(out, gradients, count);
    for (int step = 1; step <= steps; step++) {
        const struct adam adam = {.rate = RATE,
                                  .beta1 = BETA1,
                                  .beta2 = BETA2,
                                  .epsilon = 1e-8f,
                                  .weight_decay = DECAY,
                                  .decayed = model_decayed(model),
                                  .step = (uint64_t)step};
        score = (struct score){0};
        model_learn(model, weights, gradients, x, labels, batch, &score);
        const struct sgd follow = {.rate = FOLLOW};
        const size_t trained = model_trained(model), rest = count - trained;
        backend->optimize->adam(backend, &adam, NULL, trained, weights, gradients,
                                gradients + count, gradients + 2 * count);
        backend->optimize->sgd(backend, &follow, NULL, rest, weights + trained, gradients + trained,
                               gradients + count + trained);
    }
    write_floats(out, weights, count);
    score = (struct score){0};
    model_score(model, weights, x, labels, batch, &score);
    printf("loss %.9g %.9g\n", first.loss / first.labels, score.loss / score.labels);
    CHECK(fclose(out) == 0);
    return 0;
}
