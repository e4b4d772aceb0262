/* The members: the newest record of every node known to exist, ours among them.
 *
 * A record is replaced by one of a later (incarnation, stamp). Each record promises when the next
 * one follows; a member is live while newer records or its rumors keep coming and it has not left.
 * It is dead when it was silent for four times what it promised, and at least for silence_ns. So
 * it does not matter how large each thinks the swarm is. What is dead stays known, so that it is
 * dialled again, until its place is needed for somebody new.
 */
#ifndef HEARSAY_NODE_MEMBERSHIP_MEMBERS_H
#define HEARSAY_NODE_MEMBERSHIP_MEMBERS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "wire/record.h"

struct member {
    struct record record;        /* the newest */
    uint8_t bytes[RECORD_BYTES]; /* as signed, to pass on */
    uint64_t advanced_ns;        /* when its record last became newer, or a rumor of it came */
    uint64_t asked_ns;           /* when somebody was last asked for a sign of life */
    uint32_t place;              /* of its origin (version.h); PLACE_NONE: none */
    bool known_live;             /* as last noted */
    uint64_t given_up_ns; /* when, as a neighbour, it was last given up for its silence; 0: never */
    uint64_t lost_ns;     /* when our conversation with it ended by no wish of ours; 0: never */
    uint64_t patience_ns; /* for how long it may be silent as a neighbour, if more than others */
    uint64_t met_ns;      /* when it was first heard of */
    uint64_t since_ns;    /* when it was first said to train */
    uint64_t moved_ns;    /* when its last rumor came */
    double moved;         /* what its rumors had moved by then, lately (shares.h), in units */
    double claimed;       /* samples that they had claimed by then, lately, too */
    double borne_out;     /* samples that its rumors claimed and bear out, since it was set to 0 */
    bool is_expelled;     /* the operator has put it out: it does not live */
    bool is_barred;       /* it may not be in the swarm, as this node knows: it does not live */
    bool is_doubted;      /* it was noted that its claim is not borne out */
};

struct members {
    struct member *members; /* [max]; the first is this node itself */
    uint32_t count;         /* how many are known */
    uint32_t max;           /* room for so many */
    uint32_t *slots;        /* hash table by id, open addressing: place + 1; 0 is free */
    uint32_t slots_mask;    /* its size less 1 */
    uint64_t silence_ns;    /* a member heard from within this is not dead */
    double *scratch;        /* [max] shares.c's, for the length of a call */
    double claim_ratio;     /* of the member in the middle (shares.h); 0: nobody has published */
    double weight_max;      /* times as much as it a member may count (shares.h); 0: no bound */
};

#define PLACE_NONE UINT32_MAX

void members_init(struct members *members, struct arena *arena, uint32_t max, uint64_t silence_ns);

struct member *members_find(const struct members *members, const uint8_t id[static ID_BYTES]);

/* A signed record from outside (its structure not yet looked at). OK: it was news, *changed points
 * to its member. MISSING: known already, or older. MALFORMED, FORGED: as record.h. TOO_BIG: no
 * room for another member. */
enum error members_learn(struct members *members, const uint8_t bytes[static RECORD_BYTES],
                         const uint8_t context[static CONTEXT_BYTES], uint64_t now_ns,
                         struct member **changed) MUST_USE;

/* A rumor of this incarnation of the member has come: it is no more silent. The dead are brought
 * back by a record only, since a rumor may be old. */
void members_on_rumor(struct members *members, const uint8_t id[static ID_BYTES],
                      uint64_t incarnation, uint64_t now_ns);

/* Our own record, freshly signed. */
void members_update_own(struct members *members, const struct record *record,
                        const struct identity *identity,
                        const uint8_t context[static CONTEXT_BYTES], uint64_t now_ns);

/* For how long it may be silent: four times what it promised, but a promise of more than a swarm of
 * this size needs is not believed. */
uint64_t member_silence_ns(const struct members *members, const struct member *member);

bool member_is_live(const struct members *members, const struct member *member, uint64_t now_ns);

/* Live members, this node included. */
uint32_t members_live(const struct members *members, uint64_t now_ns);

/* The records, as signed, of at most `limit` live members from number *from on, renewed within
 * half of what they may be silent; bytes written.
 * *from moves on behind the last looked at. */
size_t members_encode(const struct members *members, uint64_t now_ns, uint32_t *from,
                      uint32_t limit, uint8_t *out);

#endif
