#include "node/settle.h"

#include "node/broadcast/broadcast.h"
#include "node/lifecycle/lifecycle.h"
#include "node/membership/membership.h"
#include "node/rate/rate.h"
#include "node/transfer/transfer.h"

static bool is_publishing(const struct node *node)
{
    const enum publishing publishing = publishing_state(node);
    return publishing == PUBLISHING_WANTED || publishing == PUBLISHING_OUT;
}

bool node_publish_soon(struct node *node, uint64_t now_ns)
{
    CHECK(now_ns >= node->now_ns);
    node->now_ns = now_ns;
    if (is_publishing(node))
        return false;
    publish_schedule_hurry(node);
    return true;
}

void node_end_training(struct node *node)
{
    CHECK(node->options.trains);
    publish_schedule_end_training(node);
    (void)notes_add(&node->notes, node->now_ns, NOTE_TRAINING, LEVEL_INFO,
                    "training has ended: train.samples_max is reached; this node only relays now");
}

void node_save_soon(struct node *node, uint64_t now_ns)
{
    CHECK(now_ns >= node->now_ns);
    node->now_ns = now_ns;
    serve_save_anyway(node);
}

/* Returns true if each neighbour has shown exactly our version. A node without neighbours must be
 * the only live member. */
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
    return joining_has_joined(node) && base_is_whole(node) && broadcast_is_all_applied(node) &&
           !is_publishing(node) && neighbours_agree(node);
}
