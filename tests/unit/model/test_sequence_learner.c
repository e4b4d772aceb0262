/* A learner on sequences: windows for training and test, their loss, clipped gradients, weight
 * decay of matrices only, and steps in parts. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/error.h"
#include "support/model/each_device.h"
#include "training/learner.h"

#define LENGTH 4
#define TOKENS 41 /* ten windows and the token after the last one */
#define LINE   "embed 7 6, norm, dense 7"
#define P_MAX  128

static struct arena arena;
static struct model *model;
static uint8_t tokens[TOKENS];

static struct dataset text_of(uint32_t windows)
{
    for (uint32_t i = 0; i < TOKENS; i++)
        tokens[i] = (uint8_t)(i * i % 7);
    return (struct dataset){.tokens = tokens,
                            .tokens_count = TOKENS,
                            .token_bytes = 1,
                            .count = windows,
                            .shape = {1, 1, 1, LENGTH},
                            .classes = 7};
}

static struct learner *start_with(const char *line, const struct learner_options *options)
{
    struct problem problem;
    const struct dataset train = text_of(9), test = text_of(10);
    arena_init(&arena, (size_t)4 << 20);
    assert_int_equal(model_new(&model, &arena, backend, line, train.shape, 7, 16, &problem), OK);
    assert_in_range(model_parameters(model), 1, P_MAX);
    return learner_new(&arena, backend, model, &train, &test, options);
}

static struct learner *start(const struct optimizer *optimizer)
{
    const struct learner_options options = {
        .optimizer = *optimizer, .batch = 8, .model_seed = 3, .test_to = 10, .density_max = 16};
    return start_with(LINE, &options);
}

static void stop(struct learner *learner)
{
    learner_free(learner);
    model_free(model);
    arena_release(&arena);
}

/* Returns the mean loss of all positions, from a pass over each window. */
static double loss_by_hand(const struct learner *learner)
{
    float host[P_MAX], logits[LENGTH * 7];
    learner_read_base(learner, host);
    float *weights = backend->alloc(backend, sizeof host);
    int32_t *x = backend->alloc(backend, LENGTH * sizeof *x);
    double loss = 0;
    backend->upload(backend, weights, host, model_parameters(model) * sizeof *host);
    for (int at = 0; at + LENGTH < TOKENS; at += LENGTH) {
        int32_t window[LENGTH];
        for (int i = 0; i < LENGTH; i++)
            window[i] = tokens[at + i];
        backend->upload(backend, x, window, sizeof window);
        backend->download(backend, logits,
                          model_forward(model, weights, (const float *)(const void *)x, 1),
                          sizeof logits);
        for (int i = 0; i < LENGTH; i++) {
            double sum = 0;
            for (int c = 0; c < 7; c++)
                sum += exp((double)logits[7 * i + c]);
            loss += log(sum) - (double)logits[7 * i + tokens[at + i + 1]];
        }
    }
    backend->free(backend, weights);
    backend->free(backend, x);
    return loss / (TOKENS - 1);
}

static void a_test_is_of_all_windows_end_to_end(void **state)
{
    (void)state;
    struct learner *learner = start(&(struct optimizer){.sgd = {.rate = 0.5f}});
    const struct publish_terms terms = {.budget_bytes = 1000, .share = 1, .gain = 1};
    for (int i = 0; i < 30; i++) {
        (void)learner_step(learner);
        (void)learner_publish(learner, &terms);
    }
    const struct evaluation evaluation = learner_evaluate(learner, true);
    assert_int_equal(evaluation.samples, TOKENS - 1);
    assert_true(fabs(evaluation.loss - loss_by_hand(learner)) < 1e-5);
    stop(learner);
}

static void the_loss_of_a_sample_is_the_mean_of_its_positions(void **state)
{
    (void)state;
    struct learner *learner = start(&(struct optimizer){.sgd = {.rate = 0}});
    const uint32_t samples = learner_step(learner) + learner_step(learner);
    assert_true(fabs(learner_losses(learner) / samples - log(7)) < 0.2);
    stop(learner);
}

static double moved_by_a_step(float clip)
{
    float before[P_MAX], after[P_MAX];
    struct learner *learner = start(&(struct optimizer){.sgd = {.rate = 1}, .clip = clip});
    double square = 0;
    learner_read_weights(learner, before);
    (void)learner_step(learner);
    learner_read_weights(learner, after);
    for (size_t i = 0; i < model_parameters(model); i++)
        square += pow((double)after[i] - (double)before[i], 2);
    stop(learner);
    return sqrt(square);
}

static void gradients_longer_than_clip_are_made_so_long(void **state)
{
    (void)state;
    const double free_step = moved_by_a_step(0);
    assert_true(free_step > 0.05);
    assert_true(fabs(moved_by_a_step(0.01f) - 0.01) < 1e-4);
    assert_true(fabs(moved_by_a_step(100) - free_step) < 1e-6);
}

/* Clips the gradients to almost nothing, so that weights change only by decay. */
static void check_decay(const struct optimizer *optimizer)
{
    float before[P_MAX], after[P_MAX];
    struct learner *learner = start(optimizer);
    learner_read_weights(learner, before);
    (void)learner_step(learner);
    learner_read_weights(learner, after);
    for (size_t i = 0; i < model_parameters(model); i++) {
        const double kept = i < model_decayed(model) ? 0.95 : 1;
        assert_true(fabs((double)after[i] - kept * (double)before[i]) < 1e-5);
    }
    stop(learner);
}

static void matrices_alone_decay(void **state)
{
    (void)state;
    check_decay(&(struct optimizer){.sgd = {.rate = 0.1f, .weight_decay = 0.5f}, .clip = 1e-12f});
    check_decay(&(struct optimizer){.kind = OPTIMIZER_ADAM,
                                    .sgd = {.rate = 0.1f, .momentum = 0.9f, .weight_decay = 0.5f},
                                    .beta2 = 0.99f,
                                    .clip = 1e-15f});
}

/* Sets `weights` to the weights after three steps of `parts` parts each. */
static void weights_of_parts(const char *line, uint32_t parts, float weights[static P_MAX])
{
    const struct learner_options options = {.optimizer = {.sgd = {.rate = 0.5f, .momentum = 0.5f}},
                                            .batch = 7,
                                            .micro_batches = parts,
                                            .model_seed = 3,
                                            .test_to = 10,
                                            .density_max = 16};
    struct learner *learner = start_with(line, &options);
    for (int i = 0; i < 3; i++)
        assert_int_equal(learner_step(learner), 7);
    assert_true(learner_losses(learner) > 1);
    learner_read_weights(learner, weights);
    stop(learner);
}

static void a_step_in_parts_comes_to_the_same_weights(void **state)
{
    (void)state;
    float whole[P_MAX] = {0}, parts[P_MAX] = {0};
    const char *const lines[] = {LINE, "embed 7 6, norm, dropout 0.3, dense 7"};
    const uint32_t cuts[] = {2, 3, 7, 50};
    for (int i = 0; i < 8; i++) {
        weights_of_parts(lines[i / 4], 1, whole);
        weights_of_parts(lines[i / 4], cuts[i % 4], parts);
        for (size_t p = 0; p < P_MAX; p++)
            assert_true(fabsf(whole[p] - parts[p]) <= 1e-5f * (1 + fabsf(whole[p])));
    }
}

static void dropout_repeats_with_the_seed(void **state)
{
    (void)state;
    float once[P_MAX] = {0}, again[P_MAX] = {0}, without[P_MAX] = {0};
    weights_of_parts("embed 7 6, norm, dropout 0.3, dense 7", 1, once);
    weights_of_parts("embed 7 6, norm, dropout 0.3, dense 7", 1, again);
    weights_of_parts(LINE, 1, without);
    assert_memory_equal(once, again, sizeof once);
    assert_memory_not_equal(once, without, sizeof once);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_test_is_of_all_windows_end_to_end),
        cmocka_unit_test(the_loss_of_a_sample_is_the_mean_of_its_positions),
        cmocka_unit_test(gradients_longer_than_clip_are_made_so_long),
        cmocka_unit_test(matrices_alone_decay),
        cmocka_unit_test(a_step_in_parts_comes_to_the_same_weights),
        cmocka_unit_test(dropout_repeats_with_the_seed),
    };
    RUN_ON_EACH_DEVICE(tests, device_opens, device_closes);
}
