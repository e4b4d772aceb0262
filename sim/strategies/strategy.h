/* The strategies: ways to train one model on many machines. Each plays the same scenario and is
 * charged the same computing, so that they can be compared.
 *
 *   gossip            what hearsay does: real nodes and learners in a world             gossip.c
 *   single            each node alone on its shard                                      single.c
 *   ideal             synchronous SGD over a free network: one learner with all the     ideal.c
 *                     data, whose batch is that of all nodes together
 *   localsgd          rounds of local steps, then a ring all-reduce over the links
 *   diloco            the same with an outer Nesterov step
 *   sparseloco        rounds of local steps, then sparse messages to all (sparse.h)
 *   noloco            rounds of local steps, then each meets one other at random
 *   streaming_diloco  diloco a part of the model at a time, in four bits (e3m0.h), while
 *                     nodes go on
 *   powersgd          synchronous SGD over the links, its gradients of low rank (low_rank.h)
 *   gasloc            rounds of local steps, then accelerated gossip with one other at random
 *   allreduce         synchronous SGD over the links, its gradients whole
 *   onebit            the same, one bit an entry of a gradient (one_bit.h)
 *   dgc               the same, the largest entries of a gradient that has momentum
 *   demo              the same, the largest components of each node's own momentum (dct.h)
 *   admm              rounds of local steps that are pulled towards a consensus
 *
 *   ako               each step tells all a part of the model in turn
 *   adpsgd            after a step two at random take their mean
 *   gosgd             now and then a worker pushes its weights to one at random
 *   sgp               each step a half of weights and counts goes to the next of a graph
 *   strom             each step all are told the signs of what has added up to a threshold
 *   threshold         the same with values, and with the whole of each own step
 *   gaia              each step all are told what is significant
 *   downpour          a parameter server, to which workers push and from which they fetch
 *   dlion             each step all are told the largest of a gradient that their link carries
 *   gossipgrad        each step one sends to one and gets from one, and takes the mean
 *   gossip_sgd        each step weights are averaged with those of one at random
 *   choco             each step neighbours send what their replicas lack most, and draw near
 *   mlnet             a parameter server, to which and from which all goes along a tree
 *
 * Those from localsgd to admm are methods of one frame of rounds, rounds.h, those from ako on of
 * a frame of workers that do not all wait for each other, workers.h; each is in a file of its name.
 * After a round all go on from common weights (common.h); nodes of noloco and gasloc meet in pairs
 * (pairs.h), and those of powersgd, allreduce, onebit, dgc and demo exchange gradients, or
 * momentum. Held by tests/unit/sim/test_baselines.c and a test of the name of each.
 */
#ifndef HEARSAY_SIM_STRATEGIES_STRATEGY_H
#define HEARSAY_SIM_STRATEGIES_STRATEGY_H

#include "scenario/experiment.h"

/* Each plays to the end and fills the outcome, which the caller has initialised, but for
 * experiment_finish. Returns the weights that experiment_finish is to evaluate (memory of the
 * experiment), or NULL. */
const float *gossip_play(struct experiment *experiment, struct outcome *outcome);
const float *single_play(struct experiment *experiment, struct outcome *outcome);
const float *ideal_play(struct experiment *experiment, struct outcome *outcome);
const float *localsgd_play(struct experiment *experiment, struct outcome *outcome);
const float *diloco_play(struct experiment *experiment, struct outcome *outcome);
const float *sparseloco_play(struct experiment *experiment, struct outcome *outcome);
const float *noloco_play(struct experiment *experiment, struct outcome *outcome);
const float *streaming_diloco_play(struct experiment *experiment, struct outcome *outcome);
const float *powersgd_play(struct experiment *experiment, struct outcome *outcome);
const float *gasloc_play(struct experiment *experiment, struct outcome *outcome);
const float *allreduce_play(struct experiment *experiment, struct outcome *outcome);
const float *onebit_play(struct experiment *experiment, struct outcome *outcome);
const float *dgc_play(struct experiment *experiment, struct outcome *outcome);
const float *demo_play(struct experiment *experiment, struct outcome *outcome);
const float *admm_play(struct experiment *experiment, struct outcome *outcome);
const float *ako_play(struct experiment *experiment, struct outcome *outcome);
const float *adpsgd_play(struct experiment *experiment, struct outcome *outcome);
const float *gosgd_play(struct experiment *experiment, struct outcome *outcome);
const float *sgp_play(struct experiment *experiment, struct outcome *outcome);
const float *strom_play(struct experiment *experiment, struct outcome *outcome);
const float *threshold_play(struct experiment *experiment, struct outcome *outcome);
const float *gaia_play(struct experiment *experiment, struct outcome *outcome);
const float *downpour_play(struct experiment *experiment, struct outcome *outcome);
const float *dlion_play(struct experiment *experiment, struct outcome *outcome);
const float *gossipgrad_play(struct experiment *experiment, struct outcome *outcome);
const float *gossip_sgd_play(struct experiment *experiment, struct outcome *outcome);
const float *choco_play(struct experiment *experiment, struct outcome *outcome);
const float *mlnet_play(struct experiment *experiment, struct outcome *outcome);

/* The same for the strategy of the scenario. */
const float *strategy_play(struct experiment *experiment, struct outcome *outcome);

#endif
