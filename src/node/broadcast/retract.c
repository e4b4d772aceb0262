#include "node/broadcast/retract.h"

#include <string.h>

#include "base/digest.h"
#include "node/broadcast/broadcast_private.h"
#include "node/orders/proofs.h"
#include "node/orders/verdict.h"

static struct update *negated(struct node *node, uint32_t origin_index, uint32_t seq)
{
    uint32_t bytes;
    const uint8_t *rumor = rumor_log_find(&node->broadcast->log, origin_index, seq, &bytes);
    CHECK(rumor);
    struct update *update = apply_decode(node, rumor, bytes);
    for (uint32_t i = 0; i < update->count; i++)
        update->level[i] = (int8_t)-update->level[i];
    return update;
}

void retract_on_expelled(struct node *node, const uint8_t id[static ID_BYTES])
{
    struct broadcast *broadcast = node->broadcast;
    for (uint32_t origin_index = 0; origin_index < broadcast->versions.count; origin_index++) {
        struct origin *origin = &broadcast->versions.origins[origin_index];
        if (memcmp(origin->id, id, ID_BYTES) != 0)
            continue;
        origin->keep = verdict_keep(node, id, origin->incarnation);
        origin->is_accused = proofs_against(node, id) != NULL;
        origin->samples = origin_is_expelled(origin) ? 0 : signed_head_samples(&origin->last);
        repair_forget_origin(node, origin);
    }
    broadcast->retract.is_due = true;
}

uint32_t retract_reach(const struct node *node, uint32_t origin_index)
{
    const struct versions *versions = &node->broadcast->versions;
    CHECK(origin_index < versions->count);
    const uint32_t next = versions->origins[origin_index].next;
    uint32_t reach = next;
    while (reach > 0 && rumor_log_is_lasting(&node->broadcast->log, origin_index, reach - 1))
        reach--;
    /* the log must also have the rumor before those taken out, whose head is needed */
    return reach > 0 && reach < next ? reach + 1 : reach;
}

/* Returns true if the log has all rumors to take out and the one before, whose head is needed. */
static bool is_in_log(const struct node *node, uint32_t origin_index, const struct origin *origin)
{
    uint32_t bytes;
    for (uint32_t seq = origin->keep - (origin->keep > 0); seq < origin->next; seq++)
        if (!rumor_log_find(&node->broadcast->log, origin_index, seq, &bytes))
            return false;
    return true;
}

uint64_t retract_digest(struct node *node, uint32_t origin_index, uint32_t from)
{
    const uint32_t next = node->broadcast->versions.origins[origin_index].next;
    uint64_t digest = 0;
    CHECK(from <= next);
    for (uint32_t seq = from; seq < next; seq++)
        digest = digest_add(digest, digest_of_update(negated(node, origin_index, seq)));
    return digest;
}

/* Removes the origin's rumors from number origin->keep on from the version and returns their
 * number. In BASE_ROLLING none of them is taken out of the learner's base, because all blocks of
 * the base arrive again. */
static uint64_t cut(struct node *node, uint32_t origin_index, struct origin *origin)
{
    struct broadcast *broadcast = node->broadcast;
    const uint32_t known = origin->next;
    const uint64_t digest = retract_digest(node, origin_index, origin->keep);
    struct signed_head last;
    const bool is_left =
        origin->keep > 0 && equivocation_head(node, origin_index, origin->keep - 1, &last);
    CHECK(is_left || origin->keep == 0);
    versions_cut(&broadcast->versions, origin, is_left ? &last : NULL, digest);
    if (base_state(node) == BASE_ROLLING && origin->applied > origin->next) {
        origin->applied = origin->next;
        origin->applied_last = origin->last;
    }
    broadcast->advanced_ns = node->now_ns;
    return known - origin->next;
}

/* Pins the log at the oldest rumor that is still to be taken out of the learner's base. */
static void pin(struct node *node)
{
    struct rumor_log *log = &node->broadcast->log;
    uint64_t at = log->oldest;
    for (; at < log->newest; at++) {
        const struct rumor_log_entry *entry = rumor_log_at(log, at);
        const struct origin *origin = &node->broadcast->versions.origins[entry->origin_index];
        if (entry->seq >= origin->next && entry->seq < origin->applied)
            break;
    }
    CHECK(at < log->newest);
    rumor_log_pin(log, at);
}

/* Returns the number of rumors in the learner's base that are no longer in the version. */
static uint64_t count_to_lose(const struct versions *versions)
{
    uint64_t rumors = 0;
    for (uint32_t origin_index = 0; origin_index < versions->count; origin_index++) {
        const struct origin *origin = &versions->origins[origin_index];
        rumors += origin->applied > origin->next ? origin->applied - origin->next : 0;
    }
    return rumors;
}

uint64_t retract_begin(struct node *node)
{
    struct broadcast *broadcast = node->broadcast;
    struct retract *retract = &broadcast->retract;
    uint64_t rumors = 0;
    /* the rumors of a publication under way might not fit a pinned log */
    CHECK(publishing_state(node) != PUBLISHING_OUT);
    if (!retract->is_due)
        return 0;
    retract->is_due = retract->needs_base = false;
    for (uint32_t origin_index = 0; origin_index < broadcast->versions.count; origin_index++) {
        struct origin *origin = &broadcast->versions.origins[origin_index];
        if (origin->next <= origin->keep)
            continue;
        if (is_in_log(node, origin_index, origin))
            rumors += cut(node, origin_index, origin);
        else
            retract->needs_base = true;
    }
    retract->rumors = count_to_lose(&broadcast->versions);
    if (retract->rumors > 0)
        pin(node);
    return rumors;
}

bool retract_is_due(const struct node *node)
{
    return node->broadcast->retract.is_due;
}

bool retract_is_under_way(const struct node *node)
{
    return node->broadcast->retract.rumors > 0 || node->broadcast->apply.taken_out > 0;
}

bool retract_needs_base(const struct node *node)
{
    return node->broadcast->retract.needs_base;
}

static struct origin *first_to_lose(struct versions *versions)
{
    uint32_t origin_index = 0;
    while (origin_index < versions->count &&
           versions->origins[origin_index].applied <= versions->origins[origin_index].next)
        origin_index++;
    CHECK(origin_index < versions->count);
    return &versions->origins[origin_index];
}

bool retract_next(struct node *node, struct action *action)
{
    struct broadcast *broadcast = node->broadcast;
    if (broadcast->retract.rumors == 0 || !apply_may_give(node, 0))
        return false;
    struct origin *origin = first_to_lose(&broadcast->versions);
    const uint32_t origin_index = broadcast_index(node, origin), seq = origin->applied - 1;
    const struct update *update = negated(node, origin_index, seq);
    if (!apply_may_give(node, update->count))
        return false;
    apply_add_given(&broadcast->apply, update->count,
                    (struct given){.takes_out = true,
                                   .origin_index = origin_index,
                                   .seq = seq,
                                   .last = origin->applied_last});
    origin->applied = seq;
    origin->applied_last = origin->last;
    CHECK(seq == origin->next ||
          equivocation_head(node, origin_index, seq - 1, &origin->applied_last));
    if (--broadcast->retract.rumors == 0)
        rumor_log_pin(&broadcast->log, LOG_UNPINNED);
    *action = (struct action){.kind = ACTION_APPLY,
                              .update = update,
                              .updates = 1,
                              .tag = origin->tag,
                              .seq = seq,
                              .takes_out = true};
    return true;
}
