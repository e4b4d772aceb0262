/* A learner without data, whose weights take a random walk.
 *
 *   random step ─► weights ─┐
 *                           ├─ replica: publish ─► update      + account: published + residual
 *      update ─► replica: apply                                          = produced?
 *
 * Simulations use it to test only the protocol. It has a real replica of P entries, all 0 at first.
 * It is so cheap that one thread can run thousands of such learners
 * (tests/bench/bench_random_walk.c). Tests: tests/unit/model/test_random_walk_learner.c.
 */
#ifndef HEARSAY_MODEL_TRAINING_RANDOM_WALK_LEARNER_H
#define HEARSAY_MODEL_TRAINING_RANDOM_WALK_LEARNER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "backend/backend.h"
#include "base/arena.h"
#include "base/update.h"
#include "exchange/learner_state.h"
#include "training/snapshot.h"

struct random_walk;

/* The walk depends only on the seed. density_max: most entries of a publication, 1 .. parameters.
 * accounted: keep the account (random_walk_account_error), which costs three doubles per parameter
 * and makes publishing slower. */
struct random_walk *random_walk_new(struct arena *arena, struct backend *backend, size_t parameters,
                                    uint64_t seed, uint32_t density_max, bool accounted);

/* Sets base and weights to random values drawn from the seed `start`; 0 leaves them 0. Call it
 * before the first step. */
void random_walk_begin(struct random_walk *random_walk, uint64_t start);

#define RANDOM_WALK_ENTRIES  12   /* weights that a step moves */
#define RANDOM_WALK_STEP_MAX 0.01 /* largest move of a weight in a step */

/* Moves RANDOM_WALK_ENTRIES random weights up or down. One move in four is less than a thousandth
 * of RANDOM_WALK_STEP_MAX. */
void random_walk_step(struct random_walk *random_walk);

/* Adds `by` to all weights, as a diverging learner would. */
void random_walk_leap(struct random_walk *random_walk, float by);

/* These functions work like those of replica.h with the same endings, such as replica_publish. */
const struct update *random_walk_publish(struct random_walk *random_walk,
                                         const struct publish_terms *terms);
void random_walk_apply(struct random_walk *random_walk, const struct update *update, float beta);
double random_walk_agreement(const struct random_walk *random_walk, const struct update *update);
/* Evaluates the base as learner_trial does. The accuracy of a random walk is 1 / (1 + 1000 · the
 * mean square of the base's weights). */
struct base_trial random_walk_trial(const struct random_walk *random_walk,
                                    const struct update *updates, uint32_t count, uint32_t tried);
void random_walk_apply_own(struct random_walk *random_walk, const struct update *update,
                           float beta);
void random_walk_read_block(const struct random_walk *random_walk, size_t first, size_t count,
                            int32_t *host);
void random_walk_write_block(struct random_walk *random_walk, size_t first, size_t count,
                             const int32_t *host, bool keep_weights);

/* A restored walk continues like the saved one. The account is not saved: after a restore it starts
 * again, with the residual as `produced`. */
void random_walk_save(const struct random_walk *random_walk, struct learner_state *state);
void random_walk_restore(struct random_walk *random_walk, const struct learner_state *state);

/* Works like learner_replay. A part restarts the account of its entries; an update continues it. */
void random_walk_replay(struct random_walk *random_walk, const struct snapshot_record *record);

/* Returns the digest of the base (digest.h). Compares the whole base with the base at the last
 * call, so that even a change without an update is noticed. */
uint64_t random_walk_digest(struct random_walk *random_walk);

void random_walk_read_units(const struct random_walk *random_walk, int32_t *host);
void random_walk_read_weights(const struct random_walk *random_walk, float *host);

/* Sets the weights to host[P]; the account counts the change as a step of the walk. */
void random_walk_write_weights(struct random_walk *random_walk, const float *host);

/* Checks the conservation of error feedback (replica.h) in every entry:
 *     produced = published + (weight - QUANTUM·base) + withheld
 * Returns the error of the entry whose error minus bound is largest, and sets *bound to its bound.
 * A bound is the sum of all rounding errors that are possible. If the error is at most *bound, the
 * account of every entry holds. */
double random_walk_account_error(const struct random_walk *random_walk, double *bound);

void random_walk_free(struct random_walk *random_walk);

#endif
