/* How large a residual must be to be told: of the tau whose rumors fit, the one that tells most.
 *
 * The histogram has a bin every 3 % of |residual|, so the number of entries above every candidate
 * tau (a bin's edge), and above 2 tau, 3 tau, ..., is a sum of bins. From those follows the size
 * of the rumors: they code each level as a sparse set among the level below it (net/wire/rumor.h),
 * at about the entropy of such a set. The bin that does not fit as a whole is then told in part, by
 * a histogram of itself.
 */
#ifndef HEARSAY_MODEL_EXCHANGE_THRESHOLD_H
#define HEARSAY_MODEL_EXCHANGE_THRESHOLD_H

#include <stddef.h>
#include <stdint.h>

#include "backend/backend.h"

#define TAU_BELOW (-1.0f)

struct threshold {
    float tau;
    double mass;    /* the sum of tau times |level| that it tells */
    uint32_t split; /* the next bin, of which a part may fit; 0: none */
};

/* bins: of so many parameters, each residual of at least `floor`, the lower edge of a bin, is in
 * one, and no other (floor 0: every one is). Returns tau, 0 < tau <= TAU_MAX, an edge such that at
 * most count_max entries are told and the rumors take at most about budget_bytes. TAU_MAX if the
 * residuals above it alone are too many for that (weights that ran away): the caller then tells
 * some of them. 0 if there is nothing to tell, or not even one bin fits. TAU_BELOW if that depends
 * on residuals below the floor. */
struct threshold threshold_choose(const uint32_t bins[static HISTOGRAM_BINS], float floor,
                                  size_t parameters, uint32_t count_max, size_t budget_bytes);

/* The same, to within a part of the bin to be split; parts: its residuals (backend.h, refine).
 * Residuals that are told as soon as they reach tau pile up right below it, so a bin may hold many
 * times of what fits: by whole bins, tau would stand still, and next to nothing be told. */
float threshold_split(const struct threshold *chosen, const uint32_t bins[static HISTOGRAM_BINS],
                      const uint32_t parts[static BIN_PARTS], size_t parameters, uint32_t count_max,
                      size_t budget_bytes);

/* The lower edge of a bin. */
float threshold_edge(uint32_t bin);

/* What the next tau is hardly ever below: a bin's edge, about a sixth below this one; 0 of 0. */
float threshold_floor(float tau);

#endif
