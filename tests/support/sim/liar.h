/* A liar: a puppet (puppet.h) that gives a node a false base.
 *
 *   liars_begin ─► liars_meet ─► it shows the version of its twin, another node
 *     ─► TAKE: it sends the twin's history ─► FETCH: it sends `gives` false blocks
 */
#ifndef HEARSAY_TESTS_SUPPORT_SIM_LIAR_H
#define HEARSAY_TESTS_SUPPORT_SIM_LIAR_H

#include "faults/false_base.h"
#include "support/sim/fetch_story.h"
#include "support/sim/puppet.h"

#define LIARS_MAX 5

struct liar {
    struct puppet puppet; /* first member, so that a puppet pointer converts to a liar */
    struct false_base base;
    uint32_t twin; /* node whose history the liar copies */
    enum lie lie;
    uint32_t gives; /* number of blocks that the liar gives before it refuses */
    uint64_t aside; /* number that the liar adds to the digest it shows */
    /* Number of rumors that the liar claims to have published, after learning 2^44 samples; 0 = no
     * claim. */
    uint32_t claims;
    /* Number of other origins that a claiming liar leaves out of its history: those that published
     * last. */
    uint32_t omits;
};

/* liars[liars_count]: the liars of a test. */
extern struct liar liars[LIARS_MAX];
extern uint32_t liars_count;

int liars_begin(void **state);
int liars_end(void **state);
void liars_free(void);
/* Returns busy_options with logs that reach back a few seconds, enough to repair without a state
 * transfer. */
struct node_options liars_options(void);
/* Waits until the twin has no rumor left to apply. Then adds a liar, which dials the node and shows
 * it the twin's version. */
struct liar *liars_meet(uint32_t node, uint32_t twin, enum lie lie, uint8_t seed);

/* Shows the twin's current version, with the digest of the false base plus `aside`. */
void liar_show(struct liar *liar);
/* Dials again after the node has disconnected the liar, and shows the twin's version. */
void liar_call_again(struct liar *liar);

#endif
