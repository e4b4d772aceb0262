/* The strategies: ways to train one model on many machines, played under one scenario and charged
 * the same computing, so that they can be compared.
 *
 *   gossip    what hearsay does: real nodes and learners in a world           gossip.c
 *   single    each node alone on its shard                                    baselines/single.c
 *   ideal     synchronous SGD over a free network: one learner with all the   baselines/ideal.c
 *             data, batches of all nodes together
 *   localsgd  H local steps, then a ring all-reduce of the differences over   baselines/localsgd.c
 *             the modelled links, with outer Nesterov
 *
 * Another one is a function of this shape and a line in strategy.c.
 */
#ifndef HEARSAY_SIM_STRATEGIES_STRATEGY_H
#define HEARSAY_SIM_STRATEGIES_STRATEGY_H

#include "scenario/experiment.h"

/* Play to the end and fill the outcome (initialised by the caller), but for experiment_finish. The
 * result is what experiment_finish is to mark: weights of the lab, or NULL. */
const float *gossip_play(struct experiment *experiment, struct outcome *outcome);
const float *single_play(struct experiment *experiment, struct outcome *outcome);
const float *ideal_play(struct experiment *experiment, struct outcome *outcome);
const float *localsgd_play(struct experiment *experiment, struct outcome *outcome);

struct strategy {
    const char *name;
    const float *(*play)(struct experiment *experiment, struct outcome *outcome);
};
const struct strategy *strategy_of(enum strategy_kind kind);

#endif
