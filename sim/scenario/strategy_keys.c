#include "scenario/strategy_keys.h"

#include <string.h>

#include "base/words.h"
#include "config/config_value.h"

#define AT(member)                                                                                 \
    .section = "strategy", .offset = offsetof(struct strategy_settings, member),                   \
    .bytes = sizeof((struct strategy_settings *)0)->member

static const struct config_key keys_of[] = {
    {.name = "local_steps",
     .type = CONFIG_U32,
     AT(local_steps),
     .initial = "50",
     .min = 1,
     .max = 1000000,
     .unit = "steps",
     .help = "Strategies with rounds: steps between two exchanges."},
    {.name = "outer_rate",
     .type = CONFIG_REAL,
     AT(outer_rate),
     .initial = "auto",
     .min = 1e-6,
     .max = 10,
     .words = "auto",
     .help = "Strategies with rounds: rate of the outer step; auto: as published."},
    {.name = "outer_momentum",
     .type = CONFIG_REAL,
     AT(outer_momentum),
     .initial = "auto",
     .max = 0.9999,
     .words = "auto",
     .help = "Strategies with rounds: momentum of the outer step; auto: as published."},
    {.name = "top_part",
     .type = CONFIG_REAL,
     AT(top_part),
     .initial = "auto",
     .min = 1e-6,
     .max = 1,
     .words = "auto",
     .help = "sparseloco, dgc, demo, choco: fraction of entries in a message; auto: as published."},
    {.name = "error_decay",
     .type = CONFIG_REAL,
     AT(error_decay),
     .initial = "auto",
     .max = 1,
     .words = "auto",
     .help = "sparseloco, demo: decay of the error feedback in each round; auto: as published."},
    {.name = "fragments",
     .type = CONFIG_U32,
     AT(fragments),
     .initial = "4",
     .min = 1,
     .max = 1000,
     .help = "streaming_diloco: parts of the model, exchanged in turn, each every local_steps; "
             "mlnet: parts that are aggregated in turn."},
    {.name = "overlap_steps",
     .type = CONFIG_U32,
     AT(overlap_steps),
     .initial = "1",
     .max = 1000000,
     .unit = "steps",
     .help = "streaming_diloco: steps during the exchange of a part; sgp: steps before messages "
             "of others have arrived; 0: none."},
    {.name = "mixing",
     .type = CONFIG_REAL,
     AT(mixing),
     .initial = "0.5",
     .min = 0.01,
     .max = 1,
     .help = "streaming_diloco: weight of what arrives; the rest is the node's own progress."},
    {.name = "wire_precision",
     .type = CONFIG_CHOICE,
     AT(wire_precision),
     .initial = "e3m0",
     .words = "e3m0|float32",
     .help = "streaming_diloco: format of an entry on the wire; e3m0: four bits."},
    {.name = "rank",
     .type = CONFIG_U32,
     AT(rank),
     .initial = "2",
     .min = 1,
     .max = 1024,
     .help = "powersgd: rank of the two factors that approximate the gradient of a matrix."},
    {.name = "gradient_precision",
     .type = CONFIG_CHOICE,
     AT(gradient_precision),
     .initial = "float32",
     .words = "float32|float16",
     .help = "allreduce: format of gradients on the wire, and of their sums."},
    {.name = "warmup_epochs",
     .type = CONFIG_U32,
     AT(warmup_epochs),
     .initial = "4",
     .max = 1000,
     .unit = "epochs",
     .help =
         "dgc: epochs in which messages shrink, from a fourth of the entries by a fourth each."},
    {.name = "sign_rate",
     .type = CONFIG_REAL,
     AT(sign_rate),
     .initial = "0.001",
     .min = 1e-8,
     .max = 100,
     .help = "demo: initial rate of its step; [train] has the schedule."},
    {.name = "rho",
     .type = CONFIG_REAL,
     AT(rho),
     .initial = "0.1",
     .max = 1e6,
     .help = "admm: strength of the pull towards the consensus; 0: none."},
    {.name = "gain",
     .type = CONFIG_REAL,
     AT(gain),
     .initial = "1",
     .min = 1e-6,
     .max = 1000,
     .help = "Strategies that add progress on arrival: factor of the mean of all workers; "
             "the number of workers makes it a sum."},
    {.name = "partitions",
     .type = CONFIG_U32,
     AT(partitions),
     .initial = "auto",
     .min = 1,
     .max = 10000,
     .words = "auto",
     .help =
         "ako: parts of the model, one of which is sent in each step; auto: as many as the links "
         "require."},
    {.name = "probability",
     .type = CONFIG_REAL,
     AT(probability),
     .initial = "0.1",
     .min = 1e-6,
     .max = 1,
     .help = "gosgd: probability that a worker pushes its weights to another after a step."},
    {.name = "threshold",
     .type = CONFIG_REAL,
     AT(threshold),
     .initial = "0.01",
     .min = 1e-9,
     .max = 1000,
     .help = "strom, threshold: least size of an entry that is sent; depends on model and rate."},
    {.name = "significance",
     .type = CONFIG_REAL,
     AT(significance),
     .initial = "0.01",
     .min = 1e-9,
     .max = 1000,
     .help = "gaia: least relative size of an update that is sent at once; it falls "
             "with the root of the steps."},
    {.name = "clock_bound",
     .type = CONFIG_U32,
     AT(clock_bound),
     .initial = "16",
     .min = 1,
     .max = 1000000000,
     .unit = "steps",
     .help = "gaia: steps that a worker may be ahead of the slowest."},
    {.name = "push_steps",
     .type = CONFIG_U32,
     AT(push_steps),
     .initial = "1",
     .min = 1,
     .max = 1000000,
     .unit = "steps",
     .help = "downpour: steps between two pushes of a worker to the server."},
    {.name = "fetch_steps",
     .type = CONFIG_U32,
     AT(fetch_steps),
     .initial = "auto",
     .min = 1,
     .max = 1000000,
     .unit = "steps",
     .words = "auto",
     .help = "downpour: steps between two fetches from the server; auto: push_steps."},
    {.name = "average",
     .type = CONFIG_BOOL,
     AT(average),
     .initial = "no",
     .help = "downpour: all workers wait for the mean of their weights, as in SparkNet."},
    {.name = "batch_by_speed",
     .type = CONFIG_BOOL,
     AT(batch_by_speed),
     .initial = "yes",
     .help = "dlion: divide the batches of all nodes by their speeds."},
    {.name = "max_n",
     .type = CONFIG_REAL,
     AT(max_n),
     .initial = "auto",
     .min = 0.85,
     .max = 100,
     .words = "auto",
     .help = "dlion: send entries up to this percentage below the largest of their tensor; "
             "auto: as many as each link carries; 100: all."},
    {.name = "transfer_steps",
     .type = CONFIG_U32,
     AT(transfer_steps),
     .initial = "100",
     .max = 1000000,
     .unit = "steps",
     .help = "dlion: steps between moves towards the worker with the least loss; 0: never."},
    {.name = "gossip_of",
     .type = CONFIG_CHOICE,
     AT(gossip_of),
     .initial = "weights",
     .words = "weights|progress",
     .help = "gossipgrad: content of messages; progress: change of the weights in the step."},
    {.name = "gossip_by",
     .type = CONFIG_CHOICE,
     AT(gossip_by),
     .initial = "push",
     .words = "push|pull",
     .help = "gossip_sgd: send weights to a random worker, or request and await those of one."},
    {.name = "graph",
     .type = CONFIG_CHOICE,
     AT(graph),
     .initial = "ring",
     .words = "ring|full",
     .help = "choco: neighbours are the two in a ring, or all others."},
    {.name = "consensus",
     .type = CONFIG_REAL,
     AT(consensus),
     .initial = "0.3",
     .min = 1e-6,
     .max = 1,
     .help = "choco: fraction of the way to the neighbours' replicas in each step."},
    {.name = "fanout",
     .type = CONFIG_U32,
     AT(fanout),
     .initial = "2",
     .min = 1,
     .max = 1000,
     .help = "mlnet: children of each worker in the tree; the number of workers makes it a star."},
};

#define KEYS (sizeof keys_of / sizeof keys_of[0])

size_t strategy_key_count(void)
{
    return KEYS;
}

const struct config_key *strategy_key_at(size_t i)
{
    CHECK(i < KEYS);
    return &keys_of[i];
}

void strategy_keys_defaults(struct strategy_settings *settings)
{
    struct problem problem;
    memset(settings, 0, sizeof *settings);
    for (size_t i = 0; i < KEYS; i++)
        CHECK(config_value_set(settings, &keys_of[i], keys_of[i].initial, &problem) == OK);
}

static enum error unknown(const char *name, struct problem *problem)
{
    const char *words[KEYS];
    for (size_t i = 0; i < KEYS; i++)
        words[i] = keys_of[i].name;
    return problem_set(problem, MALFORMED, "unknown key [strategy] %.60s; %s", name,
                       words_hint(name, words, KEYS).text);
}

enum error strategy_keys_set(struct strategy_settings *settings, struct strategy_lines *lines,
                             const char *name, const char *value, int line, struct problem *problem)
{
    size_t i = 0;
    while (i < KEYS && strcmp(keys_of[i].name, name) != 0)
        i++;
    if (i == KEYS)
        return unknown(name, problem);
    CHECK(i < STRATEGY_KEYS_MAX);
    enum error error = config_value_set(settings, &keys_of[i], value, problem);
    if (error == OK && line > 0)
        error = config_key_once(&keys_of[i], &lines->of[i], line, problem);
    return error;
}
