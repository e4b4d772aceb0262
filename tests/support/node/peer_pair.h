/* Two peers that exchange bytes through arrays, and damage to the bytes between them.
 *
 *   dialer ─ carry: changed? cut off? in pieces? ─► acceptor;   and back
 *
 * Each peer sends some messages after the handshake. The other peer must receive them unchanged.
 */
#ifndef HEARSAY_TESTS_SUPPORT_NODE_PEER_PAIR_H
#define HEARSAY_TESTS_SUPPORT_NODE_PEER_PAIR_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "node/connection/peer.h"

#define NOW_NS    1000u
#define QUEUE_MAX (1u << 18)
#define SAID      3 /* messages that each side sends after the handshake */
#define NEVER     SIZE_MAX

struct side {
    struct arena arena;
    struct identity identity;
    struct entropy entropy;
    struct credentials credentials;
    struct peer peer;
    bool met, refused;
    uint32_t heard; /* messages received so far, all unchanged and in order */
    struct problem problem;
    uint64_t out_bytes; /* bytes sent to the other peer so far */
};

extern struct side dialer, acceptor;
extern struct message_reader *reader;

/* Damage on the path from the dialer [0] and from the acceptor [1]. */
struct way {
    size_t chunk;   /* maximum bytes delivered at once; NEVER = no limit */
    size_t flip[2]; /* index of the byte that changes by XOR with `mask`; NEVER = none */
    size_t cut[2];  /* index from which on all bytes are lost; NEVER = none */
    uint8_t mask;
};

extern struct way way;

extern const struct address ADDRESS;

struct introduced {
    const char *swarm, *model;
    uint64_t parameters;
    uint16_t protocol; /* oldest protocol version that the peer speaks */
    uint8_t newer;     /* number of newer versions that the peer speaks */
    uint8_t key;
};

extern const struct introduced USUAL;

void side_init(struct side *side, uint8_t seed, const struct introduced *as);
void begin_as(const struct introduced *one, const struct introduced *other);
int pair_begin(void **state);
int pair_end(void **state);
void begin_again(void);

/* Returns message number i: a WANT with tag i and seq 1000 + i. */
struct message message_number(uint32_t i);
void say_some(struct side *side, uint32_t count);
void take(struct side *side, const uint8_t *bytes, size_t count);

/* Delivers `bytes` to `to`, with the damage that `way` describes. */
void carry(struct side *from, struct side *to, const uint8_t *bytes, size_t count);

/* Sends `from`'s queued bytes once. Returns false if there were none. */
bool send_once(struct side *from, struct side *to);
void converse(void);
int open_pair(void **state);
int close_pair(void **state);

#define TEST(name) cmocka_unit_test_setup_teardown(name, pair_begin, pair_end)

#endif
