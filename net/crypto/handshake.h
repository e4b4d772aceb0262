/* The Noise handshake Noise_XXpsk3_25519_ChaChaPoly_SHA256 (Noise Protocol Framework, revision 34).
 * It only reads and writes buffers.
 *
 *   -> e                     message 1
 *   <- e, ee, s, es          message 2
 *   -> s, se, psk            message 3, then split: one key per direction
 *
 *   START ─create/consume 1─► SENT/GOT_1 ─consume/create 2─► GOT/SENT_2 ─create/consume 3─► DONE
 *     └──────────────── any failure ──────────────────────────────────────────────► DEAD
 *
 * A dead handshake answers every later call with MALFORMED. Without a psk the pattern is
 * Noise_XX_25519_ChaChaPoly_SHA256, which the tests compare with published vectors.
 * Tests: tests/unit/net/test_handshake.c refuses every bit flip and truncation.
 */
#ifndef HEARSAY_NET_CRYPTO_HANDSHAKE_H
#define HEARSAY_NET_CRYPTO_HANDSHAKE_H

#include <stdbool.h>

#include "crypto/secret.h"

#define HANDSHAKE_PAYLOAD_MAX 256
/* Bytes that each message adds to its payload. */
#define HANDSHAKE_1_BYTES (DH_BYTES + TAG_BYTES) /* with a psk; DH_BYTES without */
#define HANDSHAKE_2_BYTES (DH_BYTES + DH_BYTES + TAG_BYTES + TAG_BYTES)
#define HANDSHAKE_3_BYTES (DH_BYTES + TAG_BYTES + TAG_BYTES)

enum handshake_state { HANDSHAKE_START, HANDSHAKE_1, HANDSHAKE_2, HANDSHAKE_DONE, HANDSHAKE_DEAD };

struct handshake {
    enum handshake_state state;         /* phase of the handshake; see the drawing above */
    bool initiator;                     /* true on the side that sends message 1 */
    bool has_psk;                       /* the pattern is XXpsk3, not XX */
    bool has_key;                       /* key is set, so payloads are encrypted */
    uint64_t nonce;                     /* Noise's n: nonce of the next encryption with key */
    uint8_t key[KEY_BYTES];             /* Noise's k */
    uint8_t chaining[HASH_BYTES];       /* Noise's ck */
    uint8_t hash[HASH_BYTES];           /* Noise's h; once DONE, the channel binding */
    uint8_t psk[KEY_BYTES];             /* pre-shared key */
    uint8_t own_secret[DH_BYTES];       /* Noise's s, secret half */
    uint8_t own_public[DH_BYTES];       /* Noise's s, public half */
    uint8_t ephemeral_secret[DH_BYTES]; /* Noise's e, secret half */
    uint8_t ephemeral_public[DH_BYTES]; /* Noise's e, public half */
    uint8_t their_public[DH_BYTES]; /* Noise's rs: set by message 2 (initiator) or 3 (responder) */
    uint8_t their_ephemeral[DH_BYTES]; /* Noise's re */
};

/* Starts a handshake. psk may be NULL, then the pattern is XX. ephemeral holds 32 fresh random
 * bytes. */
void handshake_init(struct handshake *handshake, bool initiator, const void *prologue,
                    size_t prologue_bytes, const uint8_t *psk,
                    const uint8_t own_secret[static DH_BYTES],
                    const uint8_t ephemeral[static DH_BYTES]);

/* Writes our next message to out (payload_bytes + 128 bytes) and sets *out_bytes. Returns MALFORMED
 * if it is not our turn, FORGED if the other side's key has low order. */
enum error handshake_create(struct handshake *handshake, const uint8_t *payload,
                            size_t payload_bytes, uint8_t *out, size_t *out_bytes) MUST_USE;

/* Reads the next message. On OK, writes its payload to payload (HANDSHAKE_PAYLOAD_MAX bytes).
 * Returns FORGED if a tag does not verify, MALFORMED for a wrong length or if it is not the other
 * side's turn. */
enum error handshake_consume(struct handshake *handshake, const uint8_t *in, size_t in_bytes,
                             uint8_t *payload, size_t *payload_bytes) MUST_USE;

/* Derives the key of each direction; allowed only when DONE. Wipes everything except hash and
 * their_public. */
void handshake_split(struct handshake *handshake, uint8_t send_key[static KEY_BYTES],
                     uint8_t receive_key[static KEY_BYTES]);
void handshake_wipe(struct handshake *handshake);

#endif
