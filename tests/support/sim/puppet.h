/* A puppet: an outsider (swarm_world.h) that sends a node only what the test writes.
 *
 *   test ─► puppet_say, puppet_shout ─► the node;   the node's bytes ─► puppet ─► counted by kind
 *
 * It has the swarm key and its own identity, so nodes accept it as a member.
 */
#ifndef HEARSAY_TESTS_SUPPORT_SIM_PUPPET_H
#define HEARSAY_TESTS_SUPPORT_SIM_PUPPET_H

#include "node/connection/peer.h"
#include "node/rate/congestion.h"
#include "support/sim/swarm_world.h"
#include "wire/record.h"
#include "wire/rumor.h"

#define PUPPET_QUEUE_BYTES (1u << 18)
#define PUPPET_MADE        256     /* the puppet remembers heads of rumors below this number */
#define PUPPET_SAMPLES     1000000 /* samples in invented heads */

struct puppet {
    uint32_t node; /* node that the puppet dials */
    uint32_t party;
    uint32_t calls;
    /* slot of the next connection; a test increments it if the last connection stays open */
    uint32_t slot;
    struct identity identity;
    struct entropy entropy;
    struct credentials credentials;
    uint8_t context[CONTEXT_BYTES];
    struct arena arena;
    struct peer peer;
    struct congestion link; /* counts received bytes, for ACKs */
    bool gives_no_acks;     /* sends no ACKs, so that the node soon stops sending */
    struct message_reader *reader;
    bool sending; /* true while bytes are on their way to the node */
    bool closed;
    uint32_t heard[MESSAGE_KINDS]; /* messages of each kind received on the current connection */
    uint64_t last_seq[MESSAGE_KINDS];
    struct message last[MESSAGE_KINDS]; /* last message of each kind; of its text and bulk only the
                                           sizes are valid */
    uint64_t bye_reason;
    char bye[64];
    struct signed_head made[PUPPET_MADE]; /* heads of the puppet's rumors, by rumor number */
    /* Called for each message received; NULL = none. */
    void (*on_heard)(struct puppet *puppet, const struct message *message);
};

void puppet_send(struct puppet *puppet, const uint8_t *bytes, size_t count);

void puppet_pump(struct puppet *puppet);
void puppet_init(struct puppet *puppet, uint32_t node, uint8_t seed);

/* Dials and completes as many handshake steps as the node allows. Dials again if the last
 * connection has ended. */
void puppet_call(struct puppet *puppet);

/* Dials, and checks that the session is established. Sends no HELLO. */
void puppet_meet(struct puppet *puppet);

/* Sends a message, and runs until immediate answers have arrived. */
void puppet_say(struct puppet *puppet, const struct message *message);
void puppet_say_bulk(struct puppet *puppet, enum message_kind kind, const uint8_t *bulk,
                     size_t bytes);

/* Encrypts and sends any bytes. */
void puppet_shout(struct puppet *puppet, const uint8_t *bytes, size_t count);

/* Returns the puppet's member record, without an address. */
struct record puppet_record(const struct puppet *puppet);

/* Returns the head of the puppet's rumor `seq`, an invented one if that rumor was not made. */
struct signed_head puppet_head(const struct puppet *puppet, uint64_t incarnation, uint32_t seq);

/* Writes a version entry: `next` rumors of the puppet's incarnation 1. */
void puppet_entry(const struct puppet *puppet, uint32_t next, uint8_t *out);

/* Makes rumor `seq` of the puppet's stream, which follows rumor seq - 1. It has one entry, which
 * moves base[index] by 1000 units. Returns its size in bytes. */
size_t puppet_rumor(struct puppet *puppet, uint32_t seq, uint32_t index,
                    uint8_t out[static RUMOR_MAX]);
/* Sends the puppet's first rumor, which moves an entry as far as a rumor may. */
void puppet_burst(struct puppet *puppet);
void puppet_hello(struct puppet *puppet);
/* Sends a proof that the puppet itself has signed two different first rumors. */
void puppet_prove_itself(struct puppet *puppet);
/* Sends proofs of equivocation against `count` ids, whose keys the puppet creates. */
void puppet_prove_outsiders(struct puppet *puppet, uint32_t count);

void puppet_free(struct puppet *puppet);

#endif
