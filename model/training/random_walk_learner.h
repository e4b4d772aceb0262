/* A learner without data: its weights wander, and everything else is as with a real one.
 *
 *   made-up step ─► weights ─┐
 *                            ├─ replica: tell ─► update         + account: told + residual
 *       update ─► replica: hear                                           = produced?
 *
 * For simulations of the protocol alone: a real replica of P numbers, all beginning at 0, so cheap
 * that thousands of them fit one thread (tests/bench/bench_wander.c). Held by
 * tests/unit/model/test_random_walk_learner.c.
 */
#ifndef HEARSAY_MODEL_TRAINING_RANDOM_WALK_LEARNER_H
#define HEARSAY_MODEL_TRAINING_RANDOM_WALK_LEARNER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "backend/backend.h"
#include "training/learner_state.h"
#include "base/update.h"

struct random_walk;

/* Where it wanders follows from seed alone. At most density_max entries are told at once
 * (1 <= density_max <= parameters). accounted: keep the account below, which costs four numbers per
 * parameter and makes a telling take longer. */
struct random_walk *random_walk_new(struct arena *arena, struct backend *backend, size_t parameters,
                                    uint64_t seed, uint32_t density_max, bool accounted);

/* Moves WANDER_ENTRIES weights chosen at random, each by up to WANDER_STEP_MAX up or down; most by
 * much less, one in four by less than a thousandth of that. */
#define WANDER_ENTRIES  12
#define WANDER_STEP_MAX 0.01
void random_walk_step(struct random_walk *random_walk);

/* As replica_publish, replica_apply and so on (replica.h). */
const struct update *random_walk_publish(struct random_walk *random_walk,
                                         const struct publish_terms *terms);
void random_walk_apply(struct random_walk *random_walk, const struct update *update);
void random_walk_apply_own(struct random_walk *random_walk, const struct update *update);
void random_walk_read_block(const struct random_walk *random_walk, size_t first, size_t count,
                            int32_t *host);
void random_walk_write_block(struct random_walk *random_walk, size_t first, size_t count,
                             const int32_t *host, bool keep_weights);

/* All that it is now, and back: what is restored wanders on as what was saved would have. The
 * account is not in it; it begins anew with the residual that was restored as all that was
 * produced. */
void random_walk_save(const struct random_walk *random_walk, struct learner_state *state);
void random_walk_restore(struct random_walk *random_walk, const struct learner_state *state);

/* Of the base as it now lies in memory (digest.h). It is kept up from the entries that differ from
 * those of the last call, whoever wrote them: never from what an update says should have changed.
 */
uint64_t random_walk_digest(struct random_walk *random_walk);

/* host[P] */
void random_walk_read_units(const struct random_walk *random_walk, int32_t *host);
void random_walk_read_weights(const struct random_walk *random_walk, float *host);

/* The account of an accounted one: for every entry
 *     produced = told + (weight - QUANTUM·base)
 * where produced grows by what each step did to the weight, and at each telling by beta·QUANTUM·
 * (base - base at the telling before); told grows by tau·level (the share does not matter: what
 * comes back of it is in weight and base alike); hearing adds to neither. Hearing its own earlier
 * life adds what that charges to the residual to told; a block written with keep_weights adds the
 * change of the residual to produced.
 *
 * What is wrong with it comes from rounding: each telling, hearing or drift that moves a weight w
 * by m adds at most 2^-24·(|w| + 4 |m|) (float), and each step at most 2^-53·|produced| (double).
 * Hearing its own adds 2^-24·(QUANTUM·|base| + |residual|) to that, for the residual it derives; a
 * block that moves a base 2^-24·(QUANTUM·(|from| + |to|) + 2 |residual| + |w|).
 * The sum of those is the entry's bound, and the account holds while no entry's error exceeds it.
 * Returns the error of the entry that comes nearest to its bound or is furthest above it, in
 * absolute terms, and that bound: error <= *bound means that the account of every entry holds. */
double random_walk_account_error(const struct random_walk *random_walk, double *bound);

void random_walk_free(struct random_walk *random_walk);

#endif
