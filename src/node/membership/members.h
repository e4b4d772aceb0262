/* The member table: the newest record of every known node, this one included.
 *
 * A record is replaced by one with a later (incarnation, stamp). Each record promises when the next
 * one follows. A member is live while newer records or its rumors keep arriving and it has not
 * left. It is dead after a silence of four times its promise, and at least silence_ns. So nodes
 * need not agree on the swarm's size. Dead members stay in the table and are dialled again, until a
 * new member needs their entry.
 */
#ifndef HEARSAY_NODE_MEMBERSHIP_MEMBERS_H
#define HEARSAY_NODE_MEMBERSHIP_MEMBERS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "wire/record.h"

struct member {
    struct record record;        /* newest record */
    uint8_t bytes[RECORD_BYTES]; /* signed bytes of the record, to pass on */
    uint64_t advanced_ns;        /* last time that a newer record or a rumor arrived */
    uint64_t asked_ns;           /* last time that a sign of its life was requested */
    uint32_t origin_index;       /* index of its origin (version.h); ORIGIN_NONE = none */
    bool known_live;             /* counted as live at the last note */
    uint64_t given_up_ns;        /* last time it was given up as a silent neighbour; 0 = never */
    uint64_t lost_ns;            /* last time its conversation ended unexpectedly; 0 = never */
    uint64_t patience_ns;        /* silence allowed as a neighbour if above the default */
    uint64_t met_ns;             /* first time its record arrived */
    uint64_t since_ns;           /* first time its record said that it trains */
    uint64_t moved_ns;           /* arrival of its last rumor */
    /* Decaying sum, as of moved_ns, of the base movement by its rumors, in units (shares.h). */
    double moved;
    double claimed;   /* decaying sum of the samples that its rumors claimed */
    double borne_out; /* claimed samples that `moved` supports, since the last reset */
    bool is_expelled; /* expelled by the operator, a proof or votes: not live */
    bool is_barred;   /* not admitted to the swarm: not live */
    bool is_doubted;  /* a note has reported its unsupported claim */
};

struct members {
    struct member *members; /* [max] the first is this node */
    uint32_t count;         /* known members */
    uint32_t max;           /* capacity */
    uint32_t *slots;        /* hash table by id with open addressing: index + 1; 0 = free */
    uint32_t slots_mask;    /* size of the hash table - 1 */
    uint64_t silence_ns;    /* shortest silence after which a member is dead */
    double *scratch;        /* [max] scratch buffer of shares.c for one call */
    double claim_ratio;     /* median claim ratio (shares.h); 0 = no member has published */
    /* largest multiple of the median claim that counts (shares.h); 0 = unlimited */
    double weight_max;
};

#define ORIGIN_NONE UINT32_MAX

void members_init(struct members *members, struct arena *arena, uint32_t max, uint64_t silence_ns);

struct member *members_find(const struct members *members, const uint8_t id[static ID_BYTES]);

/* Checks and stores a signed record from outside. OK: it was new, and *changed points to its
 * member. MISSING: already known, or older. MALFORMED, FORGED: see record.h. TOO_BIG: the table is
 * full. */
enum error members_learn(struct members *members, const uint8_t bytes[static RECORD_BYTES],
                         const uint8_t context[static CONTEXT_BYTES], uint64_t now_ns,
                         struct member **changed) MUST_USE;

/* Counts a rumor of this incarnation as a sign of life. It does not revive a dead member, since the
 * rumor may be old; only a record does. */
void members_on_rumor(struct members *members, const uint8_t id[static ID_BYTES],
                      uint64_t incarnation, uint64_t now_ns);

/* Forgets all members except this node. */
void members_forget(struct members *members);

/* Replaces this node's own record with one that it has just signed. */
void members_update_own(struct members *members, const struct record *record,
                        const struct identity *identity,
                        const uint8_t context[static CONTEXT_BYTES], uint64_t now_ns);

/* Returns how long the member may be silent: four times the renewal period that it promised. A
 * promised period counts only up to the longest one that a swarm of this size needs. */
uint64_t member_silence_ns(const struct members *members, const struct member *member);

bool member_is_live(const struct members *members, const struct member *member, uint64_t now_ns);

/* Returns the number of live members, this node included. */
uint32_t members_live(const struct members *members, uint64_t now_ns);

/* Writes the signed records of at most `limit` live members, starting at member number *from. Skips
 * records renewed longer ago than half of the permitted silence. Returns the bytes written and
 * advances *from. */
size_t members_encode(const struct members *members, uint64_t now_ns, uint32_t *from,
                      uint32_t limit, uint8_t *out);

#endif
