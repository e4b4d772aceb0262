/* The threshold filter: how large a residual must be to be published (Strom 2015; Aji, Heafield
 * 2017 call it gradient dropping). Smaller residuals stay as error feedback (replica.h).
 *
 *   histogram of |residual| ─► threshold_choose ─► tau ─┬─► cut (backend.h)
 *   histogram of one bin ────► threshold_split ──► tau ─┘
 *
 * Of all tau whose rumors fit the byte budget, the filter chooses the one that publishes most. The
 * histogram's bins are 1.6 to 3.1 % of |residual| wide. A candidate tau is a bin's edge, so the
 * number of entries above tau, 2 tau, 3 tau, ... is about a sum of bins. The size of the rumors
 * follows from these numbers: each level is coded as a sparse set within the level below it
 * (net/wire/rumor.h), in about the entropy of a random set. Clustered entries take fewer bytes:
 * 0.45 of the estimate for the first few thousand entries of a model with 25 million parameters.
 * size_ratio learns this factor. If the next lower bin does not fit as a whole, a finer histogram
 * splits it. Tests: tests/unit/model/test_threshold.c.
 */
#ifndef HEARSAY_MODEL_EXCHANGE_THRESHOLD_H
#define HEARSAY_MODEL_EXCHANGE_THRESHOLD_H

#include <stddef.h>
#include <stdint.h>

#include "backend/backend.h"

#define TAU_BELOW (-1.0f)

struct threshold {
    float tau;      /* the threshold; threshold_choose explains its special values */
    double mass;    /* sum of the absolute values that tau publishes: tau · Σ |level| */
    double bytes;   /* estimated size of the rumors; 0 = not estimated, as tau is special */
    uint32_t split; /* next lower bin, which does not fit as a whole; 0 = none */
};

/* Returns the threshold that publishes most, such that at most count_max entries are published and
 * the rumors take at most about budget_bytes. tau is the edge of a bin, 0 < tau <= TAU_MAX, or
 *     TAU_MAX    even residuals above TAU_MAX are too many (weights that diverged); the caller
 *                publishes some of them
 *     0          there is nothing to publish, or not even one bin fits
 *     TAU_BELOW  the answer depends on residuals below the floor
 * bins: histogram of all residuals of at least `floor`, the lower edge of a bin. 1 <= count_max. */
struct threshold threshold_choose(const uint32_t bins[static HISTOGRAM_BINS], float floor,
                                  size_t parameters, uint32_t count_max, size_t budget_bytes);

/* Lowers chosen->tau into the bin chosen->split, which must not be 0, if a lower tau publishes
 * more. parts: histogram of the residuals in that bin (`refine` in backend.h). Residuals that are
 * published as soon as they reach tau pile up just below it, so one bin may hold many times more
 * entries than fit. If tau moved only by whole bins, almost nothing would be published. */
void threshold_split(struct threshold *chosen, const uint32_t bins[static HISTOGRAM_BINS],
                     const uint32_t parts[static BIN_PARTS], size_t parameters, uint32_t count_max,
                     size_t budget_bytes);

/* threshold_lost returns the number of NaN or infinite residuals, threshold_saturated the number of
 * saturated entries (error_feedback.h). */
uint32_t threshold_lost(const uint32_t bins[static HISTOGRAM_BINS]);
uint32_t threshold_saturated(const uint32_t bins[static HISTOGRAM_BINS]);

/* Measures the rumors' actual size divided by their estimated size. Starts as zeros. */
struct size_ratio {
    double taken;     /* decaying sum of the actual bytes of publications */
    double estimated; /* decaying sum of the estimated bytes of the publications in `taken` */
    double last;      /* estimated bytes of the last publication; 0 = unknown, or already added */
};

/* bytes: actual size of the last publication; 0 = unknown. */
void size_ratio_learn(struct size_ratio *ratio, uint64_t bytes);
/* Returns the estimated size at which a publication is expected to take budget_bytes. The result is
 * at most max(budget_bytes, bytes_max). It exceeds budget_bytes by at most the bytes by which
 * recent publications were smaller than estimated. */
size_t size_ratio_budget(const struct size_ratio *ratio, uint32_t budget_bytes, uint32_t bytes_max);

/* Returns the lower edge of a bin: the smallest |residual| in it. */
float threshold_edge(uint32_t bin);

/* Returns the edge of a bin a seventh to a quarter below tau, or 0 if there is no such bin, as for
 * tau = 0. The next publication's tau is rarely below it. */
float threshold_floor(float tau);

#endif
