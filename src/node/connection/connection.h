/* The conversations of a node: accepted, dialled, open, closing. Each is a peer (peer.h) in a slot.
 *
 *   accept, dial ──► peer ── handshake ──► HELLO ──► open: a neighbour ── BYE ──► closing ──► end
 *
 * Other folders see a peer as const; only this one changes it. Other folders keep their state per
 * neighbour in arrays of their own, by slot.
 */
#ifndef HEARSAY_NODE_CONNECTION_CONNECTION_H
#define HEARSAY_NODE_CONNECTION_CONNECTION_H

#include "node/connection/peer.h"
#include "node/connection/slots.h"
#include "node/core.h"

/* Time in which a peer that dials this node must show the swarm key. */
#define GREETING_NS (2 * SECOND_NS)

struct connections *connections_new(struct arena *arena, struct node *node);
size_t connections_arena_bytes(const struct node_options *options);
/* Returns the bytes that connections need in node->keys, the arena for secrets. */
size_t connections_keys_bytes(uint32_t peers_max);
void connections_free(struct node *node); /* Ends all conversations and wipes their keys. */

/* Sets the swarm keys that handshakes accept from now on (credentials_set_keys). */
void connection_set_keys(struct node *node, const struct swarm_key *keys, uint32_t count);

/* Sets the model hash in this node's introduction, and so the context of this node's signatures. */
void connection_set_model(struct node *node, const uint8_t model_hash[static 16]);
/* Sets the standing (first_weights.h) in this node's introduction. */
void connection_set_standing(struct node *node, uint8_t standing);
/* Returns the introduction that a node with these options shows in handshakes. */
struct introduction connection_introduction_of(const struct node_options *options);

const struct introduction *connection_introduction(const struct node *node);

/* Returns the peer in this slot; in state PEER_FREE if the slot is free. */
const struct peer *connection_at(const struct node *node, uint32_t slot);
uint32_t connection_slot(const struct node *node, const struct peer *peer);

/* Returns the peer whose conversation has this number, in any state; NULL if the conversation
 * has ended. */
const struct peer *connection_find(const struct node *node, uint64_t conn);
/* As connection_find, but NULL unless the peer is a neighbour. The slot in `conn` must exist. */
const struct peer *connection_open_peer(const struct node *node, uint64_t conn);
/* Returns a neighbour with this id, other than `except`; NULL if there is none. */
const struct peer *connection_by_id(const struct node *node, const uint8_t id[static ID_BYTES],
                                    const struct peer *except);

/* Returns the first neighbour in slot *slot or later and sets *slot; NULL after the last one:
 *     for (uint32_t i = 0; (peer = connection_neighbour(node, &i)); i++)     i is its slot */
const struct peer *connection_neighbour(const struct node *node, uint32_t *slot);
uint32_t connection_neighbours(const struct node *node);
/* Returns the maximum number of neighbours that a node keeps in a large swarm. */
uint32_t connection_neighbours_most(const struct node *node);
/* Returns a random neighbour; NULL if there is none. */
const struct peer *connection_random(struct node *node);

/* Starts a conversation with a peer that has dialled from this address. Returns its `conn`; 0 if no
 * slot is free. */
uint64_t connection_accept(struct node *node, const struct address *from);
bool connection_has_room(const struct node *node);
/* Starts a conversation with a peer to be dialled. Returns the peer; NULL if no slot is free. */
const struct peer *connection_dial(struct node *node, const struct address *address);
/* Call it when the connection to a dialled peer is established: starts the handshake. tries:
 * number of dials that failed since the last success. Each dial shows the next of our swarm keys,
 * since the other side may know only one of them. */
void connection_on_dialled(struct node *node, const struct peer *peer, uint32_t tries);
/* Calls peer_take (peer.h). At PEER_MET, also sets when the session must get new keys. */
enum peer_event connection_take(struct node *node, const struct peer *peer, const uint8_t **bytes,
                                size_t *count, struct problem *problem);
/* Wipes the last message that connection_take returned. Call it if the message was secret. */
void connection_wipe_taken(struct node *node, const struct peer *peer);
/* Decodes a message that connection_take returned. Returns MALFORMED if the bytes are no
 * message. The message points into `bytes`, which stay valid until the next connection_take. */
enum error connection_decode(struct node *node, const uint8_t *bytes, size_t count,
                             struct message *message) MUST_USE;
void connection_on_sent(struct node *node, const struct peer *peer);
/* Call it when the transport has closed the connection: frees the slot. */
void connection_end(struct node *node, const struct peer *peer);

/* Queues a message for the peer. Returns false if the queue is full. */
bool connection_say(struct node *node, const struct peer *peer, const struct message *message);
/* See peer_next_send in peer.h. */
bool connection_next_send(struct node *node, const struct peer *peer, size_t most, bool is_open,
                          const uint8_t **bytes, size_t *count);

/* Returns the first slot >= `from` whose peer may have bytes to send or whose conversation must
 * end; SLOTS_MAX if there is none. */
uint32_t connection_next_ready(const struct node *node, uint32_t from);
void connection_set_ready(struct node *node, uint32_t slot, bool is_ready);
/* Returns true if this conversation must be hung up: it is in CLOSING, and has sent all its bytes
 * or been there for CLOSING_NS. Then sets peer->hangup_asked; the caller returns ACTION_HANGUP and
 * does not call this function again. */
bool connection_next_hangup(struct node *node, const struct peer *peer);

void connection_open(struct node *node, const struct peer *peer);
/* Moves a conversation to CLOSING without sending BYE. reason: as in a BYE; it determines when to
 * dial again and whether the end adds a note. why: text for the note. */
void connection_close(struct node *node, const struct peer *peer, uint64_t reason, const char *why);
/* Call it when the other side has sent BYE: moves the conversation to CLOSING. */
void connection_on_bye(struct node *node, const struct peer *peer, uint64_t reason,
                       const char *why);
/* Sends BYE if the session is established, and moves the conversation to CLOSING. Does nothing if
 * it is in CLOSING already. */
void connection_hang_up(struct node *node, const struct peer *peer, enum bye_reason reason,
                        const char *why);

/* Moves a conversation to CLOSING before its session is established; its end adds no note. */
void connection_end_quietly(struct node *node, const struct peer *peer, const char *why);

/* Marks the peer as an inference client: it never becomes a neighbour, and the end of its
 * conversation adds no note. */
void connection_set_asking(struct node *node, const struct peer *peer);

/* Sets the peer's incarnation, which never falls. */
void connection_set_incarnation(struct node *node, const struct peer *peer, uint64_t incarnation);
/* Stores the neighbour's setting that must differ on all nodes (settings.h). */
void connection_set_unlike(struct node *node, const struct peer *peer,
                           const char unlike[static PEER_UNLIKE_BYTES]);
void connection_set_mislabels(struct node *node, const struct peer *peer, bool mislabels);
/* Sends PING to the peer, unless its queue is full. */
void connection_ping(struct node *node, const struct peer *peer);
void connection_on_pong(struct node *node, const struct peer *peer, uint64_t token);
/* Handles the timers of a conversation: pings, new session keys, time limits of the handshake.
 * Returns false if the neighbour has been silent for patience_ns; then end the conversation. */
bool connection_check(struct node *node, const struct peer *peer, uint64_t patience_ns);
/* Call it after this process was suspended for late_ns: extends each peer's permitted silence and
 * handshake by that time. */
void connection_forgive(struct node *node, uint64_t late_ns);

/* Returns how certain it is why the conversation has ended. */
enum note_certainty connection_certainty(const struct peer *peer);

/* Adds a note with the peer's address, and with its id if that is known. */
struct note *connection_note(struct node *node, const struct peer *peer, enum note_kind kind,
                             enum note_level level, const char *text);

/* Messages of one kind that were queued for all peers since the start. */
struct connection_said {
    uint64_t count;
    uint64_t bytes; /* bytes of their records, with length fields */
};
struct connection_said connection_said(const struct node *node, enum message_kind kind);

#endif
