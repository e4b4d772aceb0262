#include "node/inspect.h"

#include <string.h>

#include "node/broadcast/broadcast.h"
#include "node/broadcast/progress.h"
#include "node/broadcast/retract.h"
#include "node/broadcast/withheld.h"
#include "node/expulsion_api.h"
#include "node/lifecycle/lifecycle.h"
#include "node/membership/membership.h"
#include "node/orders/orders.h"
#include "node/orders/proofs.h"
#include "node/rate/rate.h"
#include "node/transfer/transfer.h"

/* successive arrivals in a list are apart by at least 1/32 of the newer one's age */
#define MARKS_APART 32

static void add_peers(const struct node *node, struct node_stats *stats)
{
    for (uint32_t i = 0; i < node->options.limits.peers_max; i++) {
        const struct peer *peer = connection_at(node, i);
        stats->peers_used += peer->state != PEER_FREE;
        stats->queued_bytes_most = u64_max(stats->queued_bytes_most, peer_queued_bytes(peer));
    }
}

static void add_said(const struct node *node, struct node_stats *stats)
{
    for (int kind = HELLO; kind < MESSAGE_KINDS; kind++)
        if (kind != RUMOR)
            stats->control_sent_bytes += connection_said(node, (enum message_kind)kind).bytes;
    stats->rumors_sent_copies = connection_said(node, RUMOR).count;
    stats->wants_sent = connection_said(node, WANT).count;
}

void node_stats(const struct node *node, uint64_t now_ns, struct node_stats *stats)
{
    *stats = (struct node_stats){
        .phase = node_phase(node),
        .members_live = membership_live(node),
        .neighbours = connection_neighbours(node),
        .lag_ns = broadcast_lag_ns(node, now_ns),
    };
    rate_stats(node, stats);
    broadcast_stats(node, stats);
    transfer_stats(node, stats);
    add_peers(node, stats);
    add_said(node, stats);
    CHECK(stats->neighbours <= stats->peers_used);
    CHECK(stats->members_live >= 1 && stats->members_live <= node_members(node));
}

uint64_t node_digest(const struct node *node)
{
    return broadcast_versions(node)->digest;
}

bool node_is_base(struct node *node, uint64_t digest)
{
    uint64_t given;
    return !withheld_digest(node, &given) || given == digest;
}

uint32_t node_origins(const struct node *node)
{
    return broadcast_versions(node)->count;
}

void node_origin(const struct node *node, uint32_t i, struct node_origin *out)
{
    CHECK(i < node_origins(node));
    const struct origin *origin = &broadcast_versions(node)->origins[i];
    *out = (struct node_origin){
        .incarnation = origin->incarnation, .next = origin->next, .samples = origin->samples};
    memcpy(out->id, origin->id, ID_BYTES);
}

uint32_t node_reach(const struct node *node, uint32_t i)
{
    return retract_reach(node, i);
}

/* Returns true if the arrival `mark` is enough earlier than `before`, the last listed one. */
static bool is_apart(const struct node_arrival *mark, const struct node_arrival *before,
                     uint64_t now_ns)
{
    const uint64_t least_ns = (now_ns - before->came_ns) / MARKS_APART;
    return before->came_ns - mark->came_ns >= u64_max(least_ns, SECOND_NS);
}

uint32_t node_arrivals(const struct node *node, uint64_t now_ns, uint32_t i,
                       struct node_arrival out[static NODE_ARRIVALS])
{
    const uint32_t reach = node_reach(node, i), first = reach - (reach > 0);
    uint32_t count = 0;
    for (uint32_t seq = broadcast_versions(node)->origins[i].next; seq-- > first;) {
        struct node_arrival mark = {.seq = seq};
        if (!rumor_log_came(broadcast_log(node), i, seq, &mark.came_ns))
            break; /* the log has no earlier rumors */
        CHECK(mark.came_ns <= now_ns);
        if (count > 0 && mark.came_ns > out[count - 1].came_ns)
            /* A rumor with a higher number arrived earlier: both get that earlier time. */
            mark.came_ns = out[count - 1].came_ns;
        if (count == 0 || seq == first ||
            (count < NODE_ARRIVALS - 1 && is_apart(&mark, &out[count - 1], now_ns)))
            out[count++] = mark;
    }
    return count;
}

uint64_t node_log_horizon_ns(const struct node *node)
{
    return rumor_log_lasting_since_ns(broadcast_log(node));
}

uint32_t node_orders_count(const struct node *node)
{
    return orders_count(node);
}

size_t node_orders(const struct node *node, uint8_t *out)
{
    return orders_put(node, out);
}

const struct order *node_order(const struct node *node, uint32_t number)
{
    return orders_at(node, number);
}

const struct order *node_order_about(const struct node *node, const uint8_t id[static ID_BYTES])
{
    return orders_about(node, id);
}

bool node_proof(const struct node *node, uint32_t i, struct node_proof *out)
{
    const uint32_t count = proofs_count(node);
    for (uint32_t k = 0; k <= i && k < count; k++)
        /* Skips entries whose proof was forgotten or whose votes are no majority any more. */
        i += !proofs_against(node, proofs_author(node, k));
    if (i >= count)
        return false;
    const struct proof *proof = proofs_at(node, i);
    *out = (struct node_proof){.incarnation = proof->incarnation,
                               .keep = proof->keep,
                               .is_suspended = proofs_is_suspended(node, i),
                               .is_voted = proof->kind == PROOF_VOTES};
    memcpy(out->id, proof->author, ID_BYTES);
    return true;
}

const uint8_t *node_context(const struct node *node)
{
    return node->context;
}

const uint8_t *node_model_hash(const struct node *node)
{
    return connection_introduction(node)->model;
}

bool node_has_taken_first(const struct node *node)
{
    struct introduction own;
    introduction_make(&own, node->options.swarm_id, node->options.model, node->options.parameters);
    return memcmp(own.model, node_model_hash(node), sizeof own.model) != 0;
}

bool node_lacks_first(const struct node *node)
{
    return broadcast_lacks_first(node);
}

void node_own(const struct node *node, struct node_origin *out)
{
    node_origin(node, versions_index(broadcast_versions(node), broadcast_own(node)), out);
}

uint64_t node_incarnation(const struct node *node)
{
    return broadcast_own(node)->incarnation;
}

uint64_t node_swarm_samples(const struct node *node)
{
    return progress_samples(node);
}

uint32_t node_links(const struct node *node)
{
    uint32_t links = 0;
    for (uint32_t i = 0; i < node->options.limits.peers_max; i++)
        links += connection_at(node, i)->state != PEER_FREE;
    return links;
}

/* Returns peer i, counting only slots in use. */
static const struct peer *peer_of(const struct node *node, uint32_t i)
{
    uint32_t slot = 0;
    while (slot < node->options.limits.peers_max &&
           (connection_at(node, slot)->state == PEER_FREE || i-- > 0))
        slot++;
    return connection_at(node, slot);
}

void node_link(const struct node *node, uint32_t i, struct node_link *out)
{
    CHECK(i < node_links(node));
    const struct peer *peer = peer_of(node, i);
    const struct congestion *link = rate_link(node, peer);
    const struct member *member = membership_find(node, peer->id);
    *out = (struct node_link){
        .address = peer->address,
        .dialled = peer->dialled,
        .open = peer->state == PEER_OPEN,
        .protocol = peer->protocol,
        .rtt_ns = peer->rtt_ns,
        .rate = link->rate,
        .is_measured = !link->is_starting,
        .tried_ns = link->tried_ns,
        .backlog_ns = link->backlog_ns,
        .queued_bytes = peer_queued_bytes(peer),
        .sent_bytes = link->sent,
        .received_bytes = link->received,
        .conn = peer->conn,
        .since_ns = peer->since_ns,
        .listens = member && member->record.address.port != 0,
    };
    memcpy(out->id, peer->id, ID_BYTES);
}

uint32_t node_members(const struct node *node)
{
    return membership_members(node)->count;
}

void node_member(const struct node *node, uint64_t now_ns, uint32_t i, struct node_member *out)
{
    const struct member *member = membership_at(node, i);
    const struct record *record = &member->record;
    *out = (struct node_member){
        .address = record->address,
        .live = member_is_live(membership_members(node), member, now_ns),
        .is_lost = member->lost_ns > member->advanced_ns,
        .expelled = member->is_expelled,
        .left = record->stage == STAGE_LEFT,
        .trains = record->trains,
        .samples = record->samples,
        .digest = record->digest,
        .samples_per_second = record->trains ? (double)record->samples_per_second : 0,
        .uplink = (double)record->uplink,
        .ingress = (double)record->ingress,
        .lag_ns = record->lag_ms * MS_NS,
        .heard_ns = member->advanced_ns,
        .met_ns = member->met_ns,
    };
    memcpy(out->id, record->id, ID_BYTES);
}

void node_contributions(const struct node *node, struct node_contribution *out)
{
    const struct versions *versions = broadcast_versions(node);
    const double all = progress_claimed(node);
    memset(out, 0, node_members(node) * sizeof *out);
    for (uint32_t origin_index = 0; origin_index < versions->count; origin_index++) {
        const struct origin *origin = &versions->origins[origin_index];
        const struct member *member = membership_find(node, origin->id);
        if (!member)
            continue; /* the dead member was removed from the member table */
        struct node_contribution *of = &out[membership_number(node, member)];
        of->rumors += origin->next;
        of->samples += versions_samples(versions, origin);
        of->rumor_bytes += origin->bytes;
        of->share = all > 0 ? (double)of->samples / all : 0;
    }
}

bool node_has_base(const struct node *node)
{
    return base_is_whole(node) || (base_state(node) == BASE_ROLLING && joining_has_joined(node));
}

enum node_phase node_phase(const struct node *node)
{
    if (!leaving_stays(node))
        return NODE_LEAVING;
    if (finishing_state(node) != FINISHING_NOT)
        return finishing_state(node) == FINISHING_DONE ? NODE_FINISHED : NODE_FINISHING;
    if (orders_expelling_self(node))
        return NODE_EXPELLED;
    if (!node_has_base(node))
        return NODE_CATCHING_UP;
    if (joining_has_joined(node))
        return NODE_RUNNING;
    return connection_neighbours(node) > 0 ? NODE_CATCHING_UP : NODE_JOINING;
}
