/* Identity clash: another process runs with this node's identity key.
 *
 *   a record that our key signed, of a start that is not this one
 *     in BYE_IDENTITY_TAKEN, HELLO ► identity_clash_on_record ─┐
 *     by gossip, then a newer one ─► identity_clash_on_gossip ─┴► node_clash: the owner ends the
 *   a rumor of this start that we have not published ──────────┘  node (or only a note)
 *
 * Of two starts of a node the swarm keeps the later one. So the earlier start ends as soon as a
 * member shows that the later one is in the swarm. Otherwise it would train alone and overwrite its
 * saved base. A node that has not joined yet ends when it meets its twin (the other process)
 * directly while the twin runs, and the twin continues. A record counts only if our key has signed
 * it, so no other member can end a node by a lie.
 *
 * If the clock was set back and the state folder lost, this start has a lower incarnation than an
 * earlier process, whose signed heads and records the swarm still has. Nothing of this start would
 * count. Once it is clear that the earlier process has ended, this node continues above that
 * incarnation. Tests: tests/world/test_identity_clash.c.
 */
#ifndef HEARSAY_NODE_BROADCAST_IDENTITY_CLASH_H
#define HEARSAY_NODE_BROADCAST_IDENTITY_CLASH_H

#include "node/connection/connection.h"
#include "node/core.h"
#include "wire/message.h"
#include "wire/record.h"

struct identity_clash *identity_clash_new(struct arena *arena);
size_t identity_clash_arena_bytes(void);

/* Handles a peer's claim that another start of this node is running. record: that of the other
 * start, or empty. */
void identity_clash_on_record(struct node *node, const struct peer *from,
                              const struct bytes *record);
/* Handles a record with our id that arrived by gossip. Returns FORGED or MALFORMED if the record is
 * invalid. */
enum error identity_clash_on_gossip(struct node *node, const struct peer *from,
                                    const uint8_t record[static RECORD_BYTES]) MUST_USE;
/* Handles a head of ours with a valid signature and a later incarnation than ours, in a history. */
void identity_clash_on_head(struct node *node, uint64_t incarnation);
/* Decides whether a known later incarnation of this node is of an earlier process that has ended:
 * then no newer record of it comes. identity_clash_next then sets *action to an INCARNATION. Call
 * it several times a second. */
void identity_clash_consider(struct node *node);
bool identity_clash_next(struct node *node, struct action *action);
/* Call it when the owner has reserved the incarnation of the action: adds a note. */
void identity_clash_on_reserved(struct node *node, uint64_t incarnation);
/* Handles a rumor of our present incarnation that this node has not published. */
void identity_clash_on_rumor(struct node *node, const struct peer *from, struct bytes rumor);

#endif
