/* A liar: a puppet (puppet.h) that gives a node a false base.
 *
 *   liar_meet ─► it shows the version of another node, its twin ─► TAKE: the twin's history of that
 *   moment ─► FETCH: blocks with the lie in them (faults/false_base.h), as many as it gives
 */
#ifndef HEARSAY_TESTS_SUPPORT_SIM_LIAR_H
#define HEARSAY_TESTS_SUPPORT_SIM_LIAR_H

#include "faults/false_base.h"
#include "support/sim/puppet.h"

struct liar {
    struct puppet puppet; /* the first member, so that a puppet is a liar */
    struct false_base base;
    uint32_t twin;  /* node whose history it gives */
    enum lie lie;   /* kind of lie */
    uint32_t gives; /* number of blocks it gives before it refuses */
    uint64_t aside; /* added to the true digest that it shows */
};

/* Calls the node and shows its version. */
void liar_meet(struct liar *liar, uint32_t node, uint32_t twin, enum lie lie, uint8_t seed);
/* Shows its twin's current version, with a digest that matches its lie. */
void liar_show(struct liar *liar);
/* Calls again after it was disconnected. */
void liar_call_again(struct liar *liar);
void liar_free(struct liar *liar);

#endif
