#include "crypto/handshake.h"

#include <string.h>

static const char name_plain[] = "Noise_XX_25519_ChaChaPoly_SHA256";
static const char name_psk[] = "Noise_XXpsk3_25519_ChaChaPoly_SHA256";

#define ADDED_MAX 128 /* upper bound of the bytes that a message adds to its payload */
_Static_assert(HANDSHAKE_2_BYTES <= ADDED_MAX, "ADDED_MAX covers message 2");

/* Positions in a buffer. writer: the next byte to write. reader: the next byte to read, and the
 * number of bytes left. */
struct writer {
    uint8_t *at;
};
struct reader {
    const uint8_t *at;
    size_t left;
};

/* HKDF of Noise section 4.3, from HMAC, with two outputs, or three if out_3 is not NULL. */
static void hkdf(uint8_t *out_1, uint8_t *out_2, uint8_t *out_3,
                 const uint8_t chaining[static HASH_BYTES], const uint8_t *input,
                 size_t input_bytes)
{
    uint8_t temporary[HASH_BYTES];
    secret_hmac(temporary, chaining, input, input_bytes, NULL, 0);
    secret_hmac(out_1, temporary, NULL, 0, "\x01", 1);
    secret_hmac(out_2, temporary, out_1, HASH_BYTES, "\x02", 1);
    if (out_3 != NULL)
        secret_hmac(out_3, temporary, out_2, HASH_BYTES, "\x03", 1);
    secret_wipe(temporary, sizeof temporary);
}

/* The following functions work on the symmetric state (Noise section 5.2). */

static void mix_hash(struct handshake *h, const void *data, size_t bytes)
{
    secret_sha256(h->hash, h->hash, HASH_BYTES, data, bytes);
}

static void mix_key(struct handshake *h, const uint8_t *input, size_t bytes)
{
    uint8_t chaining[HASH_BYTES];
    hkdf(chaining, h->key, NULL, h->chaining, input, bytes);
    memcpy(h->chaining, chaining, HASH_BYTES);
    secret_wipe(chaining, sizeof chaining);
    h->nonce = 0;
    h->has_key = true;
}

static void mix_key_and_hash(struct handshake *h, const uint8_t *input, size_t bytes)
{
    uint8_t chaining[HASH_BYTES];
    uint8_t temporary[HASH_BYTES];
    hkdf(chaining, temporary, h->key, h->chaining, input, bytes);
    memcpy(h->chaining, chaining, HASH_BYTES);
    mix_hash(h, temporary, HASH_BYTES);
    secret_wipe(chaining, sizeof chaining);
    secret_wipe(temporary, sizeof temporary);
    h->nonce = 0;
    h->has_key = true;
}

static void encrypt_and_hash(struct handshake *h, struct writer *out, const uint8_t *in,
                             size_t bytes)
{
    size_t sealed_bytes = bytes + (h->has_key ? TAG_BYTES : 0);
    if (h->has_key)
        secret_seal(out->at, h->key, h->nonce++, h->hash, HASH_BYTES, in, bytes);
    else if (bytes > 0)
        memcpy(out->at, in, bytes);
    mix_hash(h, out->at, sealed_bytes);
    out->at += sealed_bytes;
}

/* Takes `bytes` bytes of plaintext from the message into `out`, decrypted if a key is set. Mixes
 * the bytes of the message into the hash. */
static enum error decrypt_and_hash(struct handshake *h, struct reader *in, uint8_t *out,
                                   size_t bytes)
{
    size_t sealed_bytes = bytes + (h->has_key ? TAG_BYTES : 0);
    CHECK(in->left >= sealed_bytes);
    if (h->has_key) {
        if (secret_open(out, h->key, h->nonce++, h->hash, HASH_BYTES, in->at, sealed_bytes) != OK)
            return FORGED;
    } else if (bytes > 0) {
        memcpy(out, in->at, bytes);
    }
    mix_hash(h, in->at, sealed_bytes);
    in->at += sealed_bytes;
    in->left -= sealed_bytes;
    return OK;
}

/* The following functions process the tokens of a message (Noise section 5.3). */

/* Mixes an ephemeral public key into the hash and, with a psk, also into the key (section 9.2). */
static void mix_ephemeral(struct handshake *h, const uint8_t public_key[static DH_BYTES])
{
    mix_hash(h, public_key, DH_BYTES);
    if (h->has_psk)
        mix_key(h, public_key, DH_BYTES);
}

static void write_e(struct handshake *h, struct writer *out)
{
    memcpy(out->at, h->ephemeral_public, DH_BYTES);
    out->at += DH_BYTES;
    mix_ephemeral(h, h->ephemeral_public);
}

static void read_e(struct handshake *h, struct reader *in)
{
    CHECK(in->left >= DH_BYTES);
    memcpy(h->their_ephemeral, in->at, DH_BYTES);
    in->at += DH_BYTES;
    in->left -= DH_BYTES;
    mix_ephemeral(h, h->their_ephemeral);
}

static void write_s(struct handshake *h, struct writer *out)
{
    encrypt_and_hash(h, out, h->own_public, DH_BYTES);
}

static enum error read_s(struct handshake *h, struct reader *in)
{
    return decrypt_and_hash(h, in, h->their_public, DH_BYTES);
}

static enum error mix_dh(struct handshake *h, const uint8_t secret[static DH_BYTES],
                         const uint8_t public_key[static DH_BYTES])
{
    uint8_t shared[DH_BYTES];
    enum error error = secret_dh(shared, secret, public_key);
    if (error == OK)
        mix_key(h, shared, DH_BYTES);
    secret_wipe(shared, sizeof shared);
    return error;
}

static enum error mix_ee(struct handshake *h)
{
    return mix_dh(h, h->ephemeral_secret, h->their_ephemeral);
}

/* Mixes in es: the DH of the initiator's ephemeral key and the responder's static key. */
static enum error mix_es(struct handshake *h)
{
    return h->initiator ? mix_dh(h, h->ephemeral_secret, h->their_public)
                        : mix_dh(h, h->own_secret, h->their_ephemeral);
}

/* Mixes in se: the DH of the initiator's static key and the responder's ephemeral key. */
static enum error mix_se(struct handshake *h)
{
    return h->initiator ? mix_dh(h, h->own_secret, h->their_ephemeral)
                        : mix_dh(h, h->ephemeral_secret, h->their_public);
}

static void mix_psk(struct handshake *h)
{
    if (h->has_psk)
        mix_key_and_hash(h, h->psk, KEY_BYTES);
}

static enum error create_1(struct handshake *h, struct writer *out)
{
    write_e(h, out);
    return OK;
}

static enum error consume_1(struct handshake *h, struct reader *in)
{
    read_e(h, in);
    return OK;
}

static enum error create_2(struct handshake *h, struct writer *out)
{
    write_e(h, out);
    if (mix_ee(h) != OK)
        return FORGED;
    write_s(h, out);
    return mix_es(h);
}

static enum error consume_2(struct handshake *h, struct reader *in)
{
    read_e(h, in);
    if (mix_ee(h) != OK || read_s(h, in) != OK)
        return FORGED;
    return mix_es(h);
}

static enum error create_3(struct handshake *h, struct writer *out)
{
    write_s(h, out);
    if (mix_se(h) != OK)
        return FORGED;
    mix_psk(h);
    return OK;
}

static enum error consume_3(struct handshake *h, struct reader *in)
{
    if (read_s(h, in) != OK || mix_se(h) != OK)
        return FORGED;
    mix_psk(h);
    return OK;
}

static enum error create_tokens(struct handshake *h, struct writer *out)
{
    switch (h->state) {
    case HANDSHAKE_START:
        return create_1(h, out);
    case HANDSHAKE_1:
        return create_2(h, out);
    case HANDSHAKE_2:
        return create_3(h, out);
    case HANDSHAKE_DONE:
    case HANDSHAKE_DEAD:
        break;
    }
    return MALFORMED;
}

static enum error consume_tokens(struct handshake *h, struct reader *in)
{
    switch (h->state) {
    case HANDSHAKE_START:
        return consume_1(h, in);
    case HANDSHAKE_1:
        return consume_2(h, in);
    case HANDSHAKE_2:
        return consume_3(h, in);
    case HANDSHAKE_DONE:
    case HANDSHAKE_DEAD:
        break;
    }
    return MALFORMED;
}

static bool is_initiators_turn(const struct handshake *h)
{
    return h->state == HANDSHAKE_START || h->state == HANDSHAKE_2;
}

static bool is_over(const struct handshake *h)
{
    return h->state == HANDSHAKE_DONE || h->state == HANDSHAKE_DEAD;
}

/* Returns how many bytes the next message adds to its payload. */
static size_t added_bytes(const struct handshake *h)
{
    if (h->state == HANDSHAKE_START)
        return h->has_psk ? HANDSHAKE_1_BYTES : DH_BYTES;
    return h->state == HANDSHAKE_1 ? HANDSHAKE_2_BYTES : HANDSHAKE_3_BYTES;
}

/* Advances the handshake by one message if `error` is OK; otherwise leaves it DEAD. */
static void move(struct handshake *handshake, struct handshake *next, enum error error)
{
    if (error == OK) {
        next->state++;
        *handshake = *next;
    } else {
        handshake_wipe(handshake);
    }
    secret_wipe(next, sizeof *next);
}

enum error handshake_create(struct handshake *handshake, const uint8_t *payload,
                            size_t payload_bytes, uint8_t *out, size_t *out_bytes)
{
    CHECK(payload_bytes <= HANDSHAKE_PAYLOAD_MAX);
    struct handshake next = *handshake;
    uint8_t message[ADDED_MAX + HANDSHAKE_PAYLOAD_MAX];
    struct writer writer = {message};
    enum error error = MALFORMED;
    if (!is_over(&next) && next.initiator == is_initiators_turn(&next))
        error = create_tokens(&next, &writer);
    if (error == OK) {
        encrypt_and_hash(&next, &writer, payload, payload_bytes);
        *out_bytes = (size_t)(writer.at - message);
        memcpy(out, message, *out_bytes);
    }
    move(handshake, &next, error);
    return error;
}

/* Reads the tokens and the payload of a message whose length is right. */
static enum error consume_message(struct handshake *h, const uint8_t *in, size_t in_bytes,
                                  uint8_t *payload, size_t payload_bytes)
{
    struct reader reader = {in, in_bytes};
    enum error error = consume_tokens(h, &reader);
    if (error == OK)
        error = decrypt_and_hash(h, &reader, payload, payload_bytes);
    return error;
}

enum error handshake_consume(struct handshake *handshake, const uint8_t *in, size_t in_bytes,
                             uint8_t *payload, size_t *payload_bytes)
{
    struct handshake next = *handshake;
    uint8_t opened[HANDSHAKE_PAYLOAD_MAX];
    size_t added = added_bytes(&next);
    bool is_their_turn = !is_over(&next) && next.initiator != is_initiators_turn(&next);
    bool fits = in_bytes >= added && in_bytes <= added + HANDSHAKE_PAYLOAD_MAX;
    enum error error = MALFORMED;
    if (is_their_turn && fits)
        error = consume_message(&next, in, in_bytes, opened, in_bytes - added);
    if (error == OK) {
        *payload_bytes = in_bytes - added;
        memcpy(payload, opened, *payload_bytes);
    }
    secret_wipe(opened, sizeof opened);
    move(handshake, &next, error);
    return error;
}

/* Hashes the name of the pattern as Noise section 5.2 (Initialize) says: pads a name of up to 32
 * bytes, hashes a longer one. */
static void hash_name(uint8_t hash[static HASH_BYTES], const char *name)
{
    size_t bytes = strlen(name);
    memset(hash, 0, HASH_BYTES);
    if (bytes <= HASH_BYTES)
        memcpy(hash, name, bytes);
    else
        secret_sha256(hash, name, bytes, NULL, 0);
}

void handshake_init(struct handshake *handshake, bool initiator, const void *prologue,
                    size_t prologue_bytes, const uint8_t *psk,
                    const uint8_t own_secret[static DH_BYTES],
                    const uint8_t ephemeral[static DH_BYTES])
{
    *handshake = (struct handshake){
        .state = HANDSHAKE_START, .initiator = initiator, .has_psk = psk != NULL};
    if (psk != NULL)
        memcpy(handshake->psk, psk, KEY_BYTES);
    memcpy(handshake->own_secret, own_secret, DH_BYTES);
    memcpy(handshake->ephemeral_secret, ephemeral, DH_BYTES);
    secret_dh_public(handshake->own_public, own_secret);
    secret_dh_public(handshake->ephemeral_public, ephemeral);
    hash_name(handshake->hash, psk != NULL ? name_psk : name_plain);
    memcpy(handshake->chaining, handshake->hash, HASH_BYTES);
    mix_hash(handshake, prologue, prologue_bytes);
}

void handshake_split(struct handshake *handshake, uint8_t send_key[static KEY_BYTES],
                     uint8_t receive_key[static KEY_BYTES])
{
    CHECK(handshake->state == HANDSHAKE_DONE && handshake->has_key);
    bool initiator = handshake->initiator;
    hkdf(initiator ? send_key : receive_key, initiator ? receive_key : send_key, NULL,
         handshake->chaining, NULL, 0);
    struct handshake kept = {.state = HANDSHAKE_DONE, .initiator = initiator};
    memcpy(kept.hash, handshake->hash, HASH_BYTES);
    memcpy(kept.their_public, handshake->their_public, DH_BYTES);
    secret_wipe(handshake, sizeof *handshake);
    *handshake = kept;
}

void handshake_wipe(struct handshake *handshake)
{
    secret_wipe(handshake, sizeof *handshake);
    handshake->state = HANDSHAKE_DEAD;
}
