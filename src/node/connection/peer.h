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
 * After a refusal because of another model, the parts of that model may follow (TURNED_AWAY: the
 * dialer waits for them, to name the first that differs).
 */
#ifndef HEARSAY_NODE_CONNECTION_PEER_H
#define HEARSAY_NODE_CONNECTION_PEER_H

#include "base/arena.h"
#include "crypto/identity.h"
#include "node/connection/credentials.h"
#include "node/connection/peer_keys.h"
#include "node/connection/queue.h"
#include "socket/address.h"
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

/* When an ended conversation may be dialled again. */
enum retry {
    RETRY_USUAL,   /* after the backoff for its number of failures */
    RETRY_AT_ONCE, /* at once: the conversation ended only to get new keys */
    RETRY_LATE     /* after the longest backoff: the call will be refused for a while */
};

#define GREETING_MAX  512 /* largest frame before authentication, except the parts of a model */
#define PARTS_MAX     (MODEL_PARTS_MAX + PARTS_ADD)
#define FRAME_NS      ((uint64_t)10000000000) /* longest time for a frame, even on a slow link */
#define SENDING_BYTES (2 * (FRAME_MAX + LENGTH_BYTES)) /* most bytes of one SEND */

/* Reason in the note when the other side does not answer a gate. */
#define PEER_NO_ANSWER                                                                             \
    "it closed without an answer: another swarm key (copy the newest), or no hearsay node"

struct peer {
    enum peer_state state;  /* state of the drawing above */
    uint64_t conn;          /* number of the conversation: generation << 32 | slot */
    bool dialled;           /* we dialled it */
    struct address address; /* dialled address, or the caller's */
    uint8_t id[ID_BYTES];   /* id of the peer; from MEETING on */
    uint64_t incarnation;   /* incarnation of the peer; from OPEN on */
    uint16_t protocol;      /* newest protocol version that both sides speak; from MEETING on */
    uint32_t key_order; /* number of the order that brought the swarm key in use; from MEETING on */
    uint64_t born_ns;   /* start of the dial, or of the accepted connection */
    uint64_t since_ns;  /* start of the present state */
    /* arrival of the last bytes; those of a frame that takes longer than FRAME_NS do not count */
    uint64_t heard_ns;
    uint64_t framed_ns;        /* end of the last whole frame */
    uint64_t pinged_ns;        /* time of the last PING */
    uint64_t answered_ns;      /* time of the last PING that was answered */
    uint64_t rtt_ns;           /* last measured round trip; 0 = unknown */
    uint64_t renew_ns;         /* time at which the session's keys are too old */
    bool sending;              /* a SEND is with the transport */
    bool hangup_asked;         /* HANGUP was given out */
    enum retry retry;          /* when to dial again */
    bool was_open, was_silent; /* the peer was a neighbour; the conversation ended by silence */
    bool quiet;                /* the end of this conversation adds no note */
    bool differs;              /* the conversation ends because swarm, model or protocol differ */
    bool was_told;             /* the conversation ends because the other side sent BYE */
    bool asks; /* an inference client or a version probe: it will not become a neighbour */
    uint32_t refusal_key;       /* index of our key with which its refusal was sealed */
    struct introduction theirs; /* introduction of the peer, once one side has refused the other */
    char why[256];              /* reason for the end of the conversation, for the note */
    struct peer_keys *keys;     /* secrets of the conversation, in memory for keys */
    uint8_t *in;                /* [FRAME_MAX + 2] frame being received */
    size_t in_bytes;            /* bytes of that frame so far */
    size_t in_used;             /* size of the frame that was handled last */
    uint8_t *out;               /* [SENDING_BYTES] encrypted bytes to hand over */
    size_t out_bytes;           /* number of bytes in out */
    size_t sending_bytes;       /* bytes of out that the transport has now */
    struct queue queue;         /* messages in order */
    struct queue urgent;        /* small control messages, sent first */
    struct queue blocks;        /* blocks, sent when no other message waits */
    uint64_t blocks_sealed;     /* encrypted bytes of blocks that have left `blocks` */
};

/* Allocates the buffers of a peer. `keys` holds the secrets and may be the same arena if it has
 * enough space. */
void peer_init(struct peer *peer, struct arena *arena, struct arena *keys, size_t queue_max);
size_t peer_arena_bytes(size_t queue_max);

/* Starts a new conversation in this slot. */
void peer_start(struct peer *peer, uint64_t conn, bool dialled, const struct address *address,
                uint64_t now_ns);

/* Handles the established connection of a dial: puts the gate and message 1 into out, with our key
 * number `key`. */
void peer_on_connected(struct peer *peer, const struct credentials *credentials, uint32_t key,
                       uint64_t now_ns);

enum peer_event {
    PEER_NOTHING, /* the data is used up */
    PEER_MET,     /* the handshake is complete: id is known, send HELLO */
    PEER_SAID,    /* a message is at peer_message(), valid until the next call */
    /* the conversation is over: `problem` has the reason; bytes in out may still be sent */
    PEER_REFUSED
};

/* Consumes bytes until an event happens; advances *data and *bytes. */
enum peer_event peer_take(struct peer *peer, const struct credentials *credentials, uint64_t now_ns,
                          const uint8_t **data, size_t *bytes, struct problem *problem);
const uint8_t *peer_message(const struct peer *peer, size_t *bytes);

void peer_wipe_taken(struct peer *peer); /* wipes the last message, which was secret */

/* Returns true if this conversation's protocol version has this message kind. No other kind is sent
 * or accepted. */
bool peer_knows(const struct peer *peer, enum message_kind kind);

/* Queues a message. Returns false if the queue for it is full. */
bool peer_say(struct peer *peer, const struct message *message);

/* If no SEND is under way: encrypts messages and returns at most `most` bytes, which stay the
 * peer's until peer_on_sent. is_open = false sends only urgent or already encrypted bytes. */
bool peer_next_send(struct peer *peer, size_t most, bool is_open, const uint8_t **bytes,
                    size_t *count);
void peer_on_sent(struct peer *peer);

static inline size_t peer_queued_bytes(const struct peer *peer)
{
    return queue_bytes(&peer->queue) + queue_bytes(&peer->urgent) + queue_bytes(&peer->blocks);
}

/* Returns about how many bytes could be handed over now, encrypted or not. */
size_t peer_waiting_bytes(const struct peer *peer, bool is_open);
bool peer_is_flushed(const struct peer *peer); /* the system has all bytes */
bool peer_can_say(const struct peer *peer);    /* the session stands */

/* Changes the state; CHECKs the move against the drawing above. Besides it, only peer_end sets a
 * state. */
void peer_move(struct peer *peer, enum peer_state to, uint64_t now_ns);

/* Ends the conversation: wipes its keys and frees the slot. */
void peer_end(struct peer *peer);

#endif
