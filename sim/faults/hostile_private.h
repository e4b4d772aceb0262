/* Shared by the files of an attacker, and private to them: hostile.c (calls), hostile_send.c
 * (messages in a session), hostile_rumor.c (invalid rumors), hostile_limit.c (valid rumors at the
 * limits), hostile_base.c (bases). */
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

/* The attack of one call. */
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
    SENDS_ALL_BUT_RUMORS = ATTACKS /* for HOSTILE_MUTE */
};

/* Data that the victim has sent in this call, to be returned damaged. */
struct observed {
    uint8_t entries[OBSERVED_ENTRIES * VERSION_ENTRY_BYTES]; /* entries of its version */
    size_t entries_count;
    uint64_t digest;  /* of its base */
    uint64_t hash;    /* of its version */
    uint64_t rumors;  /* number of rumors in its version */
    uint64_t members; /* live members that it knows */
    bool has_version; /* a VERSION was received */
    uint8_t records[OBSERVED_RECORDS * RECORD_BYTES];
    size_t records_count;
    uint8_t rumor[RUMOR_MAX]; /* its newest rumor */
    size_t rumor_bytes;       /* 0 = no rumor was received */
};

/* Valid rumors at the limits, by an author of the attacker's own. */
struct limit_stream {
    struct identity author;
    uint32_t count;                /* rumors so far */
    uint8_t *rumors[LIMIT_RUMORS]; /* each of bytes[] bytes, by number; owned */
    size_t bytes[LIMIT_RUMORS];
    struct signed_head last; /* head of the newest rumor */
};

struct hostile {
    struct world *world;
    enum hostile_kind kind;
    uint32_t victim; /* index of the node that it calls */
    uint32_t party;  /* index of its host in the network */
    struct rng rng;
    struct identity identity;
    struct entropy entropy;
    struct credentials credentials;
    uint8_t context[CONTEXT_BYTES]; /* signing context of the swarm */
    struct arena arena;             /* memory of the peer */
    struct peer peer;               /* the protocol engine that nodes use */
    struct message_reader *reader;
    uint32_t calls;                     /* calls so far */
    enum attack attack;                 /* of this call */
    uint64_t conn;                      /* id of this call; 0 = none */
    uint64_t call_ns;                   /* when the call began */
    uint64_t lasts_ns;                  /* longest duration of the call */
    bool established;                   /* the session is established and HELLO was sent */
    bool sending;                       /* a wire_send has not completed */
    bool hung_up;                       /* this side has ended the call */
    uint64_t next_ns;                   /* when it acts next */
    uint64_t stamp;                     /* of its newest record */
    uint64_t received;                  /* limit of received message bytes in this call */
    struct observed observed;           /* in this call */
    struct false_base base;             /* as given in this call */
    struct limit_stream stream;         /* across all calls */
    uint8_t old_greeting[GREETING_MAX]; /* greeting of an earlier call, for replays */
    size_t old_greeting_bytes;
    uint8_t old_proof[GREETING_MAX]; /* second handshake message of an earlier call */
    size_t old_proof_bytes;
    uint8_t out[2 * SENDING_BYTES]; /* bytes for wire_send, possibly damaged */
};

/* hostile_send.c */
void hostile_introduce(struct hostile *hostile);
void hostile_send(struct hostile *hostile);
void hostile_observe(struct hostile *hostile, const uint8_t *bytes, size_t count);
void hostile_random_bytes(struct hostile *hostile, uint8_t *out, size_t count);

/* hostile_rumor.c: each writes a rumor that nodes must reject and returns its size. */
size_t hostile_rumor_early(struct hostile *hostile, uint8_t out[static RUMOR_MAX]);
size_t hostile_rumor_over_limits(struct hostile *hostile, uint8_t out[static RUMOR_MAX]);
size_t hostile_rumor_forged(struct hostile *hostile, uint8_t out[static RUMOR_MAX]);

/* Writes a well-formed rumor signed by this origin and returns its size. */
size_t hostile_rumor_of(struct hostile *hostile, const struct identity *origin,
                        uint64_t incarnation, uint32_t seq, uint8_t out[static RUMOR_MAX]);

/* hostile_limit.c: rumors exactly at the limits, which nodes must accept. Fails the check if a node
 * disconnects because of one or expels the author. */
void hostile_stream_init(struct hostile *hostile, const uint8_t seed[static SEED_BYTES]);
void hostile_stream_end(struct hostile *hostile);
void hostile_send_limits(struct hostile *hostile);
void hostile_on_bye(struct hostile *hostile, const struct message *bye);

/* hostile_base.c: shows the version of another node, and answers TAKE and FETCH. */
void hostile_show_base(struct hostile *hostile);
void hostile_give_base(struct hostile *hostile, const struct message *message);

#endif
