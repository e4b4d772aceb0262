/* Who a node is, which swarm it may enter, and whose orders it obeys.
 *
 *   identity   32 random bytes ─► Ed25519 pair (its public key is the node's id; it signs rumors)
 *                              └► X25519 pair (Noise's static key)
 *              certificate = Ed25519 signature over "hearsay noise key" ‖ X25519 public key
 *   swarm key  32 random bytes, shared by all nodes of a swarm
 *   operator   32 random bytes ─► Ed25519 pair: the public key is known to all nodes of a swarm
 *              (node.operator), the secret one signs orders (wire/order.h) and is on none of them
 *
 * All live in text files of one line, "hearsay-identity-1 <hex>", "hearsay-swarm-key-1 <hex>",
 * "hearsay-operator-1 <hex>", mode 0600; a file that others may read is refused. The id is the
 * signing key, not the Noise key, so that a rumor can be checked from its origin's id alone. Held
 * by tests/unit/net/test_identity.c.
 */
#ifndef HEARSAY_NET_CRYPTO_IDENTITY_H
#define HEARSAY_NET_CRYPTO_IDENTITY_H

#include "base/error.h"
#include "crypto/secret.h"

#define ID_BYTES          SIGN_PUBLIC_BYTES
#define CERTIFICATE_BYTES (ID_BYTES + SIGNATURE_BYTES) /* id ‖ signature */

struct identity {
    uint8_t seed[SEED_BYTES];               /* the 32 random bytes all else follows from */
    uint8_t id[ID_BYTES];                   /* public signing key */
    uint8_t sign_secret[SIGN_SECRET_BYTES]; /* secret signing key */
    uint8_t noise_public[DH_BYTES];         /* public half of Noise's static key */
    uint8_t noise_secret[DH_BYTES];         /* secret half of Noise's static key */
    uint8_t certificate[CERTIFICATE_BYTES]; /* proves that noise_public belongs to id */
};

struct operator_key {
    uint8_t seed[SEED_BYTES];               /* the 32 random bytes all else follows from */
    uint8_t id[ID_BYTES];                   /* public signing key */
    uint8_t sign_secret[SIGN_SECRET_BYTES]; /* secret signing key */
};

void identity_from_seed(struct identity *identity, const uint8_t seed[static SEED_BYTES]);

void operator_key_from_seed(struct operator_key *key, const uint8_t seed[static SEED_BYTES]);

/* Gives the id that the certificate proves for this Noise key. FORGED: it proves none. */
enum error identity_check(uint8_t id[static ID_BYTES],
                          const uint8_t certificate[static CERTIFICATE_BYTES],
                          const uint8_t noise_public[static DH_BYTES]) MUST_USE;

/* Load. MISSING: no such file; the sentence says what to type. FAILED: it cannot be read.
 * MALFORMED: it is another kind of file. FORGED: wrong mode or owner.
 * Save creates the file with mode 0600 and fsyncs it. FAILED: it exists already (nothing is ever
 * overwritten), or cannot be written. */
enum error identity_load(struct identity *identity, const char *path,
                         struct problem *problem) MUST_USE;
enum error identity_save(const struct identity *identity, const char *path,
                         struct problem *problem) MUST_USE;
enum error swarm_key_load(uint8_t key[static KEY_BYTES], const char *path,
                          struct problem *problem) MUST_USE;
enum error swarm_key_save(const uint8_t key[static KEY_BYTES], const char *path,
                          struct problem *problem) MUST_USE;

/* What may be shown of a swarm key: it tells keys apart, and nobody finds a key by it. */
void swarm_key_hash(uint8_t hash[static HASH_BYTES], const uint8_t key[static KEY_BYTES]);
enum error operator_key_load(struct operator_key *key, const char *path,
                             struct problem *problem) MUST_USE;
enum error operator_key_save(const struct operator_key *key, const char *path,
                             struct problem *problem) MUST_USE;

/* The line that a swarm key file is, with its newline. Secret: to be wiped. */
#define SWARM_KEY_LINE_BYTES 85
void swarm_key_line(char line[static SWARM_KEY_LINE_BYTES], const uint8_t key[static KEY_BYTES]);

/* 32 bytes as 64 hex digits, and back. MALFORMED: it is not that. */
#define KEY_HEX_BYTES (2 * KEY_BYTES + 1)
void key_hex(char text[static KEY_HEX_BYTES], const uint8_t key[static KEY_BYTES]);
enum error key_from_hex(uint8_t key[static KEY_BYTES], const char *text) MUST_USE;

/* The first 8 hex digits of an id, for people. */
#define ID_TEXT_BYTES 9
void identity_text(char text[static ID_TEXT_BYTES], const uint8_t id[static ID_BYTES]);

#endif
