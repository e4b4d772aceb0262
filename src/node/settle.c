#include "node/settle.h"

#include "node/broadcast/broadcast.h"
#include "node/lifecycle/lifecycle.h"
#include "node/membership/membership.h"
#include "node/rate/rate.h"
#include "node/transfer/transfer.h"

void node_publish_soon(struct node *node, uint64_t now_ns)
{
    CHECK(now_ns >= node->now_ns);
    node->now_ns = now_ns;
    publish_schedule_hurry(node);
}

/* Has everybody shown that it has what we have, and no more? */
static bool neighbours_agree(const struct node *node)
{
    const uint64_t known = broadcast_versions(node)->rumors;
    const struct peer *peer;
    CHECK(base_is_whole(node));
    for (uint32_t i = 0; (peer = connection_neighbour(node, &i)); i++)
        if (!broadcast_has_ours(node, peer) || broadcast_knows(node, peer) != known)
            return false;
    return connection_neighbours(node) > 0 || membership_live(node) == 1;
}

bool node_is_settled(const struct node *node)
{
    const enum publishing publishing = publishing_state(node);
    return joining_has_joined(node) && base_is_whole(node) && broadcast_is_all_applied(node) &&
           publishing != PUBLISHING_WANTED && publishing != PUBLISHING_OUT &&
           neighbours_agree(node);
}
