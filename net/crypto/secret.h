/* The cryptographic primitives, and the only file that knows libsodium (secret.c).
 *
 * Nothing here holds state, except struct entropy, which is the caller's, and the watcher below. A
 * node in a simulation makes the same keys from the same seed; a daemon seeds its entropy from the
 * system once.
 * Held by tests/unit/net/test_secret.c, by published vectors where there are some.
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
#define CONTEXT_BYTES     16 /* what binds signatures to one swarm and model (gate.h) */

/* Call once before anything else here; aborts if the system cannot give randomness. */
void secret_start(void);
void secret_wipe(void *memory, size_t bytes);

/* Zeroed memory for keys, a multiple of 64 bytes, aligned likewise: between pages that nobody may
 * touch, left out of core dumps, and locked, so that it is never swapped out. *refusal: errno of
 * what refused to lock it, or 0; it is good for all else then. free wipes it; NULL is allowed. */
void *secret_memory_new(size_t bytes, int *refusal);
void secret_memory_free(void *memory);

/* A stream of random bytes from a seed (ChaCha20 in counter mode). */
struct entropy {
    uint8_t seed[SEED_BYTES]; /* the key of the stream */
    uint64_t used_blocks;     /* its position, in blocks of 64 bytes */
};
void entropy_from_system(struct entropy *entropy);
void entropy_from_seed(struct entropy *entropy, const uint8_t seed[static SEED_BYTES]);
void entropy_bytes(struct entropy *entropy, void *out, size_t bytes);

/* BLAKE2b (RFC 7693) with a digest of 1 .. 64 bytes; key may be NULL with key_bytes 0. */
void secret_blake2b(uint8_t *out, size_t out_bytes, const void *in, size_t in_bytes,
                    const uint8_t *key, size_t key_bytes);

/* SHA-256 of a ‖ b, and HMAC-SHA-256 of a ‖ b, for Noise; b may be empty. */
void secret_sha256(uint8_t out[static HASH_BYTES], const void *a, size_t a_bytes, const void *b,
                   size_t b_bytes);
void secret_hmac(uint8_t out[static HASH_BYTES], const uint8_t key[static HASH_BYTES],
                 const void *a, size_t a_bytes, const void *b, size_t b_bytes);

/* X25519 (RFC 7748). FORGED: the result would be all zero (a public key of low order). */
void secret_dh_public(uint8_t public_key[static DH_BYTES], const uint8_t secret[static DH_BYTES]);
enum error secret_dh(uint8_t shared[static DH_BYTES], const uint8_t secret[static DH_BYTES],
                     const uint8_t public_key[static DH_BYTES]) MUST_USE;

/* ChaCha20-Poly1305 (RFC 8439) with Noise's nonce: 4 zero bytes ‖ counter, little-endian.
 * seal turns `bytes` bytes into bytes + TAG_BYTES. open is the reverse; its `bytes` includes the
 * tag. FORGED: the tag does not hold; no plaintext is written, and out may hold zeros. In place
 * (out == in) is allowed. */
void secret_seal(uint8_t *out, const uint8_t key[static KEY_BYTES], uint64_t counter,
                 const void *associated, size_t associated_bytes, const uint8_t *in, size_t bytes);
enum error secret_open(uint8_t *out, const uint8_t key[static KEY_BYTES], uint64_t counter,
                       const void *associated, size_t associated_bytes, const uint8_t *in,
                       size_t bytes) MUST_USE;

/* The same with a 24-byte nonce (XChaCha20-Poly1305), for the gate. */
#define WIDE_NONCE_BYTES 24
void secret_seal_wide(uint8_t *out, const uint8_t key[static KEY_BYTES],
                      const uint8_t nonce[static WIDE_NONCE_BYTES], const void *associated,
                      size_t associated_bytes, const uint8_t *in, size_t bytes);
enum error secret_open_wide(uint8_t *out, const uint8_t key[static KEY_BYTES],
                            const uint8_t nonce[static WIDE_NONCE_BYTES], const void *associated,
                            size_t associated_bytes, const uint8_t *in, size_t bytes) MUST_USE;

/* Ed25519 (RFC 8032). */
void secret_sign_keys(uint8_t public_key[static SIGN_PUBLIC_BYTES],
                      uint8_t secret[static SIGN_SECRET_BYTES],
                      const uint8_t seed[static SEED_BYTES]);
void secret_sign(uint8_t signature[static SIGNATURE_BYTES],
                 const uint8_t secret[static SIGN_SECRET_BYTES], const void *message, size_t bytes);
enum error secret_verify(const uint8_t signature[static SIGNATURE_BYTES],
                         const uint8_t public_key[static SIGN_PUBLIC_BYTES], const void *message,
                         size_t bytes) MUST_USE;

/* For a simulation, which plays many nodes in one process and one thread. It may watch every seal,
 * and remember which signatures hold, so that none is checked twice: whether one holds follows from
 * its bytes alone. mark is a hash over key, signature and message. */
#define SECRET_MARK_BYTES 16
struct secret_watch {
    void *self; /* passed to each call below */
    /* A message was sealed with this key and counter. */
    void (*on_seal)(void *self, const uint8_t key[static KEY_BYTES], uint64_t counter);
    /* Was `held` called with this mark before? Then the signature is not checked again. */
    bool (*has_held)(void *self, const uint8_t mark[static SECRET_MARK_BYTES]);
    /* A signature with this mark was made, or was checked and holds. */
    void (*held)(void *self, const uint8_t mark[static SECRET_MARK_BYTES]);
};
/* One watcher, kept by reference; NULL: none, as in any process that is one node. */
void secret_watch(const struct secret_watch *watch);

#endif
