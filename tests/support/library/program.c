#include "support/library/program.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/half.h"
#include "crypto/identity.h"
#include "crypto/secret.h"

#define POINTS 32  /* points of a batch */
#define MANY   512 /* points for measuring a loss */
#define RATE   0.05f

static char folder[64];

int programs_begin(void **state)
{
    uint8_t key[KEY_BYTES];
    struct problem problem;
    (void)state;
    (void)snprintf(folder, sizeof folder, "/tmp/hearsay-library-XXXXXX");
    if (!mkdtemp(folder) || chdir(folder) != 0)
        return -1;
    secret_start();
    memset(key, 7, sizeof key);
    return swarm_key_save(key, "swarm.key", &problem) == OK ? 0 : -1;
}

int programs_end(void **state)
{
    char command[96];
    (void)state;
    (void)snprintf(command, sizeof command, "rm -rf %s", folder);
    return chdir("/") == 0 && system(command) == 0 ? 0 : -1;
}

/* Returns a number in [-1, 1) that depends only on the three arguments. */
static float draw(unsigned seed, unsigned a, unsigned b)
{
    uint32_t x = seed * 2654435761u ^ a * 2246822519u ^ b * 3266489917u;
    x = (x ^ x >> 15) * 2246822519u;
    x = (x ^ x >> 13) * 3266489917u;
    return (float)(x >> 8) * 0x1p-23f - 1;
}

static float plane(unsigned input, unsigned output)
{
    return draw(99, input, output);
}

void program_init(struct program *program, const char *name, unsigned seed)
{
    *program = (struct program){.name = name, .seed = seed};
    for (unsigned i = 0; i < PROGRAM_WEIGHTS; i++) {
        program->weights[i] = 0.1f * draw(1, i, 0);
        program->halves[i] = half_to_bfloat16(program->weights[i]);
    }
}

/* Copies the program's weights and bias to its GPU, if it has one. */
static void push(struct program *program)
{
    struct backend *gpu = program->gpu;
    if (!gpu)
        return;
    const bool is_half = program->dtype != HEARSAY_FLOAT32;
    gpu->upload(gpu, program->gpu_weights, is_half ? (void *)program->halves : program->weights,
                is_half ? sizeof program->halves : sizeof program->weights);
    gpu->upload(gpu, program->gpu_bias, program->bias, sizeof program->bias);
}

static void pull(struct program *program)
{
    struct backend *gpu = program->gpu;
    if (!gpu)
        return;
    const bool is_half = program->dtype != HEARSAY_FLOAT32;
    gpu->download(gpu, is_half ? (void *)program->halves : program->weights, program->gpu_weights,
                  is_half ? sizeof program->halves : sizeof program->weights);
    gpu->download(gpu, program->bias, program->gpu_bias, sizeof program->bias);
}

static void take(struct program *program)
{
    struct backend *gpu = program->gpu;
    program->gpu_weights = gpu->alloc(gpu, sizeof program->weights);
    program->gpu_bias = gpu->alloc(gpu, sizeof program->bias);
    push(program);
}

void program_give(struct program *program)
{
    struct backend *gpu = program->gpu;
    if (!gpu)
        return;
    gpu->free(gpu, program->gpu_weights);
    gpu->free(gpu, program->gpu_bias);
    gpu->close(gpu);
}

void program_tensors(struct program *program, struct hearsay_tensor tensors[PROGRAM_TENSORS])
{
    const bool is_half = program->dtype != HEARSAY_FLOAT32;
    void *weights = program->gpu          ? program->gpu_weights
                    : is_half             ? (void *)program->halves
                    : program->has_copies ? program->weights_copy
                                          : program->weights;
    void *bias = program->gpu          ? program->gpu_bias
                 : program->has_copies ? program->bias_copy
                                       : program->bias;
    const int32_t device = program->gpu ? HEARSAY_CUDA : HEARSAY_CPU;
    tensors[0] = (struct hearsay_tensor){.name = "plane.weight",
                                         .data = weights,
                                         .shape = {PROGRAM_INPUTS, PROGRAM_OUTPUTS},
                                         .dimensions = 2,
                                         .dtype = program->dtype,
                                         .device = device};
    tensors[1] = (struct hearsay_tensor){.name = "plane.bias",
                                         .data = bias,
                                         .shape = {PROGRAM_OUTPUTS},
                                         .dimensions = 1,
                                         .device = device,
                                         .flags = program->has_statistics ? HEARSAY_STATISTICS : 0};
}

void program_need_identity(const char *path, unsigned seed)
{
    uint8_t bytes[SEED_BYTES];
    struct identity identity;
    struct problem problem;
    if (access(path, R_OK) == 0)
        return;
    memset(bytes, (int)seed, sizeof bytes);
    identity_from_seed(&identity, bytes);
    assert_int_equal(identity_save(&identity, path, &problem), OK);
}

/* The fetch callback of a program with a GPU: waits until the GPU is done. */
static void finish(void *self)
{
    struct program *program = self;
    float first;
    program->gpu->download(program->gpu, &first, program->gpu_bias, sizeof first);
    program->fetches++;
}

static void fetch(void *self)
{
    struct program *program = self;
    memcpy(program->weights_copy, program->weights, sizeof program->weights);
    memcpy(program->bias_copy, program->bias, sizeof program->bias);
    program->fetches++;
}

static void store(void *self)
{
    struct program *program = self;
    memcpy(program->weights, program->weights_copy, sizeof program->weights);
    memcpy(program->bias, program->bias_copy, sizeof program->bias);
    program->stores++;
}

int program_open(struct program *program)
{
    char identity[128], state[128], peers[128];
    struct hearsay_tensor tensors[PROGRAM_TENSORS];
    (void)snprintf(identity, sizeof identity, "node.identity=%s.key", program->name);
    (void)snprintf(state, sizeof state, "node.state_dir=%s", program->name);
    (void)snprintf(peers, sizeof peers, "node.peers=%s", program->peers ? program->peers : "");
    program_need_identity(strchr(identity, '=') + 1, program->seed);
    const char *settings[] = {"node.listen=127.0.0.1:0",
                              "node.swarm_key=swarm.key",
                              identity,
                              state,
                              peers,
                              "train.momentum=0",
                              "exchange.gain=1",
                              "exchange.beta=0",
                              "exchange.weigh_throughput=no",
                              program->setting};
    const struct hearsay_options options = {.abi = HEARSAY_ABI,
                                            .tensors = tensors,
                                            .tensors_count = PROGRAM_TENSORS,
                                            .settings = settings,
                                            .settings_count = program->setting ? 10 : 9,
                                            .run = program->run ? program->run : "plane",
                                            .fetch = program->gpu          ? finish
                                                     : program->has_copies ? fetch
                                                                           : NULL,
                                            .store = program->has_copies ? store : NULL,
                                            .self = program};
    if (program->gpu)
        take(program);
    program_tensors(program, tensors);
    return hearsay_open(&options, &program->node);
}

void program_must_open(struct program *program)
{
    const int error = program_open(program);
    if (error != HEARSAY_OK)
        fail_msg("%s: %s", program->name, program_sentence(program, error));
}

void program_address(struct program *program, char address[64])
{
    static char page[1 << 16];
    size_t bytes = sizeof page;
    assert_int_equal(hearsay_status(program->node, page, &bytes), HEARSAY_OK);
    const char *at = strstr(page, "\"address\":\"");
    assert_non_null(at);
    assert_int_equal(sscanf(at, "\"address\":\"%63[^\"]", address), 1);
}

static void point(unsigned seed, unsigned number, float x[PROGRAM_INPUTS], float y[PROGRAM_OUTPUTS])
{
    memset(y, 0, PROGRAM_OUTPUTS * sizeof *y);
    for (unsigned i = 0; i < PROGRAM_INPUTS; i++) {
        x[i] = draw(seed + 1000, number, i);
        for (unsigned o = 0; o < PROGRAM_OUTPUTS; o++)
            y[o] += x[i] * plane(i, o);
    }
}

/* Adds the gradient of one point to `gradient`, unless that is NULL. Returns the loss. */
static double learn_point(const float *weights, const float *bias, unsigned seed, unsigned number,
                          float *gradient)
{
    float x[PROGRAM_INPUTS], y[PROGRAM_OUTPUTS];
    double loss = 0;
    point(seed, number, x, y);
    for (unsigned o = 0; o < PROGRAM_OUTPUTS; o++) {
        float error = bias[o] - y[o];
        for (unsigned i = 0; i < PROGRAM_INPUTS; i++)
            error += x[i] * weights[i * PROGRAM_OUTPUTS + o];
        loss += 0.5 * (double)(error * error);
        for (unsigned i = 0; gradient && i < PROGRAM_INPUTS; i++)
            gradient[i * PROGRAM_OUTPUTS + o] += error * x[i];
        if (gradient)
            gradient[PROGRAM_WEIGHTS + o] += error;
    }
    return loss;
}

double program_loss(const float weights[PROGRAM_WEIGHTS], const float bias[PROGRAM_OUTPUTS])
{
    double loss = 0;
    for (unsigned i = 0; i < MANY; i++)
        loss += learn_point(weights, bias, 77, i, NULL);
    return loss / MANY;
}

double program_step(struct program *program, unsigned step)
{
    float gradient[PROGRAM_WEIGHTS + PROGRAM_OUTPUTS] = {0};
    const bool is_half = program->dtype == HEARSAY_BFLOAT16;
    double loss = 0;
    for (unsigned i = 0; is_half && i < PROGRAM_WEIGHTS; i++)
        program->weights[i] = half_of_bfloat16(program->halves[i]);
    for (unsigned i = 0; i < POINTS; i++)
        loss += learn_point(program->weights, program->bias, program->seed, step * POINTS + i,
                            gradient);
    for (unsigned i = 0; i < PROGRAM_WEIGHTS; i++) {
        program->weights[i] -= RATE * gradient[i] / POINTS;
        if (is_half)
            program->halves[i] = half_to_bfloat16(program->weights[i]);
    }
    for (unsigned o = 0; o < PROGRAM_OUTPUTS; o++)
        program->bias[o] -= RATE * gradient[PROGRAM_WEIGHTS + o] / POINTS;
    return loss / POINTS;
}

static bool ok(struct program *program, const char *call, int error)
{
    if (error != HEARSAY_OK && program->error == HEARSAY_OK) {
        program->error = error;
        program->call = call;
    }
    return error == HEARSAY_OK;
}

static void settle_together(struct program *program)
{
    if (program->together)
        (void)pthread_barrier_wait(program->together);
    int error;
    do
        error = hearsay_settle(program->node, program->is_impatient ? 0.01 : PROGRAM_FOREVER);
    while (error == HEARSAY_TIMEOUT);
    (void)ok(program, "settle", error);
}

static void finish_together(struct program *program)
{
    int error;
    do
        error = hearsay_finish(program->node, program->is_impatient ? 0.01 : PROGRAM_FOREVER);
    while (error == HEARSAY_TIMEOUT);
    (void)ok(program, "finish", error);
}

static bool has_learned(struct program *program)
{
    float weights[PROGRAM_WEIGHTS], bias[PROGRAM_OUTPUTS];
    return ok(program, "base", program_base(program, weights, bias)) &&
           program_loss(weights, bias) < program->target;
}

/* Runs in the program's thread. The first settle publishes the remaining residuals. The second
 * settle receives those of the other programs, because the barrier `together` makes it wait for
 * their first settle. */
static void *learn(void *argument)
{
    struct program *program = argument;
    bool goes_on = ok(program, "join", hearsay_join(program->node, PROGRAM_FOREVER));
    while (goes_on &&
           /* with fewer known members its share would be too large */
           program_info(program).members < program->members)
        (void)hearsay_settle(program->node, 0.01);
    if (program->together)
        (void)pthread_barrier_wait(program->together);
    for (int i = 0;
         goes_on && (i < program->steps || (program->target > 0 && !has_learned(program))); i++) {
        int changed = 0;
        pull(program);
        const double loss = program_step(program, (unsigned)i);
        push(program);
        goes_on = ok(program, "step", hearsay_step(program->node, POINTS, loss, &changed));
        program->changes += changed;
    }
    if (program->finishes) {
        finish_together(program);
        return NULL;
    }
    settle_together(program);
    settle_together(program);
    if (program->together)
        (void)pthread_barrier_wait(program->together);
    return NULL;
}

void program_start(struct program *program)
{
    assert_int_equal(pthread_create(&program->thread, NULL, learn, program), 0);
}

void program_finish(struct program *program)
{
    assert_int_equal(pthread_join(program->thread, NULL), 0);
    if (program->error != HEARSAY_OK)
        fail_msg("%s: hearsay_%s: %s", program->name, program->call,
                 program_sentence(program, program->error));
}

int program_base(struct program *program, float weights[PROGRAM_WEIGHTS],
                 float bias[PROGRAM_OUTPUTS])
{
    struct hearsay_tensor tensors[PROGRAM_TENSORS];
    program_tensors(program, tensors);
    tensors[0].data = weights;
    tensors[0].dtype = HEARSAY_FLOAT32;
    tensors[1].data = bias;
    tensors[0].device = tensors[1].device = HEARSAY_CPU;
    return hearsay_base(program->node, tensors, PROGRAM_TENSORS);
}

struct hearsay_info program_info(struct program *program)
{
    struct hearsay_info info = {.abi = HEARSAY_ABI};
    assert_int_equal(hearsay_info(program->node, &info), HEARSAY_OK);
    return info;
}

const char *program_sentence(struct program *program, int error)
{
    static char text[512];
    assert_int_equal(hearsay_error_text(program->node, error, text, sizeof text), HEARSAY_OK);
    return text;
}
