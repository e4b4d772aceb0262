/* What two nodes say to each other inside a session: one message per record.
 *
 * A message is a msgpack array [kind, fields ...]: numbers, one text, and bulk as raw bytes.
 *
 *   KIND           FIELDS                  MEANING
 *   HELLO          incarnation port text   the first message in both directions
 *                  bulk
 *   MEMBER_UPDATE  bulk                    records just renewed, to be passed on
 *   MEMBER_QUERY   tag                     list the live members, or send the record of one
 *   MEMBER_LIST    bulk                    a part of that list, not to be passed on
 *   PING           token                   answer with PONG and the same token
 *   PONG           token
 *   ACK            received clock held     so many bytes have come from you (link.h)
 *                  most
 *   RUMOR          bulk                    one rumor (rumor.h)
 *   PRUNE          tag                     stop pushing this origin's rumors
 *   VERSION        digest hash rumors      what the sender knows (version.h)
 *                  members base whole
 *                  text bulk
 *   WANT           tag seq                 send this origin's rumors from seq on, and push again
 *   GONE           tag seq                 rumor number seq is no longer in the log
 *   TAKE                                   of what is your base the sum?
 *   HISTORY        digest part parts bulk  of these rumors; parts 0: there is none to give
 *   FETCH          block count             send these blocks of the base
 *   BLOCK          block hash text bulk    one block and its version; no bulk: refused
 *   BYE            reason text bulk        the last message
 *   ORDERS         number bulk             I know the operator's orders up to that number; some
 *   SETTINGS       text                    those that all nodes of a swarm must share
 *   PROOF          hash bulk               proofs that members lie; a hash of all I know
 *   HEADS          tag bulk                what I have of a stream that is another at yours
 *   LISTED         hash                    of who is a member, as I know it
 *   SWARM_KEY      number bulk             the key that this order is of; no bulk: give it
 *   VOTES          hash bulk               votes that members harm; a hash of all I know
 *   QUESTION       count bulk              what does your model say of these samples?
 *   REPLY          reason count wait       so much; or when to ask again
 *                  text bulk
 *
 * net/README.md says who may say what and when, and what each field is.
 * Held by tests/unit/net/test_message.c.
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
    QUESTION,
    REPLY,
    MESSAGE_KINDS
};

#define TAG_ALL 0 /* in place of an origin's tag: all of them */

enum bye_reason {
    BYE_LEAVING = 1,    /* the sender leaves the swarm */
    BYE_DUPLICATE,      /* another connection between the two is kept */
    BYE_SELF,           /* the caller has called itself */
    BYE_IDENTITY_TAKEN, /* another running node has the same identity */
    BYE_BROKEN,         /* the receiver sent something invalid */
    BYE_SILENT,         /* nothing was received for too long */
    BYE_RENEW,          /* new keys are due: dial again */
    BYE_FULL,           /* the sender has neighbours enough: try others */
    BYE_EXPELLED,       /* the receiver has been put out of the swarm, by the operator or a proof */
    BYE_NOT_ADMITTED    /* the receiver is no member, as the sender knows it */
};

struct bytes {
    const uint8_t *at;
    size_t count;
};

/* The fields of every kind. Those that a kind does not have are ignored and read as zero. */
struct message {
    enum message_kind kind;
    uint64_t incarnation; /* of the sender */
    uint64_t port;        /* TCP port that the sender listens on; 0: it only dials */
    uint64_t token;       /* a PONG repeats that of its PING */
    uint64_t received;    /* bytes read from this connection so far */
    uint64_t clock;       /* when the last of them came, microseconds of the sender's clock */
    uint64_t held;        /* how long the ACK was kept since then, microseconds */
    uint64_t most;        /* bytes per second that the sender wants at most; 0: any */
    uint64_t tag;         /* of an origin (version.h) */
    uint64_t seq;         /* number of a rumor in its origin's stream */
    uint64_t digest;      /* of a base (base/digest.h) */
    uint64_t hash;        /* of a whole version (version.h), or of all proofs, or votes, known */
    uint64_t rumors;      /* how many rumors there are */
    uint64_t members;     /* live members that the sender knows */
    uint64_t base;        /* 0: the sender's base is not whole yet */
    uint64_t whole;       /* 1: bulk shows the latest entries and text what each has learned */
    uint64_t part;        /* number of this part, from 0 */
    uint64_t parts;       /* how many parts there are */
    uint64_t block;       /* number of a block, from 0 */
    uint64_t count;       /* blocks wanted, from that one on; or samples */
    uint64_t reason;      /* enum bye_reason, or reply_reason (reply.h) */
    uint64_t wait;        /* milliseconds before the next QUESTION, at least */
    uint64_t number;      /* of an order of the operator; ORDERS: the latest known, or 0 */
    struct bytes text;    /* HELLO: the other's address; BYE: a sentence; else entries */
    struct bytes bulk;    /* records, a rumor, entries, a block, orders …, as the kind says */
};

#define SETTINGS_MAX 2048 /* bytes of the text of SETTINGS */
#define MESSAGE_ADDS 96   /* a message is larger than its text and bulk by so many at most */

uint16_t message_since(enum message_kind kind); /* the protocol (protocol.h) that brought it */

/* Encode into out; returns the size. The caller gives room: text + bulk + MESSAGE_ADDS suffice. */
size_t message_encode(const struct message *message, uint8_t *out, size_t capacity);

/* Does this message, as it was encoded here, carry what is to be wiped once it has gone? */
bool message_is_secret(const uint8_t *bytes, size_t count);

/* A decoder's own memory, so that decoding allocates nothing. */
struct message_reader;
struct message_reader *message_reader_new(void);
void message_reader_free(struct message_reader *reader);

/* MALFORMED unless it is exactly one message of a known kind with exactly its fields. text and
 * bulk point into `in`. */
enum error message_decode(struct message_reader *reader, const uint8_t *in, size_t bytes,
                          struct message *message) MUST_USE;

#endif
