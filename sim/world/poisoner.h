/* A poisoner: publishes other updates than its node learned, validly signed like any other.
 *
 *   before PUBLISH   weights = base + altered update                             poisoner_prepare
 *   PUBLISH          the real learner cuts its update, the real node signs it
 *   after PUBLISH    the residual is kept for next time, weights = base          poisoner_finish
 *
 * A poisoner's base has the updates that it published. Between publications it learns from the
 * base. Direction and length of its updates depend on its progress, and for some kinds on the other
 * origins' updates since its last publication (poisoner_note). The attacks are from the literature:
 * sign flips and noise; "a little is enough" (Baruch, Baruch, Goldberg 2019); the negative of the
 * mean (inner product manipulation: Xie, Koyejo, Gupta 2019); a constant direction, individual or
 * shared; free riders (Lin, Du, Liu 2019). experiment.c flips labels, act.c makes false claims.
 * Tests: tests/unit/sim/test_poisoner.c.
 */
#ifndef HEARSAY_SIM_WORLD_POISONER_H
#define HEARSAY_SIM_WORLD_POISONER_H

#include "scenario/fault.h"
#include "world/sim_learner.h"

struct poisoner;

/* Poisoners of kind POISON_COLLUSION with equal `common` push in one direction. */
struct poisoner *poisoner_new(enum poison kind, double value, uint64_t seed, uint64_t common);
void poisoner_free(struct poisoner *poisoner);

/* Records an update of another origin. parameters: size of the base. tag: names the origin. */
void poisoner_note(struct poisoner *poisoner, size_t parameters, const struct update *update,
                   uint64_t tag);

/* Call poisoner_prepare before and poisoner_finish after the learner publishes, so that it
 * publishes the altered update. terms: terms of this publication; beta and withheld are set to
 * 0. */
void poisoner_prepare(struct poisoner *poisoner, struct sim_learner *sim_learner,
                      struct publish_terms *terms);
void poisoner_finish(struct poisoner *poisoner, struct sim_learner *sim_learner);

#endif
