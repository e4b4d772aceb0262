/* Error feedback: the arithmetic of one entry's residual. CPU and GPU compute the same bits.
 *
 *   residual r = value of w - QUANTUM·base     (companding.h; w - QUANTUM·base if not companded)
 *
 * A base entry must stay below 2^31 units, a value of 128. An entry at PUBLISHED_MAX units or
 * beyond, a value of 64, is saturated if its residual points away from zero. The residual of a
 * saturated entry is never published: it stays in the weight. One rumor moves an entry by at most
 * MOVE_MAX, a value of 1. So 63 rumors that were published without knowledge of each other cannot
 * make an entry wrap. Saturation matters when a rumor is made or progress is withheld, but never
 * when a rumor is applied. So the sum does not depend on the order of rumors. Tests:
 * tests/unit/model/test_companding.c.
 */
#ifndef HEARSAY_MODEL_BACKEND_ERROR_FEEDBACK_H
#define HEARSAY_MODEL_BACKEND_ERROR_FEEDBACK_H

#include <float.h>
#include <math.h>
#include <stdint.h>

#include "base/companding.h"
#include "base/update.h"
#include "base/weights.h"

#define PUBLISHED_MAX       (1 << 30)
#define LOST_BITS           0x7FC00000u /* result of residual_bits for a NaN */
#define SATURATED_BITS      0x7FFFFFFFu /* result of residual_bits for a saturated entry */
#define VALUE_PUBLISHED_MAX (QUANTUM * PUBLISHED_MAX)

/* No further publication is needed if the value of each statistic must still move by at most
 * this. */
#define STATISTIC_SMALL (1.0f / 64)
/* If a restored statistic is farther than this from the base, its movement counts from the base. */
#define STATISTIC_FAR 1.0f
/* A statistic whose value moved by less counts as unmoved, because copies are rounded. A move below
 * NORM_EPSILON, which is ten times as large, changes a norm little. */
#define STATISTIC_STILL 1e-6f

ON_DEVICE static inline float residual(float w, int32_t base, bool companded)
{
    return value_of_weight(w, companded) - QUANTUM * (float)base;
}

/* Returns weight w after its value (companding.h) has grown by `move`. */
ON_DEVICE static inline float moved_weight(float w, float move, bool companded)
{
    return weight_of_value(value_of_weight(w, companded) + move, companded);
}

/* Returns how far the value of a weight moved from `before` to `after`. */
ON_DEVICE static inline float value_moved(float before, float after, bool companded)
{
    return value_of_weight(after, companded) - value_of_weight(before, companded);
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

/* Returns true if a weight gets neither outer momentum nor withholding: a statistic, or a large
 * weight of a companded base. Adding 1 to the value of a large weight doubles the weight, so
 * momentum would carry it far away. */
ON_DEVICE static inline bool is_moved_plainly(float weight, bool companded, bool is_statistic)
{
    return is_statistic || (companded && fabsf(weight) >= COMPANDING_FROM);
}

/* Returns the amount of residual r to withhold: part · r, but 0 for a saturated entry, which is
 * never published, and for a weight that is moved plainly. */
ON_DEVICE static inline float withheld_part(float r, int32_t base, float part, bool plainly)
{
    return plainly || is_saturated(r, base) ? 0 : part * r;
}

/* Returns the float bits of |r|, LOST_BITS for a NaN, or SATURATED_BITS for a saturated entry. */
ON_DEVICE static inline uint32_t residual_bits(float r, int32_t base)
{
    const uint32_t bits = bits_of_float(r) & 0x7FFFFFFFu;
    return bits > 0x7F800000u ? LOST_BITS : is_saturated(r, base) ? SATURATED_BITS : bits;
}

/* Returns the outer momentum of a weight: beta, or 0 if the weight is moved plainly. */
ON_DEVICE static inline float beta_of(float weight, float beta, bool companded, bool is_statistic)
{
    return is_moved_plainly(weight, companded, is_statistic) ? 0 : beta;
}

/* Returns the residual that a level of an update publishes: tau, or for a statistic the residual
 * whose part `share` is the base's move (exchange/statistics.h). For a share of 0, no residual is
 * large enough. */
ON_DEVICE static inline float taken_by_level(uint32_t amount, float tau, float share,
                                             bool is_statistic)
{
    if (!is_statistic)
        return tau;
    return share > 0 ? QUANTUM * (float)amount / share : FLT_MAX;
}

/* Returns the level of residual r in an update; 0 = not published. taken: result of
 * taken_by_level. */
ON_DEVICE static inline int level_of(float r, int32_t base, float tau, float taken, float level_max)
{
    if (!is_published(r, base, taken > tau ? taken : tau))
        return 0;
    return (int)fmaxf(fminf(r / taken, level_max), -level_max);
}

ON_DEVICE static inline bool is_near(float before, float after, bool companded)
{
    return fabsf(value_moved(before, after, companded)) < STATISTIC_STILL;
}

/* Returns the pointers for statistic c. first: the pointers for statistic 0. */
ON_DEVICE static inline struct statistic statistic_after(struct statistic first, size_t c)
{
    struct statistic at = first;
    at.trained += c;
    at.before += c;
    at.reset += c;
    at.w += c;
    return at;
}

/* Brings a statistic up to date (`track` in backend.h). */
ON_DEVICE static inline void track_statistic(struct statistic at, bool companded, bool counts,
                                             float pull)
{
    if (is_near(*at.reset, *at.trained, companded)) {
        if (is_near(*at.before, *at.trained, companded))
            *at.before = *at.w;
        *at.trained = *at.reset = *at.w;
    } else if (counts) {
        *at.w = moved_weight(*at.w, value_moved(*at.before, *at.trained, companded), companded);
        *at.w = moved_weight(*at.w, pull * value_moved(*at.w, *at.trained, companded), companded);
        *at.before = *at.trained;
        *at.reset = NAN;
    }
}

/* Returns the move of a weight's value per level of an update with this amount. beta: outer
 * momentum. */
ON_DEVICE static inline float step_of(uint32_t amount, float beta)
{
    return (1 + beta) * QUANTUM * (float)amount;
}

/* Returns the move of a statistic's value by an own update of an earlier incarnation. Drops the
 * residual r: the update does not say how much of it was published. */
ON_DEVICE static inline float own_move_of_statistic(float r, float step, float level)
{
    return step * level - r;
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

/* Returns how much of `withheld` to drop (drop_covered in backend.h): `most`, or all of `withheld`
 * if that is nearer to 0. Returns 0 if the two differ in sign. */
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
