/* What two nodes say to each other inside a session: one message per record.
 *
 * A message is a msgpack array [kind, fields ...]; small fields are numbers, bulk is one raw bin.
 *
 *   KIND     FIELDS                       MEANING
 *   HELLO    incarnation port text bulk   first message both ways, the caller's before the other's:
 *                                         port we listen on (0: none), the address we see the other
 *                                         at, our record (record.h)
 *   NEWS     bulk                         records just renewed, back to back: to be passed on
 *   WHO      tag                          0: list the members you know; or give news of this one
 *   MEMBERS  bulk                         a part of that list: not to be passed on
 *   PING     token                        answer with PONG and the same token
 *   PONG     token
 *   RECEIPT  came clock held most         so many bytes have come from you, the last when my clock
 *                                         stood at `clock`, which I have kept for myself for `held`
 *                                         (both microseconds, link.h); send me at most `most` bytes
 *                                         per second, 0: as you like
 *   RUMOR    bulk                         one rumor (rumor.h)
 *   PRUNE    tag                          we get this origin's rumors from elsewhere: stop pushing
 *   VERSION  digest hash rumors members   what we know: the digest of our base, hash of the whole
 *            base whole text bulk         vector, how many rumors there are, how many live members;
 *                                         base: 0, as long as we still take it over from others; a
 *                                         slice of the vector (version.h); whole: its latest
 *                                         entries, and in text how much each has learned
 *   WANT     tag seq                      send this origin's rumors from seq on, and push again;
 *                                         TAG_ALL: show your whole version
 *   GONE     tag seq                      our log begins at seq only: we cannot
 *   TAKE                                  we are to take over your base: what is it made of?
 *   HISTORY  digest part parts bulk       of these rumors, with this digest (version.h); in parts,
 *                                         one right after the other. parts 0: we have none to give
 *   FETCH    block count                  send these blocks of it
 *   BLOCK    block hash text bulk         one, as it is now (block.h), with the hash of the version
 *                                         it is of; text: the latest entries of that. No bulk: we
 *                                         cannot
 *   BYE      reason text bulk             last message; the connection closes after it. Bulk:
 *                                         records of members, for who must look elsewhere
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
    MESSAGE_KINDS
};

#define TAG_ALL 0 /* instead of an origin's tag */

enum bye_reason {
    BYE_LEAVING = 1,    /* this node leaves the swarm */
    BYE_DUPLICATE,      /* we already talk over another connection */
    BYE_SELF,           /* this is the node itself */
    BYE_IDENTITY_TAKEN, /* another running node uses the same identity */
    BYE_BROKEN,         /* the other sent something invalid */
    BYE_SILENT,         /* nothing heard for too long */
    BYE_RENEW,          /* the session is worn out; dial again */
    BYE_FULL            /* neighbours enough: try others */
};

struct bytes {
    const uint8_t *at;
    size_t count;
};

/* The fields of every kind; those a kind does not have are ignored and read as zero. */
struct message {
    enum message_kind kind;
    uint64_t incarnation;
    uint64_t port;
    uint64_t token;
    uint64_t received;
    uint64_t clock;
    uint64_t held;
    uint64_t most;
    uint64_t tag;
    uint64_t seq;
    uint64_t digest;
    uint64_t hash;
    uint64_t rumors;
    uint64_t members;
    uint64_t base;
    uint64_t whole;
    uint64_t part;
    uint64_t parts;
    uint64_t block;
    uint64_t count;
    uint64_t reason;
    struct bytes text;
    struct bytes bulk;
};

/* How much larger a message is than its text and bulk, at most. */
#define MESSAGE_ADDS 96

/* Encode into out; returns the size. The caller gives room: text + bulk + MESSAGE_ADDS suffice. */
size_t message_encode(const struct message *message, uint8_t *out, size_t capacity);

/* A decoder's own memory, so that decoding allocates nothing. */
struct message_reader;
struct message_reader *message_reader_new(void);
void message_reader_free(struct message_reader *reader);

/* MALFORMED unless it is exactly one message of a known kind with exactly its fields. text and
 * bulk point into `in`. */
enum error message_decode(struct message_reader *reader, const uint8_t *in, size_t bytes,
                          struct message *message) MUST_USE;

#endif
