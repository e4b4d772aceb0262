/* A learner without data: its weights take a random walk, and all else is as with a real learner.
 *
 *   random step ─► weights ─┐
 *                           ├─ replica: publish ─► update      + account: published + residual
 *      update ─► replica: apply                                          = produced?
 *
 * For simulations of the protocol alone: a real replica of P numbers, all 0 at first, so cheap that
 * thousands of them fit one thread (tests/bench/bench_random_walk.c). Held by
 * tests/unit/model/test_random_walk_learner.c.
 */
#ifndef HEARSAY_MODEL_TRAINING_RANDOM_WALK_LEARNER_H
#define HEARSAY_MODEL_TRAINING_RANDOM_WALK_LEARNER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "backend/backend.h"
#include "base/arena.h"
#include "base/update.h"
#include "training/learner_state.h"
#include "training/snapshot.h"

struct random_walk;

/* The walk follows from the seed alone. At most density_max entries are published at once
 * (1 <= density_max <= parameters). accounted: keeps the account below, which costs four numbers
 * per parameter and makes publishing slower. */
struct random_walk *random_walk_new(struct arena *arena, struct backend *backend, size_t parameters,
                                    uint64_t seed, uint32_t density_max, bool accounted);

/* Before the first step: other first weights, drawn by this number; 0: they stay 0. */
void random_walk_begin(struct random_walk *random_walk, uint64_t start);

/* Moves RANDOM_WALK_ENTRIES weights chosen at random, each by up to RANDOM_WALK_STEP_MAX up or
 * down; most by much less, one in four by less than a thousandth of that. */
#define RANDOM_WALK_ENTRIES  12
#define RANDOM_WALK_STEP_MAX 0.01
void random_walk_step(struct random_walk *random_walk);
/* Moves all weights by so much, as those of a learner do that loses its way. */
void random_walk_leap(struct random_walk *random_walk, float by);

/* As replica_publish, replica_apply and so on (replica.h). */
const struct update *random_walk_publish(struct random_walk *random_walk,
                                         const struct publish_terms *terms);
void random_walk_apply(struct random_walk *random_walk, const struct update *update, float beta);
double random_walk_agreement(const struct random_walk *random_walk, const struct update *update);
void random_walk_apply_own(struct random_walk *random_walk, const struct update *update,
                           float beta);
void random_walk_read_block(const struct random_walk *random_walk, size_t first, size_t count,
                            int32_t *host);
void random_walk_write_block(struct random_walk *random_walk, size_t first, size_t count,
                             const int32_t *host, bool keep_weights);

/* Copies the whole state, out and back, so that a restored walk continues as the saved one. The
 * account is not included; it restarts with the restored residual as everything produced. */
void random_walk_save(const struct random_walk *random_walk, struct learner_state *state);
void random_walk_restore(struct random_walk *random_walk, const struct learner_state *state);
/* As learner_replay; the account restarts with each part and continues with the rest. */
void random_walk_replay(struct random_walk *random_walk, const struct snapshot_record *record);

/* The digest of the base as it lies in memory (digest.h), kept up from the entries that differ from
 * those of the last call, whatever wrote them: never from what an update says should have changed.
 */
uint64_t random_walk_digest(struct random_walk *random_walk);

/* host[P] */
void random_walk_read_units(const struct random_walk *random_walk, int32_t *host);
void random_walk_read_weights(const struct random_walk *random_walk, float *host);
/* Sets the weights, as if the walk had led there. */
void random_walk_write_weights(struct random_walk *random_walk, const float *host);

/* The account checks the conservation of error feedback (replica.h). For every entry
 *     produced = published + (weight - QUANTUM·base)
 * produced grows by what each step did to the weight, and with each update by beta of what it does
 * to the base. published grows by tau·level (the share does not matter: what comes back of it is in
 * weight and base alike). random_walk_apply adds nothing to it; random_walk_apply_own adds what it
 * takes from the residual; a block written with keep_weights adds the change of the residual to
 * produced.
 *
 * Its errors come from rounding. Each publication or application that moves a weight w by m
 * adds at most 2^-24·(|w| + 4 |m|) (float), and each step at most 2^-53·|produced| (double).
 * Where a publication takes tau·level back, (1 + beta)·QUANTUM·amount was rounded twice before.
 * random_walk_apply_own adds 2^-24·(QUANTUM·|base| + |residual|) for the residual it derives; a
 * block that moves a base adds 2^-24·(QUANTUM·(|from| + |to|) + 2 |residual| + |w|). Their sum is
 * the entry's bound, and the account holds while no entry's error exceeds it.
 * Returns the error of the entry that is nearest to its bound or furthest above it, and that bound:
 * error <= *bound means that the account of every entry holds. */
double random_walk_account_error(const struct random_walk *random_walk, double *bound);

void random_walk_free(struct random_walk *random_walk);

#endif
