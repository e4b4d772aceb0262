/* The consensus distance (Kong et al. 2021, arXiv 2102.04828): how far the replicas of a model are
 * apart, here as a part of their mean.
 *
 *   w̄ = mean of w_i          distance = √(mean of |w_i − w̄|²) / |w̄|
 */
#ifndef HEARSAY_SIM_STRATEGIES_CONSENSUS_H
#define HEARSAY_SIM_STRATEGIES_CONSENSUS_H

#include <stddef.h>
#include <stdint.h>

struct consensus; /* opaque */

/* Of weights[P]; from malloc. */
struct consensus *consensus_new(size_t parameters);
void consensus_add(struct consensus *consensus, const float *weights);

/* Of those added; NAN: there were none, or all weights are 0. Frees it. */
double consensus_distance(struct consensus *consensus);

#endif
