#include "node/governance/admit.h"

#include <string.h>

#include "node/admission.h"
#include "node/broadcast/barred.h"
#include "node/broadcast/broadcast.h"
#include "node/broadcast/retract.h"
#include "node/discovery/discovery.h"
#include "node/membership/membership.h"
#include "node/orders/admitted.h"
#include "node/orders/orders.h"

bool admit_meet(struct node *node, const struct peer *peer)
{
    CHECK(peer->state == PEER_MEETING);
    if (orders_admit(node) || admitted_may_be(node, peer->id))
        return true;
    connection_hang_up(node, peer, BYE_NOT_ADMITTED, admitted_refusal(node));
    return false;
}

static void close_conversations(struct node *node)
{
    for (uint32_t i = 0; i < node->options.limits.peers_max; i++) {
        const struct peer *peer = connection_at(node, i);
        if ((peer->state == PEER_MEETING || peer->state == PEER_OPEN) &&
            !admitted_may_be(node, peer->id))
            connection_hang_up(node, peer, BYE_NOT_ADMITTED, admitted_refusal(node));
    }
}

static void review_members(struct node *node)
{
    for (uint32_t i = 1; i < membership_members(node)->count; i++) {
        const struct member *member = membership_at(node, i);
        const bool may_be = admitted_may_be(node, member->record.id);
        if (member->is_barred != may_be)
            continue; /* the member's admission has not changed */
        membership_bar(node, member, !may_be);
        if (!may_be)
            member_gossip_forget(node, i);
    }
}

void admit_on_listed(struct node *node, const struct peer *from, uint64_t hash)
{
    CHECK(from->state == PEER_OPEN);
    if (admitted_on_hash(node, from, hash))
        /* with equal lists, this node accepts the neighbour's rumors of former members */
        anti_entropy_ask_for_all(node, from);
}

void admit_review(struct node *node)
{
    const struct peer *peer;
    CHECK(orders_admit(node) || admitted_hash(node) != 0);
    close_conversations(node);
    review_members(node);
    barred_forget(node);
    dialer_redial(node);
    member_gossip_relist(node);
    for (uint32_t i = 0; (peer = connection_neighbour(node, &i)); i++)
        admitted_say(node, peer);
}

void node_on_members(struct node *node, uint64_t now_ns, const uint8_t *ids, uint32_t count)
{
    CHECK(now_ns >= node->now_ns);
    node->now_ns = now_ns;
    admitted_set_list(node, ids, count);
    if (orders_admit(node))
        return;
    if (node_admission(node, node->options.identity->id) == ADMISSION_NONE)
        (void)notes_add(
            &node->notes, now_ns, NOTE_ADMISSION, LEVEL_WARNING,
            "this node is missing from its own list of members; add its id to node.members");
    admit_review(node);
}

void admit_obey(struct node *node, const struct order *order)
{
    struct note *note = notes_add(&node->notes, node->now_ns, NOTE_ADMISSION, LEVEL_INFO,
                                  "is admitted to the swarm (order %u): %s",
                                  (unsigned)order->number, order->reason);
    CHECK(order->kind == ORDER_ADMIT);
    identity_text(note->who, order->subject);
    membership_set_expelled(node, order->subject, false);
    /* The order has changed the limit on the member's rumors. */
    retract_on_expelled(node, order->subject);
}
