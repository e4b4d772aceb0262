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

static bool give(struct node *node, const struct gathered *gathered, uint32_t tried,
                 struct action *action)
{
    struct apply *apply = &node->broadcast->apply;
    CHECK(gathered->updates <= TRIAL_UPDATES);
    if (tried == 0 || !apply_may_give(node, gathered->entries))
        return false;
    apply_add_given(apply, gathered->entries, (struct given){.is_trial = true});
    *action = (struct action){.kind = ACTION_TRIAL,
                              .update = apply->trial->updates,
                              .updates = gathered->updates,
                              .tried = tried};
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
    return give(node, &gathered, gathered.updates, action);
}

static void negate(const struct update *update)
{
    CHECK(update->count > 0);
    for (uint32_t i = 0; i < update->count; i++)
        update->level[i] = (int8_t)-update->level[i]; /* levels are in -127 .. 127 */
}

/* Gathers the rumors of a removal, negated. */
static void gather_removal(struct node *node, const struct removal *removal,
                           struct gathered *gathered)
{
    const struct versions *versions = &node->broadcast->versions;
    for (uint32_t i = versions->count; i-- > 0;) {
        const struct origin *origin = &versions->origins[i];
        if (origin->incarnation < removal->incarnation ||
            memcmp(origin->id, removal->id, ID_BYTES) != 0)
            continue;
        const uint32_t from = origin->incarnation == removal->incarnation ? removal->keep : 0;
        for (uint32_t seq = origin->applied; seq > from && gather(node, i, seq - 1, gathered);
             seq--)
            negate(&node->broadcast->apply.trial->updates[gathered->updates - 1]);
    }
}

bool trial_of_removal(struct node *node, const struct removal *removals, uint32_t count,
                      struct action *action, bool *is_empty)
{
    struct gathered gathered = {0};
    CHECK(node->broadcast->apply.trial && count > 0);
    gather_removal(node, &removals[0], &gathered);
    const uint32_t tried = gathered.updates;
    for (uint32_t i = 1; i < count; i++)
        gather_removal(node, &removals[i], &gathered);
    *is_empty = tried == 0;
    return give(node, &gathered, tried, action);
}
