#include "node/broadcast/hold.h"

#include "node/broadcast/broadcast_private.h"

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
