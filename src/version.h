/* The version: for each origin, the number of the next rumor expected from it.
 *
 * An origin is one life (incarnation) of one node; its tag is a 64-bit hash of both. Neighbours
 * compare versions by a 64-bit hash of the whole, whatever the order, and by slices of it that go
 * round. The digest of all that is known rides along: since rumors are sums, it follows from the
 * rumors alone, and two nodes with equal versions must have equal ones.
 *
 *   OFFSET SIZE MEANING       (one entry of a slice, little-endian, 12 bytes)
 *        0    8 tag
 *        8    4 next
 *
 * A whole version also says of each entry, in the same order, what the origin had learned by then:
 *
 *        0    8 samples
 *        8    4 samples per second, the most it has said so far, float32; 0: not known
 *
 * Who takes over a base takes over its version: the history, in which origins have their names.
 *
 *   OFFSET SIZE MEANING       (one entry of a history, little-endian, 52 bytes)
 *        0   32 id
 *       32    8 incarnation
 *       40    4 next
 *       44    8 samples
 */
#ifndef HEARSAY_VERSION_H
#define HEARSAY_VERSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arena.h"
#include "identity.h"

#define VERSION_ENTRY_BYTES 12
#define LEARNED_BYTES       12
#define HISTORY_ENTRY_BYTES 52

struct origin {
    uint64_t tag;
    uint8_t id[ID_BYTES];
    uint64_t incarnation;
    uint32_t next;    /* 0: it is known, and has told nothing that we know of */
    uint64_t samples; /* as its latest rumor says */
    uint32_t handed;  /* rumors before are in the learner's base, or on their way into it ... */
    uint64_t handed_samples; /* ... and the samples that the last of those says */
    float rate;              /* samples per second, the most it has said so far; 0: not known */
    uint64_t heard_from;     /* conn that brought its latest rumor or record, or was asked to */

    /* Somebody has more of it than we do: how much, and who. At the last look we had lacking_at,
     * and so many were lacking. */
    bool lacking;
    uint32_t lacking_to;
    uint32_t lacking_at;
    uint32_t lacking_gap;
    uint64_t lacking_since_ns;
    uint64_t lacking_from; /* conn */
    uint64_t asked_ns;     /* when somebody was asked to bring it ... */
    uint64_t changed_ns;   /* ... who did not before ... */
    uint32_t changed_to;   /* ... and had it up to there */

    /* Rumors before behind_to were known to exist at behind_ns; 0: we hold all that was shown. */
    uint32_t behind_to;
    uint64_t behind_ns;
    uint64_t shown_ns; /* when more than we hold was shown last */
    uint32_t gone;     /* neighbours in turn that no longer had what comes next */
};

struct versions {
    struct origin *origins; /* [max], in the order they were met; an origin keeps its place */
    uint32_t count;
    uint32_t max;
    uint32_t *slots; /* open addressing: place + 1, 0 is free */
    uint32_t slots_mask;
    uint32_t cursor;  /* where the next slice begins */
    uint32_t telling; /* origins that we know rumors of */
    uint64_t rumors;  /* known in all */
    uint64_t hash;    /* the sum of a hash of each rumor known: of the whole, not of its order */
    uint64_t digest;
};

uint64_t origin_tag(const uint8_t id[static ID_BYTES], uint64_t incarnation);

void versions_init(struct versions *versions, struct arena *arena, uint32_t max, uint64_t digest);

/* NULL if not known. */
struct origin *versions_find(const struct versions *versions, uint64_t tag);

/* NULL when the table is full. */
struct origin *versions_add(struct versions *versions, const uint8_t id[static ID_BYTES],
                            uint64_t incarnation);

static inline uint32_t versions_place(const struct versions *versions, const struct origin *origin)
{
    return (uint32_t)(origin - versions->origins);
}

/* The next rumor of this origin is known from now on, and adds so much to the digest. */
void versions_advance(struct versions *versions, struct origin *origin, uint64_t digest);

/* From now on this is what is known of the origin, more or less than before; handed, too. The
 * digest is the caller's to put right. */
void versions_set(struct versions *versions, struct origin *origin, uint32_t next,
                  uint64_t samples);

/* The entry of `first` (unless NULL or nothing is known of it), then those of at most `most` others
 * that we know rumors of, where the last slice ended, round and round; returns how many there are.
 * So every entry is in one of ceil(telling / most) slices one after the other. Unless it is NULL,
 * learned takes what they have learned. */
size_t versions_slice(struct versions *versions, const struct origin *first, uint32_t most,
                      uint8_t *out, uint8_t *learned);

struct version_entry {
    uint64_t tag;
    uint32_t next;
};
struct version_entry version_entry_at(const uint8_t *vector, size_t i);
void version_entry_put(uint8_t *out, uint64_t tag, uint32_t next);

struct learned {
    uint64_t samples;
    float rate; /* as it came: not even a number, perhaps */
};
struct learned learned_at(const uint8_t *vector, size_t i);
void learned_put(uint8_t *out, const struct learned *learned);

/* One origin of a history. */
struct history_entry {
    uint8_t id[ID_BYTES];
    uint64_t incarnation;
    uint32_t next;
    uint64_t samples;
};
void history_entry_put(uint8_t *out, const struct history_entry *entry);
struct history_entry history_entry_at(const uint8_t *at);
/* "id/incarnation:next" of every origin, separated by blanks, as many as there is room for. */
void history_text(const uint8_t *history, size_t history_bytes, char *out, size_t room);

#endif
