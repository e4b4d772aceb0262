/* Continuing a sequence: the likeliest token, draws by seed, top k, and a text longer than the
 * model's context. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "support/model/gradient_story.h"
#include "training/generator.h"

#define LENGTH 8
#define TOKENS 7

static struct arena room;

/* Makes a generator for a simple model. After token t, the logit of t + 1 is largest, that of t + 2
 * is second, and all others are equal. */
static struct generator *start(double temperature, uint32_t top_k, uint64_t seed)
{
    const struct generator_options options = {
        .temperature = temperature, .top_k = top_k, .seed = seed};
    build("embed 7 7, dense 7", (struct shape){1, 1, 1, LENGTH}, TOKENS);
    memset(drawn, 0, sizeof drawn);
    for (size_t t = 0; t < TOKENS; t++) {
        drawn[t * TOKENS + t] = 1;
        drawn[TOKENS * TOKENS + (t + 1) % TOKENS * TOKENS + t] = 2;
        drawn[TOKENS * TOKENS + (t + 2) % TOKENS * TOKENS + t] = 1;
    }
    arena_init(&room, 1 << 20);
    return generator_new(&room, backend, model, drawn, &options);
}

static void stop(struct generator *generator)
{
    generator_free(generator);
    arena_release(&room);
}

static void without_temperature_the_likeliest_comes_however_long_the_text(void **state)
{
    (void)state;
    struct generator *generator = start(0, 0, 1);
    generator_put(generator, 3);
    for (int i = 0; i < 3 * LENGTH; i++)
        assert_int_equal(generator_next(generator), (4 + i) % TOKENS);
    stop(generator);
}

/* Counts the distances from each token to the next one. */
static void count_steps(double temperature, uint32_t top_k, uint64_t seed, int steps[TOKENS])
{
    struct generator *generator = start(temperature, top_k, seed);
    int32_t last = 0;
    memset(steps, 0, TOKENS * sizeof *steps);
    generator_put(generator, last);
    for (int i = 0; i < 2000; i++) {
        const int32_t next = generator_next(generator);
        steps[(next - last + TOKENS) % TOKENS]++;
        last = next;
    }
    stop(generator);
    model_free(model);
}

/* The logits are 2, 1 and five times 0. So the probabilities are e², e and five times 1, each
 * divided by e² + e + 5 = 15.11. */
static void draws_follow_the_softmax(void **state)
{
    (void)state;
    int steps[TOKENS];
    count_steps(1, 0, 1, steps);
    assert_in_range(steps[1], 2000 * 0.489 - 100, 2000 * 0.489 + 100);
    assert_in_range(steps[2], 2000 * 0.180 - 80, 2000 * 0.180 + 80);
    assert_true(steps[0] > 60 && steps[6] > 60);
    count_steps(0.25, 0, 1, steps);
    assert_true(steps[1] > 1900);
    count_steps(1, 2, 1, steps);
    assert_int_equal(steps[1] + steps[2], 2000);
    assert_in_range(steps[1], 2000 * 0.731 - 80, 2000 * 0.731 + 80);
    /* the teardown frees this model */
    build("embed 7 7, dense 7", (struct shape){1, 1, 1, LENGTH}, TOKENS);
}

static void a_seed_gives_one_text(void **state)
{
    (void)state;
    int one[TOKENS], same[TOKENS], other[TOKENS];
    count_steps(1, 0, 5, one);
    count_steps(1, 0, 5, same);
    count_steps(1, 0, 6, other);
    assert_memory_equal(one, same, sizeof one);
    assert_memory_not_equal(one, other, sizeof one);
    /* the teardown frees this model */
    build("embed 7 7, dense 7", (struct shape){1, 1, 1, LENGTH}, TOKENS);
}

/* Padding after the text must not change the next token. The text's first token must change the
 * logits. */
static void the_whole_text_is_seen(void **state)
{
    (void)state;
    const struct generator_options options = {0};
    float logits[2];
    build("embed 3 8, position 8, attention 2, logits", (struct shape){1, 1, 1, LENGTH}, CLASSES);
    arena_init(&room, 1 << 20);
    for (int32_t first = 0; first < 2; first++) {
        struct generator *generator = generator_new(&room, backend, model, drawn, &options);
        generator_put(generator, first);
        for (int i = 0; i < 4; i++)
            generator_put(generator, 2);
        (void)generator_next(generator);
        int32_t text[LENGTH] = {first, 2, 2, 2, 2, 1, 1, 1};
        float as_floats[LENGTH];
        memcpy(as_floats, text, sizeof text);
        const float *all = model_forward(model, drawn, as_floats, 1) + 4 * CLASSES;
        const int32_t likeliest = all[0] >= all[1] && all[0] >= all[2] ? 0
                                  : all[1] >= all[2]                   ? 1
                                                                       : 2;
        generator_free(generator);
        generator = generator_new(&room, backend, model, drawn, &options);
        for (int i = 0; i < 5; i++)
            generator_put(generator, text[i]);
        assert_int_equal(generator_next(generator), likeliest);
        generator_free(generator);
        logits[first] = all[0];
    }
    assert_true(logits[0] != logits[1]);
    arena_release(&room);
}

/* Returns the likeliest token after `tokens`, the first one of a tie, from a whole pass. */
static int32_t follows(const int32_t *tokens, size_t count)
{
    int32_t text[LENGTH] = {0}, likeliest = 0;
    float as_floats[LENGTH];
    memcpy(text, tokens, count * sizeof *text);
    memcpy(as_floats, text, sizeof text);
    const float *logits = model_forward(model, drawn, as_floats, 1) + (count - 1) * CLASSES;
    for (int32_t i = 1; i < CLASSES; i++)
        likeliest = logits[i] > logits[likeliest] ? i : likeliest;
    return likeliest;
}

/* The model's context. When it is full, its first tokens are dropped. */
struct window {
    int32_t tokens[LENGTH];
    size_t count;
};

static void window_put(struct window *window, int32_t token, size_t dropped)
{
    if (window->count == LENGTH) {
        window->count -= dropped;
        memmove(window->tokens, window->tokens + dropped, window->count * sizeof token);
    }
    window->tokens[window->count++] = token;
}

/* A generated token drops half of a full context, a prompt token only the first token. At times
 * another user runs the model in between. */
static void the_key_value_cache_changes_no_token(void **state)
{
    (void)state;
    const struct generator_options options = {0};
    build("embed 3 8, position 8, 2 * residual(attention 2), logits",
          (struct shape){1, 1, 1, LENGTH}, CLASSES);
    arena_init(&room, 1 << 20);
    struct generator *generator = generator_new(&room, backend, model, drawn, &options);
    struct window window = {{2}, 1};
    int seen[CLASSES] = {0};
    generator_put(generator, 2);
    for (int32_t i = 0; i < 100; i++) {
        const int32_t next = generator_next(generator), put = i * i % CLASSES;
        if (i % 3 == 0)
            assert_int_equal(next, follows(window.tokens, window.count));
        seen[next]++;
        window_put(&window, next, LENGTH / 2);
        if (i % 5 != 0)
            continue;
        window_put(&window, put, 1);
        generator_put(generator, put);
    }
    assert_true(seen[0] < 80 && seen[1] < 80 && seen[2] < 80);
    generator_free(generator);
    arena_release(&room);
}

static size_t rows_read;
static void (*embed_forward)(struct backend *, size_t, int, const int32_t *, struct numbers,
                             struct numbers);

static void count_rows(struct backend *of, size_t rows, int size, const int32_t *token,
                       struct numbers table, struct numbers to)
{
    rows_read += rows;
    embed_forward(of, rows, size, token, table, to);
}

static void each_position_is_read_once_until_the_text_is_full(void **state)
{
    (void)state;
    const struct generator_options options = {0};
    build("embed 3 8, position 8, attention 2, logits", (struct shape){1, 1, 1, LENGTH}, CLASSES);
    arena_init(&room, 1 << 20);
    static struct sequence_operations counting;
    counting = *backend->sequence;
    embed_forward = counting.embed;
    counting.embed = count_rows;
    backend->sequence = &counting;
    rows_read = 0;
    struct generator *generator = generator_new(&room, backend, model, drawn, &options);
    for (int i = 0; i < 3; i++)
        generator_put(generator, 1);
    for (int i = 0; i < LENGTH - 2; i++)
        (void)generator_next(generator);
    assert_int_equal(rows_read, LENGTH);
    for (int i = 0; i < LENGTH / 2; i++)
        (void)generator_next(generator);
    assert_int_equal(rows_read, 2 * LENGTH); /* the remaining half and the new tokens */
    generator_free(generator);
    arena_release(&room);
}

static void a_long_prompt_is_cut_to_its_end(void **state)
{
    (void)state;
    const struct generator_options options = {.temperature = 1, .seed = 3};
    build("embed 3 8, position 8, attention 2, logits", (struct shape){1, 1, 1, LENGTH}, CLASSES);
    arena_init(&room, 1 << 20);
    struct generator *longer = generator_new(&room, backend, model, drawn, &options);
    struct generator *end = generator_new(&room, backend, model, drawn, &options);
    for (int32_t i = 0; i < 3 * LENGTH; i++) {
        const int32_t token = i * i % CLASSES;
        generator_put(longer, token);
        if (i >= 2 * LENGTH)
            generator_put(end, token);
    }
    for (int i = 0; i < 50; i++)
        assert_int_equal(generator_next(longer), generator_next(end));
    generator_free(longer);
    generator_free(end);
    arena_release(&room);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, gradient_begins, gradient_ends)
    const struct CMUnitTest tests[] = {
        TEST(without_temperature_the_likeliest_comes_however_long_the_text),
        TEST(draws_follow_the_softmax),
        TEST(a_seed_gives_one_text),
        TEST(the_whole_text_is_seen),
        TEST(the_key_value_cache_changes_no_token),
        TEST(each_position_is_read_once_until_the_text_is_full),
        TEST(a_long_prompt_is_cut_to_its_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
