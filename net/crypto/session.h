/* A session: records under the two keys of a finished handshake.
 *
 *   OFFSET SIZE MEANING                                         (one record on the wire)
 *        0    2 bytes that follow, big-endian (17 .. 65535)
 *        2    n message, encrypted (1 <= n <= MESSAGE_MAX)
 *      2+n   16 tag
 *
 * A record holds one message. Its number is the nonce, so the tag of an altered or repeated record
 * does not verify, nor that of the record after a lost one. A failed record ends the receiving
 * half: every later session_open returns FORGED. The sending half has its own key and still works,
 * so the node can send the reason. After SESSION_BYTES_MAX bytes of messages in one direction,
 * session_worn_out returns true, and the owner should start another session. Tests:
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
    uint64_t sent_records;     /* records sealed; also the nonce of the next one */
    uint64_t received_records; /* records opened; also the nonce of the next one */
    uint64_t sent_bytes;       /* bytes of the messages sealed so far */
    uint64_t received_bytes;   /* bytes of the messages opened so far */
    bool dead;                 /* opening fails: a record did not open, or the keys are wiped */
    bool wiped;                /* the keys are wiped: no further record is sealed or opened */
};

void session_init(struct session *session, const uint8_t send_key[static KEY_BYTES],
                  const uint8_t receive_key[static KEY_BYTES]);

/* Writes the message as a record of bytes + RECORD_OVERHEAD bytes; 1 <= bytes <= MESSAGE_MAX. Not
 * allowed after session_wipe. */
void session_seal(struct session *session, const uint8_t *message, size_t bytes, uint8_t *out);

/* Decrypts a record in place; `frame` holds it without its length. The message is then at `frame`,
 * *bytes long. Returns FORGED if the tag does not verify or an earlier record failed, MALFORMED for
 * an impossible length. */
enum error session_open(struct session *session, uint8_t *frame, size_t frame_bytes,
                        size_t *bytes) MUST_USE;

bool session_worn_out(const struct session *session);
void session_wipe(struct session *session);

#endif
