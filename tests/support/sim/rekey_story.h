/* Swarms that change their key, in the world of expulsion_story.h.
 *
 *   start_four ─► rekey, order_key ─► run ─► must_all_have
 */
#ifndef HEARSAY_TESTS_SUPPORT_SIM_REKEY_STORY_H
#define HEARSAY_TESTS_SUPPORT_SIM_REKEY_STORY_H

#include "node/swarm_keys.h"
#include "support/sim/expulsion_story.h"

#define HOUR_MS 3600000

extern const uint8_t FIRST[KEY_BYTES];
extern const uint8_t SECOND[KEY_BYTES], THIRD[KEY_BYTES];

/* Gives node i the operator's order for `key`, but not the key itself. Older keys stay valid for
 * both_ms. */
void order_key(uint32_t i, const uint8_t *before, const uint8_t *key, uint64_t both_ms);
/* Gives node i the order and the key itself. */
void rekey(uint32_t i, const uint8_t *before, const uint8_t *key, uint64_t both_ms);

struct node_swarm_key key_of(uint32_t i);
/* Returns true if `key` is node i's newest key and node i knows no order for a newer one. */
bool has_key(uint32_t i, const uint8_t *key);
/* Checks that all running nodes have `key` as newest key and accept `older` older ones. */
void must_all_have(const uint8_t *key, uint32_t older);

#endif
