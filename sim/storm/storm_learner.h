/* What learns in a storm: random walks, and in a tenth of them a small GPT with AdamW.
 *
 * A random walk keeps account of what it produced and published; a GPT has what it has not: moments
 * in its checkpoints, gradients that follow from what was heard, tensors of very unlike size.
 */
#ifndef HEARSAY_SIM_STORM_STORM_LEARNER_H
#define HEARSAY_SIM_STORM_STORM_LEARNER_H

#include "storm/storm_plan.h"

/* What the learners of one storm share. */
struct storm_learners;

/* Of a GPT's flat vector. */
uint32_t storm_gpt_parameters(void);

struct storm_learners *storm_learners_new(const struct storm_plan *plan);
/* The learner of node i; number: of all learners of the storm. */
void storm_learner_make(struct storm_learners *learners, const struct storm_plan *plan, uint32_t i,
                        uint64_t number, struct sim_learner *sim_learner);
/* When all learners are freed. */
void storm_learners_free(struct storm_learners *learners);

#endif
