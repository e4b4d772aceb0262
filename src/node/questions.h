/* Who asks what the model says of its samples, and is no member: a device that has the swarm key.
 *
 *   handshake ─► QUESTION, not HELLO ─┬─► PREDICT ─► the learner ─► REPLY 0, with numbers
 *                                     ├─► REPLY 1: busy, ask again in so long
 *                                     └─► REPLY 2: there is no model yet, or no more
 *
 * Training comes first. The learner has one question at a time, of a bounded size, and after one
 * that took it t none for 49 t: a fiftieth of its time is all that asking can cost, whoever asks
 * and however much. Nothing waits here: who comes too soon is told when to come, and is hung up on
 * if it does not heed that. Four may ask at once, two of one network, for a minute each, so that
 * they take no places from members for long. They are members of nothing: no record of theirs is
 * kept or passed on. Who may ask is who may enter the swarm.
 *
 * Held by tests/world/test_questions.c.
 */
#ifndef HEARSAY_NODE_QUESTIONS_H
#define HEARSAY_NODE_QUESTIONS_H

#include "node/connection/connection.h"
#include "node/core.h"

struct questions *questions_new(struct arena *arena, const struct node_options *options);
size_t questions_arena_bytes(const struct node_options *options);

/* Of a peer that has not introduced itself. */
void questions_on_ask(struct node *node, const struct peer *peer, const struct message *ask);

/* PREDICT, if somebody has asked. */
bool questions_next(struct node *node, struct action *action);

#endif
