/* Running statistics, such as the means of a batch norm. Training sets them from the data, so they
 * do not continue from the base as a weight does:
 *
 *   a step of a weight       w ← w - rate · gradient(w)
 *   a step of a statistic    s ← s + 0.1 · (mean of the batch - s)
 *
 * A publication moves a weight towards the base by the progress that other nodes are about to
 * publish too. A few steps would move a statistic back to the data's mean, and the node would
 * publish that progress a second time. So the exchange has its own weight w of each statistic. The
 * movement of the trained statistic s is added to w, and updates move w but not s:
 *
 *   training ─► s ── movement since the last publication ──► w = base + residual ◄─► base
 *               │                                            ▲
 *               └──────────────────── pull ──────────────────┘
 *
 * A publication moves the base by the node's share of the movement, without gain. So the base is
 * the mean of all nodes' statistics, weighted by their shares. Shares change, and nodes come and
 * go, so the base would keep each error of a share. To correct such errors, a publication also
 * pulls w a little towards s. With any shares, the pulls of all nodes move the base to a mean of
 * their statistics.
 *
 * All sums are of values (base/companding.h), so that they do not depend on the order.
 * Tests: tests/unit/model/test_statistics.c.
 */
#ifndef HEARSAY_MODEL_EXCHANGE_STATISTICS_H
#define HEARSAY_MODEL_EXCHANGE_STATISTICS_H

#include "backend/backend.h"
#include "base/arena.h"
#include "base/weights.h"

/* Entries first .. first+count-1 of a model. */
struct entry_range {
    size_t first;
    size_t count; /* >= 1 */
};

struct statistics {
    struct backend *backend; /* not owned; its memory holds the vectors below */
    /* [ranges] the trained statistics, sorted by entry; `at` belongs to the caller */
    struct weights_part *range;
    uint32_t ranges; /* 0 = the model has no statistics */
    size_t count;    /* statistics in all ranges */
    float *held;     /* [count] weights of the exchange, range after range */
    float *before;   /* [count] trained statistics from which movement counts */
    /* [count] trained statistics after the last reset, until they have moved; then NaN */
    float *reset;
    struct weights_part *part; /* parts of the last statistics_view */
    bool has_counted;          /* movement has counted since the last reset (statistics_track) */
};

/* range[ranges]: entries that are statistics, sorted and without overlap. */
void statistics_init(struct statistics *statistics, struct arena *arena, struct backend *backend,
                     const struct entry_range *range, uint32_t ranges);

/* Returns the exchange's weights: entries 0 .. parameters-1 of `trained`, except that statistics
 * are in `held`. From then on the trained statistics are those in `trained`, in which each range
 * must be contiguous. The result is valid until the next call. Its table is not set. */
struct weights statistics_view(struct statistics *statistics, struct weights trained,
                               size_t parameters);

/* Brings statistics among entries first .. first+count-1 up to date. Sets statistics that training
 * has not moved to the exchange's weights. If `counts`, processes all other statistics: moves the
 * exchange's weight by the statistic's movement since the last call that counted, and then by the
 * part `pull` (0 .. 1) of its distance to the statistic. Call it before each publication. While has_counted is false, also call it without
 * `counts` after each other movement of the exchange's weights. */
void statistics_track(struct statistics *statistics, size_t first, size_t count, bool companded,
                      bool counts, float pull);

/* Returns the largest |residual| of a statistic that is neither saturated nor NaN or infinite.
 * base[parameters]. Call it only if the model has statistics. */
float statistics_farthest(const struct statistics *statistics, const int32_t *base, bool companded);

/* Sets the trained statistics among entries first .. first+count-1 to the exchange's weights. If
 * `forgets`, later movement counts from there. Otherwise it still counts from `before`, so that the
 * return of a statistic to the values of the data does not count as movement. */
void statistics_reset(struct statistics *statistics, size_t first, size_t count, bool forgets);

/* Sets statistics among entries first .. first+count-1 to saved ones: trained[count], and a base of
 * units[count]. The residual is not saved, so movement counts from the saved statistic. It counts
 * from the base if the two differ by more than STATISTIC_FAR, because such a node has published
 * little of it.
 * Only statistics that equal the base count as unmoved (statistics_track). */
void statistics_restore(struct statistics *statistics, size_t first, size_t count,
                        const float *trained, const int32_t *units, bool companded);

void statistics_free(struct statistics *statistics);

#endif
