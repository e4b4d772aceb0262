/* The members: the newest record of every node known to exist, ours among them.
 *
 * A record is replaced by one of a later (incarnation, stamp). A member is live while newer
 * records keep coming and it has not left. What is dead stays known, so that it is dialled again.
 */
#ifndef HEARSAY_MEMBERS_H
#define HEARSAY_MEMBERS_H

#include <stdbool.h>
#include <stdint.h>

#include "arena.h"
#include "record.h"
#include "rng.h"

struct member {
    struct record record;
    uint8_t bytes[RECORD_BYTES]; /* as signed, to pass on */
    uint64_t advanced_ns;        /* when its record last became newer */
    bool known_live;             /* as last noted */
};

struct members {
    struct member *members; /* [max]; the first is this node itself */
    uint32_t count;
    uint32_t max;
    uint64_t silence_ns; /* no newer record for so long: dead */
};

void members_init(struct members *members, struct arena *arena, uint32_t max, uint64_t silence_ns);

struct member *members_find(const struct members *members, const uint8_t id[static ID_BYTES]);

/* A signed record from outside (its structure not yet looked at). OK: it was news, *changed points
 * to its member. MISSING: known already, or older. MALFORMED, FORGED: as record.h. TOO_BIG: no
 * room for another member. */
enum status members_learn(struct members *members, const uint8_t bytes[static RECORD_BYTES],
                          const uint8_t context[static CONTEXT_BYTES], uint64_t now_ns,
                          struct member **changed) MUST_USE;

/* Our own record, freshly signed. */
void members_update_own(struct members *members, const struct record *record,
                        const struct identity *identity,
                        const uint8_t context[static CONTEXT_BYTES], uint64_t now_ns);

bool member_is_live(const struct members *members, const struct member *member, uint64_t now_ns);

/* Live members, this node included. */
uint32_t members_live(const struct members *members, uint64_t now_ns);

/* The share of this node: its samples per second · delivered over the sum of all live members that
 * train; one part in their number when not by throughput. A member whose speed is not known yet
 * counts like this node. 0 < share <= 1. */
double members_own_share(const struct members *members, bool by_throughput, uint64_t now_ns);

/* Our record and those of at most limit - 1 others, starting at a random one; bytes written. */
size_t members_encode(const struct members *members, struct rng *rng, uint32_t limit, uint8_t *out);

#endif
