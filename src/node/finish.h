/* How a swarm finishes: all end training with one base, and stay.
 *
 *   node_finish ─► last publications ─► SETTLED ─► all members have finished, one digest ─► DONE
 *
 * A member that has finished says so in its record: stage SETTLED, and it trains no more. All
 * protocol versions have that record. A finished node publishes nothing more. So once the records
 * of all live members that train or join say SETTLED and show one digest, this is the digest of all
 * published rumors. The node waits leave_linger_ns longer for news. After that it takes no more
 * rumors: a member that joins later trains without it. The node does not wait for members that are
 * dead (silent for too long), have left, or only relay. Tests: tests/world/test_finish.c.
 */
#ifndef HEARSAY_NODE_FINISH_H
#define HEARSAY_NODE_FINISH_H

#include "node/core.h"
#include "node/membership/members.h"

struct finish *finish_new(struct arena *arena);
size_t finish_arena_bytes(void);

/* Finds out whether all members have finished. Call it repeatedly after training has ended. */
void finish_consider(struct node *node);

#endif
