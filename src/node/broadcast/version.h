/* The version vector: for each origin, the number of the next expected rumor, and the hash of the
 * last rumor's head, which covers all its rumors (wire/signed_head.h).
 *
 * An origin is one incarnation of one node; its tag is a 64-bit hash of both. Neighbours compare
 * versions by a 64-bit hash of the whole, independent of the order, and by rotating slices. A
 * message also carries the digest of all known rumors: rumors are sums, so equal versions have
 * equal digests.
 *
 * Ended incarnations stay in the sum permanently. So a node sends its latest entries and the hash
 * of all, which tells whether the rest is equal as well.
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
    uint64_t tag;         /* name of the origin on the wire */
    uint64_t tag_after;   /* tag of the same node's next incarnation */
    uint8_t id[ID_BYTES]; /* id of the node */
    uint64_t incarnation; /* incarnation of that node */
    uint32_t next;        /* number of the next rumor; 0 = no rumor is known */
    /* Index + 1 of the origin whose last rumor is the next newer one; 0 = none. */
    uint32_t newer;
    /* Index + 1 of the origin whose last rumor is the next older one; 0 = none. */
    uint32_t older;
    uint64_t samples;        /* samples that it has learned, by its latest rumor */
    uint64_t samples_before; /* samples that it had added when our counting period started
                                (progress.h) */
    struct signed_head last; /* head of rumor next - 1; unset while next is 0 */
    uint32_t applied; /* rumors before this number are in the learner's base, or on their way */
    struct signed_head applied_last; /* head of the last rumor that `applied` covers */
    uint32_t keep;                   /* rumors from this number on are refused; KEEP_ALL = none */
    bool is_accused;                 /* there is a proof against its node (orders/proofs.h) */
    uint64_t bytes;                  /* bytes of its rumors that passed since this node started */
    /* Earliest time to compare its rumors with the residual again. */
    uint64_t compare_ns;
    float rate;           /* largest reported samples per second; 0 = unknown */
    uint64_t parent_conn; /* neighbour that feeds us its rumors: our parent in its tree */
    struct gap gap;       /* missing rumors of this origin */
};

struct versions {
    struct origin *origins; /* [max] in the order of arrival; an origin keeps its index */
    uint32_t count;         /* known origins */
    uint32_t max;           /* capacity */
    uint32_t *slots;        /* hash table by tag, open addressing: index + 1; 0 = free */
    uint32_t slots_mask;    /* size of the hash table - 1 */
    uint32_t newest;        /* index + 1 of the origin that published last */
    uint32_t oldest;        /* index + 1 of the origin that has been silent for longest */
    uint32_t cursor;        /* start of the next slice */
    uint32_t publishers;    /* number of origins with known rumors */
    uint64_t rumors;        /* known rumors over all origins */
    uint64_t hash;          /* sum of the hashes of all entries, independent of the order */
    uint64_t digest;        /* digest of the base that these rumors make */
};

uint64_t origin_tag(const uint8_t id[static ID_BYTES], uint64_t incarnation);

void versions_init(struct versions *versions, struct arena *arena, uint32_t max, uint64_t digest);

struct origin *versions_find(const struct versions *versions, uint64_t tag); /* NULL if unknown */

/* Adds an origin as the latest. Returns NULL if the table is full. */
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

/* Adds the origin's next rumor, with this head, and adds `digest` to the digest. */
void versions_advance(struct versions *versions, struct origin *origin,
                      const struct signed_head *head, uint64_t digest);

/* Sets the origin's rumors up to this head as known and applied; NULL = none. The caller corrects
 * digest and samples. */
void versions_set(struct versions *versions, struct origin *origin, const struct signed_head *head);

/* Keeps only the rumors up to this head as known; NULL = none. digest: of the removed ones,
 * negated. `applied` stays. */
void versions_cut(struct versions *versions, struct origin *origin, const struct signed_head *head,
                  uint64_t digest);

/* Makes the origin the latest, as if it had just published. */
void versions_touch(struct versions *versions, struct origin *origin);

/* Returns the origin that published last before `after`, or the latest of all for NULL; NULL at the
 * end. */
struct origin *versions_older(const struct versions *versions, const struct origin *after);
/* Returns the origin that published next after `before`, or the one silent for longest for NULL;
 * NULL at the end. */
struct origin *versions_newer(const struct versions *versions, const struct origin *before);

/* Writes the entry of `first` (unless NULL or without rumors), then those of at most `most` other
 * origins with rumors, continuing where the last slice ended; returns the number. So
 * ceil(publishers / most) slices in a row contain every entry. */
size_t versions_slice(struct versions *versions, const struct origin *first, uint32_t most,
                      uint8_t *out);

/* Writes the entries of the latest origins, except the first `skip`, at most `most`, latest first;
 * returns the number. Counts each origin's rumors up to heads[origin_index] (NULL = none), or all
 * known ones if heads is NULL. `learned`, unless NULL, gets their samples. */
size_t versions_latest(const struct versions *versions, const struct signed_head *const *heads,
                       uint32_t skip, uint32_t most, uint8_t *out, uint8_t *learned);

/* versions_hash returns the hash of a version with each origin's rumors up to heads[origin_index];
 * entries_hash that of `count` encoded entries. */
uint64_t versions_hash(const struct versions *versions, const struct signed_head *const *heads);
uint64_t entries_hash(const uint8_t *entries, size_t count);

/* Finds which of our origins another node knows, from its latest entries and the hash of its whole
 * version: those it lists, and all others except our latest ones; the hash tells where those start.
 * Returns false if no start fits the hash; then it counts as knowing them all. known: [max] bits by
 * origin index. */
bool versions_known(const struct versions *versions, const uint8_t *entries, size_t count,
                    uint64_t hash, uint64_t *known);

/* Returns the samples that the origin adds to the swarm's; 0 if its count continues in the same
 * process's next incarnation. */
uint64_t versions_samples(const struct versions *versions, const struct origin *origin);

#endif
