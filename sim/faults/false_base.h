/* A false base: the true history of a node of the world with altered entries.
 *
 *   false_base_take ─► copy of node i's base ─► VERSION, HISTORY, BLOCK with the lie in them
 *
 * Used by attackers (hostile.h) and by tests of a false donor.
 */
#ifndef HEARSAY_SIM_FAULTS_FALSE_BASE_H
#define HEARSAY_SIM_FAULTS_FALSE_BASE_H

#include "node/broadcast/history.h"
#include "node/broadcast/version_entry.h"
#include "wire/block.h"
#include "wire/message.h"
#include "world/world.h"

#define FALSE_ORIGINS_MAX 1024

enum lie {
    LIE_NONE,
    LIE_ZEROS, /* all entries are zero; the digest is the true one */
    LIE_OFF,   /* the first entry of each block is off by one; the digest is the true one */
    /* The first entry of each block is off by one; the digest matches these entries. */
    LIE_FITS
};

struct false_base {
    uint32_t origins; /* number of origins in the history; 0 = no base was copied yet */
    uint8_t history[FALSE_ORIGINS_MAX * HISTORY_ENTRY_BYTES];
    uint8_t entries[FALSE_ORIGINS_MAX * VERSION_ENTRY_BYTES]; /* encoded version vector */
    uint8_t learned[FALSE_ORIGINS_MAX * LEARNED_BYTES]; /* encoded learned samples of each origin */
    uint64_t hash;                                      /* hash of the false version */
    /* Number of rumors in the false version. */
    uint64_t rumors;
    uint64_t digest;        /* digest that the attacker sends with the false base */
    uint32_t block_entries; /* entries per block; the last block may have fewer */
    uint64_t parameters;
    /* [parameters] entries that the attacker sends; freed by false_base_free. */
    int32_t *units;
    uint8_t bulk[BLOCK_MAX]; /* encoded entries of the block that was sent most recently */
};

/* Copies node i's base and alters it as `lie` says. Returns false if the node has no complete base
 * or its history is too large. */
bool false_base_take(struct false_base *base, const struct world *world, uint32_t i, enum lie lie);
void false_base_free(struct false_base *base);

/* Removes the entry of one incarnation from the history. */
void false_base_leave_out(struct false_base *base, const uint8_t id[static ID_BYTES],
                          uint64_t incarnation);
/* Recomputes version and learned samples from the history. */
void false_base_make_version(struct false_base *base, const uint8_t *context);

/* Return the messages by which an attacker offers its false base. Their bytes stay valid until
 * the next false_base_take. */
struct message false_base_version(const struct false_base *base);
struct message false_base_history(const struct false_base *base);
/* Returns the BLOCK message with this block. If there is no such block, the message is empty, which
 * means a refusal. */
struct message false_base_block(struct false_base *base, uint64_t block);

#endif
