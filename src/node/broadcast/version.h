/* The version vector: for each origin, the number of the next rumor expected from it, and the hash
 * of the last one's head, which stands for all its rumors (wire/signed_head.h).
 *
 * An origin is one incarnation of one node; its tag is a 64-bit hash of both. Neighbours compare
 * versions by a 64-bit hash of the whole, whatever the order, and by slices of it that go round.
 * The digest of all that is known rides along: rumors are sums, so equal versions must have equal
 * digests.
 *
 * Incarnations that ended stay in the sum for ever. So a version is shown by its latest entries and
 * the hash of all, which tells whether the rest is known, too.
 */
#ifndef HEARSAY_NODE_BROADCAST_VERSION_H
#define HEARSAY_NODE_BROADCAST_VERSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "crypto/identity.h"
#include "node/broadcast/gap.h"
#include "node/broadcast/version_entry.h"

#define KEEP_ALL UINT32_MAX

struct origin {
    uint64_t tag;            /* names the origin on the wire */
    uint64_t tag_after;      /* the tag of the next incarnation of the same node */
    uint8_t id[ID_BYTES];    /* the node */
    uint64_t incarnation;    /* which incarnation of that node */
    uint32_t next;           /* the next rumor expected; 0: we know of none */
    uint32_t newer;          /* place + 1 of the origin that published next after it; 0: none */
    uint32_t older;          /* place + 1 of the origin that published next before it; 0: none */
    uint64_t samples;        /* that it has learned, as its latest rumor says */
    uint64_t samples_before; /* that it added to those of all when our count began (progress.h) */
    struct signed_head last; /* the head of rumor next - 1; none while next is 0 */
    uint32_t applied;        /* rumors before this one are in the learner's base, or on the way */
    struct signed_head applied_last; /* the head of the last of those */
    uint32_t keep;                   /* rumors from this one on are not taken; KEEP_ALL: any are */
    bool is_accused;                 /* there is a proof against its node (orders/proofs.h) */
    uint64_t bytes;       /* of its rumors that came, or went out, since this node began */
    uint64_t compare_ns;  /* from then on one of its rumors is compared with the residual */
    float rate;           /* samples per second, the most it has said; 0: not known */
    uint64_t parent_conn; /* the neighbour that feeds us with it: our parent in its tree */
    struct gap gap;       /* what of it has not come */
};

struct versions {
    struct origin *origins; /* [max], in the order they were met; an origin keeps its place */
    uint32_t count;         /* origins that are known */
    uint32_t max;           /* room for so many */
    uint32_t *slots;        /* hash table by tag, open addressing: place + 1; 0 is free */
    uint32_t slots_mask;    /* its size less 1 */
    uint32_t newest;        /* place + 1 of the origin that published last */
    uint32_t oldest;        /* place + 1 of the one that has been silent for longest */
    uint32_t cursor;        /* where the next slice begins */
    uint32_t publishers;    /* origins that we know rumors of */
    uint64_t rumors;        /* rumors known in all */
    uint64_t hash;          /* the sum of a hash of each entry: of the whole, not of its order */
    uint64_t digest;        /* of the base that these rumors make */
};

uint64_t origin_tag(const uint8_t id[static ID_BYTES], uint64_t incarnation);

void versions_init(struct versions *versions, struct arena *arena, uint32_t max, uint64_t digest);

struct origin *versions_find(const struct versions *versions, uint64_t tag); /* or NULL */

/* It is the latest from now on. NULL when the table is full. */
struct origin *versions_add(struct versions *versions, const uint8_t id[static ID_BYTES],
                            uint64_t incarnation);

/* Forget origins until there are no more than count; of those nothing is known yet. */
void versions_forget_beyond(struct versions *versions, uint32_t count);

static inline uint32_t versions_place(const struct versions *versions, const struct origin *origin)
{
    const ptrdiff_t place = origin - versions->origins;
    CHECK(place >= 0 && place < versions->count);
    return (uint32_t)place;
}

/* The next rumor of this origin is known from now on, has this head and adds so much to the digest.
 */
void versions_advance(struct versions *versions, struct origin *origin,
                      const struct signed_head *head, uint64_t digest);

/* The rumors of the origin up to this head are known and applied from now on; NULL: none are. The
 * caller puts digest and samples right. */
void versions_set(struct versions *versions, struct origin *origin, const struct signed_head *head);

/* Only its rumors up to this head are known from now on; NULL: none are. digest: of the others,
 * negated. What is applied stays as it is. */
void versions_cut(struct versions *versions, struct origin *origin, const struct signed_head *head,
                  uint64_t digest);

/* It is the latest from now on, as if it had just published. */
void versions_touch(struct versions *versions, struct origin *origin);

/* The one before it in time, or the latest of all if `after` is NULL; NULL: there is none. */
struct origin *versions_older(const struct versions *versions, const struct origin *after);
/* The one after it in time, or the one silent for longest if `before` is NULL. */
struct origin *versions_newer(const struct versions *versions, const struct origin *before);

/* The entry of `first` (unless NULL or nothing is known of it), then those of at most `most` others
 * that we know rumors of, where the last slice ended, round and round; returns how many there are.
 * So every entry is in one of ceil(publishers / most) slices one after the other. */
size_t versions_slice(struct versions *versions, const struct origin *first, uint32_t most,
                      uint8_t *out);

/* The entries of those that published last, but for the last `skip`, and at most so many, the
 * latest first; returns how many there are. Of each origin the rumors up to heads[place] count
 * (NULL: none), or all that are known if heads is NULL. Unless it is NULL, learned takes what they
 * have learned. */
size_t versions_latest(const struct versions *versions, const struct signed_head *const *heads,
                       uint32_t skip, uint32_t most, uint8_t *out, uint8_t *learned);

/* The hash of a version that has the rumors of each origin up to heads[place], and of one of these
 * entries. */
uint64_t versions_hash(const struct versions *versions, const struct signed_head *const *heads);
uint64_t entries_hash(const uint8_t *entries, size_t count);

/* Another node shows its latest entries and the hash of all: which of our origins does it know?
 * Those it lists, and of the others all but the latest: the hash tells where these begin. False: no
 * such place fits the hash, and it is taken to know them all. known: [max] bits, by place. */
bool versions_known(const struct versions *versions, const uint8_t *entries, size_t count,
                    uint64_t hash, uint64_t *known);

/* Samples that it adds to those of all: none if its count goes on under its next incarnation, in
 * the same process. */
uint64_t versions_samples(const struct versions *versions, const struct origin *origin);

#endif
