/* A replica: the base that the swarm shares, and the weights that this node computes with.
 *
 *   base b[P] int32 (units of QUANTUM)     b0 = round(host_init / QUANTUM), the same everywhere
 *   weights w[P] float32                   training changes only these
 *   residual r = w - QUANTUM·b             learned here and not published yet; derived, not stored
 *                                          (error_feedback.h; w is the value if companded)
 *   withheld h[P] bfloat16                     the same, but kept out of the weights
 *
 *          train              publish: cut r at tau                  apply
 *   w ◄──────────── ;   b,w ◄── amount·level per entry ;  b,w ◄── amount·level per entry
 *
 * This is gradient compression with error feedback (1-bit SGD: Seide et al. 2014; Strom 2015;
 * EF-SGD: Karimireddy et al. 2019): the threshold filter (threshold.h) selects the entries that are
 * sent, and what it leaves out stays in the residual and is sent later: published + residual +
 * withheld = produced, but for what is let go or forgotten. Where all stays in the weights and
 * little can be sent, residuals grow until each node computes its gradients far from the base: so a
 * publication moves a part of what it leaves out from the weights to `withheld`, and the next one
 * chooses from both. What is withheld is progress on trial: gradients were not computed where it
 * leads. Told at once it would throw the base far off, so a publication that holds nothing back, as
 * that of a node that leaves or is alone, forgets it, and so does a restored state; and so much of
 * it is let go as others have said for this node (overlap.h). With each update, of this node or
 * another, the weights move on beyond the base, by beta of what the base does: the outer momentum,
 * as in DiLoCo (Douillard et al. 2023) and SlowMo (Wang et al. 2020). It is part of the residual,
 * and so published in its turn.
 *
 * Adding integers commutes: replicas that applied the same updates have the same base, bit for bit,
 * in whatever order (tests/unit/model/test_replica.c, test_learner.c).
 */
#ifndef HEARSAY_MODEL_EXCHANGE_REPLICA_H
#define HEARSAY_MODEL_EXCHANGE_REPLICA_H

#include <stddef.h>
#include <stdint.h>

#include "backend/backend.h"
#include "base/arena.h"
#include "base/update.h"
#include "exchange/overlap.h"
#include "exchange/threshold.h"
#include "training/learner_state.h"

struct replica {
    struct backend *backend;    /* lent; holds the vectors */
    size_t parameters;          /* P */
    struct weights weights;     /* [P] */
    float *own;                 /* [P], where they are at first; or NULL */
    struct weights_part *table; /* the list of their parts, in memory of the backend; or NULL */
    int32_t *base;              /* [P], in units of QUANTUM */
    uint16_t *withheld;         /* [P] bfloat16: withheld residual, not in the weights; or NULL */
    bool is_withholding;        /* withheld belongs to the last publication; otherwise it is void */
    uint32_t lost;              /* NaN weights at the last publication */
    uint32_t saturated;         /* saturated entries at the last publication (error_feedback.h) */
    struct update published;    /* the last publication, in host memory */
    uint32_t density_max;       /* largest number of entries in a publication */
    uint32_t *candidates;       /* [candidates_max]: entries that the filter may let through */
    uint32_t candidates_max;    /* capacity; another pass finds further entries */
    float floor;                /* lower bound of most later thresholds; 0 = unknown */
    struct size_ratio size_ratio; /* actual over estimated size of publications */
    struct overlap overlap;       /* overlap of other nodes' publications with ours */
};

/* host_init[P] float32: b0; or NULL: zeros, until replica_begin_part. 1 <= density_max <= P. */
void replica_init(struct replica *replica, struct arena *arena, struct backend *backend,
                  size_t parameters, const float *host_init, uint32_t density_max);

/* Makes the base of a new replica of zeros a companded one (companding.h). */
void replica_compand(struct replica *replica);

/* Sets entries first .. first+count-1 of a new replica to b0, host_init[count]. */
void replica_begin_part(struct replica *replica, size_t first, size_t count,
                        const float *host_init);

/* Cuts an update that fits terms->budget_bytes from the residual. The update is valid until the
 * next publication; its count is 0 if there is nothing to publish or a weight is NaN. The weights
 * move on by terms->beta of what it does to the base. amount = round(gain·share·tau/QUANTUM), more
 * where others rarely publish the same entries (overlap.h), at least 1. Of the residual that is
 * left, terms->withheld is withheld back; 0: what was withheld before is forgotten. */
const struct update *replica_publish(struct replica *replica, const struct publish_terms *terms);

/* The weights become the base's again, and nothing is unpublished or withheld back. Returns the
 * first entry whose weight was no number; parameters: there was none. */
size_t replica_reset_to_base(struct replica *replica);

/* Returns the first saturated entry, or `parameters` if there is none. It reads all of them. */
size_t replica_first_saturated(const struct replica *replica);

/* Moves the weights to these places, in memory of the backend's device, where they lie from now on.
 * Frees the memory where they were. The places and the list of them are lent. */
void replica_place_weights(struct replica *replica, struct weights places);

/* Takes memory for what is withheld back: without it terms->withheld must be 0. */
void replica_allow_withholding(struct replica *replica);

/* Adds the withheld residual back to the weights. replica_publish does so first if it withholds. */
void replica_release(struct replica *replica);

/* Adds another node's update to base and weights alike, and beta of it once more to the weights:
 * with 0 the residual stays, except withheld entries that the update stands for (overlap.h).
 */
void replica_apply(struct replica *replica, const struct update *update, float beta);

/* Returns the cosine between another node's update and this node's residual over the update's
 * entries, in [-1, 1]; 0 without a residual.
 *
 * Apart from outer momentum, the residual is what the last steps made of their gradients, about
 * -rate·Σ g. So -agreement is, to the first order and up to a positive factor, by how much the
 * update raises the loss of the samples that were learned here since the last publication, and
 * taking it out would lower it.
 * Held by tests/unit/model/test_agreement.c. */
double replica_agreement(const struct replica *replica, const struct update *update);

/* Applies an update that this node itself published after the state it was restored from. The base
 * moves as always. It is subtracted from the residual as far as the residual has it. So progress in
 * the restored state is not published twice, and progress made and published later stays in the
 * base. If the residual has all of it and beta is unchanged, base and weights become what the
 * publication made of them, bit for bit. */
void replica_apply_own(struct replica *replica, const struct update *update, float beta);

/* The digest of the base (digest.h). */
uint64_t replica_digest(const struct replica *replica);

/* Reads host[P]: the base as weights, float32 (or entries first .. first+count-1 of it); the base
 * in units; the weights. */
void replica_read_base(const struct replica *replica, float *host);
void replica_read_base_part(const struct replica *replica, size_t first, size_t count, float *host);
void replica_read_units(const struct replica *replica, int32_t *host);
void replica_read_weights(const struct replica *replica, float *host);

/* Sets the weights to host[P]. The base stays, so the residual takes up the difference. */
void replica_write_weights(struct replica *replica, const float *host);

/* Reads entries first .. first+count-1 of the base, in units. Another thread may also read while
 * none of these functions runs. A step may run, since it moves only the weights. */
void replica_read_block(const struct replica *replica, size_t first, size_t count, int32_t *host);

/* Sets those entries to host[count]. keep_weights: the weights stay, so the residual takes up the
 * difference; otherwise they move along and the residual stays (to rounding: see rebase in
 * backend.h). */
void replica_write_block(struct replica *replica, size_t first, size_t count, const int32_t *host,
                         bool keep_weights);

/* Copies the two vectors of the state, out and back: all entries, or those that it is of. Its
 * numbers are the owner's. Withheld entries are in neither. */
void replica_save(const struct replica *replica, struct learner_state *state);
void replica_restore(struct replica *replica, const struct learner_state *state);

void replica_free(struct replica *replica);

#endif
