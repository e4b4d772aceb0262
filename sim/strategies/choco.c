/* CHOCO-SGD (Koloskova, Stich, Jaggi 2019, arXiv 1902.00340): neighbours of a fixed graph keep
 * replicas of each other, updated by compressed differences, and move towards the replicas.
 *
 *   in each round, of worker i:
 *     x_i = x_i + Δ                              Δ: change of its weights by its step
 *     q_i = largest(x_i − x̂_i)                   sent to all neighbours
 *     x̂_j = x̂_j + q_j                            for i and its neighbours, when all have arrived
 *     x_i = x_i + γ Σ_j w (x̂_j − x̂_i)            j: its neighbours, d of them; w = 1 / (d + 1)
 *
 * γ is strategy.consensus; strategy.graph is a ring or the full graph. As in the paper, a worker
 * keeps its own replica and the sum of its neighbours'. Replicas start at the initial weights, not
 * at 0, in favour of this method. A worker continues once it has all messages of a round. The move
 * by γ does not change the mean over all workers, which is evaluated.
 *
 * A message has the top_part largest of each 4,096 entries, 8 bytes each for index and value; or
 * all values, 4 bytes each, if that is less; and 4 bytes for the round. Tests:
 * tests/unit/sim/test_choco.c. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "strategies/sparse.h"
#include "strategies/strategy.h"
#include "strategies/workers.h"

#define ROUND_BYTES 4
#define ENTRY_BYTES 8

struct chooser {
    uint64_t mixed;   /* number of consensus steps that this worker has made */
    uint32_t came[2]; /* [round mod 2] number of messages received for the round */
    float *hat;       /* [P] replica x̂ of this worker, equal to those that its neighbours keep */
    float *hats;      /* [P] sum of the replicas x̂ of this worker's neighbours */
    float *next[2];   /* [round mod 2][P] sum of the round's messages, not yet added to hats */
};

struct choco {
    struct workers *workers;
    size_t parameters;
    uint32_t count;
    uint32_t neighbours; /* number d of each worker's neighbours */
    double part;         /* fraction of the entries in a message */
    float gamma;
    struct chooser *choosers; /* [count] */
    float *own;               /* [P] weights of one worker */
};

static void *begin(struct workers *workers, const float *start)
{
    const uint32_t count = workers_count(workers);
    const size_t parameters = workers_parameters(workers);
    const struct strategy_settings *settings = &workers_scenario(workers)->settings;
    const bool is_ring = settings->graph == GRAPH_RING && count > 3;
    struct choco *choco = memory_new(1, sizeof *choco);
    *choco = (struct choco){
        .workers = workers,
        .parameters = parameters,
        .count = count,
        .neighbours = is_ring ? 2 : count - 1,
        .part = (double)rounds_or_published(settings->top_part, 1. / 32),
        .gamma = (float)settings->consensus,
        .choosers = memory_new(count, sizeof *choco->choosers),
        .own = memory_new(parameters, sizeof *choco->own),
    };
    for (uint32_t i = 0; i < count; i++) {
        struct chooser *chooser = &choco->choosers[i];
        float *memory = memory_new(4 * parameters, sizeof *memory);
        chooser->hat = memory;
        chooser->hats = memory + parameters;
        chooser->next[0] = memory + 2 * parameters;
        chooser->next[1] = memory + 3 * parameters;
        for (size_t c = 0; c < parameters; c++) {
            chooser->hat[c] = start[c];
            chooser->hats[c] = (float)choco->neighbours * start[c];
        }
    }
    return choco;
}

static void end(void *self)
{
    struct choco *choco = self;
    for (uint32_t i = 0; i < choco->count; i++)
        free(choco->choosers[i].hat);
    free(choco->choosers);
    free(choco->own);
    free(choco);
}

static bool may_step(void *self, uint32_t i)
{
    const struct choco *choco = self;
    return choco->choosers[i].mixed == workers_steps(choco->workers, i);
}

/* Makes worker i's consensus step, if it has made its local step and received all messages of the
 * round. */
static void mix(struct choco *choco, uint32_t i)
{
    struct chooser *chooser = &choco->choosers[i];
    const uint64_t odd = chooser->mixed % 2;
    const float degree = (float)choco->neighbours, part = choco->gamma / (degree + 1);
    if (chooser->mixed == workers_steps(choco->workers, i) ||
        chooser->came[odd] < choco->neighbours)
        return;
    for (size_t c = 0; c < choco->parameters; c++) {
        chooser->hats[c] += chooser->next[odd][c];
        choco->own[c] = chooser->hats[c] - degree * chooser->hat[c];
    }
    workers_add(choco->workers, i, part, choco->own);
    memset(chooser->next[odd], 0, choco->parameters * sizeof(float));
    chooser->came[odd] = 0;
    chooser->mixed++;
}

/* Returns worker i's message: the largest entries of x_i − x̂_i. Adds them to its replica x̂_i. */
static struct content *take_largest(struct choco *choco, uint32_t i)
{
    float *hat = choco->choosers[i].hat, *own = choco->own;
    workers_read(choco->workers, i, own);
    for (size_t c = 0; c < choco->parameters; c++)
        own[c] -= hat[c];
    for (size_t first = 0; first < choco->parameters; first += SPARSE_CHUNK) {
        const size_t left = choco->parameters - first;
        const uint32_t count = left < SPARSE_CHUNK ? (uint32_t)left : SPARSE_CHUNK;
        sparse_keep_largest(own + first, count, sparse_kept(count, choco->part));
    }
    for (size_t c = 0; c < choco->parameters; c++)
        hat[c] += own[c];
    return content_of_nonzero(own, choco->parameters);
}

static void on_step(void *self, uint32_t i)
{
    struct choco *choco = self;
    const uint64_t round = workers_steps(choco->workers, i);
    (void)workers_step(choco->workers, i);
    struct content *content = take_largest(choco, i);
    const uint64_t sparse = content->count * ENTRY_BYTES;
    const uint64_t whole = choco->parameters * sizeof(float);
    const struct sim_message message = {
        .bytes = ROUND_BYTES + u64_min(sparse, whole), .number = round, .content = content};
    for (uint32_t j = 0; j < choco->count; j++) {
        const uint32_t apart = (j + choco->count - i) % choco->count;
        if (apart == 0 || (choco->neighbours == 2 && apart != 1 && apart != choco->count - 1))
            continue;
        content->references++;
        workers_send(choco->workers, i, j, &message);
    }
    content_drop(content);
    mix(choco, i);
}

static void on_message(void *self, uint32_t i, uint32_t from, const struct sim_message *message)
{
    struct choco *choco = self;
    struct chooser *chooser = &choco->choosers[i];
    (void)from;
    CHECK(message->number - chooser->mixed < 2);
    content_add(message->content, 1, chooser->next[message->number % 2]);
    chooser->came[message->number % 2]++;
    mix(choco, i);
}

const float *choco_play(struct experiment *experiment, struct outcome *outcome)
{
    static const struct workers_method METHOD = {.begin = begin,
                                                 .may_step = may_step,
                                                 .on_step = on_step,
                                                 .on_message = on_message,
                                                 .end = end};
    return workers_play(&METHOD, experiment, outcome);
}
