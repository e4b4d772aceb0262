/* The gate: proves that the dialer has the swarm key before the acceptor does any curve
 * arithmetic.
 *
 *   dialer ──► GATE ‖ Noise message 1 ──► acceptor    sealed under a key derived from the swarm key
 *   dialer ◄── Noise message 2, or REFUSAL: the acceptor's introduction, sealed under that key
 *
 * An introduction holds protocol versions, swarm and model. The acceptor opens the gate, which
 * costs one XChaCha20-Poly1305 tag (a microsecond), and compares the introduction with its own. It
 * then goes on with the handshake, or answers with a refusal. So both sides can tell their user
 * what differs. A stranger without the swarm key receives no byte and cannot alter the offered
 * versions.
 *
 *   OFFSET SIZE MEANING                                (introduction before sealing; 48 bytes)
 *        0    2 oldest version spoken, little-endian
 *        2    1 standing << 2; in a refusal also the OFFERS_ bits
 *        3    1 number of newer versions spoken
 *        4    4 BLAKE2b-32 of the form of the model
 *        8   16 BLAKE2b-128 of the swarm id
 *       24   16 BLAKE2b-128 of the model description
 *       40    8 number of parameters, little-endian
 *
 * This layout never changes, so that all versions can refuse each other. Builds before version 12
 * write zeros into bytes 2 to 7 and ignore them.
 *
 * A model description is "FORM; START": FORM names the input and the layers, START the first
 * weights. Nodes of one form can work together, after one of them has taken over the first weights
 * and the model hash of the other (node/first_weights.h).
 *
 * Tests: tests/unit/net/test_gate.c.
 */
#ifndef HEARSAY_NET_CRYPTO_GATE_H
#define HEARSAY_NET_CRYPTO_GATE_H

#include "crypto/secret.h"
#include "frame/protocol.h"

#define OFFERS_ANSWERS 1 /* bit of introduction.offers: the node serves inference */
/* Bit of introduction.offers: the node's model parts (model_parts.h) follow its refusal. */
#define OFFERS_PARTS       2
#define STANDING_MAX       63 /* largest introduction.standing, which has six bits */
#define FORM_BYTES         4
#define INTRODUCTION_BYTES 48
#define GATE_BYTES         (INTRODUCTION_BYTES + TAG_BYTES)
#define REFUSAL_BYTES      (WIDE_NONCE_BYTES + INTRODUCTION_BYTES + TAG_BYTES)

struct introduction {
    uint16_t protocol; /* oldest protocol version that the node speaks */
    uint8_t newer;     /* number of newer protocol versions that the node also speaks */
    uint8_t offers;    /* OFFERS_ bits; sent in refusals only */
    /* How established the node's first weights are (node/first_weights.h). */
    uint8_t standing;
    /* Hash of the form of the model; zeros from a build before version 12. */
    uint8_t form[FORM_BYTES];
    uint8_t swarm[16]; /* hash of the swarm id */
    uint8_t model[16]; /* hash of the model description */
    uint64_t parameters;
};

/* Makes an introduction with the protocol versions of this build and the hashes of swarm_id, model
 * and its FORM; offers and standing are 0. model: "FORM; START", or FORM only. */
void introduction_make(struct introduction *introduction, const char *swarm_id, const char *model,
                       uint64_t parameters);
/* Sets the protocol versions to those that this build speaks. */
void introduction_set_versions(struct introduction *introduction);
/* Encodes an introduction with zeros in place of offers, standing and form. */
void introduction_encode(uint8_t out[static INTRODUCTION_BYTES], const struct introduction *from);

/* Returns the newest protocol version that both nodes speak, or PROTOCOL_PROBE if there is none. */
uint16_t introduction_common(const struct introduction *ours, const struct introduction *theirs);

/* Writes the prologue of the handshake: the dialer's introduction with zeros in bytes 2 to 7. The
 * acceptor builds it from its own introduction and the dialer's oldest version. */
void introduction_prologue(uint8_t out[static INTRODUCTION_BYTES], const struct introduction *ours,
                           uint16_t dialers_oldest);

/* Derives the context: 16 bytes that bind signatures to one swarm and model. It is the same in all
 * protocol versions. */
void introduction_context(uint8_t context[static CONTEXT_BYTES], const struct introduction *of);

/* Returns true if both nodes can work together once one of them has taken over the first weights
 * of the other. */
bool introduction_same_form(const struct introduction *ours, const struct introduction *theirs);

/* Returns true if both nodes have the same swarm id, both forms are known, and their models differ
 * in form or size. */
bool introduction_has_other_form(const struct introduction *ours,
                                 const struct introduction *theirs);

/* Returns OK if the two nodes belong together. Otherwise returns MISMATCH and sets *difference to a
 * sentence such as "other model: theirs has 235,146 parameters, ours 215,370". */
enum error introduction_compare(const struct introduction *ours, const struct introduction *theirs,
                                struct problem *difference) MUST_USE;

struct gate {
    uint8_t key[KEY_BYTES]; /* BLAKE2b of "hearsay gate", keyed with the swarm key */
    struct introduction ours;
};

void gate_init(struct gate *gate, const uint8_t swarm_key[static KEY_BYTES],
               const struct introduction *ours);

/* gate_create seals the dialer's introduction; gate_consume opens it at the acceptor. The nonce is
 * the first 24 bytes of message 1 (of its fresh public key), and all of message 1 is associated
 * data. gate_consume returns FORGED if the gate was sealed with another key or another message 1,
 * and MALFORMED if message 1 is shorter than the nonce. */
void gate_create(const struct gate *gate, uint8_t out[static GATE_BYTES], const uint8_t *message_1,
                 size_t message_1_bytes);
enum error gate_consume(const struct gate *gate, const uint8_t in[static GATE_BYTES],
                        const uint8_t *message_1, size_t message_1_bytes,
                        struct introduction *theirs) MUST_USE;

/* Seals (create) or opens (consume) a refusal, which carries the sender's introduction. It is bound
 * to `ephemeral`, the fresh public key of message 1, so an old refusal cannot be replayed.
 * refusal_consume returns FORGED if the refusal does not open. */
void refusal_create(const struct gate *gate, struct entropy *entropy,
                    const uint8_t ephemeral[static DH_BYTES], uint8_t out[static REFUSAL_BYTES]);
enum error refusal_consume(const struct gate *gate, const uint8_t in[static REFUSAL_BYTES],
                           const uint8_t ephemeral[static DH_BYTES],
                           struct introduction *theirs) MUST_USE;

#define PARTS_ADD (WIDE_NONCE_BYTES + TAG_BYTES) /* bytes that sealing adds to model parts */
/* parts_create seals the list of this node's model parts: nonce ‖ ciphertext ‖ tag. `ephemeral` is
 * the fresh public key of message 1. parts_consume opens it: it writes bytes - PARTS_ADD bytes, or
 * returns MALFORMED or FORGED. */
void parts_create(const struct gate *gate, struct entropy *entropy,
                  const uint8_t ephemeral[static DH_BYTES], const char *parts, size_t bytes,
                  uint8_t *out);
enum error parts_consume(const struct gate *gate, const uint8_t *in, size_t bytes,
                         const uint8_t ephemeral[static DH_BYTES], uint8_t *parts) MUST_USE;

#endif
