/* Limits of one rumor: how far it may move the base.
 *
 *   one entry      amount · top     <= MOVE_MAX                                  a weight of 1
 *   all entries    amount · length  <= MOVE_MAX · max(1, ceil(sqrt(P)) / 8)
 *
 * top is the greatest |level|. length is the square root of the sum of level², rounded up. Both are
 * in the head (signed_head.h), so a head by itself shows that its rumor goes too far. P is the
 * number of parameters. The limits depend on nothing else, so all nodes judge alike.
 *
 * Trainable weights are about 0.02 to 0.3. Honest publications stay below half of the first limit
 * and two fifths of the second, even those of a node alone or in its first seconds
 * (tests/decisions/030-limit-moves-by-initial-weights.md). A publication beyond a limit is cut: the
 * rest stays in the residual or goes into another rumor. Cuts add at most 129 rumors to a
 * publication: the squared length of all its entries is at most P, and the squared length of two
 * consecutive rumors is above P / 64. Tests: tests/unit/net/test_move.c.
 */
#ifndef HEARSAY_NET_WIRE_MOVE_H
#define HEARSAY_NET_WIRE_MOVE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/update.h"

struct move {
    uint32_t amount; /* units of the base (2^-24) by which one level moves an entry */
    uint32_t top;    /* greatest |level| */
    uint32_t length; /* Euclidean length of the levels, rounded up */
};

#define MOVE_LENGTH_MAX UINT16_MAX /* greatest length of any rumor's levels */

struct move move_of(uint32_t amount, const int8_t *level, uint32_t count);

/* Returns true if the move exceeds no limit of a model with `parameters` parameters. */
bool move_is_allowed(const struct move *move, uint64_t parameters);

/* Returns how many of the first entries of level[count] fit in one rumor without exceeding the
 * limit for all entries together. The result is at least 1 if each entry by itself is allowed. */
uint32_t move_entries(uint32_t amount, const int8_t *level, uint32_t count, uint64_t parameters);

#endif
