/* The member table: the newest record of every known node, this one included.
 *
 * A record is replaced by one with a later (incarnation, stamp). Each record promises when the next
 * one follows. A member is live while newer records or its rumors keep arriving, unless it has left
 * or is expelled or barred. It is dead after a silence of four times its promise, and at least
 * silence_ns. So nodes need not agree on the swarm's size. Dead members stay in the table and are
 * dialled again, until a new member needs their entry.
 */
#ifndef HEARSAY_NODE_MEMBERSHIP_MEMBERS_H
#define HEARSAY_NODE_MEMBERSHIP_MEMBERS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "wire/record.h"

struct member {
    struct record record;
    uint8_t bytes[RECORD_BYTES]; /* `record` as signed by the member */
    uint64_t advanced_ns;        /* time when a newer record or a rumor last arrived */
    uint64_t asked_ns;           /* time when a sign of the member's life was last requested */
    uint32_t origin_index;       /* index of the member's origin (version.h), or ORIGIN_NONE */
    bool known_live;             /* the member is counted in membership.live */
    /* Time when this node gave up the silent member as a neighbour; 0 = not since the member last
     * returned or restarted. */
    uint64_t given_up_ns;
    uint64_t lost_ns;     /* time when an open conversation with the member last ended; 0 = never */
    uint64_t patience_ns; /* permitted silence as a neighbour; 0 = limits.silence_ns */
    uint64_t met_ns;      /* time when the member's first record arrived */
    /* Time when the member's record first said that it trains, or its first rumor arrived. */
    uint64_t since_ns;
    uint64_t ended_ns; /* time when the member's record first showed that it no longer learns */
    uint64_t moved_ns; /* time when the member's last rumor arrived */
    /* Movement of the base by the member's rumors, in units of QUANTUM, as of moved_ns; a sum that
     * decays (shares.h). */
    double moved;
    double claimed;   /* samples claimed by the member's rumors; a sum that decays like `moved` */
    double borne_out; /* claimed samples that `moved` supports, since membership_recount */
    bool is_expelled; /* the operator, a proof or votes have expelled the member */
    bool is_barred;   /* not admitted to the swarm */
    bool is_doubted;  /* a note has said that `moved` does not support the claimed throughput */
    /* Time since which shares_doubtful has returned this member; 0 = it did not, the last time. */
    uint64_t doubtful_ns;
};

struct members {
    struct member *members; /* [max] all known members; the first is this node */
    uint32_t count;
    uint32_t max;
    uint32_t *slots; /* hash table by id with open addressing: index in `members` + 1; 0 = free */
    uint32_t slots_mask;
    uint64_t silence_ns; /* a member is not dead before a silence of this length, in ns */
    double *scratch;     /* [max] scratch buffer of shares.c; not kept between calls */
    double claim_ratio;  /* median set by shares_review (shares.h); 0 = unknown */
    /* A claimed throughput counts up to this many times the median claim; 0 = unlimited. */
    double weight_max;
};

#define ORIGIN_NONE UINT32_MAX

void members_init(struct members *members, struct arena *arena, uint32_t max, uint64_t silence_ns);

struct member *members_find(const struct members *members, const uint8_t id[static ID_BYTES]);

/* Checks and stores a record that another node has sent, and sets *changed to its member. Returns
 * MISSING if the record is not newer than the stored one, or is this node's own. Returns MALFORMED
 * or FORGED if it is invalid (record.h), TOO_BIG if the table has no entry for a new member. */
enum error members_learn(struct members *members, const uint8_t bytes[static RECORD_BYTES],
                         const uint8_t context[static CONTEXT_BYTES], uint64_t now_ns,
                         struct member **changed) MUST_USE;

/* Counts a rumor as a sign of life of this incarnation. A dead member stays dead, because the
 * rumor may be old: only a record revives it. */
void members_on_rumor(struct members *members, const uint8_t id[static ID_BYTES],
                      uint64_t incarnation, uint64_t now_ns);

/* Removes all members except this node. */
void members_forget(struct members *members);

/* Replaces this node's own record and signs the new one. */
void members_update_own(struct members *members, const struct record *record,
                        const struct identity *identity,
                        const uint8_t context[static CONTEXT_BYTES], uint64_t now_ns);

/* Returns how long the member may be silent before it is dead: four times the renewal period in
 * its record, at least silence_ns. The period counts up to 15 s plus 1 s per known member. */
uint64_t member_silence_ns(const struct members *members, const struct member *member);

bool member_is_live(const struct members *members, const struct member *member, uint64_t now_ns);

/* Returns true if the member's record says that it trains and is not leaving. */
bool member_learns(const struct member *member);

/* Returns the number of live members, this node included. */
uint32_t members_live(const struct members *members, uint64_t now_ns);

/* Writes the signed records of at most `limit` live members to `out`, starting with member
 * number *from, and advances *from. Skips members that have been silent for more than half of their
 * permitted silence. Returns the number of bytes. */
size_t members_encode(const struct members *members, uint64_t now_ns, uint32_t *from,
                      uint32_t limit, uint8_t *out);

#endif
