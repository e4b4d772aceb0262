/* Private state of apply.c and retract.c: rumors on their way to the learner, or out of the
 * learner's base. */
#ifndef HEARSAY_NODE_BROADCAST_APPLY_PRIVATE_H
#define HEARSAY_NODE_BROADCAST_APPLY_PRIVATE_H

#include "node/broadcast/decoded.h"
#include "node/node.h"
#include "wire/signed_head.h"

/* State of retract.c. */
struct retract {
    /* The log may hold rumors of an expelled member beyond the limit that the orders set for it;
     * retract_begin clears this flag. */
    bool is_due;
    /* The log lacks rumors that must be taken out of the base, so a neighbour's base is needed. */
    bool needs_base;
    /* Number of rumors that are still in the learner's base and no longer in the version. */
    uint64_t rumors;
};

#define APPLYING_MAX 256 /* rumors that the learner may have without an answer, at most */
/* Rumors and blocks that the learner may have without an answer, at most. */
#define GIVEN_MAX 512

/* A rumor or block that was given to the learner and not answered. */
struct given {
    bool is_block;           /* this is a block, which has no origin */
    bool takes_out;          /* the rumor was given negated, to take it out of the base */
    bool is_compared;        /* the learner was asked how well the rumor agrees with its residual */
    uint32_t origin_index;   /* index of the rumor's origin */
    uint32_t seq;            /* number of the rumor */
    uint64_t at;             /* position of the rumor in the log */
    struct signed_head last; /* head of the origin's last rumor in the base before this one */
};

/* State of apply.c. */
struct apply {
    struct decoded decoded; /* decoded rumors that wait for the learner */
    uint32_t entries;       /* sum of the entries of unanswered rumors and blocks */
    uint64_t rumors;        /* rumors and blocks given to the learner and not answered */
    uint32_t blocks;        /* blocks given to the learner and not answered */
    uint32_t taken_out;     /* negated rumors given to the learner and not answered */
    /* ring of the rumors and blocks given to the learner and not answered */
    struct given given[GIVEN_MAX];
    uint32_t given_first; /* index of the oldest rumor or block in `given` */
    uint64_t *withheld;   /* bits by origin index: the origin's rumors are withheld */
    /* The next rumor waits because the learner has as many unanswered entries as it accepts. */
    bool is_full;
};

/* Decodes a rumor of the log. Returns the update, which the caller may change. */
struct update *apply_decode(struct node *node, const uint8_t *rumor, uint32_t bytes);
/* Returns true if the learner may be given another rumor with this many entries. */
bool apply_may_give(const struct node *node, uint32_t entries);
void apply_add_given(struct apply *apply, uint32_t entries, struct given given);

#endif
