/* A false base: a copy of a node's base and history that attackers (hostile.h) alter and offer.
 *
 *   false_base_take ─► copy of node i's base ─► VERSION, HISTORY, BLOCK with the lie in them
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
    LIE_ZEROS, /* all parameters are zero; the digest is the true one */
    LIE_OFF,   /* the first parameter of each block is off by a unit; the digest is the true one */
    LIE_FITS   /* like LIE_OFF, but with the digest of the altered parameters */
};

struct false_base {
    uint32_t origins; /* number of history entries; 0 = no base was copied */
    uint8_t history[FALSE_ORIGINS_MAX * HISTORY_ENTRY_BYTES];
    uint8_t entries[FALSE_ORIGINS_MAX * VERSION_ENTRY_BYTES]; /* encoded version vector */
    uint8_t learned[FALSE_ORIGINS_MAX * LEARNED_BYTES]; /* encoded learned samples of each origin */
    uint64_t hash;                                      /* hash of `entries` */
    uint64_t rumors;                                    /* number of rumors in `entries` */
    uint64_t digest;        /* digest that the attacker sends with the false base */
    uint32_t block_entries; /* parameters per block; the last block may have fewer */
    uint64_t parameters;
    int32_t *units;          /* [parameters] altered parameters; freed by false_base_free */
    uint8_t bulk[BLOCK_MAX]; /* encoded block of the latest false_base_block */
};

/* Copies node i's base and alters it as `lie` says. Returns false if node i does not run, is
 * fetching a base, has rumors to apply, or has an empty or too large history. */
bool false_base_take(struct false_base *base, const struct world *world, uint32_t i, enum lie lie);
void false_base_free(struct false_base *base);

/* Removes the history entry of this incarnation, if there is one. */
void false_base_leave_out(struct false_base *base, const uint8_t id[static ID_BYTES],
                          uint64_t incarnation);
/* Recomputes `entries`, `learned`, `hash` and `rumors` from the history. */
void false_base_make_version(struct false_base *base, const uint8_t *context);

/* Return messages that offer the base. Their bytes stay valid until the base changes. */
struct message false_base_version(const struct false_base *base);
struct message false_base_history(const struct false_base *base);
/* Returns a message whose bytes stay valid until the next call. If there is no such block, the
 * message is empty, which means a refusal. */
struct message false_base_block(struct false_base *base, uint64_t block);

#endif
