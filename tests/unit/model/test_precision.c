/* A sequence model trains equally well in bfloat16 and in float32. gpt-mini with activations and
 * their gradients in 16 bits on a device is compared with the same steps on the CPU. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/memory.h"
#include "base/rng.h"
#include "layers/model.h"
#include "support/model/each_device.h"
#include "training/optimizer_step.h"

enum { TOKENS = 256, LENGTH = 32, SAMPLES = 1, STEPS = 50, LAST = 10 };

static const char *const words[] = {"the ", "node ",    "sends ", "what ",
                                    "it ",  "learned ", "to ",    "all "};

/* Draws texts from eight different words. Each token's label is the next token. */
static void draw_text(struct rng *rng, int32_t *tokens, int32_t *labels)
{
    for (int sample = 0; sample < SAMPLES; sample++) {
        char text[LENGTH + 16];
        size_t used = 0;
        for (size_t word = rng_below(rng, 8); used <= LENGTH;
             word = (word + 1 + rng_below(rng, 2)) % 8) {
            memcpy(text + used, words[word], strlen(words[word]));
            used += strlen(words[word]);
        }
        for (int i = 0; i < LENGTH; i++) {
            tokens[sample * LENGTH + i] = text[i];
            labels[sample * LENGTH + i] = text[i + 1];
        }
    }
}

/* Training whose gradients a device computes, and whose weights the CPU moves. */
struct training {
    struct backend *device;
    struct backend *cpu;
    struct model *model;
    size_t count;
    float *w, *g, *x; /* weights, gradients and tokens on the device */
    int32_t *y;       /* labels on the device */
    struct score *score;
    float *host_w, *host_g, *m, *v;
};

static void training_begin(struct training *t, struct arena *arena)
{
    const struct model_use use = {.batch_max = SAMPLES};
    struct problem problem = {""};
    arena_init(arena, 4096);
    assert_int_equal(model_new_for(&t->model, arena, t->device, model_preset("gpt-mini"),
                                   (struct shape){1, 1, 1, LENGTH}, TOKENS, &use, &problem),
                     OK);
    t->count = model_parameters(t->model);
    float **const host[] = {&t->host_w, &t->host_g, &t->m, &t->v};
    for (size_t i = 0; i < sizeof host / sizeof host[0]; i++)
        *host[i] = t->cpu->alloc(t->cpu, t->count * sizeof(float));
    t->w = t->device->alloc(t->device, t->count * sizeof *t->w);
    t->g = t->device->alloc(t->device, t->count * sizeof *t->g);
    t->x = t->device->alloc(t->device, SAMPLES * LENGTH * sizeof *t->x);
    t->y = t->device->alloc(t->device, SAMPLES * LENGTH * sizeof *t->y);
    t->score = t->device->alloc(t->device, sizeof *t->score);
    model_init(t->model, 1, t->host_w);
}

static void training_end(struct training *t, struct arena *arena)
{
    void *const taken[] = {t->w, t->g, t->x, t->y, t->score};
    void *const host[] = {t->host_w, t->host_g, t->m, t->v};
    for (size_t i = 0; i < sizeof taken / sizeof taken[0]; i++)
        t->device->free(t->device, taken[i]);
    for (size_t i = 0; i < sizeof host / sizeof host[0]; i++)
        t->cpu->free(t->cpu, host[i]);
    model_free(t->model);
    arena_release(arena);
}

/* Makes a step and returns its mean loss per token. */
static double train_once(struct training *t, struct rng *rng, uint64_t number)
{
    const struct optimizer optimizer = {.kind = OPTIMIZER_ADAM,
                                        .sgd = {.rate = 3e-4f, .momentum = 0.9f},
                                        .beta2 = 0.99f,
                                        .clip = 1,
                                        .decay = 1};
    int32_t tokens[SAMPLES * LENGTH], labels[SAMPLES * LENGTH];
    struct optimizer_step step;
    struct score score = {0};
    draw_text(rng, tokens, labels);
    t->device->upload(t->device, t->w, t->host_w, t->count * sizeof *t->w);
    t->device->upload(t->device, t->x, tokens, sizeof tokens);
    t->device->upload(t->device, t->y, labels, sizeof labels);
    t->device->upload(t->device, t->score, &score, sizeof score);
    model_learn(t->model, t->w, t->g, t->x, t->y, SAMPLES, t->score);
    t->device->download(t->device, t->host_g, t->g, t->count * sizeof *t->g);
    t->device->download(t->device, &score, t->score, sizeof score);
    optimizer_step_set(&step, &optimizer, t->model, (struct swarm_progress){.learners = 1}, number,
                       1);
    optimizer_step_make(t->cpu, &optimizer, t->model, &step, t->host_w, t->host_g,
                        (float *[2]){t->m, t->v});
    return score.loss / score.labels;
}

/* Trains and returns the mean loss of the last steps. *first: loss of the first step. */
static double train(struct backend *device, double *first)
{
    struct training t = {.device = device, .cpu = backend_cpu(1)};
    struct rng rng = rng_new(52, 1);
    struct arena arena;
    double sum = 0;
    training_begin(&t, &arena);
    for (uint64_t number = 1; number <= STEPS; number++) {
        const double loss = train_once(&t, &rng, number);
        *first = number == 1 ? loss : *first;
        sum += number > STEPS - LAST ? loss : 0;
    }
    training_end(&t, &arena);
    t.cpu->close(t.cpu);
    device->close(device);
    return sum / LAST;
}

static void fifty_steps_in_bfloat16_end_within_a_hundredth_of_float32(void **state)
{
    (void)state;
    if (gpu_under_test < 0)
        skip();
    double first, first_rounded;
    struct backend *device = open_device_in(PRECISION_BF16);
    assert_int_equal(device->activations, BFLOAT16);
    const double rounded = train(device, &first_rounded);
    const double plain = train(backend_cpu(1), &first);
    print_message("loss after %d steps: %.5f in float32, %.5f in bfloat16\n", STEPS, plain,
                  rounded);
    assert_true(plain < first / 3);
    assert_true(fabs(rounded - plain) <= 0.01 * plain);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fifty_steps_in_bfloat16_end_within_a_hundredth_of_float32),
    };
    RUN_ON_EACH_DEVICE(tests, NULL, NULL);
}
