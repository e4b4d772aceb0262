/* A pass layer by layer equals a whole pass. It reports which layers compute something. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/arena.h"
#include "layers/model_layers.h"

#define OUTPUTS 10

struct seen {
    int layer[16]; /* layers in the order of their computation */
    int count;
    float last[OUTPUTS]; /* output of the last layer */
};

static void note(void *context, int layer, struct numbers y)
{
    struct seen *seen = context;
    assert_true(seen->count < 16);
    seen->layer[seen->count++] = layer;
    memcpy(seen->last, y.at, sizeof(float)); /* a layer may have a single output */
    if (layer == 6)
        memcpy(seen->last, y.at, sizeof seen->last);
}

static void test_layer_by_layer_is_the_whole(void **state)
{
    (void)state;
    /* 0 conv, 1 relu (computed by the conv), 2 residual(, 3 conv, 4 ), 5 dropout, 6 dense */
    static const int computing[] = {0, 3, 4, 5, 6};
    struct problem problem;
    struct arena arena;
    struct model *model;
    struct seen seen = {.count = 0};
    float x[64], weights[4096];
    struct backend *backend = backend_cpu(1);
    arena_init_growing(&arena);
    assert_int_equal(model_new(&model, &arena, backend,
                               "conv 3 3x3, relu, residual(conv 3 1x1), dropout 0.5, dense 10",
                               (struct shape){1, 8, 8, 0}, OUTPUTS, 1, &problem),
                     OK);
    assert_true(model_parameters(model) <= 4096);
    model_init(model, 1, weights);
    for (int i = 0; i < 64; i++)
        x[i] = (float)(i % 7) - 3;
    model_forward_each(model, weights, x, note, &seen);
    assert_int_equal(seen.count, sizeof computing / sizeof computing[0]);
    assert_memory_equal(seen.layer, computing, sizeof computing);
    assert_memory_equal(seen.last, model_forward(model, weights, x, 1), sizeof seen.last);
    assert_true(model_layer_at(model, 1)->absorbed);
    model_free(model);
    backend->close(backend);
    arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_layer_by_layer_is_the_whole)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
