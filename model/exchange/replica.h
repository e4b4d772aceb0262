/* A replica: the base the swarm shares, and the weights this node computes with.
 *
 *   base b[P] int32 (units of QUANTUM)     b0 = round(host_init / QUANTUM), the same everywhere
 *   weights w[P] float32                   training changes only these
 *   residual r = w - QUANTUM·b             what this node learned and has not told; derived
 *
 *          train                 tell: cut r at tau            hear
 *   w ◄──────────── ;   b,w ◄── amount·level per entry ;  b,w ◄── amount·level per entry
 *
 * Adding integers commutes: replicas that heard the same updates have the same base, bit for bit,
 * in whatever order they heard them (tests/unit/model/test_learner.c). What is told leaves the
 * residual and comes back at this node's share, so nothing is lost: told + residual = produced.
 */
#ifndef HEARSAY_MODEL_EXCHANGE_REPLICA_H
#define HEARSAY_MODEL_EXCHANGE_REPLICA_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "backend/backend.h"
#include "training/learner_state.h"
#include "base/update.h"

struct replica {
    struct backend *backend;
    size_t parameters;
    float *weights;
    int32_t *base;
    int32_t *base_at_last_publish; /* the base at the last telling */
    struct update told;            /* the last telling, host memory */
    uint32_t density_max;          /* its capacity */
    uint32_t *candidates;          /* entries that may be told */
    uint32_t candidates_max;
    float floor; /* what is smaller will hardly be told next time; 0: not known */
};

/* host_init[P] float32. At most density_max entries are told at once (1 <= density_max <= P). */
void replica_init(struct replica *replica, struct arena *arena, struct backend *backend,
                  size_t parameters, const float *host_init, uint32_t density_max);

/* Step on with the base, then tell what fits: the update is valid until the next telling, its
 * count is 0 when there is nothing to tell. amount = round(gain·share·tau/QUANTUM), at least 1. */
const struct update *replica_publish(struct replica *replica, const struct publish_terms *terms);

void replica_apply(struct replica *replica, const struct update *update);

/* Hear an update that an earlier life of this node told after the state that this one began from.
 * The base moves as always. What was told then is charged to the residual as far as it goes: so
 * what that state held and was told later is not told twice, and what was learned after it and was
 * told, but lost with the process, stays in the base. */
void replica_apply_own(struct replica *replica, const struct update *update);

uint64_t replica_digest(const struct replica *replica);

/* QUANTUM·base as float32 into host[P]; the base in units; the weights. */
void replica_read_base(const struct replica *replica, float *host);
void replica_read_units(const struct replica *replica, int32_t *host);
void replica_read_weights(const struct replica *replica, float *host);

/* The weights from host[P]; the base stays as it is, so the residual follows. */
void replica_write_weights(struct replica *replica, const float *host);

/* Entries first .. first+count-1 of the base, in units. */
void replica_read_block(const struct replica *replica, size_t first, size_t count, int32_t *host);

/* Those entries become host[count]. keep_weights: the weights stay, so the residual takes up the
 * difference; otherwise they move along and the residual stays (to rounding: see rebase in
 * backend.h). The base at the last telling becomes the new one: no drift follows from the move. */
void replica_write_block(struct replica *replica, size_t first, size_t count, const int32_t *host,
                         bool keep_weights);

/* Base, base at the last telling and weights; the rest of the state is the owner's. */
void replica_save(const struct replica *replica, struct learner_state *state);
void replica_restore(struct replica *replica, const struct learner_state *state);

void replica_free(struct replica *replica);

#endif
