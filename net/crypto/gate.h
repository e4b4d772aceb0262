/* The gate: what a stranger must show before any curve work is done for it, and the place where
 * two nodes of different swarms, models or protocols find out how they differ.
 *
 *   dialer ──► GATE ‖ Noise message 1 ──► acceptor     sealed under a key made of the swarm key
 *   dialer ◄── Noise message 2, or REFUSAL: the acceptor's own introduction, sealed likewise
 *
 * An introduction says: protocol version, swarm, model. The acceptor opens the gate (one
 * XChaCha20-Poly1305 tag: a microsecond), compares, and goes on or answers with its own; so both
 * sides can say to their person what differs. Without the swarm key a stranger gets no byte back.
 *
 *   OFFSET SIZE MEANING                                (introduction, before sealing; 48 bytes)
 *        0    2 protocol version, little-endian          this layout never changes, so that
 *        2    6 zero (not looked at)                     all versions can refuse each other
 *        8   16 BLAKE2b-128 of the swarm id
 *       24   16 BLAKE2b-128 of the model description
 *       40    8 number of parameters, little-endian
 */
#ifndef HEARSAY_NET_CRYPTO_GATE_H
#define HEARSAY_NET_CRYPTO_GATE_H

#include "crypto/secret.h"

#define PROTOCOL_VERSION   7
#define INTRODUCTION_BYTES 48
#define GATE_BYTES         (INTRODUCTION_BYTES + TAG_BYTES)
#define REFUSAL_BYTES      (WIDE_NONCE_BYTES + INTRODUCTION_BYTES + TAG_BYTES)

struct introduction {
    uint16_t protocol;
    uint8_t swarm[16];
    uint8_t model[16];
    uint64_t parameters;
};

/* swarm_id and model are texts; the model's is its canonical line, input and seed. */
void introduction_make(struct introduction *introduction, const char *swarm_id, const char *model,
                       uint64_t parameters);
void introduction_encode(uint8_t out[static INTRODUCTION_BYTES], const struct introduction *from);

/* Do they belong together? If not, one sentence: "other model: theirs has 235,146 parameters,
 * ours 215,370", "other swarm id", "other protocol version: theirs is 2, ours 1", ... */
enum error introduction_compare(const struct introduction *ours, const struct introduction *theirs,
                                struct problem *difference) MUST_USE;

struct gate {
    uint8_t key[KEY_BYTES]; /* BLAKE2b("hearsay gate", key = swarm key) */
    struct introduction ours;
};

void gate_init(struct gate *gate, const uint8_t swarm_key[static KEY_BYTES],
               const struct introduction *ours);

/* Our introduction, sealed; nonce = first 24 bytes of message 1 (its fresh public key), and all of
 * message 1 as associated data, so a gate opens for its own handshake only. */
void gate_create(const struct gate *gate, uint8_t out[static GATE_BYTES], const uint8_t *message_1,
                 size_t message_1_bytes);
enum error gate_consume(const struct gate *gate, const uint8_t in[static GATE_BYTES],
                        const uint8_t *message_1, size_t message_1_bytes,
                        struct introduction *theirs) MUST_USE;

/* The answer to a gate that does not fit: bound to the fresh public key that message 1 began with,
 * so that an old refusal cannot be played again. */
void refusal_create(const struct gate *gate, struct entropy *entropy,
                    const uint8_t ephemeral[static DH_BYTES], uint8_t out[static REFUSAL_BYTES]);
enum error refusal_consume(const struct gate *gate, const uint8_t in[static REFUSAL_BYTES],
                           const uint8_t ephemeral[static DH_BYTES],
                           struct introduction *theirs) MUST_USE;

#endif
