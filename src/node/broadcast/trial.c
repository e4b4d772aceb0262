#include "node/broadcast/trial.h"

#include <string.h>

#include "node/broadcast/broadcast_private.h"

/* Updates that a trial has gathered in trial_room. */
struct gathered {
    uint32_t updates;
    uint32_t entries;
};

/* Decodes a rumor behind the gathered updates. Returns false if the log lacks the rumor or it does
 * not fit. */
static bool gather(struct node *node, uint32_t origin_index, uint32_t seq,
                   struct gathered *gathered)
{
    const struct trial_room *room = node->broadcast->apply.trial;
    struct rumor_head head;
    uint32_t bytes;
    CHECK(gathered->entries <= node->options.limits.apply_window);
    const uint8_t *rumor = rumor_log_find(&node->broadcast->log, origin_index, seq, &bytes);
    if (!rumor || gathered->updates == TRIAL_UPDATES)
        return false;
    CHECK(rumor_peek(rumor, bytes, &head) == OK);
    if (head.count > node->options.limits.apply_window - gathered->entries)
        return false;
    struct update *update = &node->broadcast->apply.trial->updates[gathered->updates++];
    *update = (struct update){.index = room->index + gathered->entries,
                              .level = room->level + gathered->entries};
    rumor_decode_again(rumor, bytes, node->options.parameters, update);
    gathered->entries += head.count;
    return true;
}

static bool give(struct node *node, const struct gathered *gathered, struct action *action)
{
    struct apply *apply = &node->broadcast->apply;
    CHECK(gathered->updates <= TRIAL_UPDATES);
    if (gathered->updates == 0 || !apply_may_give(node, gathered->entries))
        return false;
    apply_add_given(apply, gathered->entries, (struct given){.is_trial = true});
    *action = (struct action){
        .kind = ACTION_TRIAL, .update = apply->trial->updates, .updates = gathered->updates};
    return true;
}

bool trial_of_withheld(struct node *node, uint32_t origin_index, struct action *action)
{
    const struct origin *origin = &node->broadcast->versions.origins[origin_index];
    struct gathered gathered = {0};
    CHECK(node->broadcast->apply.trial);
    for (uint32_t seq = origin->applied;
         seq < origin->next && gather(node, origin_index, seq, &gathered); seq++)
        ;
    return give(node, &gathered, action);
}

static void negate(const struct update *update)
{
    CHECK(update->count > 0);
    for (uint32_t i = 0; i < update->count; i++)
        update->level[i] = (int8_t)-update->level[i]; /* levels are in -127 .. 127 */
}

bool trial_of_removal(struct node *node, const uint8_t id[static ID_BYTES], uint64_t incarnation,
                      uint32_t keep, struct action *action, bool *is_empty)
{
    const struct versions *versions = &node->broadcast->versions;
    struct gathered gathered = {0};
    CHECK(node->broadcast->apply.trial);
    for (uint32_t i = versions->count; i-- > 0;) {
        const struct origin *origin = &versions->origins[i];
        if (origin->incarnation < incarnation || memcmp(origin->id, id, ID_BYTES) != 0)
            continue;
        const uint32_t from = origin->incarnation == incarnation ? keep : 0;
        for (uint32_t seq = origin->applied; seq > from && gather(node, i, seq - 1, &gathered);
             seq--)
            negate(&node->broadcast->apply.trial->updates[gathered.updates - 1]);
    }
    *is_empty = gathered.updates == 0;
    return give(node, &gathered, action);
}
