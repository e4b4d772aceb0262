#include "node/first_weights.h"

#include <stdio.h>
#include <string.h>

#include "base/bits.h"
#include "node/broadcast/broadcast.h"
#include "node/broadcast/replace_version.h"
#include "node/broadcast/retract.h"
#include "node/discovery/discovery.h"
#include "node/join.h"
#include "node/lifecycle/lifecycle.h"
#include "node/membership/membership.h"
#include "node/orders/admitted.h"
#include "node/orders/orders.h"
#include "node/orders/proofs.h"
#include "node/transfer/transfer.h"

/* Failed dials in a row after which a note names a peer that does not take over our weights. */
#define PATIENCE 6
/* A swarm is established if one incarnation has published this many rumors. */
#define ESTABLISHED_RUMORS 256

enum standing { STANDING_LACKS, STANDING_NEW, STANDING_JOINED, STANDING_LEARNED };
#define STANDING_ESTABLISHED STANDING_MAX

static bool has_long_stream(const struct versions *versions)
{
    for (uint32_t i = 0; i < versions->count; i++)
        if (versions->origins[i].next >= ESTABLISHED_RUMORS)
            return true;
    return false;
}

static bool is_established(const struct node *node)
{
    const struct versions *versions = broadcast_versions(node);
    const bool has_trust = orders_have_operator(node) || admitted_hash(node) != 0;
    return has_long_stream(versions) || (versions->rumors > 0 && has_trust);
}

/* Returns true if this node must keep its first weights: its swarm is established, or it knows
 * orders or proofs, whose signatures are valid for one model hash only. */
static bool is_bound(const struct node *node)
{
    return is_established(node) || orders_count(node) > 0 || proofs_count(node) > 0;
}

/* Returns the standing of this node's swarm, even while its base is incomplete. */
static uint8_t swarm_standing(const struct node *node)
{
    const uint64_t rumors = broadcast_versions(node)->rumors;
    uint8_t learned = STANDING_LEARNED;
    if (is_established(node))
        return STANDING_ESTABLISHED;
    if (rumors == 0 && !base_is_whole(node))
        return fetch_standing(node);
    if (rumors == 0)
        return joining_has_joined(node) ? STANDING_JOINED : STANDING_NEW;
    while (learned < STANDING_ESTABLISHED - 1 && rumors >> (learned - STANDING_LEARNED) > 1)
        learned++;
    return learned;
}

void first_weights_show(struct node *node)
{
    connection_set_standing(node, base_is_whole(node) ? swarm_standing(node) : STANDING_LACKS);
}

static bool are_theirs_first(const struct node *node, const struct introduction *theirs)
{
    const struct introduction *ours = connection_introduction(node);
    const uint8_t our_standing = swarm_standing(node);
    if (theirs->standing != our_standing)
        return theirs->standing > our_standing;
    return memcmp(theirs->model, ours->model, sizeof ours->model) < 0;
}

/* Returns true if the node may take over other first weights now: it has not ended its training,
 * and is neither cutting a publication nor taking rumors out of its base. */
static bool may_now(const struct node *node)
{
    return leaving_stage(node) == STAGE_RUNNING && publishing_state(node) != PUBLISHING_OUT &&
           !retract_is_under_way(node);
}

static void end_conversations(struct node *node)
{
    for (uint32_t i = 0; i < node->options.limits.peers_max; i++) {
        const struct peer *peer = connection_at(node, i);
        if (peer->state != PEER_FREE && peer->state != PEER_CLOSING)
            connection_hang_up(node, peer, BYE_LEAVING,
                               "this node changes to other initial weights");
    }
}

static void note_taking(struct node *node, const struct address *from, uint64_t rumors)
{
    struct note *note;
    if (rumors == 0)
        note = notes_add(&node->notes, node->now_ns, NOTE_FIRST_WEIGHTS, LEVEL_INFO,
                         "this node takes the swarm's initial weights and drops its own; to train "
                         "from its own, load one file on all nodes of a new swarm");
    else
        note = notes_add(&node->notes, node->now_ns, NOTE_FIRST_WEIGHTS, LEVEL_WARNING,
                         "another swarm of this model has learned more from other initial weights; "
                         "this node takes that swarm's base and drops its own with %llu rumors",
                         (unsigned long long)rumors);
    (void)address_text(from, note->where);
}

static bool take(struct node *node, const struct peer *from)
{
    const uint64_t rumors = broadcast_versions(node)->rumors;
    const uint8_t there = from->theirs.standing;
    if (broadcast_own(node)->next > 0 && !replace_version_begin_incarnation(node))
        return false; /* the table of origins is full, or no incarnation is left */
    note_taking(node, &from->address, rumors);
    connection_end_quietly(node, from, "");
    end_conversations(node);
    connection_set_model(node, from->theirs.model);
    membership_forget(node);
    fetch_begin_first(node, there);
    join_on_company(node); /* the refusal shows that the peer belongs to a swarm */
    first_weights_show(node);
    member_gossip_sign_again(node);
    dialer_call_all(node);
    CHECK(broadcast_versions(node)->rumors == 0 && !base_is_whole(node));
    return true;
}

void first_weights_on_refused(struct node *node, const struct peer *peer, const char *why)
{
    const struct introduction *ours = connection_introduction(node);
    if (!peer->differs || !introduction_same_form(ours, &peer->theirs)) {
        connection_hang_up(node, peer, BYE_BROKEN, why);
        return;
    }
    CHECK(peer->state < PEER_OPEN);
    if (!are_theirs_first(node, &peer->theirs) && dialer_dialed(node, peer).failures < PATIENCE)
        connection_end_quietly(node, peer, "its initial weights differ, and it takes over ours");
    else if (!are_theirs_first(node, &peer->theirs))
        connection_hang_up(node, peer, BYE_BROKEN,
                           "it keeps initial weights that differ from the swarm's; give it another "
                           "node.state_dir");
    else if (is_bound(node))
        connection_hang_up(
            node, peer, BYE_BROKEN,
            "its swarm has other initial weights, and this node's swarm is established or has "
            "orders; to join that swarm, give this node another node.state_dir");
    else if (!may_now(node) || !take(node, peer))
        connection_end_quietly(node, peer, "its initial weights differ");
}
