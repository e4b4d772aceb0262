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

enum peer_state {
    PEER_FREE,
    PEER_DIALLING,
    PEER_ANSWERED,
    PEER_GREETED,
    PEER_PROVED,
    PEER_MEETING,
    PEER_OPEN,
    PEER_CLOSING,
    PEER_STATES
};

/* When a conversation that ended may be begun again. */
enum retry {
    RETRY_USUAL,   /* after the backoff of its failures */
    RETRY_AT_ONCE, /* it ended only to get new keys */
    RETRY_LATE     /* as if it had failed for long: it will not be welcome soon */
};

#define GREETING_MAX  512 /* what is said before the other is authenticated fits this */
#define FRAME_NS      ((uint64_t)10000000000) /* a frame takes no longer, on the thinnest link */
#define SENDING_BYTES (2 * (FRAME_MAX + LENGTH_BYTES)) /* handed to the transport at once */

/* The sentence for a call that was connected and got no answer to its gate. */
#define PEER_NO_ANSWER                                                                             \
    "it closed without an answer: another swarm key (copy the newest), or no hearsay node"

struct peer {
    enum peer_state state;      /* where the conversation is, as drawn above */
    uint64_t conn;              /* its number: generation << 32 | slot */
    bool dialled;               /* we called */
    struct address address;     /* dialled, or where it came from */
    uint8_t id[ID_BYTES];       /* who it is; from MEETING on */
    uint64_t incarnation;       /* which incarnation of it; from OPEN on */
    uint16_t protocol;          /* the newest version that both speak; from MEETING on */
    uint32_t key_order;         /* both have the swarm key of this order; from MEETING on */
    uint64_t born_ns;           /* when the dial began, or the connection stood */
    uint64_t since_ns;          /* when this state began */
    uint64_t heard_ns;          /* when bytes came last, of a frame that is not too slow */
    uint64_t framed_ns;         /* when the last byte of a whole frame came */
    uint64_t pinged_ns;         /* when it was last sent a PING */
    uint64_t answered_ns;       /* when the last PING was sent that it has answered */
    uint64_t rtt_ns;            /* round trip, as measured last; 0: not yet */
    uint64_t renew_ns;          /* when this session is worn out by age */
    bool sending;               /* a SEND is with the transport */
    bool hangup_asked;          /* HANGUP was given out */
    enum retry retry;           /* when to dial again */
    bool was_open, was_silent;  /* it was a neighbour; it ended since nothing was heard */
    bool quiet;                 /* its end is not worth a note */
    bool differs;               /* it ends since swarm, model or protocol are not the same */
    bool asks;                  /* it is no neighbour to be: it asks, or has only knocked */
    struct introduction theirs; /* of a refusal that came */
    char why[96];               /* why it is closing, for the note */
    struct peer_keys *keys;     /* its own, in memory for keys */
    uint8_t *in;                /* [FRAME_MAX + 2] the frame being received */
    size_t in_bytes;            /* of it, what has come */
    size_t in_used;             /* of it, the frame handled last */
    uint8_t *out;               /* [SENDING_BYTES] sealed, to be handed over */
    size_t out_bytes;           /* how much that is */
    size_t sending_bytes;       /* of it, what is with the transport now */
    struct queue queue;         /* messages that wait, in their order */
    struct queue urgent;        /* small messages that go first */
    struct queue blocks;        /* blocks: they go when nothing else waits */
    uint64_t blocks_sealed;     /* bytes of blocks that have left that queue, as sealed */
};

/* Buffers for one peer; `keys`, for what is secret, may be the same arena, and has room then. */
void peer_init(struct peer *peer, struct arena *arena, struct arena *keys, size_t queue_max);
size_t peer_arena_bytes(size_t queue_max);

/* A new conversation in this slot. */
void peer_start(struct peer *peer, uint64_t conn, bool dialled, const struct address *address,
                uint64_t now_ns);

/* The dialled connection stands: the gate and message 1 go into out, with this one of our keys. */
void peer_on_connected(struct peer *peer, const struct credentials *credentials, uint32_t key,
                       uint64_t now_ns);

enum peer_event {
    PEER_NOTHING, /* the data is used up */
    PEER_MET,     /* the handshake is done: id is known, say HELLO */
    PEER_SAID,    /* a message: at peer_message(), valid until the next call */
    PEER_REFUSED  /* it is over: `problem` says why; what is in out may still be sent */
};

/* Take bytes from data until something happens; *data and *bytes move on. */
enum peer_event peer_take(struct peer *peer, const struct credentials *credentials, uint64_t now_ns,
                          const uint8_t **data, size_t *bytes, struct problem *problem);
const uint8_t *peer_message(const struct peer *peer, size_t *bytes);

void peer_wipe_taken(struct peer *peer); /* it was secret, and is not needed any more */

/* Is this kind of the protocol that is spoken here? No other is said or heard. */
bool peer_knows(const struct peer *peer, enum message_kind kind);

/* Queue a message; false when the queue has no room for it. */
bool peer_say(struct peer *peer, const struct message *message);

/* Something to send and nothing under way? Seals and gives out at most so many bytes; they stay the
 * peer's until peer_on_sent. is_open: not only what is urgent, or begun. */
bool peer_next_send(struct peer *peer, size_t most, bool is_open, const uint8_t **bytes,
                    size_t *count);
void peer_on_sent(struct peer *peer);

static inline size_t peer_queued_bytes(const struct peer *peer)
{
    return queue_bytes(&peer->queue) + queue_bytes(&peer->urgent) + queue_bytes(&peer->blocks);
}

/* Bytes that could be handed over now, about: sealed, or to be sealed. */
size_t peer_waiting_bytes(const struct peer *peer, bool is_open);
bool peer_is_flushed(const struct peer *peer); /* all that was said is with the system */
bool peer_can_say(const struct peer *peer);    /* the session stands */

/* The one place where a state changes; CHECKs that the drawing above allows it. */
void peer_move(struct peer *peer, enum peer_state to, uint64_t now_ns);

/* The conversation is over: wipe its keys, free the slot. */
void peer_end(struct peer *peer);

#endif
