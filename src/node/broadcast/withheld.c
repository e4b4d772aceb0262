#include "node/broadcast/withheld.h"

#include "base/digest.h"
#include "node/broadcast/broadcast_private.h"
#include "node/broadcast/retract.h"

bool withheld_has(const struct node *node, uint32_t origin_index)
{
    CHECK(origin_index < node->broadcast->versions.count);
    return bit_get(node->broadcast->apply.withheld, origin_index);
}

void withheld_begin(struct node *node, uint32_t origin_index)
{
    CHECK(!withheld_has(node, origin_index));
    bit_set(node->broadcast->apply.withheld, origin_index, true);
}

void withheld_end(struct node *node, uint32_t origin_index)
{
    CHECK(withheld_has(node, origin_index));
    bit_set(node->broadcast->apply.withheld, origin_index, false);
    rumor_log_return(&node->broadcast->log);
}

/* Returns true if the learner lacks rumors of the origin because they are withheld. `applied`
 * exceeds `next` while an expelled member's rumors are being taken out. */
static bool waits(const struct node *node, uint32_t origin_index)
{
    const struct origin *origin = &node->broadcast->versions.origins[origin_index];
    return withheld_has(node, origin_index) && origin->applied < origin->next;
}

bool withheld_has_any(const struct node *node)
{
    bool any = false;
    for (uint32_t origin_index = 0; origin_index < node->broadcast->versions.count; origin_index++)
        any |= waits(node, origin_index);
    return any;
}

const struct signed_head *withheld_last(const struct node *node, uint32_t origin_index)
{
    const struct origin *origin = &node->broadcast->versions.origins[origin_index];
    if (waits(node, origin_index))
        return origin->applied > 0 ? &origin->applied_last : NULL;
    return origin->next > 0 ? &origin->last : NULL;
}

static bool is_in_log(const struct node *node, uint32_t origin_index)
{
    const struct origin *origin = &node->broadcast->versions.origins[origin_index];
    uint32_t bytes;
    for (uint32_t seq = origin->applied; seq < origin->next; seq++)
        if (!rumor_log_find(&node->broadcast->log, origin_index, seq, &bytes))
            return false;
    return true;
}

bool withheld_digest(struct node *node, uint64_t *digest)
{
    const struct versions *versions = &node->broadcast->versions;
    *digest = versions->digest;
    for (uint32_t origin_index = 0; origin_index < versions->count; origin_index++) {
        if (!waits(node, origin_index))
            continue;
        if (!is_in_log(node, origin_index))
            return false;
        *digest = digest_add(
            *digest, retract_digest(node, origin_index, versions->origins[origin_index].applied));
    }
    return true;
}
