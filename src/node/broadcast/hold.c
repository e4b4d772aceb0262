#include "node/broadcast/hold.h"

#include "base/digest.h"
#include "node/broadcast/broadcast_private.h"
#include "node/broadcast/retract.h"

bool hold_has(const struct node *node, uint32_t place)
{
    CHECK(place < node->broadcast->versions.count);
    return bit_get(node->broadcast->apply.held, place);
}

void hold_begin(struct node *node, uint32_t place)
{
    CHECK(!hold_has(node, place));
    bit_set(node->broadcast->apply.held, place, true);
}

void hold_end(struct node *node, uint32_t place)
{
    CHECK(hold_has(node, place));
    bit_set(node->broadcast->apply.held, place, false);
    rumor_log_return(&node->broadcast->log);
}

/* Returns true if rumors of the origin are withheld. The learner may have more of an expelled
 * member than the version. */
static bool waits(const struct node *node, uint32_t place)
{
    const struct origin *origin = &node->broadcast->versions.origins[place];
    return hold_has(node, place) && origin->applied < origin->next;
}

bool hold_keeps_any(const struct node *node)
{
    bool any = false;
    for (uint32_t place = 0; place < node->broadcast->versions.count; place++)
        any |= waits(node, place);
    return any;
}

const struct signed_head *hold_last(const struct node *node, uint32_t place)
{
    const struct origin *origin = &node->broadcast->versions.origins[place];
    if (waits(node, place))
        return origin->applied > 0 ? &origin->applied_last : NULL;
    return origin->next > 0 ? &origin->last : NULL;
}

static bool is_in_log(const struct node *node, uint32_t place)
{
    const struct origin *origin = &node->broadcast->versions.origins[place];
    uint32_t bytes;
    for (uint32_t seq = origin->applied; seq < origin->next; seq++)
        if (!rumor_log_find(&node->broadcast->log, place, seq, &bytes))
            return false;
    return true;
}

bool hold_digest(struct node *node, uint64_t *digest)
{
    const struct versions *versions = &node->broadcast->versions;
    *digest = versions->digest;
    for (uint32_t place = 0; place < versions->count; place++) {
        if (!waits(node, place))
            continue;
        if (!is_in_log(node, place))
            return false;
        *digest =
            digest_add(*digest, retract_digest(node, place, versions->origins[place].applied));
    }
    return true;
}
