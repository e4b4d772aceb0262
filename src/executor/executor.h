/* Performs a node's orders to its learner: for the daemon's learner thread, for its shutdown, and
 * for simulated nodes.
 *
 *   node_next ─► action ─► executor_perform ─► answer ─► executor_answer ─► node_on_…
 *                  └ order_copy: kept until the learner is between two steps
 *
 * The node requests one SAVE, and the owner turns it into one order per part of a snapshot, so that
 * a step waits for one part at a time (state/saver.h).
 *
 * APPLY, TRAIN, PUBLISH, WRITE, SAVE and PREDICT are performed in the order of the requests,
 * between two steps. READ is performed in order as well, or at once if no other order is under way,
 * even during a step. Answers come in the order of execution, so the node knows of which rumors a
 * block is the sum (node.h). Held by tests/unit/executor/test_executor.c.
 */
#ifndef HEARSAY_EXECUTOR_EXECUTOR_H
#define HEARSAY_EXECUTOR_EXECUTOR_H

#include "node/node.h"
#include "training/learner.h"

/* Operations of a learner that an executor calls. */
struct executor_ops {
    void (*follow)(void *learner, uint64_t swarm_samples);
    const struct update *(*publish)(void *learner, const struct publish_terms *terms);
    void (*apply)(void *learner, const struct update *update, float beta);
    /* Cosine of update and residual (replica.h). */
    double (*agreement)(void *learner, const struct update *update);
    void (*apply_own)(void *learner, const struct update *update, float beta);
    void (*read_block)(void *learner, size_t first, size_t count, int32_t *units);
    void (*write_block)(void *learner, size_t first, size_t count, const int32_t *units,
                        bool keep_weights);
    snapshot_save *save;
    /* Writes numbers[count, outputs] for samples[bytes]; NULL = it serves no inference. */
    void (*predict)(void *learner, const uint8_t *samples, size_t bytes, uint32_t count,
                    float *numbers);
};
extern const struct executor_ops executor_learner_ops; /* operations of a struct learner */

struct executor {
    const struct executor_ops *ops; /* operations of the learner */
    void *learner;                  /* the learner */
    int32_t *units;                 /* [NODE_READ_MAX] output of READ */
    float *numbers;                 /* [NODE_PREDICT_MAX] output of PREDICT; NULL = no inference */
    struct snapshot_queue
        *snapshot; /* parts written by SAVE, and the changes after them; NULL = none */
};

/* The result of an action. */
struct answer {
    enum action_kind to;         /* kind of the action */
    const struct update *update; /* PUBLISH: belongs to the learner, until its next publication */
    uint32_t entries;     /* APPLY, WRITE, SAVE: entries done; SAVE: 0 if broken off (snapshot.h) */
    double agreement;     /* APPLY: agreement, if requested (replica.h) */
    const int32_t *units; /* READ: valid until the next READ */
    const float *numbers; /* PREDICT: valid until the next PREDICT */
    uint64_t took_ns;     /* processor time as the owner measures it; 0 = unknown */
};

/* Returns true if the action is an order for the learner. Other actions are for the network and the
 * owner. */
bool executor_is_order(enum action_kind kind);

/* Performs an order. TRAIN has no answer for the node, and the caller starts to step. */
struct answer executor_perform(const struct executor *executor, const struct action *order);

/* Passes an answer to the node, except for SAVE. The owner answers that part by part, and provides
 * space for the history with the last one (node_on_saved). */
void executor_answer(struct node *node, uint64_t now_ns, const struct answer *answer);

/* Returns the bytes of an order with all data that it points to. */
size_t order_bytes(const struct action *order);
const struct action *order_copy(void *room, const struct action *order); /* room[order_bytes] */

#endif
