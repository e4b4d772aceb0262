/* The conversations of a node: accepted, dialled, open, closing; each is a peer (peer.h) in a slot.
 *
 *   accept, dial ──► peer ── handshake ──► HELLO ──► open: a neighbour ── BYE ──► closing ──► end
 *
 * Other rooms see a peer as const: what a conversation is changes here only. What a room keeps of a
 * neighbour lies in its own array, by slot.
 */
#ifndef HEARSAY_NODE_CONNECTION_CONNECTION_H
#define HEARSAY_NODE_CONNECTION_CONNECTION_H

#include "node/connection/peer.h"
#include "node/connection/slots.h"
#include "node/core.h"

#define GREETING_NS (2 * SECOND_NS) /* for a caller to show the swarm key */

struct connections *connections_new(struct arena *arena, struct node *node);
size_t connections_arena_bytes(const struct node_options *options);
size_t connections_keys_bytes(uint32_t peers_max); /* of node->keys */
void connections_free(struct node *node);          /* ends all, wipes their keys */

/* The swarm keys by which conversations begin from now on (credentials_set_keys). */
void connection_set_keys(struct node *node, const struct swarm_key *keys, uint32_t count);

/* What this node says of itself at the gate. */
const struct introduction *connection_introduction(const struct node *node);

/* The peer in this slot, free or not. */
const struct peer *connection_at(const struct node *node, uint32_t slot);
uint32_t connection_slot(const struct node *node, const struct peer *peer);

/* The conversation of this number, in whatever state; NULL: it has ended. */
const struct peer *connection_find(const struct node *node, uint64_t conn);
/* The same if it is a neighbour; or NULL. */
const struct peer *connection_open_peer(const struct node *node, uint64_t conn);
/* The neighbour with this id, but for `except`; or NULL. */
const struct peer *connection_by_id(const struct node *node, const uint8_t id[static ID_BYTES],
                                    const struct peer *except);

/* One neighbour after the other:
 *     for (uint32_t i = 0; (peer = connection_neighbour(node, &i)); i++)     i is its slot */
const struct peer *connection_neighbour(const struct node *node, uint32_t *slot);
uint32_t connection_neighbours(const struct node *node);
/* So many at most in a large swarm: a quarter of all places is left for those who come, since who
 * finds none is not even told whom else to call. */
uint32_t connection_neighbours_most(const struct node *node);
const struct peer *connection_random(struct node *node); /* a neighbour; NULL: there is none */

/* Somebody connected from this address: a new conversation; 0: all slots are taken. */
uint64_t connection_accept(struct node *node, const struct address *from);
bool connection_has_room(const struct node *node); /* is some slot free? */
/* A new conversation that is about to be dialled; NULL: all slots are taken. */
const struct peer *connection_dial(struct node *node, const struct address *address);
/* It is connected. tries: calls before in turn that came to nothing, since another of our swarm
 * keys may be the other's: each call shows the next. */
void connection_on_dialled(struct node *node, const struct peer *peer, uint32_t tries);
/* peer_take (peer.h): what comes next out of these bytes. */
enum peer_event connection_take(struct node *node, const struct peer *peer, const uint8_t **bytes,
                                size_t *count, struct problem *problem);
/* What was taken last was secret: no byte of it stays. */
void connection_wipe_taken(struct node *node, const struct peer *peer);
/* A message that was taken; MALFORMED: it is none. Its bytes are the peer's until the next take. */
enum error connection_decode(struct node *node, const uint8_t *bytes, size_t count,
                             struct message *message) MUST_USE;
void connection_on_sent(struct node *node, const struct peer *peer);
void connection_end(struct node *node, const struct peer *peer); /* the transport has closed it */

/* Queue a message; false when the queue has no room. What is said counts in the statistics. */
bool connection_say(struct node *node, const struct peer *peer, const struct message *message);
/* peer_next_send (peer.h). */
bool connection_next_send(struct node *node, const struct peer *peer, size_t most, bool is_open,
                          const uint8_t **bytes, size_t *count);

/* Slots of peers that may have something to send, or to end: one that is not before `from`. */
uint32_t connection_next_ready(const struct node *node, uint32_t from);
void connection_set_ready(struct node *node, uint32_t slot, bool is_ready);
/* Has it been closed, and is all said? Then HANGUP is due: true once. */
bool connection_next_hangup(struct node *node, const struct peer *peer);

void connection_open(struct node *node,
                     const struct peer *peer); /* it is a neighbour from now on */
/* Goodbye has been said, by us or by the other. */
void connection_close(struct node *node, const struct peer *peer, uint64_t reason, const char *why);
/* Say goodbye and close. A conversation that is closing already stays as it is. */
void connection_hang_up(struct node *node, const struct peer *peer, enum bye_reason reason,
                        const char *why);

/* It is not going to be a neighbour, but asks: its end is worth no note. */
void connection_set_asking(struct node *node, const struct peer *peer);

/* The other goes on as this incarnation. */
void connection_set_incarnation(struct node *node, const struct peer *peer, uint64_t incarnation);
/* Ping it, unless its queue is full. */
void connection_ping(struct node *node, const struct peer *peer);
void connection_on_pong(struct node *node, const struct peer *peer, uint64_t token);
/* What time asks of this conversation: ping, new keys, an end to a handshake that takes too long.
 * False: nothing was heard from this neighbour for patience_ns, and it is the caller's to end. */
bool connection_check(struct node *node, const struct peer *peer, uint64_t patience_ns);
/* We stood still for so long: no peer is to be blamed for that time. */
void connection_forgive(struct node *node, uint64_t late_ns);

/* A note about this peer. */
struct note *connection_note(struct node *node, const struct peer *peer, enum note_kind kind,
                             enum note_level level, const char *text);

/* What was said: messages of this kind and their bytes, sealed, over all conversations so far. */
struct connection_said {
    uint64_t count; /* messages */
    uint64_t bytes; /* as sealed, with their length */
};
struct connection_said connection_said(const struct node *node, enum message_kind kind);

#endif
