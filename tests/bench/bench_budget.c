/* Measures how well a publication meets its byte budget. Three learners train on generated digits
 * and publish to each other. At FALL_ROUND the learning rate falls to a tenth, and at JOIN_ROUND a
 * fourth learner joins. In the last case the budget also doubles every ten rounds up to
 * GROWN_ROUND. It begins so small that entries cluster in the last layer. Each publication is
 * encoded in rumors of 4 KiB (slow links), and in rumors of the maximum size. Only publications
 * whose size the budget decides count: those with clearly less than a tenth of the parameters.
 *
 * Prints bytes / budget: minimum, median, maximum, and the part of the publications within 10 %.
 * Also prints how many publications needed one pass over the residuals, and how often tau swung.
 * Tau swings if it changes by more than a tenth in opposite directions in consecutive publications.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "support/net/rumor_bytes.h"
#include "training/learner.h"

#define NODES       4
#define ROUNDS      120
#define FALL_ROUND  60 /* round at which the learning rate falls */
#define JOIN_ROUND  90 /* round at which the last node joins */
#define WARM_ROUNDS 10 /* first rounds, which are not counted */
#define CHANGE      10 /* rounds after a change whose publications are counted separately */
#define DOUBLES     10 /* rounds after which a growing budget doubles */
#define GROWN_ROUND 60 /* round from which a growing budget stays constant */
#define STEPS       16
#define BATCH       32
#define RUMOR_SMALL 4096
#define TELLINGS    (NODES * ROUNDS)

enum phase { STEADY, FALLING, JOINING, PHASES };

struct telling {
    enum phase phase;
    bool decided; /* the budget decided the number of entries, and WARM_ROUNDS have passed */
    bool one_pass;
    bool swung;
    double small, large; /* bytes / budget, in rumors of 4 KiB and of the maximum size */
};

static struct backend *backend;
static uint32_t (*plain_survey)(struct backend *, const struct survey *, size_t, struct weights,
                                const int32_t *, uint32_t *);
static uint32_t surveys;
static struct telling publications[TELLINGS];
static uint32_t tellings_count;

static uint32_t counted_survey(struct backend *of, const struct survey *survey, size_t count,
                               struct weights w, const int32_t *base, uint32_t *bins)
{
    surveys++;
    return plain_survey(of, survey, count, w, base, bins);
}

/* A swarm without a network. */

struct swarm {
    struct arena arena;
    struct model *model;
    struct learner *learners[NODES];
    size_t parameters;
    float tau[NODES][2];        /* [node] tau of the node's last two publications */
    uint64_t last_bytes[NODES]; /* [node] bytes of the node's last publication */
};

static void must(enum error error, const struct problem *problem)
{
    if (error != OK) {
        (void)fprintf(stderr, "bench_budget: %s\n", problem->text);
        exit(1);
    }
}

static void load(struct dataset *data, uint32_t shard)
{
    struct problem problem;
    const struct dataset_options options = {.source = DATASET_GENERATED,
                                            .seed = 1,
                                            .train_count = 8000,
                                            .test_count = 1,
                                            .shard = shard,
                                            .shards = NODES};
    must(dataset_load_train(data, &options, &problem), &problem);
}

static void swarm_init(struct swarm *swarm, const char *layers)
{
    struct problem problem;
    struct dataset data;
    *swarm = (struct swarm){0};
    arena_init(&swarm->arena, (size_t)1 << 30);
    for (uint32_t i = 0; i < NODES; i++) {
        load(&data, i);
        if (i == 0)
            must(model_new(&swarm->model, &swarm->arena, backend, layers, data.shape, data.classes,
                           BATCH, &problem),
                 &problem);
        swarm->parameters = model_parameters(swarm->model);
        const struct learner_options options = {
            .optimizer = {.sgd = {.rate = 0.02f, .momentum = 0.9f},
                          .schedule = STEP,
                          .period_samples = (uint64_t)(NODES - 1) * FALL_ROUND * STEPS * BATCH,
                          .decay = 0.1f},
            .batch = BATCH,
            .model_seed = 1,
            .data_seed = 1,
            .data_node = i,
            .density_max = (uint32_t)swarm->parameters / 10};
        swarm->learners[i] =
            learner_new(&swarm->arena, backend, swarm->model, &data, NULL, &options);
        dataset_free(&data);
    }
}

static void swarm_free(struct swarm *swarm)
{
    for (uint32_t i = 0; i < NODES; i++)
        learner_free(swarm->learners[i]);
    model_free(swarm->model);
    arena_release(&swarm->arena);
}

static void join(struct swarm *swarm, uint32_t joiner)
{
    int32_t *units = calloc(swarm->parameters, sizeof *units);
    CHECK(units);
    learner_read_units(swarm->learners[0], units);
    learner_write_block(swarm->learners[joiner], 0, swarm->parameters, units, false);
    free(units);
}

/* Returns true if tau rose and then fell, or fell and then rose, by more than a tenth each time.
 * Appends tau to the last two values. */
static bool has_swung(float last[static 2], float tau)
{
    const double before = last[0] > 0 ? log((double)(last[1] / last[0])) : 0;
    const double after = last[1] > 0 ? log((double)(tau / last[1])) : 0;
    last[0] = last[1];
    last[1] = tau;
    return before * after < 0 && fabs(before) > 0.1 && fabs(after) > 0.1;
}

static void terms(struct swarm *swarm, uint32_t i, uint32_t round, uint32_t budget_bytes,
                  const struct identity *identity)
{
    const uint32_t nodes = round < JOIN_ROUND ? NODES - 1 : NODES;
    uint64_t samples = 0;
    for (uint32_t k = 0; k < NODES; k++)
        samples += learner_samples(swarm->learners[k]);
    const struct publish_terms how = {.budget_bytes = budget_bytes,
                                      .bytes_max = UINT32_MAX,
                                      .last_bytes = swarm->last_bytes[i],
                                      .share = 1.0 / nodes,
                                      .gain = 1,
                                      .beta = round == JOIN_ROUND && i == NODES - 1 ? 0 : 0.3,
                                      .swarm_samples = samples};
    surveys = 0;
    const struct update *update = learner_publish(swarm->learners[i], &how);
    const double large = rumor_bytes(update, RUMOR_MAX, identity);
    swarm->last_bytes[i] = (uint64_t)large;
    struct telling *telling = &publications[tellings_count++];
    *telling =
        (struct telling){.phase = i == NODES - 1                                       ? JOINING
                                  : round >= FALL_ROUND && round < FALL_ROUND + CHANGE ? FALLING
                                                                                       : STEADY,
                         .decided = round >= WARM_ROUNDS && update->count > 0 &&
                                    update->count < swarm->parameters / 10 * 9 / 10,
                         .one_pass = surveys == 1,
                         .swung = has_swung(swarm->tau[i], update->tau),
                         .small = rumor_bytes(update, RUMOR_SMALL, identity) / budget_bytes,
                         .large = large / budget_bytes};
    if (i == NODES - 1 && round >= JOIN_ROUND + CHANGE)
        telling->phase = STEADY;
    for (uint32_t k = 0; k < nodes; k++)
        if (k != i)
            learner_apply(swarm->learners[k], update, 0.3f);
}

static void play(struct swarm *swarm, uint32_t full_bytes, bool grows,
                 const struct identity *identity)
{
    tellings_count = 0;
    for (uint32_t round = 0; round < ROUNDS; round++) {
        const uint32_t nodes = round < JOIN_ROUND ? NODES - 1 : NODES;
        const uint32_t doublings =
            grows && round < GROWN_ROUND ? (GROWN_ROUND - round) / DOUBLES : 0;
        const uint32_t budget_bytes = full_bytes >> doublings;
        if (round == JOIN_ROUND)
            join(swarm, NODES - 1);
        for (uint32_t i = 0; i < nodes; i++) {
            for (uint32_t step = 0; step < STEPS; step++)
                (void)learner_step(swarm->learners[i]);
            terms(swarm, i, round, budget_bytes, identity);
        }
    }
}

static void print_ratios(double *ratios, uint32_t count)
{
    uint32_t within = 0;
    double_sort(ratios, count);
    for (uint32_t i = 0; i < count; i++)
        within += fabs(ratios[i] - 1) <= 0.1;
    printf("  %5.3f %5.3f %5.3f  %5.1f", ratios[0], ratios[count / 2], ratios[count - 1],
           100.0 * within / count);
}

static void print_phase(const char *name, uint32_t budget_bytes, enum phase phase)
{
    static const char *const phases[] = {"steady", "rate / 10", "joiner"};
    static double small[TELLINGS], large[TELLINGS];
    uint32_t count = 0, one_pass = 0, swung = 0;
    for (uint32_t i = 0; i < tellings_count; i++) {
        const struct telling *telling = &publications[i];
        if (telling->phase != phase || !telling->decided)
            continue;
        small[count] = telling->small;
        large[count++] = telling->large;
        one_pass += telling->one_pass;
        swung += telling->swung;
    }
    printf("%-6s %7u  %-9s %4u", name, budget_bytes, phases[phase], count);
    if (count > 0) {
        print_ratios(small, count);
        print_ratios(large, count);
        printf("  %5.1f %5.1f", 100.0 * one_pass / count, 100.0 * swung / count);
    }
    printf("\n");
}

int main(void)
{
    static const uint8_t seed[SEED_BYTES] = {1};
    static const struct {
        const char *name, *layers;
        uint32_t part; /* parameters per byte of the budget */
        bool grows;
    } places[] = {{"mlp", NULL, 200, false},
                  {"mlp", NULL, 50, false},
                  {"mlp", NULL, 20, false},
                  {"lenet", NULL, 50, false},
                  {"wide", "dense 4000, relu, dense 10", 2000, false},
                  {"wide", "dense 4000, relu, dense 10", 50, true}};
    struct identity identity;
    struct swarm swarm;
    secret_start();
    identity_from_seed(&identity, seed);
    backend = backend_cpu(1);
    struct exchange_operations counting = *backend->exchange;
    plain_survey = counting.survey;
    counting.survey = counted_survey;
    backend->exchange = &counting;
    printf(
        "                               rumors of 4 KiB             large ones\n"
        "model   budget  when       of   least  med. most   in 10 %%  least  med. most   in 10 %%"
        "  1 pass swung\n");
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        const char *name = places[i].name;
        swarm_init(&swarm, places[i].layers ? places[i].layers : model_preset(name));
        const uint32_t budget_bytes = (uint32_t)swarm.parameters / places[i].part;
        play(&swarm, budget_bytes, places[i].grows, &identity);
        for (enum phase phase = STEADY; phase < PHASES; phase++)
            print_phase(name, budget_bytes, phase);
        swarm_free(&swarm);
    }
    return 0;
}
