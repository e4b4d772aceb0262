/* What a node asks of its learner, done in one place: for the daemon's learner thread, for its
 * shutdown, and for simulated nodes.
 *
 *   node_next ─► action ─► executor_perform ─► answer ─► executor_answer ─► node_on_…
 *                  └ order_copy: kept until the learner is between two steps
 *
 * The node asks for one SAVE, and the owner makes of it one for each part of a snapshot: of those a
 * step waits for one at a time (state/saver.h).
 *
 * APPLY, TRAIN, PUBLISH, WRITE, SAVE and PREDICT are performed in the order in which they were
 * asked for, between two steps; READ is, too, or at once if no other order is being performed, even
 * during a step. Answers come in the order in which orders were performed; that is what lets the
 * node know of which rumors a block is the sum (node.h). Held by
 * tests/unit/executor/test_executor.c.
 */
#ifndef HEARSAY_EXECUTOR_EXECUTOR_H
#define HEARSAY_EXECUTOR_EXECUTOR_H

#include "node/node.h"
#include "training/learner.h"

/* A learner, as an executor sees it. */
struct executor_ops {
    void (*follow)(void *learner, uint64_t swarm_samples);
    const struct update *(*publish)(void *learner, const struct publish_terms *terms);
    void (*apply)(void *learner, const struct update *update, float beta);
    double (*agreement)(void *learner, const struct update *update); /* replica.h */
    void (*apply_own)(void *learner, const struct update *update, float beta);
    void (*read_block)(void *learner, size_t first, size_t count, int32_t *units);
    void (*write_block)(void *learner, size_t first, size_t count, const int32_t *units,
                        bool keep_weights);
    snapshot_save *save;
    /* numbers[count, outputs] of samples[bytes]; NULL: it is asked no questions. */
    void (*predict)(void *learner, const uint8_t *samples, size_t bytes, uint32_t count,
                    float *numbers);
};
extern const struct executor_ops executor_learner_ops; /* of a struct learner */

struct executor {
    const struct executor_ops *ops; /* how it is talked to */
    void *learner;                  /* whom */
    int32_t *units;                 /* [NODE_READ_MAX] where READ puts what it read */
    float *numbers; /* [NODE_PREDICT_MAX] where PREDICT puts what it says; or NULL */
    struct snapshot_queue *snapshot; /* where SAVE puts its part, and what is done after it is
                                        noted; or NULL */
};

/* What came of an action. */
struct answer {
    enum action_kind to;         /* the action's kind */
    const struct update *update; /* PUBLISH: the learner's, until its next publication */
    uint32_t entries;            /* APPLY, WRITE, SAVE: how many are done; SAVE: 0 if it is broken
                                    off (snapshot.h) */
    double agreement;            /* APPLY that is to be compared: just before (replica.h) */
    const int32_t *units;        /* READ: the executor's, until the next READ */
    const float *numbers;        /* PREDICT: the executor's, until the next one */
    uint64_t took_ns;            /* processor time, as the owner measures it; 0: it does not */
};

/* Is it an order for the learner? The others are for the network and the owner. */
bool executor_is_order(enum action_kind kind);

/* Performs an order. A TRAIN has no answer for the node; beginning to step is the caller's. */
struct answer executor_perform(const struct executor *executor, const struct action *order);

/* Tells the node. A SAVE is answered by the owner, part by part, until the last: then the owner has
 * room for the history (node_on_saved). */
void executor_answer(struct node *node, uint64_t now_ns, const struct answer *answer);

/* An order and all that it points to, in one piece. */
size_t order_bytes(const struct action *order);
const struct action *order_copy(void *room, const struct action *order); /* room[order_bytes] */

#endif
