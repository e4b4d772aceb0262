/* Error feedback: the residual of one entry. CPU and GPU compute the same bits.
 *
 *   residual r = value of w - QUANTUM·base     (companding.h; w - QUANTUM·base if not companded)
 *
 * The sum of an entry must stay within int32: 2^31 units, a value of 128. A publication moves no
 * entry outwards whose sum is PUBLISHED_MAX or more, a value of 64. One rumor moves an entry by at
 * most MOVE_MAX, a value of 1. So the sum of an entry stays within 64 + n if at most n rumors, each
 * published without knowledge of the others, move it outwards: 63 of them cannot make it wrap. An
 * entry whose residual points beyond PUBLISHED_MAX is saturated: its residual stays in the weight,
 * is in no publication, and is counted. The rule only applies when a rumor is made, so the sum
 * still does not depend on the order. Held by tests/unit/model/test_companding.c.
 */
#ifndef HEARSAY_MODEL_EXCHANGE_ERROR_FEEDBACK_H
#define HEARSAY_MODEL_EXCHANGE_ERROR_FEEDBACK_H

#include <float.h>
#include <math.h>
#include <stdint.h>

#include "base/companding.h"
#include "base/update.h"

#define PUBLISHED_MAX       (1 << 30)
#define LOST_BITS           0x7FC00000u /* bits of every residual that is NaN */
#define SATURATED_BITS      0x7FFFFFFFu /* bits of every residual beyond PUBLISHED_MAX */
#define VALUE_PUBLISHED_MAX (QUANTUM * PUBLISHED_MAX)

ON_DEVICE static inline float residual(float w, int32_t base, bool companded)
{
    return value_of_weight(w, companded) - QUANTUM * (float)base;
}

/* Returns the weight after its value has moved by `move`. */
ON_DEVICE static inline float moved_weight(float w, float move, bool companded)
{
    return weight_of_value(value_of_weight(w, companded) + move, companded);
}

ON_DEVICE static inline bool is_saturated(float r, int32_t base)
{
    return fabsf(r) <= FLT_MAX &&
           ((r > 0 && base >= PUBLISHED_MAX) || (r < 0 && base <= -PUBLISHED_MAX));
}

/* Returns whether the residual may be published at this threshold. NaN is not, because it would
 * spread the error. */
ON_DEVICE static inline bool is_published(float r, int32_t base, float tau)
{
    return fabsf(r) >= tau && fabsf(r) <= FLT_MAX && !is_saturated(r, base);
}

/* Returns whether a weight is a running statistic. Large weights of a companded base mostly are.
 * They follow the data and not an optimizer: a part that is withheld returns with the next
 * steps. */
ON_DEVICE static inline bool is_statistic(float weight, bool companded)
{
    return companded && fabsf(weight) >= COMPANDING_FROM;
}

/* Returns the part of a residual that is withheld: none of a saturated entry, which would never be
 * published, and none of a statistic, which would be published twice. */
ON_DEVICE static inline float withheld_part(float r, int32_t base, float part, bool statistic)
{
    return statistic || is_saturated(r, base) ? 0 : part * r;
}

/* Returns the bits of |r|, or LOST_BITS or SATURATED_BITS. */
ON_DEVICE static inline uint32_t residual_bits(float r, int32_t base)
{
    const uint32_t bits = bits_of_float(r) & 0x7FFFFFFFu;
    return bits > 0x7F800000u ? LOST_BITS : is_saturated(r, base) ? SATURATED_BITS : bits;
}

/* Returns the outer momentum of a weight: beta, but 0 for a statistic. Values of statistics rise by
 * octaves, and momentum would carry them far beyond the data's. */
ON_DEVICE static inline float beta_of(float weight, float beta, bool companded)
{
    return is_statistic(weight, companded) ? 0 : beta;
}

/* Returns the move of a weight's value per level of the base's move. */
ON_DEVICE static inline float step_of(uint32_t amount, float beta)
{
    return (1 + beta) * QUANTUM * (float)amount;
}

/* Returns the move of a weight with residual r, of which an earlier incarnation published `level`:
 * the same as in a cut if r still has all of it. */
ON_DEVICE static inline float own_move(float r, float tau, float step, float level)
{
    const float left = level > 0 ? r : -r;
    if (left / tau >= fabsf(level))
        return (step - tau) * level;
    return left > 0 ? step * level - r : step * level;
}

/* Returns the part of `withheld` to release: at most `most`, and never past zero. */
ON_DEVICE static inline float released(float withheld, float most)
{
    return withheld > 0 ? fmaxf(fminf(withheld, most), 0) : fminf(fmaxf(withheld, most), 0);
}

ON_DEVICE static inline int32_t add_wrapping(int32_t base, uint32_t units)
{
    const uint32_t sum = (uint32_t)base + units;
    int32_t result;
    memcpy(&result, &sum, sizeof result);
    return result;
}

#endif
