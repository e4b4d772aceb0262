/* Test vectors for Noise_XX and Noise_XXpsk3 with 25519, ChaChaPoly and SHA256.
 *
 * Source: the cacophony test vectors, as shipped with snow (tests/vectors/cacophony.txt). Both
 * sides have equal prologues and psks. The sides take turns, the initiator first. Messages 1 to 3
 * are the handshake, later ones are transport messages. All values are hexadecimal.
 */
#ifndef HEARSAY_TESTS_SUPPORT_NET_NOISE_VECTORS_H
#define HEARSAY_TESTS_SUPPORT_NET_NOISE_VECTORS_H

#include <stddef.h>

#define NOISE_MESSAGES 6

struct noise_vector {
    const char *name;
    const char *prologue;
    const char *psk; /* pre-shared key; NULL = none */
    const char *initiator_static;
    const char *initiator_ephemeral;
    const char *responder_static;
    const char *responder_ephemeral;
    const char *handshake_hash;
    struct {
        const char *payload;
        const char *ciphertext;
    } messages[NOISE_MESSAGES];
};

extern const struct noise_vector noise_vectors[];
extern const size_t noise_vectors_count;

#endif
