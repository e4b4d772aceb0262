#include "crypto/secret.h"

#include <errno.h>
#include <sodium.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "frame/bytes.h"

_Static_assert(KEY_BYTES == crypto_aead_chacha20poly1305_ietf_KEYBYTES, "key");
_Static_assert(TAG_BYTES == crypto_aead_chacha20poly1305_ietf_ABYTES, "tag");
_Static_assert(WIDE_NONCE_BYTES == crypto_aead_xchacha20poly1305_ietf_NPUBBYTES, "wide nonce");
_Static_assert(HASH_BYTES == crypto_hash_sha256_BYTES, "hash");
_Static_assert(HASH_BYTES == crypto_auth_hmacsha256_BYTES, "hmac");
_Static_assert(DH_BYTES == crypto_scalarmult_BYTES, "dh");
_Static_assert(SIGN_PUBLIC_BYTES == crypto_sign_PUBLICKEYBYTES, "sign public");
_Static_assert(SIGN_SECRET_BYTES == crypto_sign_SECRETKEYBYTES, "sign secret");
_Static_assert(SIGNATURE_BYTES == crypto_sign_BYTES, "signature");
_Static_assert(SEED_BYTES == crypto_sign_SEEDBYTES, "sign seed");
_Static_assert(SEED_BYTES == crypto_stream_chacha20_KEYBYTES, "stream seed");

#define STREAM_BLOCK_BYTES 64

static const struct secret_watch *watcher;

void secret_watch(const struct secret_watch *watch)
{
    watcher = watch;
}

void secret_start(void)
{
    CHECK(sodium_init() >= 0);
}

void secret_wipe(void *memory, size_t bytes)
{
    sodium_memzero(memory, bytes);
}

/* sodium_malloc excludes the memory from dumps and locks it, but does not report whether locking
 * worked. A second sodium_mlock does. */
void *secret_memory_new(size_t bytes, int *refusal)
{
    CHECK(bytes > 0 && bytes % 64 == 0);
    void *memory = sodium_malloc(bytes);
    if (!memory)
        memory_missing(bytes);
    CHECK((uintptr_t)memory % 64 == 0);
    memset(memory, 0, bytes);
    *refusal = sodium_mlock(memory, bytes) == 0 ? 0 : errno;
    return memory;
}

void secret_memory_free(void *memory)
{
    sodium_free(memory);
}

void entropy_from_system(struct entropy *entropy)
{
    randombytes_buf(entropy->seed, sizeof entropy->seed);
    entropy->used_blocks = 0;
}

void entropy_from_seed(struct entropy *entropy, const uint8_t seed[static SEED_BYTES])
{
    memcpy(entropy->seed, seed, SEED_BYTES);
    entropy->used_blocks = 0;
}

void entropy_bytes(struct entropy *entropy, void *out, size_t bytes)
{
    static const uint8_t nonce[crypto_stream_chacha20_NONCEBYTES];
    memset(out, 0, bytes);
    CHECK(crypto_stream_chacha20_xor_ic(out, out, bytes, nonce, entropy->used_blocks,
                                        entropy->seed) == 0);
    entropy->used_blocks += (bytes + STREAM_BLOCK_BYTES - 1) / STREAM_BLOCK_BYTES;
}

void secret_blake2b(uint8_t *out, size_t out_bytes, const void *in, size_t in_bytes,
                    const uint8_t *key, size_t key_bytes)
{
    CHECK(crypto_generichash_blake2b(out, out_bytes, in, in_bytes, key, key_bytes) == 0);
}

void secret_sha256(uint8_t out[static HASH_BYTES], const void *a, size_t a_bytes, const void *b,
                   size_t b_bytes)
{
    crypto_hash_sha256_state state;
    CHECK(crypto_hash_sha256_init(&state) == 0);
    CHECK(crypto_hash_sha256_update(&state, a, a_bytes) == 0);
    CHECK(crypto_hash_sha256_update(&state, b, b_bytes) == 0);
    CHECK(crypto_hash_sha256_final(&state, out) == 0);
    secret_wipe(&state, sizeof state);
}

void secret_hmac(uint8_t out[static HASH_BYTES], const uint8_t key[static HASH_BYTES],
                 const void *a, size_t a_bytes, const void *b, size_t b_bytes)
{
    crypto_auth_hmacsha256_state state;
    CHECK(crypto_auth_hmacsha256_init(&state, key, HASH_BYTES) == 0);
    CHECK(crypto_auth_hmacsha256_update(&state, a, a_bytes) == 0);
    CHECK(crypto_auth_hmacsha256_update(&state, b, b_bytes) == 0);
    CHECK(crypto_auth_hmacsha256_final(&state, out) == 0);
    secret_wipe(&state, sizeof state);
}

void secret_dh_public(uint8_t public_key[static DH_BYTES], const uint8_t secret[static DH_BYTES])
{
    CHECK(crypto_scalarmult_base(public_key, secret) == 0);
}

enum error secret_dh(uint8_t shared[static DH_BYTES], const uint8_t secret[static DH_BYTES],
                     const uint8_t public_key[static DH_BYTES])
{
    uint8_t result[DH_BYTES];
    if (crypto_scalarmult(result, secret, public_key) != 0)
        return FORGED;
    memcpy(shared, result, DH_BYTES);
    secret_wipe(result, sizeof result);
    return OK;
}

static void nonce_of(uint8_t nonce[static crypto_aead_chacha20poly1305_ietf_NPUBBYTES],
                     uint64_t counter)
{
    memset(nonce, 0, 4);
    bytes_put(nonce + 4, counter, 8);
}

void secret_seal(uint8_t *out, const uint8_t key[static KEY_BYTES], uint64_t counter,
                 const void *associated, size_t associated_bytes, const uint8_t *in, size_t bytes)
{
    uint8_t nonce[crypto_aead_chacha20poly1305_ietf_NPUBBYTES];
    nonce_of(nonce, counter);
    if (watcher)
        watcher->on_seal(watcher->self, key, counter);
    CHECK(crypto_aead_chacha20poly1305_ietf_encrypt(out, NULL, in, bytes, associated,
                                                    associated_bytes, NULL, nonce, key) == 0);
}

enum error secret_open(uint8_t *out, const uint8_t key[static KEY_BYTES], uint64_t counter,
                       const void *associated, size_t associated_bytes, const uint8_t *in,
                       size_t bytes)
{
    uint8_t nonce[crypto_aead_chacha20poly1305_ietf_NPUBBYTES];
    nonce_of(nonce, counter);
    bool holds = crypto_aead_chacha20poly1305_ietf_decrypt(out, NULL, NULL, in, bytes, associated,
                                                           associated_bytes, nonce, key) == 0;
    return holds ? OK : FORGED;
}

void secret_seal_wide(uint8_t *out, const uint8_t key[static KEY_BYTES],
                      const uint8_t nonce[static WIDE_NONCE_BYTES], const void *associated,
                      size_t associated_bytes, const uint8_t *in, size_t bytes)
{
    CHECK(crypto_aead_xchacha20poly1305_ietf_encrypt(out, NULL, in, bytes, associated,
                                                     associated_bytes, NULL, nonce, key) == 0);
}

enum error secret_open_wide(uint8_t *out, const uint8_t key[static KEY_BYTES],
                            const uint8_t nonce[static WIDE_NONCE_BYTES], const void *associated,
                            size_t associated_bytes, const uint8_t *in, size_t bytes)
{
    bool holds = crypto_aead_xchacha20poly1305_ietf_decrypt(out, NULL, NULL, in, bytes, associated,
                                                            associated_bytes, nonce, key) == 0;
    return holds ? OK : FORGED;
}

void secret_sign_keys(uint8_t public_key[static SIGN_PUBLIC_BYTES],
                      uint8_t secret[static SIGN_SECRET_BYTES],
                      const uint8_t seed[static SEED_BYTES])
{
    CHECK(crypto_sign_seed_keypair(public_key, secret, seed) == 0);
}

static void mark_of(uint8_t mark[static SECRET_MARK_BYTES],
                    const uint8_t signature[static SIGNATURE_BYTES],
                    const uint8_t public_key[static SIGN_PUBLIC_BYTES], const void *message,
                    size_t bytes)
{
    crypto_generichash_blake2b_state state;
    CHECK(crypto_generichash_blake2b_init(&state, NULL, 0, SECRET_MARK_BYTES) == 0);
    CHECK(crypto_generichash_blake2b_update(&state, public_key, SIGN_PUBLIC_BYTES) == 0);
    CHECK(crypto_generichash_blake2b_update(&state, signature, SIGNATURE_BYTES) == 0);
    CHECK(crypto_generichash_blake2b_update(&state, message, bytes) == 0);
    CHECK(crypto_generichash_blake2b_final(&state, mark, SECRET_MARK_BYTES) == 0);
}

void secret_sign(uint8_t signature[static SIGNATURE_BYTES],
                 const uint8_t secret[static SIGN_SECRET_BYTES], const void *message, size_t bytes)
{
    CHECK(crypto_sign_detached(signature, NULL, message, bytes, secret) == 0);
    if (watcher) {
        uint8_t mark[SECRET_MARK_BYTES];
        uint8_t public_key[SIGN_PUBLIC_BYTES];
        CHECK(crypto_sign_ed25519_sk_to_pk(public_key, secret) == 0);
        mark_of(mark, signature, public_key, message, bytes);
        watcher->held(watcher->self, mark);
    }
}

enum error secret_verify(const uint8_t signature[static SIGNATURE_BYTES],
                         const uint8_t public_key[static SIGN_PUBLIC_BYTES], const void *message,
                         size_t bytes)
{
    uint8_t mark[SECRET_MARK_BYTES];
    if (watcher) {
        mark_of(mark, signature, public_key, message, bytes);
        if (watcher->has_held(watcher->self, mark))
            return OK;
    }
    if (crypto_sign_verify_detached(signature, message, bytes, public_key) != 0)
        return FORGED;
    if (watcher)
        watcher->held(watcher->self, mark);
    return OK;
}
