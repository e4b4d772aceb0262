/* A liar: a puppet (puppet.h) that gives a node a false base.
 *
 *   liar_meet ─► it shows the version of its twin, another node
 *     ─► TAKE: it sends the twin's history ─► FETCH: it sends `gives` false blocks
 */
#ifndef HEARSAY_TESTS_SUPPORT_SIM_LIAR_H
#define HEARSAY_TESTS_SUPPORT_SIM_LIAR_H

#include "faults/false_base.h"
#include "support/sim/puppet.h"

struct liar {
    struct puppet puppet; /* first member, so that a puppet pointer converts to a liar */
    struct false_base base;
    uint32_t twin; /* node whose history the liar copies */
    enum lie lie;
    uint32_t gives; /* number of blocks that the liar gives before it refuses */
    uint64_t aside; /* number that the liar adds to the digest it shows */
    /* Number of rumors that the liar claims to have published, with 2^44 samples; 0 = no claim. */
    uint32_t claims;
    bool omits; /* the liar's history has no other origin */
};

/* Dials the node and shows it the twin's version. */
void liar_meet(struct liar *liar, uint32_t node, uint32_t twin, enum lie lie, uint8_t seed);
/* Shows the twin's current version, with a digest that matches the lie if `aside` is 0. */
void liar_show(struct liar *liar);
/* Dials again after the node has disconnected the liar. */
void liar_call_again(struct liar *liar);
void liar_free(struct liar *liar);

#endif
