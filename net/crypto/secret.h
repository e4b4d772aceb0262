/* The cryptographic primitives. Outside the tests, only secret.c uses libsodium.
 *
 * The only state is struct entropy, which the caller owns, and the observer set by secret_watch. So
 * a simulated node derives the same keys from the same seed. A daemon seeds its entropy from the
 * system once. Tests: tests/unit/net/test_secret.c, with published vectors where they exist.
 */
#ifndef HEARSAY_NET_CRYPTO_SECRET_H
#define HEARSAY_NET_CRYPTO_SECRET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#define HASH_BYTES        32
#define KEY_BYTES         32
#define TAG_BYTES         16
#define SIGN_PUBLIC_BYTES 32
#define SIGN_SECRET_BYTES 64
#define SIGNATURE_BYTES   64
#define DH_BYTES          32
#define SEED_BYTES        32
#define CONTEXT_BYTES     16 /* bytes that bind signatures to one swarm and model (gate.h) */

/* Initializes libsodium; call it before any other function of this file. Aborts if the system
 * has no randomness. */
void secret_start(void);
void secret_wipe(void *memory, size_t bytes);

/* Allocates zeroed memory for keys: a multiple of 64 bytes, aligned to 64, between guard pages,
 * excluded from core dumps and locked against swapping. *refusal is the errno if locking failed, or
 * 0; unlocked memory is usable. secret_memory_free wipes and frees the memory; it accepts NULL. */
void *secret_memory_new(size_t bytes, int *refusal);
void secret_memory_free(void *memory);

/* A stream of random bytes from a seed (ChaCha20 in counter mode). */
struct entropy {
    uint8_t seed[SEED_BYTES];
    uint64_t used_blocks; /* position in the stream, in blocks of 64 bytes */
};
void entropy_from_system(struct entropy *entropy);
void entropy_from_seed(struct entropy *entropy, const uint8_t seed[static SEED_BYTES]);
void entropy_bytes(struct entropy *entropy, void *out, size_t bytes);

/* Computes BLAKE2b (RFC 7693) with a digest of 1 .. 64 bytes. key may be NULL if key_bytes is 0. */
void secret_blake2b(uint8_t *out, size_t out_bytes, const void *in, size_t in_bytes,
                    const uint8_t *key, size_t key_bytes);

/* Compute SHA-256 and HMAC-SHA-256 of a ‖ b. b may be empty. */
void secret_sha256(uint8_t out[static HASH_BYTES], const void *a, size_t a_bytes, const void *b,
                   size_t b_bytes);
void secret_hmac(uint8_t out[static HASH_BYTES], const uint8_t key[static HASH_BYTES],
                 const void *a, size_t a_bytes, const void *b, size_t b_bytes);

/* X25519 (RFC 7748). secret_dh computes the shared secret. It returns FORGED for a public key of
 * low order, whose shared secret is zero. */
void secret_dh_public(uint8_t public_key[static DH_BYTES], const uint8_t secret[static DH_BYTES]);
enum error secret_dh(uint8_t shared[static DH_BYTES], const uint8_t secret[static DH_BYTES],
                     const uint8_t public_key[static DH_BYTES]) MUST_USE;

/* ChaCha20-Poly1305 (RFC 8439) with Noise's nonce: 4 zero bytes ‖ counter, little-endian.
 * secret_seal writes bytes + TAG_BYTES bytes. The `bytes` of secret_open include the tag. It
 * returns FORGED if the tag does not verify; out then holds no plaintext. In place (out == in) is
 * allowed. */
void secret_seal(uint8_t *out, const uint8_t key[static KEY_BYTES], uint64_t counter,
                 const void *associated, size_t associated_bytes, const uint8_t *in, size_t bytes);
enum error secret_open(uint8_t *out, const uint8_t key[static KEY_BYTES], uint64_t counter,
                       const void *associated, size_t associated_bytes, const uint8_t *in,
                       size_t bytes) MUST_USE;

#define WIDE_NONCE_BYTES 24
/* Like secret_seal and secret_open, but XChaCha20-Poly1305 with the given nonce. */
void secret_seal_wide(uint8_t *out, const uint8_t key[static KEY_BYTES],
                      const uint8_t nonce[static WIDE_NONCE_BYTES], const void *associated,
                      size_t associated_bytes, const uint8_t *in, size_t bytes);
enum error secret_open_wide(uint8_t *out, const uint8_t key[static KEY_BYTES],
                            const uint8_t nonce[static WIDE_NONCE_BYTES], const void *associated,
                            size_t associated_bytes, const uint8_t *in, size_t bytes) MUST_USE;

/* Ed25519 (RFC 8032). secret_verify returns FORGED if the signature does not verify. */
void secret_sign_keys(uint8_t public_key[static SIGN_PUBLIC_BYTES],
                      uint8_t secret[static SIGN_SECRET_BYTES],
                      const uint8_t seed[static SEED_BYTES]);
void secret_sign(uint8_t signature[static SIGNATURE_BYTES],
                 const uint8_t secret[static SIGN_SECRET_BYTES], const void *message, size_t bytes);
enum error secret_verify(const uint8_t signature[static SIGNATURE_BYTES],
                         const uint8_t public_key[static SIGN_PUBLIC_BYTES], const void *message,
                         size_t bytes) MUST_USE;

#define SECRET_MARK_BYTES 16 /* bytes of a mark, a hash of public key, signature and message */
/* Observer for simulations, which run many nodes in one thread. It remembers verified signatures by
 * their marks, so that no valid signature is verified twice. */
struct secret_watch {
    void *self; /* first argument of each function below */
    /* Called before secret_seal uses this key and counter. */
    void (*on_seal)(void *self, const uint8_t key[static KEY_BYTES], uint64_t counter);
    /* Returns true if `held` was called with this mark: the signature is not verified again. */
    bool (*has_held)(void *self, const uint8_t mark[static SECRET_MARK_BYTES]);
    /* Called when a signature with this mark was made, or was verified. */
    void (*held)(void *self, const uint8_t mark[static SECRET_MARK_BYTES]);
};
/* The observer must stay valid; NULL = none, the default. */
void secret_watch(const struct secret_watch *watch);

#endif
