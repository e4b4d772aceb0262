/* Serving inference: answers requests of clients that have the swarm key and are no members.
 *
 *   handshake ─► INFERENCE, not HELLO ─┬─► PREDICT ─► the learner ─► REPLY 0, with numbers
 *                                     ├─► REPLY 1: busy, ask again after this time
 *                                     └─► REPLY 2: no model yet, or no longer
 *
 * Training has priority. The learner has one request at a time, of bounded size. After t seconds of
 * work it takes no request for 49 t. So requests cost at most a fiftieth of the learner's time.
 * Requests do not queue: an early client is told when to ask again, and loses its connection if it
 * waits less than half that long. At most four clients have slots, two per network, for a minute
 * each, so they take
 * few slots from members. No record of a client is kept or passed on. The rules of admission hold
 * for clients as well.
 *
 * Tests: tests/world/test_inference.c.
 */
#ifndef HEARSAY_NODE_INFERENCE_H
#define HEARSAY_NODE_INFERENCE_H

#include "node/connection/connection.h"
#include "node/core.h"

struct inference *inference_new(struct arena *arena, const struct node_options *options);
size_t inference_arena_bytes(const struct node_options *options);

/* Handles an INFERENCE message, which a client sends instead of HELLO. */
void inference_on_request(struct node *node, const struct peer *peer, const struct message *ask);

/* Sets *action to PREDICT and returns true if a request waits for the learner. */
bool inference_next(struct node *node, struct action *action);

#endif
