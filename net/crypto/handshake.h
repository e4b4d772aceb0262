/* Noise_XXpsk3_25519_ChaChaPoly_SHA256 (Noise Protocol Framework, revision 34), bytes to bytes.
 *
 *   -> e                     message 1
 *   <- e, ee, s, es          message 2
 *   -> s, se, psk            message 3, then split: one key per direction
 *
 * A failed message leaves the handshake dead: every later call answers MALFORMED. The states:
 *
 *   START ─create/consume 1─► SENT/GOT_1 ─consume/create 2─► GOT/SENT_2 ─create/consume 3─► DONE
 *     └──────────────── any failure ──────────────────────────────────────────────► DEAD
 *
 * Without a psk it is Noise_XX_25519_ChaChaPoly_SHA256 (used to check it against test vectors).
 * Held by tests/unit/net/test_handshake.c: published vectors; every bit flip and truncation
 * refused.
 */
#ifndef HEARSAY_NET_CRYPTO_HANDSHAKE_H
#define HEARSAY_NET_CRYPTO_HANDSHAKE_H

#include <stdbool.h>

#include "crypto/secret.h"

#define HANDSHAKE_PAYLOAD_MAX 256
/* What a message adds to its payload. */
#define HANDSHAKE_1_BYTES (DH_BYTES + TAG_BYTES) /* with a psk; DH_BYTES without */
#define HANDSHAKE_2_BYTES (DH_BYTES + DH_BYTES + TAG_BYTES + TAG_BYTES)
#define HANDSHAKE_3_BYTES (DH_BYTES + TAG_BYTES + TAG_BYTES)

enum handshake_state { HANDSHAKE_START, HANDSHAKE_1, HANDSHAKE_2, HANDSHAKE_DONE, HANDSHAKE_DEAD };

struct handshake {
    enum handshake_state state;         /* how many messages are done */
    bool initiator;                     /* this side sends message 1 */
    bool has_psk;                       /* XXpsk3, not XX */
    bool has_key;                       /* key is set: payloads are encrypted */
    uint64_t nonce;                     /* Noise's n: of the next encryption with key */
    uint8_t key[KEY_BYTES];             /* Noise's k */
    uint8_t chaining[HASH_BYTES];       /* Noise's ck */
    uint8_t hash[HASH_BYTES];           /* Noise's h; when DONE, the channel binding */
    uint8_t psk[KEY_BYTES];             /* the key that both sides share */
    uint8_t own_secret[DH_BYTES];       /* Noise's s, secret half */
    uint8_t own_public[DH_BYTES];       /* Noise's s, public half */
    uint8_t ephemeral_secret[DH_BYTES]; /* Noise's e, secret half */
    uint8_t ephemeral_public[DH_BYTES]; /* Noise's e, public half */
    uint8_t their_public[DH_BYTES];     /* Noise's rs, after message 2 (initiator) or 3 */
    uint8_t their_ephemeral[DH_BYTES];  /* Noise's re */
};

/* psk may be NULL: then the pattern is XX. ephemeral: 32 fresh random bytes. */
void handshake_init(struct handshake *handshake, bool initiator, const void *prologue,
                    size_t prologue_bytes, const uint8_t *psk,
                    const uint8_t own_secret[static DH_BYTES],
                    const uint8_t ephemeral[static DH_BYTES]);

/* Writes our next message. out needs payload_bytes + 128 bytes; *out_bytes is set.
 * MALFORMED: it is not our turn. FORGED: the other's key is of low order. */
enum error handshake_create(struct handshake *handshake, const uint8_t *payload,
                            size_t payload_bytes, uint8_t *out, size_t *out_bytes) MUST_USE;

/* Reads their next message. Its payload goes into payload (HANDSHAKE_PAYLOAD_MAX bytes), on OK
 * only. FORGED: a tag does not hold. MALFORMED: wrong length, or not their turn. */
enum error handshake_consume(struct handshake *handshake, const uint8_t *in, size_t in_bytes,
                             uint8_t *payload, size_t *payload_bytes) MUST_USE;

/* Gives the key to send with and the one to receive with; only when DONE. Wipes everything but hash
 * and their_public. */
void handshake_split(struct handshake *handshake, uint8_t send_key[static KEY_BYTES],
                     uint8_t receive_key[static KEY_BYTES]);
void handshake_wipe(struct handshake *handshake);

#endif
