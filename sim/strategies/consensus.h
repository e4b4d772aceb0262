/* The consensus distance (Kong et al. 2021, arXiv 2102.04828): how far apart the replicas of a
 * model are, relative to their mean.
 *
 *   w̄ = mean of w_i          distance = √(mean of |w_i − w̄|²) / |w̄|
 */
#ifndef HEARSAY_SIM_STRATEGIES_CONSENSUS_H
#define HEARSAY_SIM_STRATEGIES_CONSENSUS_H

#include <stddef.h>
#include <stdint.h>

struct consensus;

struct consensus *consensus_new(size_t parameters);
void consensus_add(struct consensus *consensus, const float *weights);

/* Returns the distance of the added vectors and frees `consensus`. NAN = no vector was added, or
 * all weights are 0. */
double consensus_distance(struct consensus *consensus);

#endif
