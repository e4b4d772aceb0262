/* Augmentation by seed: what is drawn, and that a learner trains on the augmented samples, across
 * epochs, on every device. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "data/augment.h"
#include "support/model/each_device.h"
#include "training/learner.h"

#define DRAWS   4000
#define COUNT   5
#define SIDE    6
#define BATCH   3
#define STEPS   7 /* 21 samples, so some batches cross the end of an epoch */
#define CLASSES 4
#define P       (CLASSES * (SIDE * SIDE + 1))

static const struct shape shape = {1, 8, 10, 0};
static const struct augment_options all = {.flip = true, .crop = 3, .cutout = 5};

static void the_same_numbers_draw_the_same(void **state)
{
    (void)state;
    for (uint32_t sample = 0; sample < 50; sample++) {
        const struct augmentation one = augment_draw(&all, shape, 7, 1, 2, sample);
        const struct augmentation again = augment_draw(&all, shape, 7, 1, 2, sample);
        assert_memory_equal(&one, &again, sizeof one);
    }
}

/* If the seed, the node, the epoch or the sample changes, the augmentation nearly always changes.
 */
static void another_seed_node_epoch_or_sample_draws_another(void **state)
{
    (void)state;
    int same[4] = {0};
    for (uint32_t sample = 0; sample < 1000; sample++) {
        const struct augmentation one = augment_draw(&all, shape, 7, 1, 2, sample);
        const struct augmentation others[4] = {augment_draw(&all, shape, 8, 1, 2, sample),
                                               augment_draw(&all, shape, 7, 2, 2, sample),
                                               augment_draw(&all, shape, 7, 1, 3, sample),
                                               augment_draw(&all, shape, 7, 1, 2, sample + 1)};
        for (int i = 0; i < 4; i++)
            same[i] += memcmp(&one, &others[i], sizeof one) == 0;
    }
    for (int i = 0; i < 4; i++)
        assert_in_range(same[i], 0, 10);
}

/* Each value occurs as often as expected, within 20 %. */
static void every_value_is_as_likely(void **state)
{
    (void)state;
    int mirrored = 0, down[7] = {0}, right[7] = {0}, top[8] = {0}, left[10] = {0};
    for (uint32_t sample = 0; sample < DRAWS; sample++) {
        const struct augmentation one = augment_draw(&all, shape, 1, 0, 0, sample);
        mirrored += one.mirrored;
        assert_in_range(one.mirrored, 0, 1);
        assert_in_range(one.down + 3, 0, 6);
        assert_in_range(one.right + 3, 0, 6);
        assert_in_range(one.hole_top + 2, 0, 7); /* the centre of the hole is in the image */
        assert_in_range(one.hole_left + 2, 0, 9);
        down[one.down + 3]++;
        right[one.right + 3]++;
        top[one.hole_top + 2]++;
        left[one.hole_left + 2]++;
    }
    assert_in_range(mirrored, DRAWS * 45 / 100, DRAWS * 55 / 100);
    for (int i = 0; i < 7; i++) {
        assert_in_range(down[i], DRAWS / 7 * 8 / 10, DRAWS / 7 * 12 / 10);
        assert_in_range(right[i], DRAWS / 7 * 8 / 10, DRAWS / 7 * 12 / 10);
    }
    for (int i = 0; i < 8; i++)
        assert_in_range(top[i], DRAWS / 8 * 8 / 10, DRAWS / 8 * 12 / 10);
    for (int i = 0; i < 10; i++)
        assert_in_range(left[i], DRAWS / 10 * 8 / 10, DRAWS / 10 * 12 / 10);
}

static void a_disabled_augmentation_draws_no_random_numbers(void **state)
{
    (void)state;
    const struct augment_options no_flip = {.crop = 3, .cutout = 5}, no_crop = {.flip = true};
    for (uint32_t sample = 0; sample < 100; sample++) {
        const struct augmentation wanted = augment_draw(&all, shape, 7, 1, 2, sample);
        const struct augmentation still = augment_draw(&no_flip, shape, 7, 1, 2, sample);
        const struct augmentation here = augment_draw(&no_crop, shape, 7, 1, 2, sample);
        assert_int_equal(still.mirrored, 0);
        assert_true(still.down == wanted.down && still.hole_left == wanted.hole_left);
        assert_true(here.down == 0 && here.right == 0 && here.mirrored == wanted.mirrored);
    }
    assert_false(augment_is_wanted(&(struct augment_options){.flip = false}));
    assert_true(augment_is_wanted(&(struct augment_options){.cutout = 1}));
}

static uint8_t pixels[COUNT][SIDE * SIDE];
static int32_t labels[COUNT];
static const struct dataset data = {.pixels = pixels[0],
                                    .labels = labels,
                                    .count = COUNT,
                                    .shape = {1, SIDE, SIDE, 0},
                                    .classes = CLASSES,
                                    .mean = 100,
                                    .scale = 0.02f};
static const struct augment_options wanted = {.flip = true, .crop = 2, .cutout = 3};
static struct arena arena;

static int begin(void **state)
{
    (void)state;
    arena_init(&arena, (size_t)1 << 20);
    backend = open_device();
    for (size_t i = 0; i < COUNT; i++) {
        labels[i] = (int32_t)i % CLASSES;
        for (size_t k = 0; k < SIDE * SIDE; k++)
            pixels[i][k] = (uint8_t)((i * 36 + k) * 2654435761u >> 11);
    }
    return 0;
}

static int end(void **state)
{
    (void)state;
    backend->close(backend);
    arena_release(&arena);
    return 0;
}

static struct model *model_on(struct backend *on)
{
    struct model *model;
    struct problem problem;
    assert_int_equal(model_new(&model, &arena, on, "dense 4", data.shape, CLASSES, BATCH, &problem),
                     OK);
    assert_int_equal(model_parameters(model), P);
    return model;
}

static struct learner_options options_of(const struct augment_options *augment)
{
    return (struct learner_options){.optimizer = {.sgd = {.rate = 0.1f}},
                                    .batch = BATCH,
                                    .model_seed = 3,
                                    .data_seed = 4,
                                    .data_node = 9,
                                    .augment = *augment,
                                    .density_max = P};
}

static void learn(const struct augment_options *augment, int steps, float weights[P])
{
    const struct learner_options options = options_of(augment);
    struct model *model = model_on(backend);
    struct learner *learner = learner_new(&arena, backend, model, &data, NULL, &options);
    for (int i = 0; i < steps; i++)
        (void)learner_step(learner);
    learner_read_weights(learner, weights);
    learner_free(learner);
    model_free(model);
}

/* Trains by hand. Each sample occurs once an epoch (batch.h), so sample n is in epoch n / COUNT. */
static void learn_by_hand(int steps, float weights[P])
{
    struct backend *cpu = backend_cpu(1);
    struct model *model = model_on(cpu);
    struct batch batch;
    batch_init(&batch, &arena, COUNT, 1, 4, 9);
    model_init(model, 3, weights);
    for (int step = 0; step < steps; step++) {
        static float x[BATCH][SIDE * SIDE], moved[BATCH][SIDE * SIDE], gradients[P];
        const struct augment augment = {data.shape, 3, (0 - data.mean) * data.scale};
        struct augmentation each[BATCH];
        uint32_t pick[BATCH];
        int32_t y[BATCH];
        struct score score = {0};
        batch_next(&batch, BATCH, pick);
        for (uint32_t i = 0; i < BATCH; i++) {
            const uint64_t epoch = ((uint64_t)step * BATCH + i) / COUNT;
            each[i] = augment_draw(&wanted, data.shape, 4, 9, epoch, pick[i]);
            y[i] = labels[pick[i]];
            for (size_t k = 0; k < SIDE * SIDE; k++)
                x[i][k] = ((float)pixels[pick[i]][k] - data.mean) * data.scale;
        }
        cpu->gather->augment(cpu, &augment, BATCH, each, x[0], moved[0]);
        model_learn(model, weights, gradients, moved[0], y, BATCH, &score);
        for (size_t p = 0; p < P; p++)
            weights[p] -= 0.1f * gradients[p];
    }
    model_free(model);
    cpu->close(cpu);
}

static void a_learner_learns_from_what_is_drawn(void **state)
{
    (void)state;
    static float weights[P], want[P], plain[P];
    learn(&wanted, STEPS, weights);
    learn(&(struct augment_options){.flip = false}, STEPS, plain);
    learn_by_hand(STEPS, want);
    double apart = 0;
    for (size_t p = 0; p < P; p++) {
        assert_true(fabsf(weights[p] - want[p]) < 1e-4f);
        apart += fabs((double)weights[p] - (double)plain[p]);
    }
    assert_true(apart > 0.1);
}

static void a_learner_goes_on_as_it_would_have(void **state)
{
    (void)state;
    static float weights[P], want[P];
    static unsigned char memory[1 << 14];
    learn(&wanted, STEPS, want);
    const struct learner_options options = options_of(&wanted);
    struct model *model = model_on(backend);
    struct learner_state saved;
    for (int part = 0; part < 2; part++) {
        struct learner *learner = learner_new(&arena, backend, model, &data, NULL, &options);
        if (part == 0)
            learner_state_init(&saved, memory, P, learner_moments(learner));
        else
            learner_restore(learner, &saved);
        for (int i = 0; i < (part == 0 ? 4 : STEPS - 4); i++)
            (void)learner_step(learner);
        learner_save(learner, &saved);
        learner_read_weights(learner, weights);
        learner_free(learner);
    }
    assert_memory_equal(weights, want, sizeof weights);
    model_free(model);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_numbers_draw_the_same),
        cmocka_unit_test(another_seed_node_epoch_or_sample_draws_another),
        cmocka_unit_test(every_value_is_as_likely),
        cmocka_unit_test(a_disabled_augmentation_draws_no_random_numbers),
        TEST(a_learner_learns_from_what_is_drawn),
        TEST(a_learner_goes_on_as_it_would_have),
    };
    RUN_ON_EACH_DEVICE(tests, NULL, NULL);
}
