/* Whom to call: addresses given by the user, and those of members, retried for ever.
 *
 * Every address is a target. A failed call waits BACKOFF_MIN · 1.6^failures, at most BACKOFF_MAX,
 * ± 25 % so that a swarm does not call in step. A target whose node we talk to already (over
 * whatever connection) is left alone. Small swarms are fully meshed; in larger ones a node dials
 * until it has DEGREE neighbours.
 */
#include <math.h>
#include <string.h>

#include "inside.h"

#define BACKOFF_MIN_NS (SECOND_NS / 2)
#define BACKOFF_MAX_NS (30 * SECOND_NS)
#define LATE_FAILURES  20 /* the backoff no longer grows */
#define MESH_MAX       10 /* up to so many live members everyone talks to everyone */
#define DEGREE         8

struct target *dial_target(const struct node *node, const struct peer *peer)
{
    for (uint32_t i = 0; i < node->targets_count; i++)
        if (node->targets[i].conn == peer->conn)
            return &node->targets[i];
    return NULL;
}

void dial_add(struct node *node, const struct address *address, const uint8_t *id, bool is_seed)
{
    if (!address->host[0] || address->port == 0)
        return;
    struct target *free_target = NULL;
    for (uint32_t i = 0; i < node->targets_count; i++) {
        struct target *target = &node->targets[i];
        if (address_equal(&target->address, address)) {
            if (id && !target->conn && !target->is_self) {
                memcpy(target->id, id, ID_BYTES);
                target->has_id = true;
            }
            return;
        }
        if (id && target->has_id && !target->is_seed && !target->conn &&
            memcmp(target->id, id, ID_BYTES) == 0)
            free_target = target; /* the member has moved */
    }
    if (!free_target) {
        if (node->targets_count == node->targets_max)
            return;
        free_target = &node->targets[node->targets_count++];
    }
    *free_target = (struct target){
        .address = *address, .is_seed = is_seed, .has_id = id != NULL, .next_ns = node->now_ns};
    if (id)
        memcpy(free_target->id, id, ID_BYTES);
}

/* Conversations that are or may become neighbours; strangers at the door do not count. */
static uint32_t calls(const struct node *node)
{
    uint32_t calls = 0;
    for (uint32_t i = 0; i < node->options.peers_max; i++) {
        const struct peer *peer = &node->peers[i];
        calls += peer->state == PEER_MEETING || peer->state == PEER_OPEN ||
                 (peer->dialled && peer->state < PEER_MEETING);
    }
    return calls;
}

/* A node that is leaving calls too: what it told must reach somebody. */
static bool wants_more(const struct node *node)
{
    if (node->stage == STAGE_LEFT)
        return false;
    const uint32_t open = calls(node);
    const bool mesh = members_live(&node->members, node->now_ns) <= MESH_MAX;
    return open < (mesh ? node->options.peers_max : DEGREE);
}

/* A node that left said so; it is called again only if the user named it and we stay. */
static bool is_gone(const struct node *node, const struct target *target)
{
    if (!target->has_id || (target->is_seed && node->stage == STAGE_RUNNING))
        return false;
    const struct member *member = members_find(&node->members, target->id);
    return member && member->record.stage == STAGE_LEFT;
}

static struct target *due(struct node *node)
{
    if (node->targets_count == 0)
        return NULL;
    const uint32_t start = rng_below(&node->rng, node->targets_count);
    for (uint32_t i = 0; i < node->targets_count; i++) {
        struct target *target = &node->targets[(start + i) % node->targets_count];
        if (target->is_self || target->conn || node->now_ns < target->next_ns)
            continue;
        if (is_gone(node, target) || (target->has_id && node_peer_by_id(node, target->id, NULL)))
            continue;
        return target;
    }
    return NULL;
}

static struct peer *free_peer(const struct node *node)
{
    for (uint32_t i = 0; i < node->options.peers_max; i++)
        if (node->peers[i].state == PEER_FREE)
            return &node->peers[i];
    return NULL;
}

bool dial_next(struct node *node, struct action *action)
{
    if (!wants_more(node))
        return false;
    struct peer *peer = free_peer(node);
    struct target *target = peer ? due(node) : NULL;
    if (!target)
        return false;
    const uint64_t slot = (uint64_t)(peer - node->peers);
    target->conn = (uint64_t)++node->generation << 32 | slot;
    peer_start(peer, target->conn, true, &target->address, node->now_ns);
    *action =
        (struct action){.kind = ACTION_DIAL, .conn = target->conn, .address = target->address};
    return true;
}

void dial_on_open(struct node *node, struct peer *peer)
{
    struct target *target = dial_target(node, peer);
    if (!target)
        return;
    memcpy(target->id, peer->id, ID_BYTES);
    target->has_id = true;
    target->failures = 0;
}

void dial_on_self(struct node *node, const struct peer *peer)
{
    struct target *target = dial_target(node, peer);
    if (target)
        target->is_self = true;
}

void dial_on_closed(struct node *node, const struct peer *peer)
{
    struct target *target = dial_target(node, peer);
    if (!target)
        return;
    target->conn = 0;
    target->next_ns = node->now_ns;
    if (peer->retry == RETRY_AT_ONCE)
        return;
    if (peer->retry == RETRY_LATE && target->failures < LATE_FAILURES)
        target->failures = LATE_FAILURES;
    double wait = (double)BACKOFF_MIN_NS * pow(1.6, fmin(target->failures, LATE_FAILURES));
    wait = fmin(wait, (double)BACKOFF_MAX_NS) * (0.75 + 0.5 * rng_uniform(&node->rng));
    target->failures++;
    target->next_ns += (uint64_t)wait;
}
