/* What a person, a test or a simulation may look at. */
#include "node/node.h"

#include <stdio.h>
#include <string.h>

#include "node/inside.h"

static uint64_t control_bytes(const struct node *node)
{
    uint64_t bytes = 0;
    for (int kind = HELLO; kind < MESSAGE_KINDS; kind++)
        bytes += kind == RUMOR ? 0 : node->said_bytes[kind];
    return bytes;
}

static uint64_t held_bytes(const struct rumor_log *log)
{
    if (log->oldest == log->newest)
        return 0;
    const size_t from = log->entries[log->oldest & (log->entries_max - 1)].offset;
    return log->write_offset > from ? log->write_offset - from
                                    : log->ring_bytes - from + log->write_offset;
}

static void add_peers(const struct node *node, struct node_stats *stats)
{
    for (uint32_t i = 0; i < node->options.peers_max; i++) {
        const struct peer *peer = &node->peers[i];
        const uint64_t queued = peer_queued_bytes(peer);
        stats->peers_used += peer->state != PEER_FREE;
        stats->sent_bytes += peer->link.sent;
        stats->received_bytes += peer->link.received;
        if (queued > stats->queued_bytes_most)
            stats->queued_bytes_most = queued;
    }
}

uint64_t node_digest(const struct node *node)
{
    return node->versions.digest;
}

uint64_t node_waiting(const struct node *node)
{
    return node->log.newest - node->log.applied + node->applying_rumors;
}

void node_stats(const struct node *node, uint64_t now_ns, struct node_stats *stats)
{
    const struct versions *versions = &node->versions;
    *stats = node->stats;
    stats->interval_s = node->outer_step.interval_s;
    stats->gain = node->outer_step.gain;
    stats->beta = node->outer_step.beta;
    stats->members_live = node->live;
    stats->neighbours = node_neighbours(node);
    stats->origins = versions->telling;
    stats->digest = node_digest(node);
    stats->version = versions->rumors;
    stats->version_hash = versions->hash;
    stats->waiting = node_waiting(node);
    stats->lag_ns = node_lag_ns(node, now_ns);
    stats->blocks = node->blocks;
    stats->blocks_held = node->transfer.blocks_written;
    stats->block_bytes = node->transfer.bytes;
    stats->log_held_bytes = held_bytes(&node->log);
    stats->control_sent_bytes = control_bytes(node);
    stats->rumors_sent_copies = node->said_count[RUMOR];
    stats->wants_sent = node->said_count[WANT];
    stats->sent_bytes = node->gone_sent_bytes;
    stats->received_bytes = node->gone_received_bytes;
    add_peers(node, stats);
}

uint32_t node_origins(const struct node *node)
{
    return node->versions.count;
}

void node_origin(const struct node *node, uint32_t i, struct node_origin *out)
{
    CHECK(i < node->versions.count);
    const struct origin *origin = &node->versions.origins[i];
    *out = (struct node_origin){
        .incarnation = origin->incarnation, .next = origin->next, .samples = origin->samples};
    memcpy(out->id, origin->id, ID_BYTES);
}

void node_own(const struct node *node, struct node_origin *out)
{
    node_origin(node, versions_place(&node->versions, node->own), out);
}

uint64_t node_incarnation(const struct node *node)
{
    return node->options.incarnation;
}

uint32_t node_links(const struct node *node)
{
    uint32_t links = 0;
    for (uint32_t i = 0; i < node->options.peers_max; i++)
        links += node->peers[i].state != PEER_FREE;
    return links;
}

void node_link(const struct node *node, uint32_t i, struct node_link *out)
{
    const struct peer *peer = node->peers, *end = node->peers + node->options.peers_max;
    while (peer < end && (peer->state == PEER_FREE || i-- > 0))
        peer++;
    CHECK(peer < end);
    const struct member *member = members_find(&node->members, peer->id);
    *out = (struct node_link){
        .address = peer->address,
        .dialled = peer->dialled,
        .open = peer->state == PEER_OPEN,
        .rtt_ns = peer->rtt_ns,
        .rate = peer->link.rate,
        .is_measured = !peer->link.is_starting,
        .tried_ns = peer->link.tried_ns,
        .backlog_ns = peer->link.backlog_ns,
        .queued_bytes = peer_queued_bytes(peer),
        .sent_bytes = peer->link.sent,
        .received_bytes = peer->link.received,
        .conn = peer->conn,
        .since_ns = peer->since_ns,
        .listens = member && member->record.address.port != 0,
    };
    memcpy(out->id, peer->id, ID_BYTES);
}

uint32_t node_members(const struct node *node)
{
    return node->members.count;
}

void node_member(const struct node *node, uint64_t now_ns, uint32_t i, struct node_member *out)
{
    CHECK(i < node->members.count);
    const struct member *member = &node->members.members[i];
    const struct record *record = &member->record;
    *out = (struct node_member){
        .address = record->address,
        .live = member_is_live(&node->members, member, now_ns),
        .left = record->stage == STAGE_LEFT,
        .trains = record->trains,
        .samples = record->samples,
        .samples_per_second = (double)record->samples_per_second,
        .uplink = (double)record->uplink,
        .ingress = (double)record->ingress,
        .lag_ns = record->lag_ms * 1000000ull,
        .heard_ns = member->advanced_ns,
    };
    memcpy(out->id, record->id, ID_BYTES);
}

enum node_phase node_phase(const struct node *node)
{
    if (node->stage != STAGE_RUNNING)
        return NODE_LEAVING;
    if (node_is_catching_up(node) && !(node->transfer.is_rolling && node->joined))
        return NODE_CATCHING_UP;
    if (node->joined)
        return NODE_RUNNING;
    return node_neighbours(node) > 0 ? NODE_CATCHING_UP : NODE_JOINING;
}

/* Does the count of this origin go on under the next incarnation, in the same process? */
static bool is_continued(const struct node *node, const struct origin *origin)
{
    const struct origin *next = versions_find(&node->versions, origin->tag_after);
    return next && next->samples >= origin->samples;
}

uint64_t node_swarm_samples(const struct node *node)
{
    uint64_t samples = 0;
    for (uint32_t i = 0; i < node->versions.count; i++) {
        const struct origin *origin = &node->versions.origins[i];
        samples += is_continued(node, origin) ? 0 : origin->samples;
    }
    return samples;
}
