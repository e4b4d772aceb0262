/* Performs a node's orders to its learner: for the daemon's learner thread and its shutdown, for
 * host programs, and for simulated nodes.
 *
 *   node_next ─► action ─► executor_perform ─► answer ─► executor_answer ─► node_on_…
 *                  └ order_copy: kept until the learner is between two steps
 *
 * The node requests one SAVE, and the owner turns it into one order per part of a snapshot, so that
 * a step waits for one part at a time (state/saver.h).
 *
 * APPLY, TRIAL, TRAIN, PUBLISH, WRITE, SAVE and PREDICT are performed in the order of the requests,
 * between two steps. READ is also performed in this order, or immediately if no other order is
 * being performed, even during a step. Answers arrive in the order of execution. So the node knows
 * which rumors are included in a block of the base (node.h). Tests:
 * tests/unit/executor/test_executor.c.
 */
#ifndef HEARSAY_EXECUTOR_EXECUTOR_H
#define HEARSAY_EXECUTOR_EXECUTOR_H

#include "node/labels_api.h"
#include "node/node.h"
#include "training/learner.h"

/* Operations of one kind of learner. */
struct executor_ops {
    /* Tells the learner, after a change of its base by other nodes, how many samples the swarm has
     * learned. */
    void (*follow)(void *learner, uint64_t swarm_samples);
    /* Returns the label fit of the base. NULL = the learner cannot compare labels. */
    struct label_fit (*label_fit)(void *learner);
    const struct update *(*publish)(void *learner, const struct publish_terms *terms);
    /* Sets the weights to the base. NULL = the learner never holds its publications. */
    void (*revert)(void *learner);
    void (*apply)(void *learner, const struct update *update, float beta);
    /* Returns the cosine between an update and the residual (model/exchange/replica.h). */
    double (*agreement)(void *learner, const struct update *update);
    /* Works as learner_trial does. NULL = the learner makes no evaluations. */
    struct base_trial (*trial)(void *learner, const struct update *updates, uint32_t count,
                               uint32_t tried);
    void (*apply_own)(void *learner, const struct update *update, float beta);
    void (*read_block)(void *learner, size_t first, size_t count, int32_t *units);
    void (*write_block)(void *learner, size_t first, size_t count, const int32_t *units,
                        bool keep_weights);
    snapshot_save *save;
    /* Writes the predictions numbers[count, outputs] for samples[bytes]. NULL = the learner serves
     * no inference. */
    void (*predict)(void *learner, const uint8_t *samples, size_t bytes, uint32_t count,
                    float *numbers);
};
extern const struct executor_ops executor_learner_ops;

struct executor {
    const struct executor_ops *ops;
    void *learner;  /* first argument of the operations */
    int32_t *units; /* [NODE_READ_MAX] output of READ */
    float *numbers; /* [NODE_PREDICT_MAX] output of PREDICT; NULL = no inference */
    /* Receives the parts that SAVE copies, and later changes of these parts; NULL = none. */
    struct snapshot_queue *snapshot;
};

struct answer {
    enum action_kind to; /* kind of the performed order */
    /* PUBLISH: the update to publish; valid until the next publication. */
    const struct update *update;
    /* APPLY, TRIAL, WRITE: entries of the order; SAVE: entries copied, 0 if the snapshot was broken
     * off */
    uint32_t entries;
    struct label_fit label_fit; /* PUBLISH: if the order requests it; samples 0 = not measured */
    double agreement; /* APPLY: cosine between update and residual, if the order requests it */
    struct base_trial trial; /* TRIAL */
    const int32_t *units;    /* READ: entries of the base; valid until the next READ */
    const float *numbers;    /* PREDICT: the predictions; valid until the next PREDICT */
    /* processor time of the order, set by the owner; 0 = unknown */
    uint64_t took_ns;
};

/* Returns true if the action is for the learner; false: for the network or the owner. */
bool executor_is_order(enum action_kind kind);

/* Performs an order on the calling thread. TRAIN only gives the learner the swarm's samples: the
 * caller then starts to make steps, and the node expects no answer. */
struct answer executor_perform(const struct executor *executor, const struct action *order);

/* Passes an answer to the node. Not for SAVE and TRAIN: the owner reports a SAVE with
 * node_on_saved, after the last part. */
void executor_answer(struct node *node, uint64_t now_ns, const struct answer *answer);

/* Returns the bytes of an order together with all data that it points to. */
size_t order_bytes(const struct action *order);
/* Copies an order, with all data that it points to, to room[order_bytes]. */
const struct action *order_copy(void *room, const struct action *order);

#endif
