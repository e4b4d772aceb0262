/* The Noise handshake Noise_XXpsk3_25519_ChaChaPoly_SHA256 (Noise Protocol Framework, revision 34).
 * It only reads and writes buffers.
 *
 *   -> e                     message 1
 *   <- e, ee, s, es          message 2
 *   -> s, se, psk            message 3, then split: one key per direction
 *
 *   START ──message 1──► 1 ──message 2──► 2 ──message 3──► DONE       (enum handshake_state)
 *     └───────────────────┴────────────────┴── any failure ──► DEAD
 *
 * handshake_create and handshake_consume return MALFORMED for a dead handshake. Without a psk the
 * pattern is Noise_XX_25519_ChaChaPoly_SHA256, which the tests compare with published vectors.
 * Tests: tests/unit/net/test_handshake.c refuses every bit flip and truncation.
 */
#ifndef HEARSAY_NET_CRYPTO_HANDSHAKE_H
#define HEARSAY_NET_CRYPTO_HANDSHAKE_H

#include <stdbool.h>

#include "crypto/secret.h"

#define HANDSHAKE_PAYLOAD_MAX 256
/* Bytes that each message adds to its payload. */
#define HANDSHAKE_1_BYTES (DH_BYTES + TAG_BYTES) /* with a psk; without one, DH_BYTES */
#define HANDSHAKE_2_BYTES (DH_BYTES + DH_BYTES + TAG_BYTES + TAG_BYTES)
#define HANDSHAKE_3_BYTES (DH_BYTES + TAG_BYTES + TAG_BYTES)

enum handshake_state { HANDSHAKE_START, HANDSHAKE_1, HANDSHAKE_2, HANDSHAKE_DONE, HANDSHAKE_DEAD };

struct handshake {
    enum handshake_state state;
    bool initiator;               /* this side sends message 1 */
    bool has_psk;                 /* the pattern is XXpsk3; false = XX */
    bool has_key;                 /* `key` is set, so payloads are encrypted */
    uint64_t nonce;               /* nonce of the next encryption with `key`; Noise's n */
    uint8_t key[KEY_BYTES];       /* encryption key; Noise's k */
    uint8_t chaining[HASH_BYTES]; /* chaining key; Noise's ck */
    uint8_t hash[HASH_BYTES];     /* handshake hash; in DONE, the channel binding; Noise's h */
    uint8_t psk[KEY_BYTES];
    uint8_t own_secret[DH_BYTES]; /* our static key; Noise's s */
    uint8_t own_public[DH_BYTES];
    uint8_t ephemeral_secret[DH_BYTES]; /* our ephemeral key; Noise's e */
    uint8_t ephemeral_public[DH_BYTES];
    /* The other side's static key, from message 2 (initiator) or 3 (responder); Noise's rs. */
    uint8_t their_public[DH_BYTES];
    uint8_t their_ephemeral[DH_BYTES]; /* the other side's ephemeral key; Noise's re */
};

/* psk: pre-shared key; NULL = the pattern is XX. ephemeral: 32 fresh random bytes. */
void handshake_init(struct handshake *handshake, bool initiator, const void *prologue,
                    size_t prologue_bytes, const uint8_t *psk,
                    const uint8_t own_secret[static DH_BYTES],
                    const uint8_t ephemeral[static DH_BYTES]);

/* Writes our next message to `out`, which has payload_bytes + 128 bytes, and sets *out_bytes.
 * Returns MALFORMED if the next message is not ours, FORGED if the other side's key has low
 * order. */
enum error handshake_create(struct handshake *handshake, const uint8_t *payload,
                            size_t payload_bytes, uint8_t *out, size_t *out_bytes) MUST_USE;

/* Reads the other side's next message. On OK, writes the message's payload to `payload`, which has
 * HANDSHAKE_PAYLOAD_MAX bytes. Returns FORGED if a tag does not verify or the other side's key has
 * low order. Returns MALFORMED for a wrong length, or if the next message is not theirs. */
enum error handshake_consume(struct handshake *handshake, const uint8_t *in, size_t in_bytes,
                             uint8_t *payload, size_t *payload_bytes) MUST_USE;

/* Derives the session key of each direction. Call it only in state DONE. Wipes everything in the
 * handshake except state, initiator, hash and their_public. */
void handshake_split(struct handshake *handshake, uint8_t send_key[static KEY_BYTES],
                     uint8_t receive_key[static KEY_BYTES]);
void handshake_wipe(struct handshake *handshake);

#endif
