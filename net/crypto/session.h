/* A session: records over the two keys of a finished handshake.
 *
 *   OFFSET SIZE MEANING                                         (one record on the wire)
 *        0    2 bytes that follow, big-endian (17 .. 65535)
 *        2    n message, encrypted (1 <= n <= MESSAGE_MAX)
 *      2+n   16 tag
 *
 * A record holds one message. The nonce is the record's number, so a lost, repeated, reordered or
 * changed record fails its tag. A failed tag ends the receiving half: every later open is FORGED.
 * The sending half has a key of its own and still works, so the other side can be told why. A
 * session is worn out after SESSION_BYTES_MAX sealed or opened; its owner makes a new one. Held by
 * tests/unit/net/test_session.c.
 */
#ifndef HEARSAY_NET_CRYPTO_SESSION_H
#define HEARSAY_NET_CRYPTO_SESSION_H

#include <stdbool.h>

#include "crypto/secret.h"

#define LENGTH_BYTES      2
#define FRAME_MAX         65535
#define MESSAGE_MAX       (FRAME_MAX - TAG_BYTES)
#define RECORD_OVERHEAD   (LENGTH_BYTES + TAG_BYTES)
#define SESSION_BYTES_MAX ((uint64_t)1 << 30)

struct session {
    uint8_t send_key[KEY_BYTES];
    uint8_t receive_key[KEY_BYTES];
    uint64_t sent_records;     /* records sealed: the nonce of the next one */
    uint64_t received_records; /* records opened: the nonce of the next one */
    uint64_t sent_bytes;       /* of messages sealed */
    uint64_t received_bytes;   /* of messages opened */
    bool dead;                 /* a record failed: nothing more is opened */
    bool wiped;                /* the keys are gone: nothing more is sealed or opened */
};

void session_init(struct session *session, const uint8_t send_key[static KEY_BYTES],
                  const uint8_t receive_key[static KEY_BYTES]);

/* Writes a whole record into out (bytes + RECORD_OVERHEAD). 1 <= bytes <= MESSAGE_MAX. Not allowed
 * after session_wipe. */
void session_seal(struct session *session, const uint8_t *message, size_t bytes, uint8_t *out);

/* Opens a frame's content (without its length) in place: the message is then at `frame`, *bytes
 * long. FORGED: the tag does not hold, or an earlier one did not. MALFORMED: impossible length. */
enum error session_open(struct session *session, uint8_t *frame, size_t frame_bytes,
                        size_t *bytes) MUST_USE;

bool session_worn_out(const struct session *session);
void session_wipe(struct session *session);

#endif
