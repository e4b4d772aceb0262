/* The strategies: ways to train one model on many machines. Each plays the same scenario and is
 * charged the same computing time, for comparison.
 *
 *   gossip            hearsay: real nodes and learners in a world
 *   single            each node by itself on its shard
 *   ideal             synchronous SGD over a free network: one learner with all the data and the
 *                     batches of all nodes together
 *   localsgd          rounds of local steps, then a ring all-reduce over the links
 *   diloco            localsgd with an outer Nesterov step
 *   sparseloco        rounds of local steps, then sparse messages to all (sparse.h)
 *   noloco            rounds of local steps, then an exchange in random pairs
 *   streaming_diloco  diloco for one part of the model at a time, in four bits (e3m0.h), while
 *                     nodes continue
 *   powersgd          synchronous SGD over the links, gradients of low rank (low_rank.h)
 *   gasloc            rounds of local steps, then accelerated gossip in random pairs
 *   allreduce         synchronous SGD over the links, uncompressed gradients
 *   onebit            allreduce with one bit for each entry of a gradient (one_bit.h)
 *   dgc               synchronous SGD with the largest entries of gradients with momentum
 *   demo              synchronous SGD with the largest components of momentum (dct.h)
 *   admm              rounds of local steps that are pulled towards a consensus
 *
 *   ako               each step sends the next part of the progress to all workers
 *   adpsgd            after a step two random workers average their weights
 *   gosgd             workers occasionally push their weights to a random worker
 *   sgp               each step sends half of weights and share to the next worker of a graph
 *   strom             each step sends the signs of entries that have reached a threshold
 *   threshold         strom with values, and with the whole of each own step
 *   gaia              each step sends the significant updates
 *   downpour          a parameter server with asynchronous pushes and fetches
 *   dlion             each step sends the largest entries of a gradient that a link can carry
 *   gossipgrad        each step sends to one worker and averages with the message of another
 *   gossip_sgd        each step averages the weights with those of a random worker
 *   choco             each step sends the largest differences to neighbours' replicas
 *   mlnet             a parameter server with aggregation along a tree
 *
 * localsgd to admm are methods of rounds.h: powersgd, allreduce, onebit, dgc and demo exchange
 * gradients or momentum, noloco and gasloc use pairs.h, admm stands alone, and the others use
 * common.h. ako and the following ones are methods of workers.h, whose workers need not all wait
 * for each other. Tests: tests/unit/sim/test_baselines.c and others.
 */
#ifndef HEARSAY_SIM_STRATEGIES_STRATEGY_H
#define HEARSAY_SIM_STRATEGIES_STRATEGY_H

#include "experiment/experiment.h"
#include "scenario/strategy_kind.h"

/* Each function, such as diloco_play, plays a strategy to the end and fills in the initialized
 * outcome. The caller then passes the returned weights to experiment_finish. The experiment owns
 * their memory; NULL = there are no weights to evaluate. */
#define STRATEGY_DECLARATION(CONSTANT, name)                                                       \
    const float *name##_play(struct experiment *experiment, struct outcome *outcome);
const float *gossip_play(struct experiment *experiment, struct outcome *outcome);
STRATEGIES(STRATEGY_DECLARATION)

const float *strategy_play(struct experiment *experiment, struct outcome *outcome);

#endif
