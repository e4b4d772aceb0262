/* Rumors on their way to the learner, and out of its base again; nobody outside this folder
 * includes this. */
#ifndef HEARSAY_NODE_BROADCAST_APPLY_PRIVATE_H
#define HEARSAY_NODE_BROADCAST_APPLY_PRIVATE_H

#include "node/broadcast/decoded.h"
#include "node/node.h"
#include "wire/signed_head.h"

/* retract.c's. */
struct retract {
    bool is_due;     /* more is known of an expelled member than is kept, and was not looked for */
    bool needs_base; /* and is not in the log any more */
    uint64_t rumors; /* that the learner's base has, and the version no more */
};

#define APPLYING_MAX 256 /* rumors with the learner at once */
#define GIVEN_MAX    512 /* the same of rumors and blocks */

/* A rumor or a block that the learner has been given and is not known to be done with. */
struct given {
    bool is_block;           /* a block: it has no origin */
    bool takes_out;          /* the rumor is taken out */
    bool is_compared;        /* with the residual of the learner */
    uint32_t place;          /* of the rumor's origin among the versions */
    uint32_t seq;            /* its number */
    uint64_t at;             /* its position in the log */
    struct signed_head last; /* of its origin, the last that the base has until this is done */
};

/* apply.c's. */
struct apply {
    struct decoded decoded;        /* rumors that wait for the learner, decoded */
    uint32_t entries;              /* entries that the learner has been given and not done with */
    uint64_t rumors;               /* rumors and blocks, likewise */
    uint32_t blocks;               /* blocks among them */
    uint32_t taken_out;            /* rumors among them that are taken out */
    struct given given[GIVEN_MAX]; /* a ring of them, the oldest at given_first */
    uint32_t given_first;          /* where it is */
    uint64_t *held;                /* bit per origin, by place: its rumors wait */
    bool is_full;                  /* another rumor waits only until the learner has room */
};

/* A rumor of the log, to be changed by the caller. */
struct update *apply_decode(struct node *node, const uint8_t *rumor, uint32_t bytes);
/* May the learner be given so many entries? It is given this. */
bool apply_may_give(const struct node *node, uint32_t entries);
void apply_add_given(struct apply *apply, uint32_t entries, struct given given);

#endif
