/* Private to hostile.c (connections), hostile_send.c (messages in a session), hostile_rumor.c
 * (invalid rumors), hostile_limit.c (valid rumors at the limits) and hostile_base.c (bases). */
#ifndef HEARSAY_SIM_FAULTS_HOSTILE_PRIVATE_H
#define HEARSAY_SIM_FAULTS_HOSTILE_PRIVATE_H

#include "faults/false_base.h"
#include "faults/hostile.h"
#include "node/broadcast/version.h"
#include "node/connection/peer.h"
#include "wire/message.h"
#include "wire/record.h"
#include "wire/rumor.h"

#define OBSERVED_ENTRIES 64
#define OBSERVED_RECORDS 16
#define LIMIT_RUMORS     6

enum attack {
    HANDSHAKE_SILENT,
    HANDSHAKE_NOISE,
    HANDSHAKE_TRUNCATED,
    HANDSHAKE_FLIPPED,
    HANDSHAKE_REPLAYED,
    STREAM_FLIPPED,
    STREAM_TRUNCATED,
    STREAM_REPEATED,
    SENDS_NO_HELLO,
    SENDS_WRONG_HELLO,
    SENDS_NOISE,
    SENDS_RANDOM_MESSAGES,
    SENDS_EARLY_RUMORS,
    SENDS_RUMORS_OVER_LIMITS,
    SENDS_FORGED_RUMORS,
    SENDS_RUMORS_AT_LIMITS,
    SENDS_FORGED_RECORDS,
    SENDS_UNTRUE_RECORDS,
    SENDS_HUGE_VERSIONS,
    SENDS_WANTS,
    SENDS_FLOODS,
    SENDS_FALSE_BASES,
    SENDS_FALSE_ACKS,
    SENDS_MADE_UP_MEMBERS,
    ATTACKS,
    SENDS_ALL_BUT_RUMORS = ATTACKS /* the attack of every HOSTILE_MUTE */
};

/* Data that the victim has sent on the present connection; the attacker sends it back damaged. */
struct observed {
    /* These six members are from the victim's newest VERSION. */
    uint8_t entries[OBSERVED_ENTRIES * VERSION_ENTRY_BYTES];
    size_t entries_count;
    uint64_t digest;
    uint64_t hash;
    uint64_t rumors;
    uint64_t members;
    bool has_version; /* the victim has sent a VERSION */
    uint8_t records[OBSERVED_RECORDS * RECORD_BYTES];
    size_t records_count;
    uint8_t rumor[RUMOR_MAX]; /* newest rumor that the victim has sent */
    size_t rumor_bytes;       /* 0 = the victim has sent no rumor */
};

/* Valid rumors exactly at the protocol's limits, signed by a separate identity of the attacker. */
struct limit_stream {
    struct identity author;
    uint32_t count;
    uint8_t *rumors[LIMIT_RUMORS]; /* [count] encoded rumors; freed by hostile_stream_end */
    size_t bytes[LIMIT_RUMORS];    /* size of each rumor */
    struct signed_head last;       /* signed head of the newest rumor in the stream */
};

struct hostile {
    struct world *world;
    enum hostile_kind kind;
    uint32_t victim; /* index of the node that the attacker dials */
    uint32_t party;  /* index of the attacker's host in the network */
    struct rng rng;
    struct identity identity;
    struct entropy entropy;
    struct credentials credentials;
    uint8_t context[CONTEXT_BYTES]; /* signing context of the swarm */
    struct arena arena;             /* memory of `peer` */
    struct peer peer;               /* connection state machine, the same as a node's */
    struct message_reader *reader;
    uint32_t calls;     /* number of connections dialled so far */
    enum attack attack; /* attack on the present connection */
    uint64_t conn;      /* id of the present connection; 0 = none */
    uint64_t call_ns;   /* time at which the attacker dialled */
    /* longest duration of the present connection, except of an established MUTE */
    uint64_t lasts_ns;
    bool established;  /* the handshake is complete, and the attack's first messages are queued */
    bool sending;      /* a wire_send has not completed yet */
    bool hung_up;      /* the attacker has closed the present connection */
    uint64_t next_ns;  /* time of the attacker's next action */
    uint64_t stamp;    /* stamp of the attacker's newest member record */
    uint64_t received; /* message bytes received so far on the present connection */
    struct observed observed;
    struct false_base base;
    struct limit_stream stream;         /* kept across all connections */
    uint8_t old_greeting[GREETING_MAX]; /* greeting on an earlier connection, for replays */
    size_t old_greeting_bytes;
    uint8_t old_proof[GREETING_MAX]; /* the attacker's second handshake message on an earlier
                                        connection */
    size_t old_proof_bytes;
    uint8_t out[2 * SENDING_BYTES]; /* bytes passed to wire_send, possibly damaged */
};

void hostile_introduce(struct hostile *hostile);
void hostile_send(struct hostile *hostile);
void hostile_observe(struct hostile *hostile, const uint8_t *bytes, size_t count);
void hostile_random_bytes(struct hostile *hostile, uint8_t *out, size_t count);

/* hostile_rumor.c: each of these three functions writes a rumor that adds nothing at any node, and
 * returns its size. Nodes must reject it, or already have it: hostile_rumor_forged may repeat a
 * rumor that the victim has sent. */
size_t hostile_rumor_early(struct hostile *hostile, uint8_t out[static RUMOR_MAX]);
size_t hostile_rumor_over_limits(struct hostile *hostile, uint8_t out[static RUMOR_MAX]);
size_t hostile_rumor_forged(struct hostile *hostile, uint8_t out[static RUMOR_MAX]);

/* Writes a well-formed rumor that `origin` signs, and returns its size. */
size_t hostile_rumor_of(struct hostile *hostile, const struct identity *origin,
                        uint64_t incarnation, uint32_t seq, uint8_t out[static RUMOR_MAX]);

/* hostile_limit.c: sends rumors exactly at the limits. Reports a violated invariant if a node
 * disconnects because of such a rumor, or expels the author. */
void hostile_stream_init(struct hostile *hostile, const uint8_t seed[static SEED_BYTES]);
void hostile_stream_end(struct hostile *hostile);
void hostile_send_limits(struct hostile *hostile);
void hostile_on_bye(struct hostile *hostile, const struct message *bye);

/* hostile_base.c. hostile_show_base sends the VERSION of a false base. hostile_give_base answers
 * TAKE with a history and FETCH with blocks. */
void hostile_show_base(struct hostile *hostile);
void hostile_give_base(struct hostile *hostile, const struct message *message);

#endif
