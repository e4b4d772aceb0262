/* PowerSGD (Vogels, Karimireddy, Jaggi 2019, arXiv 1905.13727): synchronous SGD with gradients sent
 * as products of two thin matrices (low_rank.h).
 *
 *   M_i = g_i + e_i                of node i: its gradient plus its error
 *   M' = low_rank(mean(M_i))       gradient for the optimizer of each node
 *   e_i = M_i − M'
 *
 * The mean of the products M_i·Q is the product of mean(M_i) and Q, so two ring all-reduces
 * suffice: of P, then of Q. A matrix is a tensor of two or more dimensions: its rows are the first
 * dimension, its columns all other dimensions. Vectors, and matrices with no more entries than
 * their factors, are sent uncompressed. A node's two messages have
 *
 *   B = 4·(sum of rank·(rows + columns) over the matrices + other entries) bytes
 *
 * All nodes have the same weights. Tests: tests/unit/sim/test_powersgd.c. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "strategies/low_rank.h"
#include "strategies/matrix.h"
#include "strategies/rounds.h"
#include "strategies/strategy.h"

struct factored {
    size_t offset; /* index of the matrix's first entry in the flat vector */
    size_t end;    /* index after the matrix's last entry */
    struct low_rank factors;
};

struct powersgd {
    uint32_t rank;
    uint32_t count;
    size_t parameters;
    struct factored *matrices; /* [matrices_count] in the order of the flat vector */
    uint32_t matrices_count;
    float *kept;  /* [count][P] M_i of each node; after the exchange its error e_i */
    float *mean;  /* [P] mean of the M_i; after the exchange the optimizers' gradient M' */
    float *own;   /* [P] gradient of one node */
    float *shown; /* [P] weights for evaluation */
};

static void add_matrices(struct powersgd *powersgd, const struct experiment *experiment)
{
    const struct model *model = experiment->made.model;
    const size_t rank = powersgd->rank;
    powersgd->matrices = memory_new((size_t)model_tensors(model), sizeof *powersgd->matrices);
    size_t end = 0;
    for (int i = 0; i < model_tensors(model); i++) {
        const struct tensor tensor = model_tensor(model, i);
        const struct matrix flat = matrix_of(&tensor);
        const size_t rows = flat.rows, columns = flat.columns;
        if (tensor.offset >= model_decayed(model) || rank * (rows + columns) >= rows * columns)
            continue;
        CHECK(tensor.offset >= end);
        end = tensor.offset + rows * columns;
        struct factored *matrix = &powersgd->matrices[powersgd->matrices_count++];
        *matrix = (struct factored){.offset = tensor.offset, .end = end};
        low_rank_init(&matrix->factors, rows, columns, powersgd->rank,
                      experiment->scenario->seed + (uint64_t)i);
    }
}

static void *begin(const struct experiment *experiment, const void *settings, uint32_t count,
                   const float *start)
{
    const size_t parameters = experiment_parameters(experiment);
    struct powersgd *powersgd = memory_new(1, sizeof *powersgd);
    CHECK(!settings);
    *powersgd = (struct powersgd){
        .rank = experiment->scenario->settings.rank,
        .count = count,
        .parameters = parameters,
        .kept = memory_new(count * parameters, sizeof *powersgd->kept),
        .mean = memory_new(parameters, sizeof *powersgd->mean),
        .own = memory_new(parameters, sizeof *powersgd->own),
        .shown = memory_new(parameters, sizeof *powersgd->shown),
    };
    memcpy(powersgd->shown, start, parameters * sizeof *start);
    add_matrices(powersgd, experiment);
    return powersgd;
}

static void end(void *self)
{
    struct powersgd *powersgd = self;
    for (uint32_t i = 0; i < powersgd->matrices_count; i++) {
        low_rank_free(&powersgd->matrices[i].factors);
    }
    free(powersgd->matrices);
    free(powersgd->kept);
    free(powersgd->mean);
    free(powersgd->own);
    free(powersgd->shown);
    free(powersgd);
}

static struct round next(void *self)
{
    struct powersgd *powersgd = self;
    struct round round = {.steps = 1};
    uint64_t entries = powersgd->parameters;
    for (uint32_t i = 0; i < powersgd->matrices_count; i++) {
        const struct factored *matrix = &powersgd->matrices[i];
        entries -= matrix->end - matrix->offset;
        entries += powersgd->rank * (matrix->factors.rows + matrix->factors.columns);
    }
    round_is_ring_reduce(&round, powersgd->count, entries * sizeof(float));
    /* One exchange for P and one for Q, in sequence because Q is computed from P. */
    round.transfers *= 2;
    memset(powersgd->mean, 0, powersgd->parameters * sizeof *powersgd->mean);
    return round;
}

static void send(void *self, uint32_t i, struct learner *learner)
{
    struct powersgd *powersgd = self;
    float *kept = powersgd->kept + i * powersgd->parameters;
    learner_gradient(learner, powersgd->own);
    for (size_t c = 0; c < powersgd->parameters; c++) {
        kept[c] += powersgd->own[c];
        powersgd->mean[c] += kept[c] / (float)powersgd->count;
    }
}

/* Turns one node's M_i in kept[P] into its error e_i, which is 0 for uncompressed entries. */
static void keep_errors(const struct powersgd *powersgd, float *kept)
{
    size_t end = 0;
    for (uint32_t i = 0; i < powersgd->matrices_count; i++) {
        const struct factored *matrix = &powersgd->matrices[i];
        memset(kept + end, 0, (matrix->offset - end) * sizeof *kept);
        for (size_t c = matrix->offset; c < matrix->end; c++)
            kept[c] -= powersgd->mean[c];
        end = matrix->end;
    }
    memset(kept + end, 0, (powersgd->parameters - end) * sizeof *kept);
}

static void exchange(void *self)
{
    struct powersgd *powersgd = self;
    for (uint32_t i = 0; i < powersgd->matrices_count; i++)
        low_rank_approximate(&powersgd->matrices[i].factors,
                             powersgd->mean + powersgd->matrices[i].offset);
    for (uint32_t i = 0; i < powersgd->count; i++)
        keep_errors(powersgd, powersgd->kept + i * powersgd->parameters);
}

static void receive(void *self, uint32_t i, struct learner *learner)
{
    struct powersgd *powersgd = self;
    (void)learner_descend(learner, powersgd->mean);
    if (i == 0)
        learner_read_weights(learner, powersgd->shown);
}

static const float *weights(const void *self)
{
    const struct powersgd *powersgd = self;
    return powersgd->shown;
}

const float *powersgd_play(struct experiment *experiment, struct outcome *outcome)
{
    static const struct rounds_method METHOD = {.begin = begin,
                                                .next = next,
                                                .send = send,
                                                .exchange = exchange,
                                                .receive = receive,
                                                .weights = weights,
                                                .end = end};
    return rounds_play(&METHOD, NULL, experiment, outcome);
}
