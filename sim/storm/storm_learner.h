/* The learners of a storm: random walks, and in a tenth of the storms a small GPT with AdamW.
 *
 * A random walk keeps account of its produced and published progress. A GPT covers what a random
 * walk lacks: optimizer moments in checkpoints, gradients that depend on received updates, and
 * tensors of very different sizes.
 */
#ifndef HEARSAY_SIM_STORM_STORM_LEARNER_H
#define HEARSAY_SIM_STORM_STORM_LEARNER_H

#include "storm/storm_plan.h"

/* Data and model that the learners of one storm share. */
struct storm_learners;

uint32_t storm_gpt_parameters(void);

struct storm_learners *storm_learners_new(const struct storm_plan *plan);
/* start: number of the first weights of node i. number: number of learners that the storm has made,
 * this one included; seeds the random walk. */
void storm_learner_make(struct storm_learners *learners, const struct storm_plan *plan, uint32_t i,
                        uint32_t start, uint64_t number, struct sim_learner *sim_learner);
/* The caller must have freed all learners. */
void storm_learners_free(struct storm_learners *learners);

#endif
