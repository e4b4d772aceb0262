/* Error feedback: the arithmetic of one entry's residual. CPU and GPU compute the same bits.
 *
 *   residual r = value of w - QUANTUM·base     (companding.h; w - QUANTUM·base if not companded)
 *
 * A base entry must stay below 2^31 units, a value of 128. An entry at PUBLISHED_MAX units or
 * beyond, a value of 64, is saturated if its residual points away from zero. The residual of a
 * saturated entry is never published: it stays in the weight. One rumor moves an entry by at most
 * MOVE_MAX, a value of 1. So 63 rumors that were published without knowledge of each other cannot
 * make an entry wrap. Saturation only matters when a rumor is made, never when it is applied, so
 * the sum does not depend on the order of rumors. Tests: tests/unit/model/test_companding.c.
 */
#ifndef HEARSAY_MODEL_BACKEND_ERROR_FEEDBACK_H
#define HEARSAY_MODEL_BACKEND_ERROR_FEEDBACK_H

#include <float.h>
#include <math.h>
#include <stdint.h>

#include "base/companding.h"
#include "base/update.h"

#define PUBLISHED_MAX       (1 << 30)
#define LOST_BITS           0x7FC00000u /* result of residual_bits for a NaN */
#define SATURATED_BITS      0x7FFFFFFFu /* result of residual_bits for a saturated entry */
#define VALUE_PUBLISHED_MAX (QUANTUM * PUBLISHED_MAX)

ON_DEVICE static inline float residual(float w, int32_t base, bool companded)
{
    return value_of_weight(w, companded) - QUANTUM * (float)base;
}

/* Returns weight w after its value (companding.h) has grown by `move`. */
ON_DEVICE static inline float moved_weight(float w, float move, bool companded)
{
    return weight_of_value(value_of_weight(w, companded) + move, companded);
}

ON_DEVICE static inline bool is_saturated(float r, int32_t base)
{
    return fabsf(r) <= FLT_MAX &&
           ((r > 0 && base >= PUBLISHED_MAX) || (r < 0 && base <= -PUBLISHED_MAX));
}

/* Returns true if residual r reaches the threshold tau, is finite and is not saturated. A published
 * NaN would spread to other nodes. */
ON_DEVICE static inline bool is_published(float r, int32_t base, float tau)
{
    return fabsf(r) >= tau && fabsf(r) <= FLT_MAX && !is_saturated(r, base);
}

/* Returns true if a weight is treated as a running statistic, such as a mean of batch norm: most
 * large weights of a companded base are statistics. Each step computes statistics from the data, so
 * a withheld part would be learned again and published twice. */
ON_DEVICE static inline bool is_statistic(float weight, bool companded)
{
    return companded && fabsf(weight) >= COMPANDING_FROM;
}

/* Returns the amount of residual r to withhold: part · r, but 0 for a saturated entry, which is
 * never published, and for a statistic. */
ON_DEVICE static inline float withheld_part(float r, int32_t base, float part, bool statistic)
{
    return statistic || is_saturated(r, base) ? 0 : part * r;
}

/* Returns the float bits of |r|, LOST_BITS for a NaN, or SATURATED_BITS for a saturated entry. */
ON_DEVICE static inline uint32_t residual_bits(float r, int32_t base)
{
    const uint32_t bits = bits_of_float(r) & 0x7FFFFFFFu;
    return bits > 0x7F800000u ? LOST_BITS : is_saturated(r, base) ? SATURATED_BITS : bits;
}

/* Returns the outer momentum of a weight: beta, or 0 for a statistic. In a companded base, adding 1
 * to the value of a large weight doubles the weight, so momentum would carry a statistic far away
 * from the data. */
ON_DEVICE static inline float beta_of(float weight, float beta, bool companded)
{
    return is_statistic(weight, companded) ? 0 : beta;
}

/* Returns the move of a weight's value per level of an update with this amount. beta: outer
 * momentum. */
ON_DEVICE static inline float step_of(uint32_t amount, float beta)
{
    return (1 + beta) * QUANTUM * (float)amount;
}

/* Returns the move of a weight's value by an update that an earlier incarnation of this node
 * published. Takes the published progress out of residual r: tau · level, but at most all of r, and
 * nothing if r and level differ in sign. step: result of step_of. */
ON_DEVICE static inline float own_move(float r, float tau, float step, float level)
{
    const float left = level > 0 ? r : -r;
    if (left / tau >= fabsf(level))
        return (step - tau) * level;
    return left > 0 ? step * level - r : step * level;
}

/* Returns how much of `withheld` to release: `most`, but never more than `withheld`, and 0 if they
 * differ in sign. */
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
