/* A liar: a puppet (puppet.h) that gives a node a base which is not what it says.
 *
 *   liar_meet ─► it shows the version of another node, its twin ─► TAKE: the twin's history of that
 *   moment ─► FETCH: blocks with the lie in them (faults/false_base.h), as many as it gives */
#ifndef HEARSAY_TESTS_SUPPORT_SIM_LIAR_H
#define HEARSAY_TESTS_SUPPORT_SIM_LIAR_H

#include "faults/false_base.h"
#include "support/sim/puppet.h"

struct liar {
    struct puppet puppet; /* must be first */
    struct false_base base;
    uint32_t twin;  /* whose history it gives */
    enum lie lie;   /* what is wrong with it */
    uint32_t gives; /* so many blocks; then it refuses */
    uint64_t aside; /* added to the digest that it shows */
};

/* It calls the node and shows its version. */
void liar_meet(struct liar *liar, uint32_t node, uint32_t twin, enum lie lie, uint8_t seed);
/* It shows the version that its twin has now, and a digest to go with its lie. */
void liar_show(struct liar *liar);
/* It calls again, once it was hung up on. */
void liar_call_again(struct liar *liar);
void liar_free(struct liar *liar);

#endif
