/* A sequence computed position by position, with a cache of earlier positions, gives the logits of
 * one pass over all positions, on every backend. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/arena.h"
#include "base/rng.h"
#include "layers/model.h"
#include "support/model/each_device.h"

#define LENGTH     70 /* positions of a sequence: two strips of queries (STRIP is 64) */
#define TOKENS     11
#define PARAMETERS 20000
#define NEAR       2e-5 /* accepted difference of logits near 1 */

static const char *const lines[] = {
    "embed 11 16, position 80, 2 * (residual(norm, attention 4), residual(norm, dense 32, gelu, "
    "dense 16)), norm, logits tied",
    "embed 11 16, 2 * (residual(rmsnorm, attention 4 kv 2 rope plain), residual(rmsnorm, dense 48 "
    "plain, swiglu, dense 16 plain)), rmsnorm, logits",
    "embed 11 16, dropout 0.3, residual(attention 2 rope, silu | dense 16, tanh), dense 11",
};
#define LINES (sizeof lines / sizeof lines[0])

static struct arena arena;
static struct model *model;
static float *weights, *other_weights; /* weights on the device */
static int32_t *x;                     /* [LENGTH] tokens on the device */
static float all[LENGTH * TOKENS];     /* logits of one pass over all positions */

static void begin(const char *line)
{
    struct problem problem = {""};
    int32_t tokens[LENGTH];
    static float drawn[PARAMETERS];
    struct rng rng = rng_new(7, 0);
    arena_init(&arena, 1 << 20);
    if (model_new(&model, &arena, backend, line, (struct shape){1, 1, 1, LENGTH}, TOKENS, 1,
                  &problem) != OK)
        fail_msg("%s", problem.text);
    assert_true(model_parameters(model) <= PARAMETERS);
    for (size_t i = 0; i < PARAMETERS; i++)
        drawn[i] = (float)(rng_uniform(&rng) - 0.5);
    for (int i = 0; i < LENGTH; i++)
        tokens[i] = (int32_t)rng_below(&rng, TOKENS);
    weights = backend->alloc(backend, sizeof drawn);
    other_weights = backend->alloc(backend, sizeof drawn);
    x = backend->alloc(backend, sizeof tokens);
    backend->upload(backend, weights, drawn, sizeof drawn);
    backend->upload(backend, x, tokens, sizeof tokens);
    const float *logits = model_forward(model, weights, (const float *)(const void *)x, 1);
    backend->download(backend, all, logits, sizeof all);
}

static void end(void)
{
    backend->free(backend, weights);
    backend->free(backend, other_weights);
    backend->free(backend, x);
    model_free(model);
    arena_release(&arena);
}

/* Checks that the step's logits equal those of the whole pass. */
static void step(int from, int count)
{
    float own[LENGTH * TOKENS];
    const float *logits =
        model_step(model, weights, (const float *)(const void *)(x + from), from, count);
    backend->download(backend, own, logits, (size_t)(count * TOKENS) * sizeof *own);
    for (int i = 0; i < count * TOKENS; i++)
        assert_true(fabs((double)own[i] - (double)all[from * TOKENS + i]) < NEAR);
    assert_int_equal(model_stepped(model, weights), from + count);
}

static void one_position_after_the_other_gives_the_logits_of_all(void **state)
{
    (void)state;
    for (size_t i = 0; i < LINES; i++) {
        begin(lines[i]);
        for (int from = 0; from < LENGTH; from++)
            step(from, 1);
        end();
    }
}

static void several_positions_at_a_time_do_too(void **state)
{
    (void)state;
    for (size_t i = 0; i < LINES; i++) {
        begin(lines[i]);
        step(0, 5);
        step(5, 1);
        step(6, 62);
        step(68, 2);
        step(3, 10); /* goes back to an earlier position */
        step(13, 57);
        step(0, LENGTH);
        end();
    }
}

/* The cache must contain the earlier tokens: different ones change the logits. */
static void loss_depends_on_earlier_tokens(void **state)
{
    (void)state;
    for (size_t i = 0; i < LINES; i++) {
        float own[TOKENS], change = 0;
        begin(lines[i]);
        const float *tokens = (const float *)(const void *)x;
        (void)model_step(model, weights, tokens + 20, 0, 20);
        const float *logits = model_step(model, weights, tokens + 20, 20, 1);
        backend->download(backend, own, logits, sizeof own);
        for (int k = 0; k < TOKENS; k++)
            change = fmaxf(change, fabsf(own[k] - all[20 * TOKENS + k]));
        assert_true((double)change > 100 * NEAR);
        end();
    }
}

static void any_other_call_ends_what_is_remembered(void **state)
{
    (void)state;
    begin(lines[0]);
    const float *tokens = (const float *)(const void *)x;
    assert_int_equal(model_stepped(model, weights), 0);
    step(0, 9);
    assert_int_equal(model_stepped(model, other_weights), 0);
    (void)model_forward(model, weights, tokens, 1);
    assert_int_equal(model_stepped(model, weights), 0);
    step(0, 9);
    (void)model_step(model, other_weights, tokens, 0, 3);
    assert_int_equal(model_stepped(model, weights), 0);
    assert_int_equal(model_stepped(model, other_weights), 3);
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_position_after_the_other_gives_the_logits_of_all),
        cmocka_unit_test(several_positions_at_a_time_do_too),
        cmocka_unit_test(loss_depends_on_earlier_tokens),
        cmocka_unit_test(any_other_call_ends_what_is_remembered),
    };
    RUN_ON_EACH_DEVICE(tests, device_opens, device_closes);
}
