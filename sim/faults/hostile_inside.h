/* The inside of an outsider: hostile.c (its calls), hostile_say.c (what it says in a session),
 * hostile_rumor.c (the rumors it makes up). Nobody else includes this. */
#ifndef HEARSAY_SIM_FAULTS_HOSTILE_INSIDE_H
#define HEARSAY_SIM_FAULTS_HOSTILE_INSIDE_H

#include "faults/hostile.h"
#include "wire/message.h"
#include "node/connection/peer.h"
#include "wire/record.h"
#include "wire/rumor.h"
#include "node/broadcast/version.h"

#define OVERHEARD_ENTRIES 64
#define OVERHEARD_RECORDS 16

/* How it misbehaves during one call. */
enum manner {
    AT_DOOR_SILENT,
    AT_DOOR_NOISE,
    AT_DOOR_HALF,
    AT_DOOR_FLIPPED,
    AT_DOOR_OLD,
    ON_WIRE_FLIPS,
    ON_WIRE_CUTS,
    ON_WIRE_REPEATS,
    SAYS_NO_HELLO,
    SAYS_WRONG_HELLO,
    SAYS_NOISE,
    SAYS_RANDOM,
    SAYS_EARLY_RUMORS,
    SAYS_RUMORS_OVER_LIMITS,
    SAYS_FORGED_RUMORS,
    SAYS_FORGED_RECORDS,
    SAYS_UNTRUE_RECORDS,
    SAYS_HUGE_VERSIONS,
    SAYS_WANTS,
    SAYS_FLOODS,
    MANNERS,
    SAYS_ALL_BUT_RUMORS = MANNERS /* the mute's */
};

/* What the victim has said: to be passed on damaged. */
struct overheard {
    uint8_t entries[OVERHEARD_ENTRIES * VERSION_ENTRY_BYTES];
    size_t entries_count;
    uint64_t digest, hash, rumors, members;
    bool has_version;
    uint8_t records[OVERHEARD_RECORDS * RECORD_BYTES];
    size_t records_count;
    uint8_t rumor[RUMOR_MAX];
    size_t rumor_bytes;
};

struct hostile {
    struct world *world;
    enum hostile_kind kind;
    uint32_t victim;
    uint32_t party;
    struct rng rng;
    struct identity identity;
    struct entropy entropy;
    struct credentials credentials;
    uint8_t context[CONTEXT_BYTES];
    struct arena arena;
    struct peer peer;
    struct message_reader *reader;

    uint32_t calls;
    enum manner manner; /* of this call */
    uint64_t conn;      /* 0: no call is under way */
    uint64_t call_ns;   /* when it began ... */
    uint64_t lasts_ns;  /* ... and how long it lasts at most */
    bool met;           /* the session stands, and it has introduced itself in its way */
    bool sending;       /* a SEND is with the wires */
    bool hung_up;
    uint64_t next_ns; /* when it does something next */
    uint64_t stamp;   /* of its records */
    struct overheard overheard;
    uint8_t old_greeting[GREETING_MAX]; /* of an earlier call, as sent */
    size_t old_greeting_bytes;
    uint8_t old_proof[GREETING_MAX];
    size_t old_proof_bytes;
    uint8_t out[2 * SENDING_BYTES]; /* what is sent, damaged */
};

/* hostile_say.c */
void hostile_introduce(struct hostile *hostile);
void hostile_speak(struct hostile *hostile);
void hostile_overhear(struct hostile *hostile, const uint8_t *bytes, size_t count);
void hostile_random_bytes(struct hostile *hostile, uint8_t *out, size_t count);

/* hostile_rumor.c: a rumor that is not to be heard; its size. */
size_t hostile_rumor_early(struct hostile *hostile, uint8_t out[static RUMOR_MAX]);
size_t hostile_rumor_over_limits(struct hostile *hostile, uint8_t out[static RUMOR_MAX]);
size_t hostile_rumor_forged(struct hostile *hostile, uint8_t out[static RUMOR_MAX]);

#endif
