/* The gate: proof of the swarm key before any curve arithmetic, and the place where two nodes find
 * the protocol that both speak, or how their swarms, models or protocols differ.
 *
 *   dialer ──► GATE ‖ Noise message 1 ──► acceptor     sealed under a key made of the swarm key
 *   dialer ◄── Noise message 2, or REFUSAL: the acceptor's own introduction, sealed likewise
 *
 * An introduction says protocol versions, swarm and model. The acceptor opens the gate (one
 * XChaCha20-Poly1305 tag: a microsecond), compares, and goes on or answers with its own; so both
 * sides can tell their user what differs. Without the swarm key a stranger gets no byte back, and
 * can change nothing of what is offered.
 *
 *   OFFSET SIZE MEANING                                (introduction, before sealing; 48 bytes)
 *        0    2 the oldest version, little-endian        this layout never changes, so that
 *        2    1 of a refusal: what is offered            all versions can refuse each other
 *        3    1 how many newer versions are spoken       builds before version 12 say zero here,
 *        4    4 zero (not looked at)                     and do not look at it
 *        8   16 BLAKE2b-128 of the swarm id
 *       24   16 BLAKE2b-128 of the model description
 *       40    8 number of parameters, little-endian
 *
 * Held by tests/unit/net/test_gate.c.
 */
#ifndef HEARSAY_NET_CRYPTO_GATE_H
#define HEARSAY_NET_CRYPTO_GATE_H

#include "crypto/secret.h"
#include "wire/protocol.h"

#define OFFERS_ANSWERS     1 /* a bit of what is offered: it answers questions */
#define INTRODUCTION_BYTES 48
#define GATE_BYTES         (INTRODUCTION_BYTES + TAG_BYTES)
#define REFUSAL_BYTES      (WIDE_NONCE_BYTES + INTRODUCTION_BYTES + TAG_BYTES)

struct introduction {
    uint16_t protocol;   /* the oldest version that it speaks, */
    uint8_t newer;       /* and how many newer ones */
    uint8_t offers;      /* of a refusal: OFFERS_ANSWERS; nothing else has it */
    uint8_t swarm[16];   /* hash of the swarm id */
    uint8_t model[16];   /* hash of the model description */
    uint64_t parameters; /* of the model */
};

/* Hashes the two texts. The model's is its input, canonical line, and seed or start. */
void introduction_make(struct introduction *introduction, const char *swarm_id, const char *model,
                       uint64_t parameters);
/* What this build speaks. */
void introduction_set_versions(struct introduction *introduction);
void introduction_encode(uint8_t out[static INTRODUCTION_BYTES], const struct introduction *from);

/* The newest version that both speak; PROTOCOL_KNOCK: there is none. */
uint16_t introduction_common(const struct introduction *ours, const struct introduction *theirs);

/* The prologue of the handshake: the dialer's introduction, without what is not looked at; the
 * acceptor makes it of its own and the dialer's oldest version. */
void introduction_prologue(uint8_t out[static INTRODUCTION_BYTES], const struct introduction *ours,
                           uint16_t dialers_oldest);

/* What binds signatures to one swarm and model, in all versions that are spoken. */
void introduction_context(uint8_t context[static CONTEXT_BYTES], const struct introduction *of);

/* OK: they belong together. MISMATCH and one sentence, such as "other model: theirs has 235,146
 * parameters, ours 215,370": they do not. */
enum error introduction_compare(const struct introduction *ours, const struct introduction *theirs,
                                struct problem *difference) MUST_USE;

struct gate {
    uint8_t key[KEY_BYTES];   /* BLAKE2b("hearsay gate", key = swarm key) */
    struct introduction ours; /* what this node says of itself */
};

void gate_init(struct gate *gate, const uint8_t swarm_key[static KEY_BYTES],
               const struct introduction *ours);

/* create seals our introduction. The nonce is the first 24 bytes of message 1 (of its fresh public
 * key), and all of message 1 is associated data, so a gate opens for its own handshake only.
 * consume opens theirs. FORGED: another key, or another message 1. MALFORMED: message 1 too short.
 */
void gate_create(const struct gate *gate, uint8_t out[static GATE_BYTES], const uint8_t *message_1,
                 size_t message_1_bytes);
enum error gate_consume(const struct gate *gate, const uint8_t in[static GATE_BYTES],
                        const uint8_t *message_1, size_t message_1_bytes,
                        struct introduction *theirs) MUST_USE;

/* The answer to a gate that does not fit. It is bound to the fresh public key that message 1 began
 * with, so an old refusal cannot be replayed. */
void refusal_create(const struct gate *gate, struct entropy *entropy,
                    const uint8_t ephemeral[static DH_BYTES], uint8_t out[static REFUSAL_BYTES]);
enum error refusal_consume(const struct gate *gate, const uint8_t in[static REFUSAL_BYTES],
                           const uint8_t ephemeral[static DH_BYTES],
                           struct introduction *theirs) MUST_USE;

#endif
