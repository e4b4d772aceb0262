/* The strategy of a scenario, and its settings. strategy_keys.h has the keys of [strategy],
 * strategies/strategy.h the strategies. */
#ifndef HEARSAY_SIM_SCENARIO_STRATEGY_KIND_H
#define HEARSAY_SIM_SCENARIO_STRATEGY_KIND_H

#include <stdbool.h>
#include <stdint.h>

/* Every strategy except the first one, gossip: its constant, and its name in a scenario. From AKO
 * on, strategies are methods of workers.h, whose workers need not all wait for each other. */
/* clang-format off */
#define STRATEGIES(EACH) \
    EACH(SINGLE, single) \
    EACH(IDEAL, ideal) \
    EACH(LOCALSGD, localsgd) \
    EACH(DILOCO, diloco) \
    EACH(SPARSELOCO, sparseloco) \
    EACH(NOLOCO, noloco) \
    EACH(STREAMING_DILOCO, streaming_diloco) \
    EACH(POWERSGD, powersgd) \
    EACH(GASLOC, gasloc) \
    EACH(ALLREDUCE, allreduce) \
    EACH(ONEBIT, onebit) \
    EACH(DGC, dgc) \
    EACH(DEMO, demo) \
    EACH(ADMM, admm) \
    EACH(AKO, ako) \
    EACH(ADPSGD, adpsgd) \
    EACH(GOSGD, gosgd) \
    EACH(SGP, sgp) \
    EACH(STROM, strom) \
    EACH(THRESHOLD, threshold) \
    EACH(GAIA, gaia) \
    EACH(DOWNPOUR, downpour) \
    EACH(DLION, dlion) \
    EACH(GOSSIPGRAD, gossipgrad) \
    EACH(GOSSIP_SGD, gossip_sgd) \
    EACH(CHOCO, choco) \
    EACH(MLNET, mlnet)
/* clang-format on */

#define STRATEGY_CONSTANT(CONSTANT, name) STRATEGY_##CONSTANT,
#define STRATEGY_NAME(CONSTANT, name)     #name,
#define STRATEGY_WORD(CONSTANT, name)     "|" #name
#define STRATEGY_WORDS                    "gossip" STRATEGIES(STRATEGY_WORD)

enum strategy_kind { STRATEGY_GOSSIP, STRATEGIES(STRATEGY_CONSTANT) STRATEGIES_COUNT };

enum wire_precision { WIRE_E3M0, WIRE_FLOAT32 };
enum gradient_precision { GRADIENT_FLOAT32, GRADIENT_FLOAT16 };
enum gossip_of { GOSSIP_WEIGHTS, GOSSIP_PROGRESS };
enum graph { GRAPH_RING, GRAPH_FULL };
enum gossip_by { GOSSIP_PUSH, GOSSIP_PULL };

/* CONFIG_AUTO_REAL in a member = the strategy's own default, unless the member says otherwise. */
struct strategy_settings {
    /* Strategies with rounds: local steps between two exchanges, of the same fragment if there are
     * several. */
    uint32_t local_steps;
    double outer_rate;
    double outer_momentum;
    double top_part;    /* sparseloco, dgc, demo, choco: fraction of entries in a message */
    double error_decay; /* sparseloco, demo: factor on error feedback or momentum in each round */

    uint32_t fragments; /* streaming_diloco, mlnet: parts of the model, exchanged in turn */
    /* streaming_diloco: steps during the exchange of a fragment; sgp: rounds by which a worker may
     * be ahead of the messages to it. */
    uint32_t overlap_steps;
    double mixing; /* streaming_diloco: weight of the common weights in a node's new weights */
    unsigned int wire_precision; /* streaming_diloco: enum wire_precision of each sent entry */

    uint32_t rank;                   /* powersgd: rank of the factors of a gradient */
    unsigned int gradient_precision; /* allreduce: enum gradient_precision of each sent entry */
    uint32_t warmup_epochs;          /* dgc: epochs with larger messages */
    double sign_rate;                /* demo: learning rate of the sign step */
    double rho;                      /* admm: strength of the pull towards the consensus */

    double gain;         /* factor on the mean of the progress that all workers send */
    uint32_t partitions; /* ako: number of parts of the model; CONFIG_AUTO = as the links require */
    double probability;  /* gosgd: probability of a push after a step */
    double threshold;    /* strom, threshold: least magnitude of an entry that is sent */

    /* Keys of gaia. */
    double significance;  /* least relative size of a sent update in the first step */
    uint32_t clock_bound; /* most steps that a worker may be ahead of the slowest worker */

    /* Keys of downpour. */
    uint32_t push_steps;
    uint32_t fetch_steps; /* steps between two fetches; CONFIG_AUTO = as many as push_steps */
    /* at each push, a worker sends its weights and waits for the mean of all workers' weights */
    bool average;

    /* Keys of dlion. */
    bool batch_by_speed; /* divide the batches by the speeds of the nodes */
    /* Entries up to this percentage below the largest of their tensor are sent; CONFIG_AUTO_REAL =
     * as many as the link carries. */
    double max_n;
    uint32_t transfer_steps; /* steps between moves towards the worker of lowest loss; 0 = never */

    unsigned int gossip_of; /* gossipgrad: enum gossip_of, the content of messages */
    unsigned int gossip_by; /* gossip_sgd: enum gossip_by, push or pull */

    /* Keys of choco. */
    unsigned int graph; /* enum graph, which defines the neighbours */
    double consensus;   /* factor on a worker's move towards its neighbours' replicas */

    uint32_t fanout; /* mlnet: children of each worker in the tree */
};

const char *scenario_strategy_name(enum strategy_kind kind);

#endif
