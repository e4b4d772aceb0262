/* Messages inside a session: one message per record.
 *
 * A message is a msgpack array [kind, fields ...]: integers, one text, and bulk data as raw bytes.
 *
 *   KIND           FIELDS                  MEANING
 *   HELLO          incarnation port text   the first message in both directions
 *                  bulk
 *   MEMBER_UPDATE  bulk                    renewed records; pass them on
 *   MEMBER_QUERY   tag                     list the live members, or send the record of one
 *   MEMBER_LIST    bulk                    some of the live members; do not pass them on
 *   PING           token                   answer with PONG and the same token
 *   PONG           token
 *   ACK            received clock held     number of bytes received on this connection
 *                  most
 *   RUMOR          bulk                    one rumor (rumor.h)
 *   PRUNE          tag                     stop pushing this origin's rumors
 *   VERSION        digest hash rumors      what the sender knows (version.h)
 *                  members base whole
 *                  learned bulk
 *   WANT           tag seq                 send this origin's rumors from seq on, and push again
 *   GONE           tag seq                 rumor number seq is no longer in the log
 *   TAKE                                   start a state transfer: send the version of your base
 *   HISTORY        digest part parts bulk  version of the base; parts 0: no base available
 *   FETCH          block count             send these blocks of the base
 *   BLOCK          block hash entries      one block and its version; no bulk: refused
 *                  bulk
 *   BYE            reason text bulk        the last message
 *   ORDERS         number bulk             latest order known, and some orders of the operator
 *   SETTINGS       text                    settings that all nodes of a swarm must share
 *   PROOF          hash bulk               proofs that members lie; hash of all proofs known
 *   HEADS          tag bulk                signed heads of a stream on which the two nodes differ
 *   LISTED         hash                    hash of the member list or of the admissions
 *   SWARM_KEY      number bulk             the key of this order; no bulk: requests the key
 *   VOTES          hash bulk               votes to expel members; hash of all votes known
 *   INFERENCE      count bulk              inference request for these samples
 *   REPLY          reason count wait       result of an INFERENCE, or when to ask again
 *                  text bulk
 *
 * net/README.md says when each message is allowed and what each field means.
 * Tests: tests/unit/net/test_message.c.
 */
#ifndef HEARSAY_NET_WIRE_MESSAGE_H
#define HEARSAY_NET_WIRE_MESSAGE_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"

enum message_kind {
    HELLO = 1,
    MEMBER_UPDATE,
    MEMBER_QUERY,
    MEMBER_LIST,
    PING,
    PONG,
    ACK,
    RUMOR,
    PRUNE,
    VERSION,
    WANT,
    GONE,
    TAKE,
    HISTORY,
    FETCH,
    BLOCK,
    BYE,
    ORDERS,
    SETTINGS,
    PROOF,
    HEADS,
    LISTED,
    SWARM_KEY,
    VOTES,
    INFERENCE,
    REPLY,
    MESSAGE_KINDS
};

#define TAG_ALL 0 /* tag of a WANT that asks for the whole version, not for rumors */

enum bye_reason {
    BYE_LEAVING = 1,    /* the sender leaves, changes its first weights, or is a client */
    BYE_DUPLICATE,      /* the two nodes keep their other connection */
    BYE_SELF,           /* the receiver has dialled itself */
    BYE_IDENTITY_TAKEN, /* another running node has the same identity as the receiver */
    BYE_BROKEN,         /* the receiver sent something invalid */
    BYE_SILENT,         /* the sender received nothing from the receiver for too long */
    BYE_RENEW,          /* session keys must be renewed: dial again */
    BYE_FULL,           /* the sender has enough neighbours: try other members */
    BYE_EXPELLED,       /* the receiver was expelled by the operator, a proof or votes */
    BYE_NOT_ADMITTED    /* the sender's list or the operator does not admit the receiver */
};

struct bytes {
    const uint8_t *at;
    size_t count;
};

/* Fields that a kind lacks are not written; they are 0 after decoding. */
struct message {
    enum message_kind kind;
    uint64_t incarnation;
    uint64_t port;     /* port that the sender listens on; 0 = it only dials */
    uint64_t token;    /* the PONG repeats the token of its PING */
    uint64_t received; /* bytes that the sender has received on this connection */
    /* Time of the last received byte, in microseconds of the sender's clock. */
    uint64_t clock;
    uint64_t held; /* microseconds from `clock` until this ACK was sent */
    /* Largest number of bytes per second that the sender accepts; 0 = unlimited. */
    uint64_t most;
    uint64_t tag;    /* tag of an origin (version.h) */
    uint64_t seq;    /* number of a rumor in the origin's stream */
    uint64_t digest; /* digest of a base (base/digest.h) */
    /* hash of a whole version (version.h), of all known proofs or votes, or of the membership
     * (LISTED) */
    uint64_t hash;
    uint64_t rumors;
    uint64_t members; /* live members that the sender knows */
    uint64_t base;    /* 1 = the sender's base is complete; 0 = it is not complete yet */
    /* 1 = bulk has the latest entries of the whole version, and `learned` the learned samples of
     * their origins */
    uint64_t whole;
    uint64_t part;  /* HISTORY: index of the part that bulk holds, from 0 */
    uint64_t parts; /* HISTORY: number of parts; 0 = no base available */
    uint64_t block;
    uint64_t count;  /* blocks from `block` on, or samples */
    uint64_t reason; /* enum bye_reason or reply_reason (reply.h) */
    /* Milliseconds that the client must wait before its next INFERENCE. */
    uint64_t wait;
    uint64_t number; /* number of an order; in ORDERS that of the latest order known, or 0 */
    /* HELLO: the receiver's address as the sender sees it; BYE: a sentence; SETTINGS: lines; REPLY:
     * description of the model's input. */
    struct bytes text;
    struct bytes learned; /* VERSION: learned samples of the origins in bulk */
    struct bytes entries; /* BLOCK: entries of the block's version */
    struct bytes bulk;
};

#define SETTINGS_MAX 2048 /* largest text of SETTINGS, in bytes */
#define MESSAGE_ADDS 96   /* most bytes that encoding adds to a message's texts and byte strings */

/* Returns the protocol version (protocol.h) that introduced this kind; 0 = all versions spoken have
 * the kind. */
uint16_t message_since(enum message_kind kind);

/* Returns the size of the encoded message; message_capacity bytes suffice. */
size_t message_encode(const struct message *message, uint8_t *out, size_t capacity);

static inline size_t message_capacity(const struct message *message)
{
    return message->text.count + message->learned.count + message->entries.count +
           message->bulk.count + MESSAGE_ADDS;
}

/* Returns true if an encoded message carries a swarm key: wipe its bytes after sending. */
bool message_is_secret(const uint8_t *bytes, size_t count);

/* Memory of a decoder, allocated once so that decoding never allocates. */
struct message_reader;
struct message_reader *message_reader_new(void);
void message_reader_free(struct message_reader *reader);

/* The texts and bytes of the message point into `in`. Returns MALFORMED unless the bytes are
 * exactly one message of a known kind with exactly its fields. */
enum error message_decode(struct message_reader *reader, const uint8_t *in, size_t bytes,
                          struct message *message) MUST_USE;

#endif
