#ifndef HEARSAY_NODE_BROADCAST_APPLY_PRIVATE_H
#define HEARSAY_NODE_BROADCAST_APPLY_PRIVATE_H

#include "node/broadcast/decoded.h"
#include "node/node.h"
#include "wire/signed_head.h"

struct retract {
    bool is_due;     /* there may be rumors that retract_begin must take out of the version */
    bool needs_base; /* the log lacks rumors to take out, so a neighbour's base is needed */
    uint64_t rumors; /* rumors to retract that the learner was not given yet, negated */
};

#define APPLYING_MAX 256 /* at this many unanswered requests, no further rumor is given */
#define GIVEN_MAX    512 /* maximum unanswered rumors, blocks and trials */

/* An unanswered rumor, block or trial: one that was given to the learner, which has not answered.
 */
struct given {
    bool is_trial;    /* a trial; then the other members are unset */
    bool is_block;    /* a block; then the other members are unset */
    bool takes_out;   /* the rumor was given negated, to take it out of the base */
    bool is_compared; /* the learner was asked how well the rumor agrees with its residual */
    uint32_t origin_index;
    uint32_t seq;            /* number of the rumor */
    uint64_t at;             /* position of the rumor in the log, unless takes_out */
    struct signed_head last; /* head of the origin's last rumor in the base before this request */
};

/* Memory for the rumors of a trial. */
struct trial_room {
    struct update updates[TRIAL_UPDATES];
    uint32_t *index; /* [apply_window] entry indices of all updates, back to back */
    int8_t *level;   /* [apply_window] entry levels of all updates, back to back */
};

struct apply {
    struct decoded decoded;        /* decoded rumors that wait for the learner */
    uint32_t entries;              /* sum of the entries of unanswered rumors, blocks and trials */
    uint64_t rumors;               /* unanswered rumors, blocks and trials */
    uint32_t blocks;               /* unanswered blocks */
    uint32_t taken_out;            /* unanswered negated rumors */
    struct given given[GIVEN_MAX]; /* ring of the unanswered rumors, blocks and trials */
    uint32_t given_first;          /* index of the oldest one in `given` */
    struct trial_room *trial;      /* NULL = this node makes no trials */
    uint64_t *withheld;            /* bits by origin index: the origin's rumors are withheld */
    bool is_full;                  /* the next rumor waits: the learner has as much as it accepts */
};

size_t apply_arena_bytes(const struct node_options *options);
void apply_init(struct apply *apply, struct arena *arena, const struct node_options *options);

/* Like broadcast_logged, but the caller may change the update. */
struct update *apply_decode(struct node *node, const uint8_t *rumor, uint32_t bytes);
/* Returns true if the learner may be given another rumor with this many entries. */
bool apply_may_give(const struct node *node, uint32_t entries);
void apply_add_given(struct apply *apply, uint32_t entries, struct given given);

#endif
