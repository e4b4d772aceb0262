/* The conversations of a node: accepted, dialled, open, closing. Each is a peer (peer.h) in a slot.
 *
 *   accept, dial ──► peer ── handshake ──► HELLO ──► open: a neighbour ── BYE ──► closing ──► end
 *
 * Other folders see a peer as const; only this one changes it. Their state per neighbour is in
 * arrays of their own, by slot.
 */
#ifndef HEARSAY_NODE_CONNECTION_CONNECTION_H
#define HEARSAY_NODE_CONNECTION_CONNECTION_H

#include "node/connection/peer.h"
#include "node/connection/slots.h"
#include "node/core.h"

#define GREETING_NS (2 * SECOND_NS) /* time for a caller to show the swarm key */

struct connections *connections_new(struct arena *arena, struct node *node);
size_t connections_arena_bytes(const struct node_options *options);
size_t connections_keys_bytes(uint32_t peers_max); /* part of node->keys */
void connections_free(struct node *node);          /* ends all conversations and wipes their keys */

/* Sets the swarm keys that handshakes accept from now on (credentials_set_keys). */
void connection_set_keys(struct node *node, const struct swarm_key *keys, uint32_t count);

/* connection_set_model sets the model hash that handshakes show from now on, and with it the
 * context of signatures. connection_set_standing sets the standing that they show
 * (first_weights.h). */
void connection_set_model(struct node *node, const uint8_t model_hash[static 16]);
void connection_set_standing(struct node *node, uint8_t standing);
/* Returns the introduction of a node with these options. */
struct introduction connection_introduction_of(const struct node_options *options);

/* Returns this node's introduction, which its gate compares. */
const struct introduction *connection_introduction(const struct node *node);

/* Returns the peer in this slot, free or not. */
const struct peer *connection_at(const struct node *node, uint32_t slot);
uint32_t connection_slot(const struct node *node, const struct peer *peer);

/* Returns the conversation with this number in any state; NULL once it has ended. */
const struct peer *connection_find(const struct node *node, uint64_t conn);
/* Returns the conversation if it is a neighbour; NULL otherwise. */
const struct peer *connection_open_peer(const struct node *node, uint64_t conn);
/* Returns the neighbour with this id other than `except`; NULL if there is none. */
const struct peer *connection_by_id(const struct node *node, const uint8_t id[static ID_BYTES],
                                    const struct peer *except);

/* Returns the first neighbour in slot *slot or later and sets *slot; NULL after the last one:
 *     for (uint32_t i = 0; (peer = connection_neighbour(node, &i)); i++)     i is its slot */
const struct peer *connection_neighbour(const struct node *node, uint32_t *slot);
uint32_t connection_neighbours(const struct node *node);
/* Returns the most neighbours that a node keeps in a large swarm: three quarters of its slots. */
uint32_t connection_neighbours_most(const struct node *node);
const struct peer *connection_random(struct node *node); /* a random neighbour; NULL = none */

/* Accepts a caller from this address. Returns the new conversation; 0 if every slot is taken. */
uint64_t connection_accept(struct node *node, const struct address *from);
bool connection_has_room(const struct node *node); /* some slot is free */
/* Returns a new conversation to dial; NULL if every slot is taken. */
const struct peer *connection_dial(struct node *node, const struct address *address);
/* Starts the handshake of a dialled conversation whose connection is established. tries: failed
 * calls in a row. Each call shows the next of our swarm keys, since the other side may have another
 * one. */
void connection_on_dialled(struct node *node, const struct peer *peer, uint32_t tries);
/* Extracts the next event from these bytes (peer_take in peer.h). */
enum peer_event connection_take(struct node *node, const struct peer *peer, const uint8_t **bytes,
                                size_t *count, struct problem *problem);
/* Wipes the message that was extracted last, because it was secret. */
void connection_wipe_taken(struct node *node, const struct peer *peer);
/* Decodes an extracted message. Returns MALFORMED if the bytes are no message. They belong to the
 * peer until the next connection_take. */
enum error connection_decode(struct node *node, const uint8_t *bytes, size_t count,
                             struct message *message) MUST_USE;
void connection_on_sent(struct node *node, const struct peer *peer);
void connection_end(struct node *node, const struct peer *peer); /* the transport has closed it */

/* Queues a message and counts it. Returns false if the queue is full. */
bool connection_say(struct node *node, const struct peer *peer, const struct message *message);
/* Returns the peer's next bytes to send (peer_next_send in peer.h). */
bool connection_next_send(struct node *node, const struct peer *peer, size_t most, bool is_open,
                          const uint8_t **bytes, size_t *count);

/* Returns the first slot >= `from` whose peer may have bytes to send or must end; SLOTS_MAX if
 * there is none. */
uint32_t connection_next_ready(const struct node *node, uint32_t from);
void connection_set_ready(struct node *node, uint32_t slot, bool is_ready);
/* Returns true once, when a closing conversation has sent everything or has had its time for that:
 * HANGUP is due. */
bool connection_next_hangup(struct node *node, const struct peer *peer);

/* Makes the peer a neighbour. */
void connection_open(struct node *node, const struct peer *peer);
/* Moves a conversation to CLOSING after a goodbye by either side. why: reason for the note. */
void connection_close(struct node *node, const struct peer *peer, uint64_t reason, const char *why);
/* Moves a conversation to CLOSING after a goodbye that the other side sent. */
void connection_on_bye(struct node *node, const struct peer *peer, uint64_t reason,
                       const char *why);
/* Sends a goodbye and moves the conversation to CLOSING. Does nothing if it is already there. */
void connection_hang_up(struct node *node, const struct peer *peer, enum bye_reason reason,
                        const char *why);

/* Ends a conversation whose session does not stand yet, without a note. */
void connection_end_quietly(struct node *node, const struct peer *peer, const char *why);

/* Marks an inference client: it will not become a neighbour, and its end is no note. */
void connection_set_asking(struct node *node, const struct peer *peer);

/* Sets the neighbour's new incarnation. */
void connection_set_incarnation(struct node *node, const struct peer *peer, uint64_t incarnation);
/* Sends a ping unless the queue is full. */
void connection_ping(struct node *node, const struct peer *peer);
void connection_on_pong(struct node *node, const struct peer *peer, uint64_t token);
/* Handles the timers of a conversation: pings, new keys, handshakes that take too long. Returns
 * false if this neighbour was silent for patience_ns; then the caller ends it. */
bool connection_check(struct node *node, const struct peer *peer, uint64_t patience_ns);
/* Extends every peer's timers by late_ns, for which this process was suspended. */
void connection_forgive(struct node *node, uint64_t late_ns);

/* Adds a note about this peer. */
struct note *connection_note(struct node *node, const struct peer *peer, enum note_kind kind,
                             enum note_level level, const char *text);

/* Messages of one kind that were sent over all conversations, and their bytes. */
struct connection_said {
    uint64_t count; /* number of messages */
    uint64_t bytes; /* encrypted bytes, with their length fields */
};
struct connection_said connection_said(const struct node *node, enum message_kind kind);

#endif
