/* Operations of sequence models in a recorded graph (backend.h). They give equal bits when called,
 * recorded or repeated, also after a larger operation has used their scratch buffers. The CPU
 * records nothing, and its results must also be equal. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "support/model/each_device.h"

#define COUNT 65536 /* numbers in each array */
#define ROWS  6
#define LARGE 256 /* factor on the size, so that scratch buffers are reallocated */

/* Arrays of the device: inputs with numbers from -1 to 1, and outputs. */
static float *from, *other, *to, *more, *rest, *kept;
static int32_t *tokens;
static struct score *score;

static struct attention attention_of(size_t scale)
{
    return (struct attention){.length = 3 * (int)scale, .heads = 2, .kv_heads = 1, .size = 8};
}

static void embed_backward(size_t scale)
{
    backend->sequence->embed_backward(backend, ROWS * scale, 8, tokens, floats(from), to);
}

static void norm(size_t scale)
{
    const int size = 8 * (int)scale;
    backend->sequence->norm(backend, ROWS, size, floats(from), other, other, floats(more), kept);
    backend->sequence->norm_backward(backend, ROWS, size, floats(from), other, kept, floats(from),
                                     floats(NULL), floats(to), more, rest);
}

static void attend(size_t scale)
{
    const struct attention attention = attention_of(scale);
    backend->attention->forward(backend, &attention, 2, floats(from), floats(more), kept);
    backend->attention->backward(backend, &attention, 2, floats(from), floats(more), kept,
                                 floats(other), floats(to));
}

static void rotate(size_t scale)
{
    const struct attention attention = attention_of(scale);
    backend->attention->rotate(backend, &attention, 2, 1, floats(to));
}

static void cross_entropy(size_t scale)
{
    backend->loss->cross_entropy(
        backend, &(struct cross_entropy){ROWS * (int)scale, 10, ROWS * (int)scale, 0}, from, tokens,
        to, score);
}

static void logits_loss(size_t scale)
{
    const int rows = ROWS * (int)scale;
    const struct logits logits = {
        .loss = {rows, 10, rows, 0}, .in = 5, .at_once = rows / 2 + 1, .scratch = kept};
    backend->loss->logits(backend, &logits, floats(from), floats(other), tokens, floats(to), more,
                          score);
}

static void clip(size_t scale)
{
    backend->optimize->clip(backend, other, COUNT / LARGE * scale, to, rest);
}

static void the_rest(size_t scale)
{
    const size_t rows = ROWS * scale;
    backend->sequence->embed(backend, rows, 8, tokens, floats(other), floats(to));
    backend->elements->add_shared(backend, 2, 24 * scale, floats(to), other, floats(to));
    backend->elements->sum_shared(backend, 2, 24 * scale, floats(to), more);
    backend->sequence->swiglu(backend, rows, 4, floats(to), floats(more));
    backend->sequence->swiglu_backward(backend, rows, 4, floats(to), floats(more), floats(rest));
    backend->elements->add(backend, 8 * rows, floats(to), floats(rest), floats(to));
    backend->elements->clear(backend, 8, to);
    backend->elements->copy(backend, 8, floats(other), floats(to + 8));
    backend->dense->forward(backend, (int)rows, 8, 9, floats(from), floats(other), floats(NULL),
                            LINEAR, floats(kept));
}

static void dense_backward(size_t scale)
{
    const int out = 9 * (int)scale;
    backend->dense->backward(backend, ROWS, 2, out, floats(from), floats(other), floats(from), TANH,
                             floats(kept), floats(more), rest, to, false);
}

static void (*const operations[])(size_t scale) = {
    embed_backward, norm, attend,   rotate,         cross_entropy,
    logits_loss,    clip, the_rest, dense_backward,
};
#define OPERATIONS (sizeof operations / sizeof operations[0])

static void begin(void)
{
    static float numbers[COUNT];
    static int32_t drawn[COUNT];
    static const struct score none;
    struct rng rng = rng_new(3, 3);
    for (int i = 0; i < COUNT; i++) {
        numbers[i] = (float)(2 * rng_uniform(&rng) - 1);
        drawn[i] = (int32_t)rng_below(&rng, 10);
    }
    numbers[0] = 0.5f; /* the length to which gradients are clipped */
    backend->upload(backend, other, numbers, sizeof numbers);
    numbers[0] = -0.5f;
    float *const all[] = {from, to, more, rest, kept};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        backend->upload(backend, all[i], numbers, sizeof numbers);
    backend->upload(backend, tokens, drawn, sizeof drawn);
    backend->upload(backend, score, &none, sizeof none);
}

struct outcome {
    float arrays[4][COUNT];
    struct score score;
};

static void look(struct outcome *outcome)
{
    const float *const all[] = {to, more, rest, kept};
    for (size_t i = 0; i < 4; i++)
        backend->download(backend, outcome->arrays[i], all[i], sizeof outcome->arrays[i]);
    backend->download(backend, &outcome->score, score, sizeof outcome->score);
}

/* Opens the device for each operation, so that there are no scratch buffers yet. */
static void open_all(void **state)
{
    (void)device_opens(state);
    float **const all[] = {&from, &other, &to, &more, &rest, &kept};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        *all[i] = backend->alloc(backend, COUNT * sizeof(float));
    tokens = backend->alloc(backend, COUNT * sizeof *tokens);
    score = backend->alloc(backend, sizeof *score);
}

static void close_all(void **state)
{
    void *const all[] = {from, other, to, more, rest, kept, tokens, score};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        backend->free(backend, all[i]);
    (void)device_closes(state);
}

static void an_operation_gives_the_same_when_it_is_recorded_and_repeated(void **state)
{
    static struct outcome first, now;
    for (size_t i = 0; i < OPERATIONS; i++) {
        struct step_graph graph = {0};
        open_all(state);
        for (int times = 0; times < 6; times++) {
            begin();
            if (!backend->graph->begin(backend, &graph)) {
                operations[i](1);
                backend->graph->end(backend, &graph);
            }
            look(times == 0 ? &first : &now);
            if (times > 0)
                assert_memory_equal(&now, &first, sizeof now);
            if (times == 3) /* after recording, a larger operation uses the scratch buffers */
                operations[i](LARGE);
        }
        backend->graph->drop(backend, &graph);
        close_all(state);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_operation_gives_the_same_when_it_is_recorded_and_repeated),
    };
    RUN_ON_EACH_DEVICE(tests, NULL, NULL);
}
