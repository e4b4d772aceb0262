#include "daemon/saving.h"

#include <string.h>

#include "node/inspect.h"
#include "socket/transport.h"

static void go_on(const struct saving *saving)
{
    struct action order = {.kind = ACTION_SAVE};
    size_t first;
    if (!saver_next(saving->saver, &first))
        return;
    order.first = first;
    learner_link_order(saving->link, &order);
}

void saving_begin(const struct saving *saving)
{
    size_t bytes;
    if (saver_is_busy(saving->saver)) {
        (void)node_on_saved(saving->node, monotonic_ns(), saving->history, &bytes);
        return;
    }
    training_watch_before_save(saving->training, monotonic_ns());
    if (node_has_taken_first(saving->node) || saver_model_hash(saving->saver))
        saver_set_model_hash(saving->saver, node_model_hash(saving->node));
    saver_begin(saving->saver);
    go_on(saving);
}

void saving_on_part(const struct saving *saving, uint64_t now_ns, size_t entries)
{
    const enum saver_taken taken = saver_on_taken(saving->saver, entries);
    if (taken == SAVER_MORE)
        return;
    size_t bytes;
    const bool is_of_use = node_on_saved(saving->node, now_ns, saver_own(saving->saver), &bytes);
    if (taken == SAVER_WHOLE && is_of_use)
        saver_end(saving->saver, bytes, node_incarnation(saving->node),
                  training_watch_best(saving->training));
    else
        saver_abandon(saving->saver, is_of_use);
}

void saving_on_wake(struct saving *saving, struct event_log *report, uint64_t now_ns)
{
    struct saver_result saved;
    go_on(saving);
    if (!saver_took(saving->saver, &saved))
        return;
    saving->ended++;
    saving->last = saved;
    if (saved.is_best)
        training_watch_on_kept(saving->training, &saved.score);
    if (saved.has_checkpoint) {
        saving->saved_ns = now_ns;
        saving_on_loaded(saving);
        event_log_say(report, now_ns, NOTE_SAVED, LEVEL_DEBUG, "a checkpoint is on disk");
    }
    if (saved.error != OK)
        event_log_say(report, now_ns, NOTE_SAVED, LEVEL_ERROR, saved.problem.text);
}

void saving_on_loaded(struct saving *saving)
{
    const uint8_t *model_hash = saver_model_hash(saving->saver);
    if (model_hash)
        memcpy(saving->model_hash, model_hash, sizeof saving->model_hash);
}

bool saving_knows_model(const struct saving *saving)
{
    return !node_has_taken_first(saving->node) ||
           memcmp(saving->model_hash, node_model_hash(saving->node), sizeof saving->model_hash) ==
               0;
}
