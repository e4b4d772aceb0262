/* The threshold filter: how large a residual must be to be published (Strom 2015; Aji, Heafield
 * 2017 call it gradient dropping). Smaller residuals stay as error feedback (replica.h).
 *
 *   histogram of |residual| ─► threshold_choose ─► tau ─┬─► cut (backend.h)
 *   histogram of one bin ────► threshold_split ──► tau ─┘
 *
 * Of all tau whose rumors fit the byte budget, the one that publishes most is taken. The histogram
 * has a bin every 3 % of |residual|, so the number of entries above every candidate tau (a bin's
 * edge), and above 2 tau, 3 tau, ..., is a sum of bins. From those follows the size of the rumors:
 * each level is coded as a sparse set within the level below it (net/wire/rumor.h), at about the
 * entropy of such a set, wherever its entries lie. Entries that cluster take less (of a model with
 * 25 million parameters the first thousands do, nearly all in its last layer: 0.45), which
 * size_ratio learns from what was published. A bin that does not fit as a whole is then split by a
 * histogram of itself. Held by tests/unit/model/test_threshold.c.
 */
#ifndef HEARSAY_MODEL_EXCHANGE_THRESHOLD_H
#define HEARSAY_MODEL_EXCHANGE_THRESHOLD_H

#include <stddef.h>
#include <stdint.h>

#include "backend/backend.h"

#define TAU_BELOW (-1.0f)

struct threshold {
    float tau;      /* threshold; 0 = nothing to publish */
    double mass;    /* tau times the sum of |level| that it publishes */
    double bytes;   /* estimated bytes of its rumors; 0 = tau is 0 or TAU_MAX */
    uint32_t split; /* next lower bin, part of which may fit; 0 = none */
};

/* bins: each residual of at least `floor`, the lower edge of a bin, is in one; smaller residuals
 * are in none (floor 0: every residual is). 1 <= count_max.
 * tau is an edge, 0 < tau <= TAU_MAX, such that at most count_max entries are published and the
 * rumors take about budget_bytes at most. TAU_MAX: the residuals above it alone are too many
 * (weights that diverged), and the caller publishes some of them. 0: there is nothing to publish,
 * or not even one bin fits. TAU_BELOW: the answer depends on residuals below the floor. */
struct threshold threshold_choose(const uint32_t bins[static HISTOGRAM_BINS], float floor,
                                  size_t parameters, uint32_t count_max, size_t budget_bytes);

/* Lowers tau into the bin chosen->split, which is not 0, to within a part of it. parts: the
 * residuals of that bin (backend.h, refine). Residuals that are published as soon as they reach tau
 * pile up just below it, so one bin may hold many times what fits: by whole bins tau would stand
 * still, and almost nothing would be published. */
void threshold_split(struct threshold *chosen, const uint32_t bins[static HISTOGRAM_BINS],
                     const uint32_t parts[static BIN_PARTS], size_t parameters, uint32_t count_max,
                     size_t budget_bytes);

/* Residuals that are infinite or NaN: where weights are no numbers. */
uint32_t threshold_lost(const uint32_t bins[static HISTOGRAM_BINS]);
/* Saturated entries (error_feedback.h). */
uint32_t threshold_saturated(const uint32_t bins[static HISTOGRAM_BINS]);

/* The ratio of the rumors' real size to its estimate. All members start at 0. */
struct size_ratio {
    double taken;     /* decaying sum of the bytes of publications */
    double estimated; /* decaying sum of their estimates */
    double last;      /* estimate of the publication under way; 0 = none */
};

/* Takes the size of the last publication; 0 = unknown. */
void size_ratio_learn(struct size_ratio *ratio, uint64_t bytes);
/* The estimate that a publication of budget_bytes may come to; never more than bytes_max. Savings
 * by clustered entries are not extrapolated to a much larger budget. */
size_t size_ratio_budget(const struct size_ratio *ratio, uint32_t budget_bytes, uint32_t bytes_max);

/* The lower edge of a bin. */
float threshold_edge(uint32_t bin);

/* A bin's edge about a sixth below this tau: the next tau is rarely below it. Returns 0 for 0. */
float threshold_floor(float tau);

#endif
