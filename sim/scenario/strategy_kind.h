/* Which strategy plays a scenario, and how it is set.
 *
 * Its keys are those of [strategy] (strategy_keys.h), the strategies are in strategies/strategy.h.
 */
#ifndef HEARSAY_SIM_SCENARIO_STRATEGY_KIND_H
#define HEARSAY_SIM_SCENARIO_STRATEGY_KIND_H

#include <stdbool.h>
#include <stdint.h>

/* Every strategy but the first, gossip: its constant, and its name in a scenario. Those from AKO on
 * are of workers that do not all wait for each other (workers.h). */
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

struct strategy_settings {
    uint32_t local_steps;  /* between two exchanges */
    double outer_rate;     /* rate of the outer step, or CONFIG_AUTO_REAL */
    double outer_momentum; /* momentum of that step, or CONFIG_AUTO_REAL */
    double top_part; /* sparseloco, dgc, demo, choco: of all entries, those of a message, or auto */
    double error_decay; /* sparseloco, demo: what stays of the untold, from round to round */

    /* streaming_diloco */
    uint32_t fragments;     /* parts of the model, exchanged in turn */
    uint32_t overlap_steps; /* while the exchange of one lasts */
    double mixing;          /* part of the common weights in a node's own, once they are there */
    unsigned int wire_precision; /* enum wire_precision: of an entry of a message */

    uint32_t rank;                   /* powersgd: of the factors of a gradient */
    unsigned int gradient_precision; /* allreduce: enum gradient_precision, of an entry */
    uint32_t warmup_epochs;          /* dgc: in which messages have more entries */
    double sign_rate;                /* demo: of its step */
    double rho;                      /* admm: of the pull towards what all agree on */

    double gain;         /* what all say counts this much of its mean */
    uint32_t partitions; /* ako: of the model, or CONFIG_AUTO */
    double probability;  /* gosgd: of a push after a step */
    double threshold;    /* strom, threshold: what an entry has to exceed to be said */

    /* gaia */
    double significance;  /* of an update: its part of the value, in the first step */
    uint32_t clock_bound; /* steps ahead of the slowest worker at most */

    /* downpour */
    uint32_t push_steps;  /* between two pushes of a worker */
    uint32_t fetch_steps; /* between two fetches, or CONFIG_AUTO: as it pushes */
    bool average;         /* all wait for the mean of their weights */

    /* dlion */
    bool batch_by_speed;     /* the batches of all are parted by the speeds of their nodes */
    double max_n;            /* percent below the largest entry of a tensor, or CONFIG_AUTO_REAL */
    uint32_t transfer_steps; /* between what a worker takes of the best one; 0: never */

    unsigned int gossip_of; /* gossipgrad: enum gossip_of, what is exchanged */
    unsigned int gossip_by; /* gossip_sgd: enum gossip_by, who sends weights */

    /* choco */
    unsigned int graph; /* enum graph: who is whose neighbour */
    double consensus;   /* part of the way to the neighbours, in a step */

    uint32_t fanout; /* mlnet: children of each worker in the tree */
};

/* Its name in a scenario. */
const char *scenario_strategy_name(enum strategy_kind kind);

#endif
