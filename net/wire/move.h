/* How far one rumor may move the base.
 *
 *   an entry       amount · top     <= MOVE_MAX                                  a weight of 1
 *   all of them    amount · length  <= MOVE_MAX · max(1, ceil(sqrt(P)) / 8)
 *
 * top is the greatest |level|, length the least whole number whose square is not below the sum of
 * level². Both stand in the head (signed_head.h), so a head alone shows that its rumor goes too
 * far. P is the number of parameters; nothing else counts, so all judge alike.
 *
 * Weights that can be trained are about 0.02 to 0.3. What nodes publish, alone and in their first
 * seconds, stays below half of the first and two fifths of the second (tests/README.md). What would
 * be beyond either is cut: the rest stays in the residual, or goes into another rumor. No
 * publication takes more than 129 rumors more for that, which the log has room for (rumor_log.h):
 * two in a row move the base by more than P / 64 entries could, each by 1, and at most P are
 * published. Held by tests/unit/net/test_move.c.
 */
#ifndef HEARSAY_NET_WIRE_MOVE_H
#define HEARSAY_NET_WIRE_MOVE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/update.h"

struct move {
    uint32_t amount; /* units per level */
    uint32_t top;    /* the greatest |level| */
    uint32_t length; /* of the vector of levels, rounded up */
};

#define MOVE_LENGTH_MAX UINT16_MAX /* of the length of any rumor's levels */

struct move move_of(uint32_t amount, const int8_t *level, uint32_t count);

/* In a model of so many parameters. */
bool move_is_allowed(const struct move *move, uint64_t parameters);

/* How many of these entries, from the first one on, one rumor may have; >= 1 if each is allowed. */
uint32_t move_entries(uint32_t amount, const int8_t *level, uint32_t count, uint64_t parameters);

#endif
