#include "support/model/gradient_story.h"

#include <math.h>
#include <string.h>

#include "base/rng.h"

struct model *model;
float drawn[ROOM], gradients[ROOM], batch_x[ROOM];
int32_t batch_labels[ROOM];
float batch_numbers[ROOM];

static bool is_regression;

static struct arena arena;

int gradient_begins(void **state)
{
    (void)state;
    is_regression = false;
    backend = backend_cpu(1);
    arena_init(&arena, 1 << 20);
    return 0;
}

int gradient_ends(void **state)
{
    (void)state;
    model_free(model);
    arena_release(&arena);
    backend->close(backend);
    return 0;
}

static void draw_input(struct shape in, int classes, struct rng *rng)
{
    const size_t inputs = BATCH * shape_size(in);
    for (size_t i = 0; i < inputs && in.length > 0; i++) {
        const int32_t token = (int32_t)rng_below(rng, (uint32_t)classes);
        memcpy(&batch_x[i], &token, sizeof token);
    }
    for (size_t i = 0; i < inputs && in.length == 0; i++)
        batch_x[i] = (float)(2 * rng_uniform(rng) - 1);
    for (size_t i = 0; i < BATCH * shape_positions(in); i++)
        batch_labels[i] = (int32_t)i % classes;
    for (int i = 0; i < BATCH * classes; i++)
        batch_numbers[i] = 0.75f * (float)(i % 5) - 1;
}

void build(const char *line, struct shape in, int classes)
{
    struct problem problem = {""};
    if (model_new(&model, &arena, backend, line, in, classes, BATCH, &problem) != OK)
        fail_msg("%s", problem.text);
    const size_t parameters = model_parameters(model);
    assert_true(parameters <= ROOM && BATCH * shape_size(in) <= ROOM);
    struct rng rng = rng_new(11, 0);
    for (size_t i = 0; i < parameters; i++)
        drawn[i] = (float)(rng_uniform(&rng) - 0.5);
    draw_input(in, classes, &rng);
    for (size_t i = 0; i < parameters; i++)
        gradients[i] = NAN;
}

static struct model_part all_numbers(void)
{
    return (struct model_part){
        .x = batch_x, .numbers = batch_numbers, .samples = BATCH, .of = BATCH};
}

double mean_loss(void)
{
    struct score score = {0};
    const struct model_part numbers = all_numbers();
    if (is_regression)
        model_score_part(model, drawn, &numbers, &score);
    else
        model_score(model, drawn, batch_x, batch_labels, BATCH, &score);
    return score.loss / score.labels;
}

/* Returns the loss in training mode: normalised by the batch's own statistics. */
static double learned_loss(void)
{
    static float unused[ROOM];
    struct score score = {0};
    model_learn(model, drawn, unused, batch_x, batch_labels, BATCH, &score);
    return score.loss / score.labels;
}

static bool has_statistics(void)
{
    return model_trained(model) < model_parameters(model);
}

/* Returns the relative error of a tensor's gradients against central differences. Sequence models
 * have few kinks (points without a derivative), so a longer step is possible, which reduces the
 * rounding error. */
static double tensor_error(const struct tensor *tensor)
{
    const double step = model_input(model).length > 0 ? 1e-2 : has_statistics() ? 5e-3 : 2e-3;
    double (*const loss)(void) = has_statistics() ? learned_loss : mean_loss;
    size_t count = 1;
    for (int d = 0; d < tensor->rank; d++)
        count *= tensor->dims[d];
    double error = 0, power = 0;
    for (size_t i = tensor->offset; i < tensor->offset + count; i++) {
        const float before = drawn[i];
        drawn[i] = (float)((double)before + step);
        const double above = loss(), high = drawn[i];
        drawn[i] = (float)((double)before - step);
        const double gradient = (above - loss()) / (high - (double)drawn[i]);
        drawn[i] = before;
        error += (gradients[i] - gradient) * (gradients[i] - gradient);
        power += gradient * gradient;
    }
    return sqrt(error / power);
}

/* Largest accepted relative error of gradients. A loss in float32 has an error near 1e-7. Divided
 * by a distance of 4e-3, this error is about 3e-5. Gradients are near 0.1. A wrong sign, factor or
 * filter tap gives an error of a few per cent or more. */
#define GRADIENT_ERROR_MAX 3e-3

static void check_tensors(const char *line)
{
    for (int i = 0; i < model_tensors(model); i++) {
        const struct tensor tensor = model_tensor(model, i);
        if (tensor.offset >= model_trained(model))
            continue;
        const double error = tensor_error(&tensor);
        if (!(error <= GRADIENT_ERROR_MAX))
            fail_msg("'%s', %s: off by %g", line, tensor.name, error);
    }
}

void check_gradients(const char *line, struct shape in)
{
    struct score learned = {0}, scored = {0};
    build(line, in, CLASSES);
    model_learn(model, drawn, gradients, batch_x, batch_labels, BATCH, &learned);
    model_score(model, drawn, batch_x, batch_labels, BATCH, &scored);
    if (!has_statistics())
        assert_memory_equal(&learned, &scored, sizeof learned);
    assert_int_equal(learned.labels, BATCH * shape_positions(in));
    check_tensors(line);
}

void check_gradients_of_numbers(const char *line, struct shape in)
{
    struct score learned = {0}, scored = {0};
    is_regression = true;
    build(line, in, CLASSES);
    const struct model_part numbers = all_numbers();
    model_learn_part(model, drawn, gradients, &numbers, &learned);
    model_score_part(model, drawn, &numbers, &scored);
    assert_memory_equal(&learned, &scored, sizeof learned);
    assert_true(learned.labels == BATCH && learned.correct == 0);
    check_tensors(line);
}
