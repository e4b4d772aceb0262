/* Stories of swarms that move to another key, in the swarm of expulsion_story.h.
 *
 *   start_four ─► rekey, order_key ─► run ─► must_all_have
 */
#ifndef HEARSAY_TESTS_SUPPORT_SIM_REKEY_STORY_H
#define HEARSAY_TESTS_SUPPORT_SIM_REKEY_STORY_H

#include "node/swarm_keys.h"
#include "support/sim/expulsion_story.h"

#define HOUR_MS 3600000

extern const uint8_t FIRST[KEY_BYTES]; /* the one that nodes begin with */
extern const uint8_t SECOND[KEY_BYTES], THIRD[KEY_BYTES];

/* The operator orders this key at node i; older ones let in for so long. The key itself is not
 * there. */
void order_key(uint32_t i, const uint8_t *before, const uint8_t *key, uint64_t both_ms);
/* And it is. */
void rekey(uint32_t i, const uint8_t *before, const uint8_t *key, uint64_t both_ms);

struct node_swarm_key key_of(uint32_t i);
/* Is this the newest that node i has, and knows of? */
bool has_key(uint32_t i, const uint8_t *key);
/* So it is on all nodes that run; and so many older ones let in. */
void must_all_have(const uint8_t *key, uint32_t older);

#endif
