/* A puppet: an outsider (swarm_world.h) whose messages to a node are all written by the test.
 *
 *   test ─► puppet_say, puppet_shout ─► the node;   the node's bytes ─► puppet ─► counted by kind
 *
 * It has the swarm key and its own identity, so it gets as far as any member does.
 */
#ifndef HEARSAY_TESTS_SUPPORT_SIM_PUPPET_H
#define HEARSAY_TESTS_SUPPORT_SIM_PUPPET_H

#include "node/connection/peer.h"
#include "node/rate/congestion.h"
#include "support/sim/swarm_world.h"
#include "wire/record.h"
#include "wire/rumor.h"

#define PUPPET_QUEUE_BYTES (1u << 18)
#define PUPPET_MADE        256     /* most rumors whose heads it remembers */
#define PUPPET_SAMPLES     1000000 /* samples in invented heads */

struct puppet {
    uint32_t node; /* node that it calls */
    uint32_t party;
    uint32_t calls;
    uint32_t slot; /* slot of the next call; another one if the last connection stays open */
    struct identity identity;
    struct entropy entropy;
    struct credentials credentials;
    uint8_t context[CONTEXT_BYTES];
    struct arena arena;
    struct peer peer;
    struct congestion link; /* received bytes, for acknowledgements */
    bool gives_no_acks;     /* sends no ACKs, so that the node soon stops sending */
    struct message_reader *reader;
    bool sending; /* bytes are on their way to the node */
    bool closed;
    uint32_t heard[MESSAGE_KINDS]; /* messages of each kind received on this connection */
    uint64_t last_seq[MESSAGE_KINDS];
    struct message last[MESSAGE_KINDS]; /* last message of each kind; of text and bulk only the
                                           sizes are valid */
    uint64_t bye_reason;
    char bye[64];
    struct signed_head made[PUPPET_MADE]; /* heads of its rumors, by number */
    /* Called for each message received; NULL = none. */
    void (*on_heard)(struct puppet *puppet, const struct message *message);
};

void puppet_send(struct puppet *puppet, const uint8_t *bytes, size_t count);

/* Sends queued bytes. */
void puppet_pump(struct puppet *puppet);
void puppet_init(struct puppet *puppet, uint32_t node, uint8_t seed);

/* Dials, again if the last connection has ended, and gets as far as the node allows. */
void puppet_call(struct puppet *puppet);

/* Dials up to an established session, without sending HELLO. */
void puppet_meet(struct puppet *puppet);

/* Sends, and runs until immediate answers have arrived. */
void puppet_say(struct puppet *puppet, const struct message *message);
void puppet_say_bulk(struct puppet *puppet, enum message_kind kind, const uint8_t *bulk,
                     size_t bytes);

/* Sends any bytes, correctly sealed. */
void puppet_shout(struct puppet *puppet, const uint8_t *bytes, size_t count);

/* The puppet's member record, without an address. */
struct record puppet_record(const struct puppet *puppet);

/* Returns the head of its rumor `seq`, made earlier or invented. */
struct signed_head puppet_head(const struct puppet *puppet, uint64_t incarnation, uint32_t seq);

/* Writes a version entry: `next` rumors of its incarnation 1. */
void puppet_entry(const struct puppet *puppet, uint32_t next, uint8_t *out);

/* Makes rumor number `seq` of its own stream with one entry: base[index] += amount. It follows the
 * previous one. */
size_t puppet_rumor(struct puppet *puppet, uint32_t seq, uint32_t index,
                    uint8_t out[static RUMOR_MAX]);
void puppet_hello(struct puppet *puppet);

/* Ends the puppet and its connection. */
void puppet_free(struct puppet *puppet);

#endif
