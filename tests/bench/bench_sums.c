/* Would relaying the sum of several rumors, instead of each of them, save bytes?
 *
 *     build/bench_sums TEXT [ONE ENTRY IN SO MANY, 300]
 *
 * Sixteen learners train a small GPT on the text in one process, with Adam. Every sixteen steps
 * each learner publishes one entry in 300, or in the given number. For sums of 2, 4, 8 and 16
 * publications of one round, prints the entries and the bytes of the sum relative to those of its
 * publications. The bytes of a sum are computed in three ways:
 *
 *   exact      for the exact total of each entry, as the entropy of the values
 *   rounded    if all entries move by one amount; the bases of nodes would then differ
 *   positions  for the positions of the entries, a lower bound for every sum */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "support/net/rumor_bytes.h"
#include "training/learner.h"

#define NODES   16
#define ROUNDS  12
#define WARM    4 /* first rounds, which are not counted */
#define STEPS   16
#define BATCH   8
#define CONTEXT 64
#define LAYERS                                                                                     \
    "embed 256 96, position 64, 3 * (residual(norm, attention 4), residual(norm, dense 384, "      \
    "gelu, dense 96)), norm, logits tied"

static struct arena arena;
static struct backend *backend;
static struct learner *learners[NODES];
static size_t parameters;
static int64_t *sums;                  /* [parameters] sum of a group's publications */
static struct update published[NODES]; /* publications of the current round */
static uint64_t last_bytes[NODES];

struct ratios {
    double entries, exact, rounded, split;
    uint32_t count;
};

static void must(enum error error, const struct problem *problem)
{
    if (error != OK) {
        (void)fprintf(stderr, "bench_sums: %s\n", problem->text);
        exit(1);
    }
}

static void load(const char *text)
{
    const struct optimizer optimizer = {.kind = OPTIMIZER_ADAM,
                                        .sgd = {.rate = 0.004f, .momentum = 0.9f},
                                        .beta2 = 0.95f,
                                        .clip = 1,
                                        .warmup_samples = 2000,
                                        .schedule = CONSTANT};
    struct model *model = NULL;
    struct problem problem;
    for (uint32_t i = 0; i < NODES; i++) {
        struct dataset data;
        const struct dataset_options options = {
            .source = DATASET_TEXT, .files = text, .context = CONTEXT, .shard = i, .shards = NODES};
        must(dataset_load_train(&data, &options, &problem), &problem);
        if (!model)
            must(model_new(&model, &arena, backend, LAYERS, data.shape, 256, BATCH, &problem),
                 &problem);
        parameters = model_parameters(model);
        const struct learner_options how = {.optimizer = optimizer,
                                            .batch = BATCH,
                                            .model_seed = 1,
                                            .data_seed = 1,
                                            .data_node = i,
                                            .density_max = (uint32_t)parameters / 10,
                                            .holds = true};
        learners[i] = learner_new(&arena, backend, model, &data, NULL, &how);
        dataset_free(&data);
    }
}

static void keep(struct update *kept, const struct update *update)
{
    CHECK(update->count <= parameters);
    memcpy(kept->index, update->index, update->count * sizeof *kept->index);
    memcpy(kept->level, update->level, update->count * sizeof *kept->level);
    kept->count = update->count;
    kept->tau = update->tau;
    kept->amount = update->amount;
}

static void publish_all(uint32_t budget_bytes, const struct identity *identity)
{
    for (uint32_t i = 0; i < NODES; i++) {
        for (uint32_t step = 0; step < STEPS; step++)
            (void)learner_step(learners[i]);
        const struct publish_terms terms = {.budget_bytes = budget_bytes,
                                            .bytes_max = UINT32_MAX,
                                            .last_bytes = last_bytes[i],
                                            .share = 1.0 / NODES,
                                            .gain = 2,
                                            .at_once = 1,
                                            .withheld = 1 - 2.0 / NODES};
        keep(&published[i], learner_publish(learners[i], &terms));
        last_bytes[i] = (uint64_t)rumor_bytes(&published[i], RUMOR_MAX, identity);
    }
    for (uint32_t i = 0; i < NODES; i++)
        for (uint32_t k = 0; k < NODES; k++)
            if (k != i)
                learner_apply(learners[k], &published[i], 0);
}

static int compare(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Sorts the values. Returns the bytes of an ideal code for their frequencies. */
static double value_bytes(int64_t *values, uint32_t count)
{
    double bits = 0;
    qsort(values, count, sizeof *values, compare);
    for (uint32_t from = 0, to; from < count; from = to) {
        for (to = from; to < count && values[to] == values[from]; to++)
            ;
        bits += (to - from) * log2((double)count / (to - from));
    }
    return bits / 8;
}

/* Adds up publications from .. from + k - 1, and adds the sum's ratios to *to. */
static void add_up(uint32_t from, uint32_t k, const struct identity *identity, struct ratios *to)
{
    double entries = 0, bytes = 0;
    struct update sum = {.index = memory_new(parameters, sizeof *sum.index),
                         .level = memory_new(parameters, sizeof *sum.level),
                         .tau = 0.001f,
                         .amount = 1};
    int64_t *values = memory_new(parameters, sizeof *values);
    memset(sums, 0, parameters * sizeof *sums);
    for (uint32_t i = from; i < from + k; i++) {
        const struct update *update = &published[i];
        bytes += rumor_bytes(update, RUMOR_MAX, identity);
        entries += update->count;
        for (uint32_t e = 0; e < update->count; e++)
            sums[update->index[e]] += (int64_t)update->amount * update->level[e];
    }
    for (uint32_t c = 0; c < parameters; c++)
        if (sums[c] != 0) {
            values[sum.count] = sums[c];
            sum.index[sum.count] = c;
            sum.level[sum.count++] = sums[c] > 0 ? 1 : -1;
        }
    const double rounded = rumor_bytes(&sum, RUMOR_MAX, identity),
                 split = rounded - sum.count / 8.0;
    to->entries += sum.count / entries;
    to->exact += (split + value_bytes(values, sum.count)) / bytes;
    to->rounded += rounded / bytes;
    to->split += split / bytes;
    to->count++;
    free(sum.index);
    free(sum.level);
    free(values);
}

int main(int count, char **words)
{
    static const uint8_t seed[SEED_BYTES] = {1};
    struct identity identity;
    struct ratios ratios[5] = {0}; /* ratios[i]: for sums of 2^i publications */
    if (count < 2) {
        (void)fprintf(stderr, "bench_sums: which text? bench_sums TEXT [ONE ENTRY IN SO MANY]\n");
        return 1;
    }
    const double one_in = count > 2 ? atof(words[2]) : 300;
    secret_start();
    identity_from_seed(&identity, seed);
    arena_init(&arena, (size_t)4 << 30);
    backend = backend_cpu(1);
    load(words[1]);
    sums = memory_new(parameters, sizeof *sums);
    for (uint32_t i = 0; i < NODES; i++)
        published[i] = (struct update){.index = memory_new(parameters, sizeof *published[i].index),
                                       .level = memory_new(parameters, sizeof *published[i].level)};
    const uint32_t budget = (uint32_t)(1.3 * (double)parameters / one_in);
    double entries = 0;
    for (uint32_t round = 0; round < ROUNDS; round++) {
        publish_all(budget, &identity);
        for (uint32_t i = 0; round >= WARM && i < NODES; i++)
            entries += published[i].count;
        for (uint32_t power = 1; round >= WARM && power <= 4; power++)
            for (uint32_t from = 0; from < NODES; from += 1u << power)
                add_up(from, 1u << power, &identity, &ratios[power]);
    }
    printf("one entry in %.0f published\n     entries  exact rounded positions\n",
           (double)parameters * NODES * (ROUNDS - WARM) / entries);
    for (uint32_t power = 1; power <= 4; power++)
        printf(
            "%2u   %7.3f  %5.3f   %5.3f     %5.3f\n", 1u << power,
            ratios[power].entries / ratios[power].count, ratios[power].exact / ratios[power].count,
            ratios[power].rounded / ratios[power].count, ratios[power].split / ratios[power].count);
    return 0;
}
