/* Keys: the identity of a node, the key of its swarm, and the operator's key.
 *
 *   identity   32 random bytes ─► Ed25519 pair (the public key is the node's id; it signs rumors)
 *                              └► X25519 pair (Noise's static key)
 *              certificate = id ‖ Ed25519 signature over "hearsay noise key" ‖ X25519 public key
 *   swarm key  32 random bytes, shared by all nodes of a swarm
 *   operator   32 random bytes ─► Ed25519 pair: all nodes know the public key (node.operator); the
 *              secret key signs orders (wire/order.h) and is on no node
 *
 * Each is a text file of one line, "hearsay-identity-1 <hex>", "hearsay-swarm-key-1 <hex>" or
 * "hearsay-operator-1 <hex>", with mode 0600. A file that other users can access is refused. The id
 * is the signing key, not the Noise key, so that a rumor can be verified from its origin's id.
 * Tests: tests/unit/net/test_identity.c.
 */
#ifndef HEARSAY_NET_CRYPTO_IDENTITY_H
#define HEARSAY_NET_CRYPTO_IDENTITY_H

#include "base/error.h"
#include "crypto/secret.h"

#define ID_BYTES          SIGN_PUBLIC_BYTES
#define CERTIFICATE_BYTES (ID_BYTES + SIGNATURE_BYTES)

struct identity {
    /* 32 random bytes, from which the rest of this struct is derived */
    uint8_t seed[SEED_BYTES];
    uint8_t id[ID_BYTES]; /* public signing key */
    uint8_t sign_secret[SIGN_SECRET_BYTES];
    uint8_t noise_public[DH_BYTES];
    uint8_t noise_secret[DH_BYTES]; /* secret half of Noise's static key */
    /* id ‖ signature that proves that noise_public belongs to the id */
    uint8_t certificate[CERTIFICATE_BYTES];
};

struct operator_key {
    /* 32 random bytes, from which the rest of this struct is derived */
    uint8_t seed[SEED_BYTES];
    uint8_t id[ID_BYTES]; /* public signing key */
    uint8_t sign_secret[SIGN_SECRET_BYTES];
};

void identity_from_seed(struct identity *identity, const uint8_t seed[static SEED_BYTES]);

void operator_key_from_seed(struct operator_key *key, const uint8_t seed[static SEED_BYTES]);

/* Verifies a certificate for this Noise key and sets `id` to the id in the certificate. Returns
 * FORGED if the signature does not verify. */
enum error identity_check(uint8_t id[static ID_BYTES],
                          const uint8_t certificate[static CERTIFICATE_BYTES],
                          const uint8_t noise_public[static DH_BYTES]) MUST_USE;

/* The following functions load and save key files. Loading returns MISSING if the file does not
 * exist; *problem says how to get one. It returns FAILED if the file cannot be read, MALFORMED for
 * another kind of file, FORGED for a wrong mode or owner. Saving creates the file with mode 0600
 * and fsyncs it. It returns FAILED if the file cannot be written, or exists: a key file is never
 * overwritten. */
enum error identity_load(struct identity *identity, const char *path,
                         struct problem *problem) MUST_USE;
enum error identity_save(const struct identity *identity, const char *path,
                         struct problem *problem) MUST_USE;
enum error swarm_key_load(uint8_t key[static KEY_BYTES], const char *path,
                          struct problem *problem) MUST_USE;
enum error swarm_key_save(const uint8_t key[static KEY_BYTES], const char *path,
                          struct problem *problem) MUST_USE;

/* Writes a hash that identifies a swarm key and may be shown: the key cannot be computed from
 * it. */
void swarm_key_hash(uint8_t hash[static HASH_BYTES], const uint8_t key[static KEY_BYTES]);
enum error operator_key_load(struct operator_key *key, const char *path,
                             struct problem *problem) MUST_USE;
enum error operator_key_save(const struct operator_key *key, const char *path,
                             struct problem *problem) MUST_USE;

#define SWARM_KEY_LINE_BYTES 85
/* Writes the line of a swarm key file, with its newline and without a final zero. The line is
 * secret: wipe it after use. */
void swarm_key_line(char line[static SWARM_KEY_LINE_BYTES], const uint8_t key[static KEY_BYTES]);

#define KEY_HEX_BYTES (2 * KEY_BYTES + 1)
/* key_hex writes lower-case digits. key_from_hex accepts 64 hex digits in either case, and returns
 * MALFORMED for any other text. */
void key_hex(char text[static KEY_HEX_BYTES], const uint8_t key[static KEY_BYTES]);
enum error key_from_hex(uint8_t key[static KEY_BYTES], const char *text) MUST_USE;

#define ID_TEXT_BYTES 9
/* Writes the first 8 hex digits of an id, the form that people see. */
void identity_text(char text[static ID_TEXT_BYTES], const uint8_t id[static ID_BYTES]);

#endif
