/* DeMo: the transform, messages, the remaining momentum, and the step. */
#include <math.h>

#include "base/rng.h"
#include "crypto/secret.h"
#include "strategies/dct.h"
#include "strategies/sparse.h"
#include "support/sim/strategy_play.h"

#define PI     3.14159265358979323846
#define MATRIX 7840 /* parameters that are not biases, in chunks of 10 by 56 */
#define CHUNK  560

static void draw(float *values, size_t count, uint64_t seed)
{
    struct rng rng = rng_new(seed, 0);
    for (size_t c = 0; c < count; c++)
        values[c] = (float)(rng_uniform(&rng) - 0.5);
}

/* Returns component (k, l) of the chunk at `matrix`, from the formula of the transform. */
static double component(const float *matrix, size_t stride, const struct dct *dct, size_t k,
                        size_t l)
{
    const double h = (double)dct->height, w = (double)dct->width;
    double sum = 0;
    for (size_t i = 0; i < dct->height; i++)
        for (size_t j = 0; j < dct->width; j++)
            sum += (double)matrix[i * stride + j] * cos(PI * (double)k * ((double)i + 0.5) / h) *
                   cos(PI * (double)l * ((double)j + 0.5) / w);
    return sum * sqrt((k ? 2 : 1) / h) * sqrt((l ? 2 : 1) / w);
}

static void components_are_cosine_transforms_of_chunks(void **state)
{
    (void)state;
    static float matrix[128 * 96], components[128 * 96], back[128 * 96];
    struct dct dct;
    dct_init(&dct, 128, 96);
    assert_true(dct.height == 64 && dct.width == 48);
    draw(matrix, 128 * 96, 1);
    dct_forward(&dct, matrix, components);
    double squares[2] = {0};
    for (size_t c = 0; c < 128 * 96; c++) {
        squares[0] += (double)matrix[c] * matrix[c];
        squares[1] += (double)components[c] * components[c];
    }
    assert_true(fabs(squares[0] - squares[1]) < 1e-5 * squares[0]);
    for (size_t k = 0; k < 64; k += 7)
        for (size_t l = 0; l < 48; l += 5) { /* components of the last of four chunks */
            const double expected = component(matrix + 64 * 96 + 48, 96, &dct, k, l);
            assert_true(fabs(components[3 * 64 * 48 + k * 48 + l] - expected) < 1e-5);
        }
    dct_backward(&dct, components, back);
    for (size_t c = 0; c < 128 * 96; c++)
        assert_true(fabsf(matrix[c] - back[c]) < 1e-5f);
    dct_free(&dct);
}

static void sides_of_chunks_divide_those_of_the_matrix(void **state)
{
    (void)state;
    static const struct {
        size_t rows, columns, height, width;
    } sides[] = {{10, 784, 10, 56}, {1, 10, 1, 10}, {65, 67, 13, 1}, {64, 128, 64, 64}};
    for (size_t s = 0; s < sizeof sides / sizeof sides[0]; s++) {
        struct dct dct;
        dct_init(&dct, sides[s].rows, sides[s].columns);
        assert_true(dct.height == sides[s].height && dct.width == sides[s].width);
        dct_free(&dct);
    }
}

/* State of this test's reference DeMo. Its momentum has one number per weight, as in the paper; the
 * strategy's has one per DCT component. */
struct hand_written {
    struct dct dct, vector;
    float momentum[3][PARAMETERS];
    float sum[PARAMETERS];
    float told[PARAMETERS]; /* number of nodes that sent the component */
};

static void transform(const struct hand_written *written, bool forward, const float *from,
                      float *to)
{
    void (*way)(const struct dct *, const float *, float *) = forward ? dct_forward : dct_backward;
    way(&written->dct, from, to);
    way(&written->vector, from + MATRIX, to + MATRIX);
}

static void message(struct hand_written *written, int i, float beta, const float *gradient)
{
    static float components[PARAMETERS], sent[PARAMETERS];
    float *m = written->momentum[i];
    for (int c = 0; c < PARAMETERS; c++)
        m[c] = beta * m[c] + gradient[c];
    transform(written, true, m, components);
    for (int c = 0; c < MATRIX; c += CHUNK)
        sparse_keep_largest(components + c, CHUNK, 11); /* 0.02 of 560 */
    sparse_keep_largest(components + MATRIX, 10, 1);
    int told = 0;
    for (int c = 0; c < PARAMETERS; c++) {
        written->sum[c] += components[c];
        written->told[c] += components[c] != 0;
        told += components[c] != 0;
    }
    assert_int_equal(told, 14 * 11 + 1);
    transform(written, false, components, sent);
    for (int c = 0; c < PARAMETERS; c++)
        m[c] -= sent[c];
}

static void the_unsent_momentum_stays_and_steps_are_signs_of_the_mean(void **state)
{
    (void)state;
    static struct hand_written written;
    static float gradient[PARAMETERS], step[PARAMETERS], weights[PARAMETERS];
    const char *sets[] = {"scenario.seconds=1", "strategy.top_part=0.02", "strategy.sign_rate=0.01",
                          "strategy.error_decay=0.9", "train.weight_decay=0.5"};
    struct played played = play_text(strategy_free, "demo", sets, 5);
    struct by_hand hand;
    by_hand_begin(&hand, &played);
    assert_int_equal(played.outcome.nodes[0].steps, 5);
    dct_init(&written.dct, 10, 784);
    dct_init(&written.vector, 1, 10);
    for (int turn = 0; turn < 5; turn++) {
        memset(written.sum, 0, sizeof written.sum);
        memset(written.told, 0, sizeof written.told);
        learner_read_weights(hand.learners[0], weights);
        for (int i = 0; i < 3; i++) {
            learner_gradient(hand.learners[i], gradient);
            message(&written, i, 0.9f, gradient);
        }
        for (int c = 0; c < PARAMETERS; c++)
            written.sum[c] /= fmaxf(written.told[c], 1);
        transform(&written, false, written.sum, step);
        /* the scenario's rate of 0.2, times 0.05, is the sign_rate of 0.01 */
        for (int c = 0; c < PARAMETERS; c++)
            step[c] = 0.05f * (copysignf(1, step[c]) + (c < MATRIX ? 0.5f * weights[c] : 0));
        for (int i = 0; i < 3; i++)
            (void)learner_descend_plainly(hand.learners[i], step);
    }
    learner_read_weights(hand.learners[0], weights);
    int others = 0; /* signs that rounding decides */
    for (int c = 0; c < PARAMETERS; c++)
        others += fabsf(weights[c] - played.experiment.weights[c]) > 1e-5f;
    assert_true(others < 10);
    dct_free(&written.dct);
    dct_free(&written.vector);
    by_hand_end(&hand);
    play_end(&played);
}

/* A step takes 0.2848 s, so 35 fit 10 s. It has 0.2 s of training, and two transfers of a message
 * over 1 Mbit/s and 40 ms. A message has 4 of each 560 components (0.0078), each with 10 bits for
 * its index. Of ten biases it has one, with 4 bits. */
static void a_message_has_index_and_value_of_each_component_and_goes_to_all(void **state)
{
    (void)state;
    const uint64_t bytes = (14 * 4 * (32 + 10) + 32 + 4 + 7) / 8;
    struct played played = play("demo", "strategy.top_part=0.0078");
    assert_int_equal(bytes, 299);
    assert_int_equal(played.outcome.nodes[2].steps, 35);
    assert_int_equal(last_moment(&played)->sent_bytes, 35 * 3 * 2 * bytes);
    play_end(&played);
}

/* Statistics follow the measurements of all nodes and cost 4 bytes each. */
static void statistics_are_averaged(void **state)
{
    (void)state;
    const char *sets[] = {"model.layers=dense 10, batchnorm, dense 10", "scenario.seconds=0.2",
                          "strategy.top_part=0.0078"};
    struct played demo = play_text(strategy_free, "demo", sets, 3);
    struct played allreduce = play_text(strategy_free, "allreduce", sets, 2);
    const size_t parameters = experiment_parameters(&demo.experiment);
    const size_t trained = model_trained(demo.experiment.made.model);
    assert_int_equal(parameters - trained, 20);
    for (size_t c = trained; c < parameters; c++)
        assert_true(fabsf(demo.experiment.weights[c] - allreduce.experiment.weights[c]) < 1e-6f);
    const uint64_t bits = 14 * 4 * 42 + (32 + 7) + 4 * (32 + 4);
    assert_int_equal(last_moment(&demo)->sent_bytes, 3 * 2 * ((bits + 7) / 8 + 80));
    play_end(&demo);
    play_end(&allreduce);
}

static void demo_learns(void **state)
{
    (void)state;
    const char *sets[] = {"scenario.seconds=20", "strategy.sign_rate=0.003",
                          "strategy.error_decay=0.999", "strategy.top_part=0.0078"};
    struct played played = play_text(strategy_free, "demo", sets, 4);
    assert_true(played.outcome.loss < 0.6 * loss_at_start(&played));
    play_end(&played);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(components_are_cosine_transforms_of_chunks),
        cmocka_unit_test(sides_of_chunks_divide_those_of_the_matrix),
        cmocka_unit_test(the_unsent_momentum_stays_and_steps_are_signs_of_the_mean),
        cmocka_unit_test(a_message_has_index_and_value_of_each_component_and_goes_to_all),
        cmocka_unit_test(statistics_are_averaged),
        cmocka_unit_test(demo_learns),
    };
    secret_start();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
