/* A base as a liar gives it: the true history of a node of the world, and other entries.
 *
 *   false_base_take ─► what node i has now ─► VERSION, HISTORY, BLOCK of it, with the lie in them
 *
 * Used by attackers (hostile.h) and by stories of a false donor. */
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
    LIE_ZEROS, /* all entries are zero, and the digest is that of the true ones */
    LIE_OFF,   /* the first entry of each block is one off, and the digest as before */
    LIE_FITS   /* likewise, with the digest that it has then */
};

struct false_base {
    uint32_t origins; /* of the history; 0: nothing was taken yet */
    uint8_t history[FALSE_ORIGINS_MAX * HISTORY_ENTRY_BYTES];
    uint8_t entries[FALSE_ORIGINS_MAX * VERSION_ENTRY_BYTES]; /* of the version */
    uint8_t learned[FALSE_ORIGINS_MAX * LEARNED_BYTES];       /* beside them */
    uint64_t hash;                                            /* of the version */
    uint64_t rumors;                                          /* in it */
    uint64_t digest;                                          /* as said */
    uint32_t block_entries;                                   /* of a block, but for the last */
    uint64_t parameters;
    int32_t *units;          /* [parameters] as said; its own */
    uint8_t bulk[BLOCK_MAX]; /* of the last block that was said */
};

/* What node i has now. False: nothing, not all that it knows, or too much. */
bool false_base_take(struct false_base *base, const struct world *world, uint32_t i, enum lie lie);
void false_base_free(struct false_base *base);

/* Its history says nothing of this incarnation any more. */
void false_base_leave_out(struct false_base *base, const uint8_t id[static ID_BYTES],
                          uint64_t incarnation);
/* Makes the version anew that it shows: that of its history, whatever this says. */
void false_base_make_version(struct false_base *base, const uint8_t *context);

/* What it makes a liar say; the bytes are the base's until it is taken anew. */
struct message false_base_version(const struct false_base *base);
struct message false_base_history(const struct false_base *base);
/* Refused if there is no such block. */
struct message false_base_block(struct false_base *base, uint64_t block);

#endif
