/* The strategies: ways to train one model on many machines. Each plays the same scenario and is
 * charged the same computing, so that they can be compared.
 *
 *   gossip    what hearsay does: real nodes and learners in a world               gossip.c
 *   single    each node alone on its shard                                        single.c
 *   ideal     synchronous SGD over a free network: one learner with all the       ideal.c
 *             data, whose batch is that of all nodes together
 *   localsgd  H local steps, then a ring all-reduce of the differences over       localsgd.c
 *             the links, with an outer Nesterov step
 *
 * Held by tests/unit/sim/test_baselines.c.
 */
#ifndef HEARSAY_SIM_STRATEGIES_STRATEGY_H
#define HEARSAY_SIM_STRATEGIES_STRATEGY_H

#include "scenario/experiment.h"

/* Plays to the end and fills the outcome, which the caller has initialised, but for
 * experiment_finish. Returns the weights that experiment_finish is to evaluate (memory of the
 * experiment), or NULL. */
typedef const float *strategy_play(struct experiment *experiment, struct outcome *outcome);

strategy_play gossip_play, single_play, ideal_play, localsgd_play;

strategy_play *strategy_of(enum strategy_kind kind);

#endif
