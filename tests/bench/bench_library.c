/* Measures the cost of libhearsay in a program: the time of hearsay_step compared with a training
 * step, and memory compared with the caller's tensors.
 *
 *   bench_library OPTIMIZER BATCH SECONDS
 *
 * Runs two nodes in one process, each with ten million float32 parameters and a thread that trains
 * them for SECONDS seconds. A step is forward, backward and update of ten dense layers, 6 flop per
 * parameter and sample, computed by one OpenBLAS thread. The nodes publish to each other over the
 * loopback, with the default configuration and the given optimizer (sgd: nothing is withheld).
 * Times are CPU times of the thread, so other load on the machine matters little.
 */
#include <cblas.h>
#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/rng.h"
#include "base/sort.h"
#include "base/system_clock.h"
#include "crypto/identity.h"
#include "crypto/secret.h"
#include "executor/executor.h"
#include "hearsay.h"

#define LAYERS     10
#define SIDE       1000
#define BATCH_MOST 256
#define PARAMETERS ((size_t)LAYERS * SIDE * SIDE)
#define NODES      2
#define STEPS_MOST 100000
#define RATE       1e-3f
#define PAGE_BYTES (1u << 16)

/* Kinds of steps, by the most expensive order that the learner performed in hearsay_step. */
enum kind { NOTHING, APPLIED, COMPARED, PUBLISHED, KINDS };
static const char *const NAMES[KINDS] = {"nothing", "applied", "compared", "published"};

struct program {
    char name[8];
    struct hearsay *node;
    struct rng rng;
    float *weights[LAYERS];                 /* [SIDE][SIDE] each */
    float x[LAYERS + 1][BATCH_MOST * SIDE]; /* each layer's input, and the last layer's output */
    float gradient[2][BATCH_MOST * SIDE];
    int batch;
    double seconds;
    int steps;
    /* [steps] seconds of each training step and each hearsay_step call */
    double *trained, *stepped;
    enum kind *kinds;
    pthread_barrier_t *together;
};

/* kind of this thread's current step, set by the wrapper of executor_perform (-Wl,--wrap) */
static _Thread_local enum kind ordered;

struct answer __real_executor_perform(const struct executor *executor, const struct action *order);
struct answer __wrap_executor_perform(const struct executor *executor, const struct action *order);
struct answer __wrap_executor_perform(const struct executor *executor, const struct action *order)
{
    enum kind kind = NOTHING;
    if (order->kind == ACTION_PUBLISH)
        kind = PUBLISHED;
    else if (order->kind == ACTION_APPLY)
        kind = order->compares ? COMPARED : APPLIED;
    if (kind > ordered)
        ordered = kind;
    return __real_executor_perform(executor, order);
}

/* Returns a line's value in /proc/self/status, in bytes. */
static double status_bytes(const char *name)
{
    char line[256];
    double kilobytes = 0;
    FILE *file = fopen("/proc/self/status", "r");
    CHECK(file);
    while (fgets(line, sizeof line, file))
        if (strncmp(line, name, strlen(name)) == 0)
            CHECK(sscanf(line + strlen(name), ": %lf", &kilobytes) == 1);
    (void)fclose(file);
    return 1024 * kilobytes;
}

/* Resets the peak of resident memory, VmHWM. */
static void forget_peak(void)
{
    FILE *file = fopen("/proc/self/clear_refs", "w");
    CHECK(file && fputs("5", file) >= 0 && fclose(file) == 0);
}

/* Draws values between -most and most. Each step draws new targets, so training never converges. */
static void draw(struct rng *rng, float *values, size_t count, double most)
{
    for (size_t i = 0; i < count; i++)
        values[i] = (float)(most * (2 * rng_uniform(rng) - 1));
}

static void program_init(struct program *program, int number, pthread_barrier_t *together)
{
    struct rng rng = rng_new(1, 0); /* all nodes have the same first weights */
    (void)snprintf(program->name, sizeof program->name, "n%d", number);
    program->rng = rng_new(2, (uint64_t)number);
    program->together = together;
    for (int i = 0; i < LAYERS; i++) {
        program->weights[i] = malloc((size_t)SIDE * SIDE * sizeof(float));
        CHECK(program->weights[i]);
        draw(&rng, program->weights[i], (size_t)SIDE * SIDE, sqrt(3.0 / SIDE));
    }
    program->trained = calloc(STEPS_MOST, sizeof *program->trained);
    program->stepped = calloc(STEPS_MOST, sizeof *program->stepped);
    program->kinds = calloc(STEPS_MOST, sizeof *program->kinds);
    CHECK(program->trained && program->stepped && program->kinds);
}

static double train(struct program *program)
{
    double loss = 0;
    float *gradient = program->gradient[0], *next = program->gradient[1];
    draw(&program->rng, program->x[0], (size_t)program->batch * SIDE, 1.7);
    draw(&program->rng, next, (size_t)program->batch * SIDE, 1.7);
    for (int i = 0; i < LAYERS; i++)
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, program->batch, SIDE, SIDE, 1,
                    program->x[i], SIDE, program->weights[i], SIDE, 0, program->x[i + 1], SIDE);
    for (int i = 0; i < program->batch * SIDE; i++) {
        gradient[i] = program->x[LAYERS][i] - next[i];
        loss += (double)gradient[i] * (double)gradient[i];
    }
    for (int i = LAYERS - 1; i >= 0; i--) {
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, program->batch, SIDE, SIDE, 1,
                    gradient, SIDE, program->weights[i], SIDE, 0, next, SIDE);
        cblas_sgemm(CblasRowMajor, CblasTrans, CblasNoTrans, SIDE, SIDE, program->batch,
                    -RATE / (float)program->batch, program->x[i], SIDE, gradient, SIDE, 1,
                    program->weights[i], SIDE);
        float *swap = gradient;
        gradient = next;
        next = swap;
    }
    return loss / program->batch;
}

static void must(struct program *program, const char *call, int error)
{
    char text[512];
    if (error == HEARSAY_OK)
        return;
    (void)hearsay_error_text(program->node, error, text, sizeof text);
    (void)fprintf(stderr, "bench_library: hearsay_%s: %s\n", call, text);
    exit(EXIT_FAILURE);
}

static void make_keys(const char *path, int number)
{
    uint8_t bytes[SEED_BYTES];
    struct identity identity;
    struct problem problem;
    memset(bytes, number + 1, sizeof bytes);
    identity_from_seed(&identity, bytes);
    CHECK(identity_save(&identity, path, &problem) == OK);
    memset(bytes, 7, sizeof bytes);
    if (number == 0)
        CHECK(swarm_key_save(bytes, "swarm.key", &problem) == OK);
}

static void program_open(struct program *program, int number, const char *optimizer,
                         const char *peers)
{
    struct hearsay_tensor tensors[LAYERS];
    char names[LAYERS][16], texts[4][128];
    (void)snprintf(texts[0], sizeof texts[0], "node.identity=%s.key", program->name);
    (void)snprintf(texts[1], sizeof texts[1], "node.state_dir=%s", program->name);
    (void)snprintf(texts[2], sizeof texts[2], "train.optimizer=%s", optimizer);
    (void)snprintf(texts[3], sizeof texts[3], "node.peers=%s", peers);
    const char *settings[] = {"node.listen=127.0.0.1:0", texts[0], texts[1], texts[2], texts[3]};
    for (int i = 0; i < LAYERS; i++) {
        (void)snprintf(names[i], sizeof names[i], "%d.weight", i);
        tensors[i] = (struct hearsay_tensor){.name = names[i],
                                             .data = program->weights[i],
                                             .shape = {SIDE, SIDE},
                                             .dimensions = 2,
                                             .device = HEARSAY_CPU};
    }
    const struct hearsay_options options = {.abi = HEARSAY_ABI,
                                            .tensors = tensors,
                                            .tensors_count = LAYERS,
                                            .settings = settings,
                                            .settings_count = 5,
                                            .run = "bench"};
    make_keys(strchr(texts[0], '=') + 1, number);
    must(program, "open", hearsay_open(&options, &program->node));
}

/* Finds a key in the node's status JSON and copies the text or number after it. */
static void find(struct program *program, const char *key, char value[64])
{
    static char page[PAGE_BYTES];
    size_t bytes = sizeof page;
    must(program, "status", hearsay_status(program->node, page, &bytes));
    const char *at = strstr(page, key);
    CHECK(at && sscanf(at + strlen(key), "%63[^\",}]", value) == 1);
}

static void *run(void *argument)
{
    struct program *program = argument;
    must(program, "join", hearsay_join(program->node, -1));
    (void)pthread_barrier_wait(program->together);
    const double end = monotonic_s() + program->seconds;
    while (program->steps < STEPS_MOST && monotonic_s() < end) {
        const int i = program->steps++;
        const double start = system_clock_s(CLOCK_THREAD_CPUTIME_ID);
        const double loss = train(program);
        const double trained = system_clock_s(CLOCK_THREAD_CPUTIME_ID);
        ordered = NOTHING;
        must(program, "step", hearsay_step(program->node, (uint64_t)program->batch, loss, NULL));
        program->stepped[i] = system_clock_s(CLOCK_THREAD_CPUTIME_ID) - trained;
        program->trained[i] = trained - start;
        program->kinds[i] = ordered;
    }
    (void)pthread_barrier_wait(program->together);
    return NULL;
}

static double quantile(double *values, int count, double part)
{
    double_sort(values, (size_t)count);
    return values[(int)(part * (count - 1))];
}

static void print_kind(const struct program *program, enum kind kind, double *values)
{
    int count = 0;
    double sum = 0;
    for (int i = 0; i < program->steps; i++) {
        if (program->kinds[i] != kind)
            continue;
        sum += program->stepped[i];
        values[count++] = program->stepped[i];
    }
    if (count > 0)
        printf("  %-10s %6d steps  median %9.1f us  99 %% %9.1f us  sum %7.3f s\n", NAMES[kind],
               count, 1e6 * quantile(values, count, 0.5), 1e6 * quantile(values, count, 0.99), sum);
}

static void print_times(struct program *program)
{
    double trained = 0, between = 0, between_trained = 0, all = 0;
    double *values = calloc((size_t)program->steps, sizeof *values);
    CHECK(values);
    for (int i = 0; i < program->steps; i++) {
        trained += program->trained[i];
        all += program->stepped[i];
        if (program->kinds[i] == PUBLISHED)
            continue;
        between += program->stepped[i];
        between_trained += program->trained[i];
    }
    memcpy(values, program->trained, (size_t)program->steps * sizeof *values);
    printf("%s: %d steps of training, median %.1f ms\n", program->name, program->steps,
           1e3 * quantile(values, program->steps, 0.5));
    for (enum kind kind = NOTHING; kind < KINDS; kind++)
        print_kind(program, kind, values);
    printf("  hearsay_step over training: between publications %.3f %%, in all %.3f %%\n",
           100 * between / between_trained, 100 * all / trained);
    free(values);
}

static void print_memory(const char *when, double before)
{
    const double parameters = (double)PARAMETERS * NODES;
    printf("memory beside the tensors, %-22s %6.2f bytes a parameter, at the most %6.2f\n", when,
           (status_bytes("RssAnon") - before) / parameters,
           (status_bytes("VmHWM") - status_bytes("RssFile") - status_bytes("RssShmem") - before) /
               parameters);
    forget_peak();
}

static void print_node(struct program *program)
{
    struct hearsay_info info = {.abi = HEARSAY_ABI};
    char log[64];
    must(program, "info", hearsay_info(program->node, &info));
    find(program, "\"log_bytes\":", log);
    printf("%s: rumors %llu, sent %.1f MB, received %.1f MB; its log has %.2f bytes a parameter\n",
           program->name, (unsigned long long)info.rumors, (double)info.sent_bytes * 1e-6,
           (double)info.received_bytes * 1e-6, atof(log) / (double)PARAMETERS);
}

static void bench(struct program programs[NODES], const char *optimizer, double before)
{
    pthread_t threads[NODES];
    char address[64] = "";
    for (int i = 0; i < NODES; i++) {
        program_open(&programs[i], i, optimizer, address);
        find(&programs[i], "\"address\":\"", address);
    }
    print_memory("after open:", before);
    for (int i = 0; i < NODES; i++)
        CHECK(pthread_create(&threads[i], NULL, run, &programs[i]) == 0);
    for (int i = 0; i < NODES; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    print_memory("after training:", before);
    for (int i = 0; i < NODES; i++)
        print_node(&programs[i]);
    must(&programs[0], "save", hearsay_save(programs[0].node, NULL, 0));
    print_memory("of one, while it saves:", before);
    for (int i = 0; i < NODES; i++)
        print_times(&programs[i]);
    for (int i = 0; i < NODES; i++)
        must(&programs[i], "free", hearsay_free(programs[i].node));
}

int main(int argc, char **argv)
{
    static struct program programs[NODES];
    char folder[] = "/tmp/hearsay-bench-library-XXXXXX", command[64];
    pthread_barrier_t together;
    if (argc != 4) {
        (void)fprintf(stderr, "bench_library OPTIMIZER BATCH SECONDS\n");
        return 2;
    }
    openblas_set_num_threads(1);
    secret_start();
    CHECK(pthread_barrier_init(&together, NULL, NODES) == 0);
    CHECK(mkdtemp(folder) && chdir(folder) == 0);
    for (int i = 0; i < NODES; i++) {
        program_init(&programs[i], i, &together);
        programs[i].batch = atoi(argv[2]);
        CHECK(programs[i].batch > 0 && programs[i].batch <= BATCH_MOST);
        programs[i].seconds = atof(argv[3]);
        (void)train(&programs[i]); /* touches all memory before it is measured */
    }
    for (int i = 0; i < NODES; i++) { /* all nodes have equal first weights */
        struct rng rng = rng_new(1, 0);
        for (int layer = 0; layer < LAYERS; layer++)
            draw(&rng, programs[i].weights[layer], (size_t)SIDE * SIDE, sqrt(3.0 / SIDE));
    }
    forget_peak();
    bench(programs, argv[1], status_bytes("RssAnon"));
    (void)snprintf(command, sizeof command, "rm -rf %s", folder);
    return chdir("/") == 0 && system(command) == 0 ? 0 : 1;
}
