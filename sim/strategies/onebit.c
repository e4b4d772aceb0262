/* 1-bit SGD (Seide, Fu, Droppo, Li, Yu 2014, Interspeech): synchronous SGD with gradients of one
 * bit an entry (one_bit.h), compressed twice with error feedback.
 *
 *   q_i = compress(g_i + e_i),  e_i = g_i + e_i − q_i   of node i
 *   m = mean(q_i)
 *   q = compress(m + e),  e = m + e − q                 at the node that computes the mean
 *
 * The optimizers receive q. Each node averages an n-th of the vector: it receives that part of all
 * messages and sends its part of q to all. So each node sends 2(n−1)/n of a message,
 *
 *   B = ⌈(entries + 64·rows)/8⌉ + 4·statistics bytes
 *
 * Each row of a tensor (in the paper each column) has two values: a row is all weights of one
 * output, or a vector of biases or scales. Statistics of batch norms are sent uncompressed. Each
 * half of the exchange takes one transfer delay, because a node sends to all others at once; the
 * links are assumed to be those of a ring, in this method's favour. The paper starts with
 * uncompressed gradients on one machine and sends while computing; neither is played, to this
 * method's disadvantage. All nodes have the same weights. Tests: tests/unit/sim/test_onebit.c. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "strategies/matrix.h"
#include "strategies/one_bit.h"
#include "strategies/rounds.h"
#include "strategies/strategy.h"

struct onebit {
    const struct model *model;
    uint32_t count;
    size_t parameters;
    float *errors; /* [count][P] compression error e_i of each node */
    float *error;  /* [P] compression error e of the mean */
    float *mean;   /* [P] mean m of the messages; after the exchange q, the compressed mean */
    float *own;    /* [P] gradient g_i of one node, then its message q_i */
    float *shown;  /* [P] weights for evaluation */
};

static void *begin(const struct experiment *experiment, const void *settings, uint32_t count,
                   const float *start)
{
    const size_t parameters = experiment_parameters(experiment);
    struct onebit *onebit = memory_new(1, sizeof *onebit);
    CHECK(!settings);
    *onebit = (struct onebit){
        .model = experiment->made.model,
        .count = count,
        .parameters = parameters,
        .errors = memory_new(count * parameters, sizeof *onebit->errors),
        .error = memory_new(parameters, sizeof *onebit->error),
        .mean = memory_new(parameters, sizeof *onebit->mean),
        .own = memory_new(parameters, sizeof *onebit->own),
        .shown = memory_new(parameters, sizeof *onebit->shown),
    };
    memcpy(onebit->shown, start, parameters * sizeof *start);
    return onebit;
}

static void end(void *self)
{
    struct onebit *onebit = self;
    free(onebit->errors);
    free(onebit->error);
    free(onebit->mean);
    free(onebit->own);
    free(onebit->shown);
    free(onebit);
}

/* Compresses the trained part of values[P] row by row, and returns its size in bits. values NULL =
 * only counts the bits. */
static uint64_t compress_rows(const struct onebit *onebit, float *values, float *error)
{
    uint64_t bits = 0;
    for (int i = 0; i < model_tensors(onebit->model); i++) {
        const struct tensor tensor = model_tensor(onebit->model, i);
        const struct matrix matrix = matrix_of(&tensor);
        if (matrix.offset >= model_trained(onebit->model))
            continue;
        for (size_t row = 0; row < matrix.rows; row++) {
            const size_t first = matrix.offset + row * matrix.columns;
            if (values)
                one_bit_compress(values + first, error + first, matrix.columns);
            bits += one_bit_bits(matrix.columns);
        }
    }
    return bits;
}

static struct round next(void *self)
{
    struct onebit *onebit = self;
    struct round round = {.steps = 1};
    const uint64_t statistics = onebit->parameters - model_trained(onebit->model);
    const uint64_t bytes = (compress_rows(onebit, NULL, NULL) + 7) / 8 + statistics * sizeof(float);
    round_is_ring_reduce(&round, onebit->count, bytes);
    round.transfers = round.transfers > 0 ? 2 : 0;
    memset(onebit->mean, 0, onebit->parameters * sizeof *onebit->mean);
    return round;
}

static void send(void *self, uint32_t i, struct learner *learner)
{
    struct onebit *onebit = self;
    learner_gradient(learner, onebit->own);
    (void)compress_rows(onebit, onebit->own, onebit->errors + i * onebit->parameters);
    for (size_t c = 0; c < onebit->parameters; c++)
        onebit->mean[c] += onebit->own[c] / (float)onebit->count;
}

static void exchange(void *self)
{
    struct onebit *onebit = self;
    (void)compress_rows(onebit, onebit->mean, onebit->error);
}

static void receive(void *self, uint32_t i, struct learner *learner)
{
    struct onebit *onebit = self;
    (void)learner_descend(learner, onebit->mean);
    if (i == 0)
        learner_read_weights(learner, onebit->shown);
}

static const float *weights(const void *self)
{
    const struct onebit *onebit = self;
    return onebit->shown;
}

const float *onebit_play(struct experiment *experiment, struct outcome *outcome)
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
