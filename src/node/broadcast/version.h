/* The version vector: for each origin, the number of the next expected rumor, and the hash of the
 * last rumor's head, which covers all its rumors (wire/signed_head.h).
 *
 * An origin is one incarnation of one node; its tag is a 64-bit hash of both. Neighbours compare
 * versions by a 64-bit hash of the whole version, independent of the order of origins, and by
 * rotating slices. A VERSION message also carries the digest of the base: a base is a sum of
 * rumors, so equal versions have equal digests.
 *
 * Ended incarnations stay in the sum permanently. So a node sends its latest entries and the hash
 * of all entries, which tells whether the unsent entries are equal as well.
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
    uint64_t tag;         /* name of the origin in messages */
    uint64_t tag_after;   /* tag of the same node with the incarnation that follows this one */
    uint8_t id[ID_BYTES]; /* id of the origin's node */
    uint64_t incarnation; /* incarnation of the origin's node */
    uint32_t next;        /* number of the next rumor; 0 = no rumor is known */
    /* Links of the list of origins in the order of their last publications: index + 1; 0 = none. */
    uint32_t newer;
    uint32_t older;
    /* Samples that the latest rumor reports as learned; 0 while a verdict limits the rumors. */
    uint64_t samples;
    uint64_t samples_before; /* versions_samples at the start of the counting period (progress.h) */
    struct signed_head last; /* head of rumor next - 1; unset while next is 0 */
    uint32_t applied;        /* the learner was given the origin's rumors before this number */
    struct signed_head applied_last; /* head of rumor applied - 1; unset while applied is 0 */
    uint32_t keep;   /* rumors from this number on are refused; KEEP_ALL = no rumor is refused */
    bool is_accused; /* a proof or decision against the origin's node is known (orders/proofs.h) */
    uint64_t bytes;  /* bytes of its rumors that this node received or published since its start */
    uint64_t compare_ns;  /* earliest time to compare another rumor with the residual */
    float rate;           /* largest samples per second that the origin reported; 0 = unknown */
    uint64_t parent_conn; /* conn of the neighbour that is our parent in the origin's tree */
    struct gap gap;
};

struct versions {
    struct origin *origins; /* [max] in the order of arrival; an origin keeps its index */
    uint32_t count;
    uint32_t max;
    uint32_t *slots; /* hash table by tag, open addressing: index + 1; 0 = free */
    uint32_t slots_mask;
    uint32_t newest;     /* index + 1 of the origin that published most recently */
    uint32_t oldest;     /* index + 1 of the origin that has been silent for longest */
    uint32_t cursor;     /* index of the origin with which the next slice starts */
    uint32_t publishers; /* number of origins with known rumors */
    uint64_t rumors;     /* number of known rumors over all origins */
    uint64_t hash;       /* sum of version_entry_hash over all origins */
    uint64_t digest;     /* digest of the base that is the sum of all known rumors */
};

uint64_t origin_tag(const uint8_t id[static ID_BYTES], uint64_t incarnation);

void versions_init(struct versions *versions, struct arena *arena, uint32_t max, uint64_t digest);

struct origin *versions_find(const struct versions *versions, uint64_t tag);

/* Adds an origin, as if it had just published. Returns NULL if the table is full. */
struct origin *versions_add(struct versions *versions, const uint8_t id[static ID_BYTES],
                            uint64_t incarnation);

/* Removes the origins after the first `count`; they must have no known rumor. */
void versions_forget_beyond(struct versions *versions, uint32_t count);

static inline uint32_t versions_index(const struct versions *versions, const struct origin *origin)
{
    const ptrdiff_t origin_index = origin - versions->origins;
    CHECK(origin_index >= 0 && origin_index < versions->count);
    return (uint32_t)origin_index;
}

/* Counts the origin's next rumor, with this head, as known. `digest` is the rumor's digest. */
void versions_advance(struct versions *versions, struct origin *origin,
                      const struct signed_head *head, uint64_t digest);

/* Marks the origin's rumors up to this head as known and applied; head NULL marks none. The caller
 * corrects the version's digest and samples. */
void versions_set(struct versions *versions, struct origin *origin, const struct signed_head *head);

/* Forgets the origin's rumors after this head; head NULL forgets all. digest: negated sum of the
 * removed rumors' digests. Does not change `applied`. */
void versions_cut(struct versions *versions, struct origin *origin, const struct signed_head *head,
                  uint64_t digest);

/* Makes the origin the latest one, as if it had just published. */
void versions_touch(struct versions *versions, struct origin *origin);

/* Returns the origin that published before `after`, or the latest origin if after = NULL. Returns
 * NULL if there is none. */
struct origin *versions_older(const struct versions *versions, const struct origin *after);
/* Returns the origin that published after `before`, or the longest silent origin if before = NULL.
 * Returns NULL if there is none. */
struct origin *versions_newer(const struct versions *versions, const struct origin *before);

/* Writes the entry of `first`, unless it is NULL or has no rumors. Then writes the entries of at
 * most `most` other origins with rumors, continuing where the last slice ended. So ceil(publishers
 * / most) slices in a row contain every entry. Returns the number of entries. */
size_t versions_slice(struct versions *versions, const struct origin *first, uint32_t most,
                      uint8_t *out);

/* Writes entries of the origins that published last, newest first: skips the first `skip` origins,
 * writes at most `most` entries, and returns the number written. An entry covers the origin's
 * rumors up to heads[origin_index], or all known rumors if `heads` is NULL. Leaves out origins
 * whose head is NULL, and does not count them in `skip`. Also writes struct learned of these
 * origins to `learned`, unless that is NULL. */
size_t versions_latest(const struct versions *versions, const struct signed_head *const *heads,
                       uint32_t skip, uint32_t most, uint8_t *out, uint8_t *learned);

/* Returns the hash of a version with the rumors up to heads[origin_index]; NULL = no rumors. */
uint64_t versions_hash(const struct versions *versions, const struct signed_head *const *heads);
/* Returns the hash of a version that consists of these `count` encoded entries. */
uint64_t entries_hash(const uint8_t *entries, size_t count);

/* Sets known[], [max] bits by origin index, to the origins that another node knows. entries: the
 * latest entries of its version; hash: hash of its whole version. That node knows the origins that
 * it lists, and all others except some of our latest. The hash tells how many of our latest it does
 * not know. Returns false and sets all bits if no number fits the hash. */
bool versions_known(const struct versions *versions, const uint8_t *entries, size_t count,
                    uint64_t hash, uint64_t *known);

/* Returns the samples that the origin adds to the swarm's count; 0 if the report of its node's next
 * incarnation includes them. */
uint64_t versions_samples(const struct versions *versions, const struct origin *origin);

#endif
