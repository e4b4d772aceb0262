/* A peer: one conversation, from the first byte to the last.
 *
 *            dialled                                accepted
 *   DIALLING ── connected: gate, message 1 ──► ┐  ┌ GREETED: waits for gate and message 1
 *   ANSWERED: waits for message 2 or refusal   │  │ sends message 2, or refusal and closes
 *   sends message 3 ──────────────────────────►│  │ PROVED: waits for message 3
 *                 └─────────► MEETING: session stands, waits for HELLO ◄──────┘
 *                                     │ HELLO
 *                                    OPEN ──── BYE, silence, an invalid byte ──► CLOSING
 *
 * Bytes in, bytes out; no socket, no clock, no allocation. A peer turns a stream of bytes into
 * authenticated messages and back, within bounds. It knows nothing of rumors, members or rates.
 *
 *   Frames before the session (each with its 2-byte length):
 *     dialer   GATE ‖ Noise message 1 (no payload)
 *     acceptor Noise message 2 (payload: certificate, protocol)  |  REFUSAL
 *     dialer   Noise message 3 (payload: certificate)
 *
 * After a refusal because of another model, the parts of that model may follow. In TURNED_AWAY the
 * dialer waits for them, to name the first part that differs.
 */
#ifndef HEARSAY_NODE_CONNECTION_PEER_H
#define HEARSAY_NODE_CONNECTION_PEER_H

#include "base/arena.h"
#include "crypto/identity.h"
#include "node/connection/credentials.h"
#include "node/connection/peer_keys.h"
#include "node/connection/queue.h"
#include "wire/address.h"
#include "wire/message.h"
#include "wire/model_parts.h"

enum peer_state {
    PEER_FREE,
    PEER_DIALLING,
    PEER_ANSWERED,
    PEER_GREETED,
    PEER_PROVED,
    PEER_TURNED_AWAY,
    PEER_MEETING,
    PEER_OPEN,
    PEER_CLOSING,
    PEER_STATES
};

/* When to dial again after a conversation has ended. */
enum retry {
    RETRY_USUAL,   /* after a wait that grows with the number of failed dials */
    RETRY_AT_ONCE, /* at once: the conversation ended only to get new keys */
    /* after the longest wait: until then, the peer would probably refuse the connection */
    RETRY_LATE
};

/* Largest frame before authentication, except a list of model parts; bytes. */
#define GREETING_MAX 512
#define PARTS_MAX    (MODEL_PARTS_MAX + PARTS_ADD)
/* Time in which a frame must arrive; bytes that come later are no sign of life. */
#define FRAME_NS      ((uint64_t)10000000000)
#define SENDING_BYTES (2 * (FRAME_MAX + LENGTH_BYTES)) /* largest number of bytes in one SEND */

/* Reason in the note if the other side closes without an answer to our first frame. */
#define PEER_NO_ANSWER                                                                             \
    "it closed without an answer: another swarm key (copy the newest), or not a hearsay node"

#define PEER_UNLIKE_BYTES 64

struct peer {
    enum peer_state state;
    uint64_t conn;          /* number of the conversation; its lower 32 bits are the slot */
    bool dialled;           /* this node has dialled the peer; false = the peer has dialled */
    struct address address; /* address dialled, or from which the peer dialled */
    uint8_t id[ID_BYTES];   /* id of the peer; known from MEETING on */
    uint64_t incarnation;   /* incarnation of the peer; known from OPEN on */
    uint16_t protocol;      /* newest protocol version that both sides speak; from MEETING on */
    uint32_t key_order;     /* `order` (struct swarm_key) of the handshake's swarm key */
    /* Time when the connection was established; before that, or if limits.dial_ns is 0, when
     * dialling began. */
    uint64_t born_ns;
    uint64_t since_ns; /* time when the present state began */
    /* Time when bytes last arrived within FRAME_NS of the last complete frame. */
    uint64_t heard_ns;
    uint64_t framed_ns; /* time when the last frame was complete */
    /* time when the last PING was sent; before the first PING, when the conversation started */
    uint64_t pinged_ns;
    uint64_t answered_ns; /* sending time of the last PING that a PONG has answered */
    uint64_t rtt_ns;      /* last measured round-trip time; 0 = unknown */
    uint64_t renew_ns;    /* time when the session must get new keys */
    bool sending;         /* the transport has not yet reported the last SEND as sent */
    bool hangup_asked;    /* the HANGUP action of this conversation was returned to the owner */
    enum retry retry;
    /* was_open: the peer was a neighbour until the conversation ended. was_silent: either side
     * ended it because the other was silent. */
    bool was_open, was_silent;
    bool quiet;    /* the end of the conversation adds no note */
    bool differs;  /* this node or the peer refused the other: swarm, model or protocol differ */
    bool was_told; /* the conversation ends because the other side sent BYE */
    bool refuses;  /* its BYE: this node is expelled, not admitted, or its identity is in use */
    bool asks;     /* the peer is an inference client or a version probe, never a neighbour */
    uint32_t refusal_key; /* index of our swarm key that authenticated the peer's refusal */
    /* Introduction of the peer; valid if this node or the peer has refused the other. */
    struct introduction theirs;
    /* the peer's setting that must differ on all nodes, such as "data.shard!2/5"; "" = unknown */
    char unlike[PEER_UNLIKE_BYTES];
    bool mislabels;         /* the neighbour reports that its labels contradict the shared model */
    char why[256];          /* why the conversation ended, for the note */
    struct peer_keys *keys; /* the session's keys, in the arena for secrets */
    uint8_t *in;            /* [FRAME_MAX + 2] frame being received */
    size_t in_bytes;
    size_t in_used; /* size of the frame in `in` that was handled last, and is removed next */
    uint8_t *out;   /* [SENDING_BYTES] encrypted bytes to send */
    size_t out_bytes;
    size_t sending_bytes;   /* bytes of `out` in the SEND under way */
    struct queue queue;     /* messages to send, in order */
    struct queue urgent;    /* small control messages, sent before the other messages */
    struct queue blocks;    /* blocks, sent when no other message waits */
    uint64_t blocks_sealed; /* bytes of blocks encrypted so far */
};

/* Allocates the buffers of a peer. `keys` is the arena for its secrets; it may equal `arena`. */
void peer_init(struct peer *peer, struct arena *arena, struct arena *keys, size_t queue_max);
size_t peer_arena_bytes(size_t queue_max);

void peer_start(struct peer *peer, uint64_t conn, bool dialled, const struct address *address,
                uint64_t now_ns);

/* Call it when the connection to a dialled peer is established: puts the first frame into `out`,
 * with the swarm key of index `key`. */
void peer_on_connected(struct peer *peer, const struct credentials *credentials, uint32_t key,
                       uint64_t now_ns);

enum peer_event {
    PEER_NOTHING, /* no event has happened; all bytes were consumed */
    PEER_MET,     /* the handshake is complete and `id` is known */
    PEER_SAID,    /* a message has arrived: peer_message() returns it until the next call */
    /* The conversation must end, for the reason in *problem. Bytes in `out` may still be sent. */
    PEER_REFUSED
};

/* Consumes bytes until an event happens, and returns the event. Advances *data by the consumed
 * bytes and lowers *bytes by their number. */
enum peer_event peer_take(struct peer *peer, const struct credentials *credentials, uint64_t now_ns,
                          const uint8_t **data, size_t *bytes, struct problem *problem);
const uint8_t *peer_message(const struct peer *peer, size_t *bytes);

/* Wipes the last message that peer_take returned, which was secret. */
void peer_wipe_taken(struct peer *peer);

/* Returns true if messages of this kind exist in the conversation's protocol version. Messages of
 * other kinds are neither sent nor accepted. */
bool peer_knows(const struct peer *peer, enum message_kind kind);

/* Queues a message. Returns false if its queue is full. */
bool peer_say(struct peer *peer, const struct message *message);

/* Sets *bytes and *count to the next encrypted bytes to send, at most `most`, valid until
 * peer_on_sent. Returns false if there are none, or if a SEND is under way. is_open: false = send
 * only urgent messages and bytes that are already encrypted. */
bool peer_next_send(struct peer *peer, size_t most, bool is_open, const uint8_t **bytes,
                    size_t *count);
void peer_on_sent(struct peer *peer);

static inline size_t peer_queued_bytes(const struct peer *peer)
{
    return queue_bytes(&peer->queue) + queue_bytes(&peer->urgent) + queue_bytes(&peer->blocks);
}

/* Returns the number of bytes that could be sent now, encrypted or not; 0 while a SEND is under
 * way. is_open: as for peer_next_send. */
size_t peer_waiting_bytes(const struct peer *peer, bool is_open);
/* Returns true if the transport has sent all bytes of the peer. */
bool peer_is_flushed(const struct peer *peer);
/* Returns true if the session is established, so that messages may be sent. */
bool peer_can_say(const struct peer *peer);

/* Changes the state, and CHECKs that MOVES (peer.c) allows this change. Only this function and
 * peer_end set a state. */
void peer_move(struct peer *peer, enum peer_state to, uint64_t now_ns);

/* Ends the conversation: wipes its keys and frees the slot. */
void peer_end(struct peer *peer);

#endif
