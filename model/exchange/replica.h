/* A replica: the base that the swarm shares, and the weights that this node computes with.
 *
 *   base b[P] int32 (units of QUANTUM)     b0 = round(host_init / QUANTUM), equal on all nodes
 *   weights w[P] float32                   training changes only these
 *   residual r = w - QUANTUM·b             learned here and not published yet; derived, not stored
 *                                          (error_feedback.h; w is the value if companded)
 *   withheld h[P] bfloat16                 learned here and not published yet, but not in w either
 *
 *          train              publish: cut r at tau                  apply
 *   w ◄──────────── ;   b,w ◄── amount·level per entry ;  b,w ◄── amount·level per entry
 *
 * This is gradient compression with error feedback (1-bit SGD: Seide et al. 2014; Strom 2015;
 * EF-SGD: Karimireddy et al. 2019). The threshold filter (threshold.h) selects the entries that are
 * sent. Progress in other entries stays in the residual and is sent later.
 *
 * Withholding: if little can be sent, residuals in the weights would grow until each node computed
 * its gradients far from the base. So a publication moves a part of the unpublished residual from
 * the weights to `withheld`, and the next publication chooses from both. The node has computed no
 * gradients at the point where withheld progress leads, so publishing all of it at once would move
 * the base far off. Withheld progress is dropped, not published, by a publication that withholds
 * nothing (when a node leaves or is alone), by a reset to the base, and by a restore. An update of
 * another node that already counts for this node drops a part of it (overlap.h).
 *
 * Outer momentum, as in DiLoCo (Douillard et al. 2023) and SlowMo (Wang et al. 2020): each
 * update, from this node or another, also moves the weights by beta times the move of the base.
 * This additional move is part of the residual and is later published like it. Statistics and
 * large weights of a companded base have neither outer momentum nor withheld progress.
 *
 * Adding integers commutes: replicas that applied the same updates have the same base, bit for bit,
 * in any order of the updates (tests/unit/model/test_replica.c, test_learner.c).
 */
#ifndef HEARSAY_MODEL_EXCHANGE_REPLICA_H
#define HEARSAY_MODEL_EXCHANGE_REPLICA_H

#include <stddef.h>
#include <stdint.h>

#include "backend/backend.h"
#include "base/arena.h"
#include "base/update.h"
#include "exchange/learner_state.h"
#include "exchange/overlap.h"
#include "exchange/statistics.h"
#include "exchange/threshold.h"

struct replica {
    struct backend *backend; /* not owned; its memory holds the vectors below */
    size_t parameters;       /* P, the number of the model's parameters */
    struct weights weights;  /* [P] weights of the exchange, which publications and updates move */
    struct weights trained;  /* [P] the same memory, except for statistics (statistics.h) */
    float *own;              /* [P] `trained`, if contiguous; NULL after replica_place_weights */
    /* copy of the parts of `weights` in the backend's memory; NULL = one vector */
    struct weights_part *table;
    struct statistics statistics;
    int32_t *base;       /* [P], in units of QUANTUM */
    uint16_t *withheld;  /* [P] bfloat16: withheld residual; NULL = not allocated */
    bool is_withholding; /* false: `withheld` has no valid content */
    uint32_t lost;       /* number of NaN or infinite residuals at the last publication */
    uint32_t saturated; /* number of saturated entries at the last publication (error_feedback.h) */
    struct update published; /* the last publication, in host memory */
    uint32_t density_max;    /* largest number of entries in a publication */
    uint32_t *candidates;    /* [candidates_max] indices of the entries that a survey listed */
    /* capacity of `candidates`; a survey that finds more is repeated with a higher floor */
    uint32_t candidates_max;
    float floor; /* floor of the next survey, a little below the last tau; 0 = none */
    struct size_ratio size_ratio; /* actual divided by estimated size of publications */
    struct overlap overlap;
};

/* host_init[P]: initial weights, which the base rounds to units; NULL = base and weights are zeros
 * until replica_begin_part. 1 <= density_max <= P. */
void replica_init(struct replica *replica, struct arena *arena, struct backend *backend,
                  size_t parameters, const float *host_init, uint32_t density_max);

/* Makes the base companded (companding.h). Call it only while the new replica's base is zeros. */
void replica_compand(struct replica *replica);

/* Sets base and weights first .. first+count-1 of a new replica to the initial weights
 * host_init[count]. */
void replica_begin_part(struct replica *replica, size_t first, size_t count,
                        const float *host_init);

/* Cuts an update from the residual and applies it to base and weights. The update has the threshold
 * terms->tau or, if that is 0, takes about terms->budget_bytes at most. amount = round(gain · share
 * · novelty · tau / QUANTUM) (novelty: overlap.h). tau is raised if that would be 0 or, unless
 * terms->tau is set, if the update could not move the farthest statistic far enough. Returns the
 * update, which is valid until the next publication. Its count is 0 if there is nothing to publish
 * or a residual is NaN or infinite. The weights also move by terms->beta times the base's move.
 * Then the part terms->withheld of the remaining residual is withheld. If terms->withheld is 0,
 * earlier withheld progress is dropped. */
const struct update *replica_publish(struct replica *replica, const struct publish_terms *terms);

/* Sets the weights to the base and drops withheld progress. Returns the first entry whose weight
 * was NaN or infinite; `parameters` = none was. */
size_t replica_reset_to_base(struct replica *replica);

/* Returns the first saturated entry; `parameters` = none. Slow: reads all entries before it. */
size_t replica_first_saturated(const struct replica *replica);

/* Moves the weights to `places`, in memory of the backend's device, and frees their former memory.
 * The caller owns the memory and the list of `places`, which must outlive the replica. */
void replica_place_weights(struct replica *replica, struct weights places);

/* Declares entries to be running statistics (statistics.h); range[ranges] is sorted. Call it at
 * most once, after the initial weights are set and before replica_place_weights. */
void replica_keep_statistics(struct replica *replica, struct arena *arena,
                             const struct entry_range *range, uint32_t ranges);

/* Sets each trained statistic to the exchange's weight for it, which is base + residual. Call it
 * when no update is on its way, for example when the node is settled. */
void replica_reset_statistics(struct replica *replica);

/* Allocates memory for withheld progress. Before this call, terms->withheld must be 0. */
void replica_allow_withholding(struct replica *replica);

/* Adds the withheld residual back to the weights. replica_publish begins with this call if
 * terms->withheld is above 0. */
void replica_release(struct replica *replica);

/* Applies another node's update: adds it to the base, and (1 + beta) times the update to the
 * weights. Drops withheld progress for which the update already counts (overlap.h). */
void replica_apply(struct replica *replica, const struct update *update, float beta);

/* Copies base entries first .. first+count-1 to host[count], as float32 weights and as if these
 * updates had been applied. count <= 4096. */
void replica_read_with(const struct replica *replica, const struct update *updates,
                       uint32_t updates_count, size_t first, size_t count, float *host);

/* Returns the cosine between another node's update and this node's residual over the update's
 * entries, in [-1, 1]; 0 if the residual is 0 or not finite.
 *
 * Apart from outer momentum, the residual is about -rate·Σ g, the sum of the last steps' gradients.
 * So to first order the update raises the loss of the samples learned here since the last
 * publication in proportion to -agreement. If agreement is negative, removing the update would
 * lower that loss. Tests: tests/unit/model/test_agreement.c. */
double replica_agreement(const struct replica *replica, const struct update *update);

/* Applies an update that this node published after the state from which it was restored. The base
 * moves as by any update. The update's progress is subtracted from the residual as far as the
 * residual contains it, so progress in the restored state is not published twice. If the residual
 * contains all of it and beta is unchanged, base and weights become the same, bit for bit, as after
 * the publication. The residual of a statistic is dropped. */
void replica_apply_own(struct replica *replica, const struct update *update, float beta);

uint64_t replica_digest(const struct replica *replica);

/* Copy the base to host[P], or entries first .. first+count-1 to host[count]: as float32 weights,
 * or in units of QUANTUM (replica_read_units). */
void replica_read_base(const struct replica *replica, float *host);
void replica_read_base_part(const struct replica *replica, size_t first, size_t count, float *host);
void replica_read_units(const struct replica *replica, int32_t *host);

/* Copies the trained weights to host[P]. */
void replica_read_weights(const struct replica *replica, float *host);

/* Sets the weights to host[P]. The base stays, so the residual changes by the difference. */
void replica_write_weights(struct replica *replica, const float *host);

/* Copies base entries first .. first+count-1, in units, to host[count]. Another thread may call it,
 * even during a training step or an evaluation, which do not change the base. No function that
 * changes the base may run at that time. */
void replica_read_block(const struct replica *replica, size_t first, size_t count, int32_t *host);

/* Sets base entries first .. first+count-1 to host[count], in units. If keep_weights is set, the
 * weights stay and the residual changes by the difference. Otherwise the weights move with the base
 * and the residual stays, except for rounding (`rebase` in backend.h). */
void replica_write_block(struct replica *replica, size_t first, size_t count, const int32_t *host,
                         bool keep_weights);

/* Copy base and trained weights to or from `state`: state->parameters entries, from entry
 * state->first on. Withheld progress and the residuals of statistics are not saved, and
 * replica_restore drops them. */
void replica_save(const struct replica *replica, struct learner_state *state);
void replica_restore(struct replica *replica, const struct learner_state *state);

void replica_free(struct replica *replica);

#endif
