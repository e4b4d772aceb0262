/* A poisoner: publishes something else than what its node learned, as validly as any other node.
 *
 *   before PUBLISH   weights = base + what it makes of what was learned          poisoner_prepare
 *   PUBLISH          the real learner cuts its update, the real node signs it
 *   after PUBLISH    what is left is kept for next time, weights = base          poisoner_finish
 *
 * So a poisoner's own base is the sum of what it published, like everybody's. Between two
 * publications it learns from the base; direction and size of what it makes up follow from what it
 * learned, and for some kinds from what others published since, which every member hears
 * (poisoner_note). They are attacks of the literature: sign flips and noise; "a little is enough"
 * (Baruch, Baruch, Goldberg 2019); the negative of the mean (inner product manipulation: Xie,
 * Koyejo, Gupta 2019); a constant direction, alone or in common; free riders (Lin, Du, Liu 2019).
 * Flipped labels are of the data (experiment.h), false claims of the node (act.c).
 * Held by tests/unit/sim/test_poisoner.c.
 */
#ifndef HEARSAY_SIM_WORLD_POISONER_H
#define HEARSAY_SIM_WORLD_POISONER_H

#include "faults/fault.h"
#include "world/sim_learner.h"

struct poisoner;

/* Where they collude, those with one `common` seed push in one direction. */
struct poisoner *poisoner_new(enum poison kind, double value, uint64_t seed, uint64_t common);
void poisoner_free(struct poisoner *poisoner);

/* The node has heard an update of this origin, for a base of so many parameters. */
void poisoner_note(struct poisoner *poisoner, size_t parameters, const struct update *update,
                   uint64_t tag);

/* Just before, and just after, its learner publishes on these terms, which become its own. */
void poisoner_prepare(struct poisoner *poisoner, struct sim_learner *sim_learner,
                      struct publish_terms *terms);
void poisoner_finish(struct poisoner *poisoner, struct sim_learner *sim_learner);

#endif
