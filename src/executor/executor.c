#include "executor/executor.h"

#include <string.h>

#include "training/inference.h"
#include "training/label_fit.h"

static void follow(void *learner, uint64_t swarm_samples)
{
    learner_follow(learner, swarm_samples);
    learner_add_to_average(learner, swarm_samples);
}

static const struct update *publish(void *learner, const struct publish_terms *terms)
{
    return learner_publish(learner, terms);
}

static struct label_fit label_fit(void *learner)
{
    return label_fit_of(learner);
}

static void revert(void *learner)
{
    learner_revert(learner);
}

static void apply(void *learner, const struct update *update, float beta)
{
    learner_apply(learner, update, beta);
}

static double agreement(void *learner, const struct update *update)
{
    return learner_agreement(learner, update);
}

static struct base_trial trial(void *learner, const struct update *updates, uint32_t count,
                               uint32_t tried)
{
    return learner_trial(learner, updates, count, tried);
}

static void apply_own(void *learner, const struct update *update, float beta)
{
    learner_apply_own(learner, update, beta);
}

static void read_block(void *learner, size_t first, size_t count, int32_t *units)
{
    learner_read_block(learner, first, count, units);
}

static void write_block(void *learner, size_t first, size_t count, const int32_t *units,
                        bool keep_weights)
{
    learner_write_block(learner, first, count, units, keep_weights);
}

static void save(void *learner, struct learner_state *state)
{
    learner_save(learner, state);
}

static void predict(void *learner, const uint8_t *samples, size_t bytes, uint32_t count,
                    float *numbers)
{
    learner_predict(learner, samples, bytes, count, numbers);
}

const struct executor_ops executor_learner_ops = {.follow = follow,
                                                  .label_fit = label_fit,
                                                  .publish = publish,
                                                  .revert = revert,
                                                  .apply = apply,
                                                  .agreement = agreement,
                                                  .trial = trial,
                                                  .apply_own = apply_own,
                                                  .read_block = read_block,
                                                  .write_block = write_block,
                                                  .save = save,
                                                  .predict = predict};

bool executor_is_order(enum action_kind kind)
{
    return kind == ACTION_APPLY || kind == ACTION_TRIAL || kind == ACTION_TRAIN ||
           kind == ACTION_PUBLISH || kind == ACTION_READ || kind == ACTION_WRITE ||
           kind == ACTION_SAVE || kind == ACTION_PREDICT;
}

/* Records changes of base and weights in the snapshot, if one is being taken. */
static void note(const struct executor *executor, const struct action *order,
                 const struct answer *answer)
{
    struct snapshot_queue *snapshot = executor->snapshot;
    if (!snapshot)
        return;
    if (order->kind == ACTION_APPLY) {
        snapshot_note_update(snapshot, order->own ? SNAPSHOT_OWN : SNAPSHOT_APPLIED, order->update,
                             (float)order->beta);
    } else if (order->kind == ACTION_PUBLISH) {
        snapshot_note_update(snapshot, SNAPSHOT_OWN, answer->update, (float)order->terms.beta);
    } else if (order->kind == ACTION_WRITE) {
        /* The order replaces the base, so the copied parts are useless. */
        snapshot_break(snapshot);
    }
}

/* Returns the number of entries of the order's updates. */
static uint32_t entries_of(const struct action *order)
{
    uint32_t entries = 0;
    for (uint32_t u = 0; u < order->updates; u++)
        entries += order->update[u].count;
    return entries;
}

/* Drops the learner's progress. A snapshot does not record that, so while one is being taken, the
 * progress stays until the next publication. The last publication breaks the snapshot off. */
static void drop_progress(const struct executor *executor, bool is_last)
{
    const bool is_copied = executor->snapshot && snapshot_is_under_way(executor->snapshot);
    CHECK(executor->ops->revert);
    if (is_copied && !is_last)
        return;
    executor->ops->revert(executor->learner);
    if (is_copied)
        snapshot_break(executor->snapshot);
}

struct answer executor_perform(const struct executor *executor, const struct action *order)
{
    const struct executor_ops *ops = executor->ops;
    void *learner = executor->learner;
    struct answer answer = {.to = order->kind};
    switch (order->kind) {
    case ACTION_APPLY:
        if (order->compares)
            answer.agreement = ops->agreement(learner, order->update);
        (order->own ? ops->apply_own : ops->apply)(learner, order->update, (float)order->beta);
        ops->follow(learner, order->swarm_samples);
        answer.entries = order->update->count;
        break;
    case ACTION_TRIAL:
        if (ops->trial)
            answer.trial = ops->trial(learner, order->update, order->updates, order->tried);
        answer.entries = entries_of(order);
        break;
    case ACTION_TRAIN:
        ops->follow(learner, order->swarm_samples);
        break;
    case ACTION_PUBLISH:
        if (order->terms.compares_labels && ops->label_fit)
            answer.label_fit = ops->label_fit(learner);
        answer.update = ops->publish(learner, &order->terms);
        if (order->terms.is_held)
            drop_progress(executor, order->last);
        break;
    case ACTION_READ:
        CHECK(order->entries <= NODE_READ_MAX && executor->units);
        ops->read_block(learner, order->first, order->entries, executor->units);
        answer.units = executor->units;
        break;
    case ACTION_WRITE:
        ops->write_block(learner, order->first, order->entries, order->units, order->keep_weights);
        answer.entries = order->entries;
        break;
    case ACTION_SAVE:
        CHECK(executor->snapshot);
        answer.entries =
            (uint32_t)snapshot_take(executor->snapshot, order->first, ops->save, learner);
        break;
    case ACTION_PREDICT:
        CHECK(ops->predict && executor->numbers);
        ops->predict(learner, order->bytes, order->count, order->entries, executor->numbers);
        answer.numbers = executor->numbers;
        break;
    default:
        CHECK(executor_is_order(order->kind));
    }
    note(executor, order, &answer);
    return answer;
}

void executor_answer(struct node *node, uint64_t now_ns, const struct answer *answer)
{
    CHECK(answer->to != ACTION_SAVE && executor_is_order(answer->to));
    if (answer->to == ACTION_APPLY)
        node_on_agreement(node, now_ns, answer->agreement);
    if (answer->to == ACTION_TRIAL)
        node_on_trial(node, now_ns, &answer->trial);
    if (answer->label_fit.samples > 0)
        node_on_label_fit(node, now_ns, &answer->label_fit);
    if (answer->to == ACTION_APPLY || answer->to == ACTION_TRIAL || answer->to == ACTION_WRITE)
        node_on_applied(node, now_ns, answer->entries);
    else if (answer->to == ACTION_PUBLISH)
        node_on_published(node, now_ns, answer->update, answer->took_ns);
    else if (answer->to == ACTION_READ)
        node_on_read(node, now_ns, answer->units);
    else if (answer->to == ACTION_PREDICT)
        node_on_predicted(node, now_ns, answer->numbers, answer->took_ns);
}

size_t order_bytes(const struct action *order)
{
    CHECK(executor_is_order(order->kind));
    size_t bytes = sizeof *order + order->updates * sizeof *order->update;
    bytes += entries_of(order) * (sizeof *order->update->index + sizeof *order->update->level);
    if (order->kind == ACTION_WRITE)
        bytes += order->entries * sizeof *order->units;
    if (order->kind == ACTION_PREDICT)
        bytes += order->count;
    return bytes;
}

/* The memory behind the order holds the structs of the updates, then all indices, then all levels.
 */
static void copy_updates(struct action *copy, const struct action *order)
{
    struct update *ours = (struct update *)(copy + 1);
    uint32_t *index = (uint32_t *)(ours + order->updates);
    int8_t *level = (int8_t *)(index + entries_of(order));
    for (uint32_t u = 0; u < order->updates; u++) {
        ours[u] = order->update[u];
        ours[u].index = memcpy(index, ours[u].index, ours[u].count * sizeof *index);
        ours[u].level = memcpy(level, ours[u].level, ours[u].count);
        index += ours[u].count;
        level += ours[u].count;
    }
    copy->update = ours;
}

const struct action *order_copy(void *room, const struct action *order)
{
    CHECK(executor_is_order(order->kind));
    struct action *copy = room;
    *copy = *order;
    if (order->updates > 0)
        copy_updates(copy, order);
    if (order->kind == ACTION_WRITE) {
        copy->units = (int32_t *)(copy + 1);
        memcpy(copy + 1, order->units, order->entries * sizeof *order->units);
    }
    if (order->kind == ACTION_PREDICT) {
        copy->bytes = (const uint8_t *)(copy + 1);
        memcpy(copy + 1, order->bytes, order->count);
    }
    return copy;
}
