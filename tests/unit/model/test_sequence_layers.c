/* Layers of sequences, residuals and repetition: gradients compared with finite differences. No
 * position sees later ones, and shared weights are shared. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "support/model/gradient_story.h"

#define GRADIENTS(name, line, length)                                                              \
    static void name(void **state)                                                                 \
    {                                                                                              \
        (void)state;                                                                               \
        check_gradients(line, (struct shape){1, 1, 1, length});                                    \
    }

GRADIENTS(embed_has_the_right_gradient, "embed 3 6, logits", 5)
GRADIENTS(dense_works_on_each_position, "embed 3 6, dense 7, tanh, dense 3", 5)
GRADIENTS(dense_may_have_no_biases, "embed 3 6, dense 7 plain, tanh, dense 3 plain", 4)
GRADIENTS(positions_have_the_right_gradient, "embed 3 6, position 5, logits", 5)
GRADIENTS(tied_logits_have_the_right_gradient, "embed 3 6, position 5, dense 6, logits tied", 5)
GRADIENTS(norm_has_the_right_gradient, "embed 3 20, position 5, norm, logits", 5)
GRADIENTS(rmsnorm_has_the_right_gradient, "embed 3 20, position 5, rmsnorm, logits", 5)
GRADIENTS(gelu_has_the_right_gradient, "embed 3 6, dense 8, gelu, logits", 4)
GRADIENTS(silu_has_the_right_gradient, "embed 3 6, dense 8, silu, logits", 4)
GRADIENTS(swiglu_has_the_right_gradient, "embed 3 6, dense 8, swiglu, logits", 4)
GRADIENTS(attention_has_the_right_gradient, "embed 3 8, position 6, attention 2, logits", 6)
GRADIENTS(plain_attention_has_the_right_gradient,
          "embed 3 8, position 6, attention 1 plain, logits", 6)
GRADIENTS(shared_keys_have_the_right_gradient, "embed 3 8, position 6, attention 4 kv 2, logits", 6)
GRADIENTS(turned_attention_has_the_right_gradient, "embed 3 8, attention 2 rope, logits", 6)
GRADIENTS(attention_over_two_strips_has_the_right_gradient, "embed 3 4, attention 2 rope, logits",
          70)
GRADIENTS(a_residual_has_the_right_gradient, "embed 3 6, residual(dense 6), logits", 4)
GRADIENTS(an_activation_at_the_end_of_a_residual_spoils_nothing,
          "embed 3 6, residual(dense 6, tanh), logits", 4)
GRADIENTS(a_residual_of_an_activation_has_the_right_gradient,
          "embed 3 6, dense 6, residual(tanh), logits", 4)
GRADIENTS(a_shortcut_has_the_right_gradient,
          "embed 3 6, residual(dense 7, tanh | dense 7, sigmoid), logits", 4)
GRADIENTS(residuals_within_residuals_have_the_right_gradient,
          "embed 3 6, residual(residual(norm, dense 6), residual(dense 6, tanh | dense 6)), "
          "residual(residual(residual(dense 6, tanh))), logits",
          4)
GRADIENTS(a_transformer_has_the_right_gradient,
          "embed 3 8, position 6, 2 * (residual(norm, attention 2), "
          "residual(norm, dense 12, gelu, dense 8)), norm, logits tied",
          6)
GRADIENTS(a_llama_has_the_right_gradient,
          "embed 3 8, 1 * (residual(rmsnorm, attention 4 kv 2 rope plain), "
          "residual(rmsnorm, dense 16 plain, swiglu, dense 8 plain)), rmsnorm, logits",
          6)

static void images_have_residuals_too(void **state)
{
    (void)state;
    check_gradients("residual(conv 2 3x3 pad 1, tanh), conv 3 3x3 pad 1, "
                    "2 * residual(conv 3 3x3 pad 1, tanh, conv 3 3x3 pad 1), "
                    "residual(conv 2 3x3, tanh | conv 2 3x3), dense 3",
                    (struct shape){2, 6, 6, 0});
}

/* Replaces the token at a position by another one. Leaves batch_labels unchanged. */
static void change_token(int position)
{
    int32_t token;
    memcpy(&token, &batch_x[position], sizeof token);
    token = (token + 1) % CLASSES;
    memcpy(&batch_x[position], &token, sizeof token);
}

static void no_position_sees_what_follows_it(void **state)
{
    (void)state;
    enum { LENGTH = 70, AT = 66 };
    static float before[LENGTH * CLASSES];
    build("embed 3 8, position 70, 2 * residual(norm, attention 2), logits",
          (struct shape){1, 1, 1, LENGTH}, CLASSES);
    memcpy(before, model_forward(model, drawn, batch_x, 1), sizeof before);
    change_token(AT);
    const float *after = model_forward(model, drawn, batch_x, 1);
    assert_memory_equal(before, after, AT * CLASSES * sizeof *before);
    for (int i = AT; i < LENGTH; i++)
        assert_true(memcmp(before + i * CLASSES, after + i * CLASSES, CLASSES * sizeof *before));
}

static void sequences_of_a_batch_do_not_meet(void **state)
{
    (void)state;
    enum { LENGTH = 6 };
    static float together[BATCH * LENGTH * CLASSES];
    build("embed 3 8, position 6, residual(norm, attention 2), logits",
          (struct shape){1, 1, 1, LENGTH}, CLASSES);
    memcpy(together, model_forward(model, drawn, batch_x, BATCH), sizeof together);
    for (int i = 0; i < BATCH; i++) {
        const float *alone = model_forward(model, drawn, batch_x + i * LENGTH, 1);
        for (int j = 0; j < LENGTH * CLASSES; j++)
            assert_true(fabsf(alone[j] - together[i * LENGTH * CLASSES + j]) < 1e-5f);
    }
}

static void repeated_layers_have_separate_weights(void **state)
{
    (void)state;
    build("embed 3 4, 3 * dense 4, logits", (struct shape){1, 1, 1, 2}, CLASSES);
    assert_int_equal(model_parameters(model), 3 * 4 + 3 * (16 + 4) + 12);
    assert_string_equal(model_line(model), "embed 3 4, 3 * dense 4, logits");
    assert_string_equal(model_tensor(model, 2).name, "2.dense.weight");
}

static void tied_logits_have_no_weights_of_their_own(void **state)
{
    (void)state;
    build("embed 3 4, logits tied", (struct shape){1, 1, 1, 2}, CLASSES);
    assert_int_equal(model_parameters(model), 12);
    assert_int_equal(model_tensors(model), 1);
}

/* Tensors with weight decay come first in the flat vector. */
static void matrices_come_before_biases_and_scales(void **state)
{
    (void)state;
    build("embed 3 4, position 2, norm, dense 5, logits", (struct shape){1, 1, 1, 2}, CLASSES);
    size_t at = 0;
    for (int i = 0; i < model_tensors(model); i++) {
        const struct tensor tensor = model_tensor(model, i);
        assert_int_equal(tensor.offset, at);
        assert_int_equal(tensor.rank > 1, at < model_decayed(model));
        at += tensor.dims[0] * (tensor.rank > 1 ? tensor.dims[1] : 1);
    }
    assert_int_equal(at, model_parameters(model));
}

static void a_label_that_is_ignored_teaches_nothing(void **state)
{
    (void)state;
    enum { LENGTH = 4 };
    struct score score = {0};
    build("embed 3 6, logits", (struct shape){1, 1, 1, LENGTH}, CLASSES);
    for (int i = 0; i < BATCH * LENGTH; i++)
        batch_labels[i] = LABEL_IGNORED;
    model_learn(model, drawn, gradients, batch_x, batch_labels, BATCH, &score);
    assert_int_equal(score.labels, 0);
    assert_true(score.loss == 0);
    for (size_t i = 0; i < model_parameters(model); i++)
        assert_true(gradients[i] == 0);
}

static void positions_that_no_sequence_has_learn_nothing(void **state)
{
    (void)state;
    struct score score = {0};
    build("embed 3 4, position 9, logits", (struct shape){1, 1, 1, 5}, CLASSES);
    model_learn(model, drawn, gradients, batch_x, batch_labels, BATCH, &score);
    const struct tensor table = model_tensor(model, 1);
    for (size_t i = 0; i < 9 * 4; i++)
        assert_int_equal(gradients[table.offset + i] == 0, i >= 5 * 4);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, gradient_begins, gradient_ends)
    const struct CMUnitTest tests[] = {
        TEST(embed_has_the_right_gradient),
        TEST(dense_works_on_each_position),
        TEST(dense_may_have_no_biases),
        TEST(positions_have_the_right_gradient),
        TEST(tied_logits_have_the_right_gradient),
        TEST(norm_has_the_right_gradient),
        TEST(rmsnorm_has_the_right_gradient),
        TEST(gelu_has_the_right_gradient),
        TEST(silu_has_the_right_gradient),
        TEST(swiglu_has_the_right_gradient),
        TEST(attention_has_the_right_gradient),
        TEST(plain_attention_has_the_right_gradient),
        TEST(shared_keys_have_the_right_gradient),
        TEST(turned_attention_has_the_right_gradient),
        TEST(attention_over_two_strips_has_the_right_gradient),
        TEST(a_residual_has_the_right_gradient),
        TEST(an_activation_at_the_end_of_a_residual_spoils_nothing),
        TEST(a_residual_of_an_activation_has_the_right_gradient),
        TEST(a_shortcut_has_the_right_gradient),
        TEST(residuals_within_residuals_have_the_right_gradient),
        TEST(a_transformer_has_the_right_gradient),
        TEST(a_llama_has_the_right_gradient),
        TEST(images_have_residuals_too),
        TEST(no_position_sees_what_follows_it),
        TEST(sequences_of_a_batch_do_not_meet),
        TEST(repeated_layers_have_separate_weights),
        TEST(tied_logits_have_no_weights_of_their_own),
        TEST(matrices_come_before_biases_and_scales),
        TEST(a_label_that_is_ignored_teaches_nothing),
        TEST(positions_that_no_sequence_has_learn_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
