/* Whom to call: addresses given by the user, and those of members, retried for ever.
 *
 * Every address is a target. A failed call waits BACKOFF_MIN · 1.6^failures, at most BACKOFF_MAX,
 * ± 25 % so that a swarm does not call in step. A target whose node we talk to already (over
 * whatever connection) is left alone. Small swarms are fully meshed; in larger ones a node dials
 * until it has DEGREE neighbours, half of them called by itself: so each hangs on to some that it
 * chose at random, however many have called it, and the whole does not fall apart. And were it in
 * two, after a partition, or because it was begun in two places, each part would have neighbours
 * enough: so now and then a node calls somebody it has lost or never met, however many it has. And
 * so that nobody's neighbours stay those of the first hour, it leaves one that it has called, from
 * time to time, and calls somebody else.
 */
#include <math.h>
#include <string.h>

#include "node/inside.h"

#define BACKOFF_MIN_NS (SECOND_NS / 2)
#define BACKOFF_MAX_NS (30 * SECOND_NS)
#define REACH_NS       (10 * SECOND_NS) /* ± 25 %, between two calls to the lost */
#define SHUFFLE_NS     (60 * SECOND_NS) /* ± 25 %, between two that are left for others */
#define LATE_FAILURES  20               /* the backoff no longer grows */
#define LOOK_NS        (SECOND_NS / 4)  /* nobody was to be called: look again, at the latest */

/* Somewhere between 0.75 and 1.25 times so long. */
static uint64_t about_ns(struct node *node, uint64_t span_ns)
{
    return (uint64_t)((double)span_ns * (0.75 + 0.5 * rng_uniform(&node->rng)));
}

struct target *dial_target(const struct node *node, const struct peer *peer)
{
    for (uint32_t i = 0; i < node->targets_count; i++)
        if (node->targets[i].conn == peer->conn)
            return &node->targets[i];
    return NULL;
}

static uint32_t address_hash(const struct address *address)
{
    uint64_t hash = address->port;
    for (const char *c = address->host; *c; c++)
        hash = rng_mix(hash ^ (uint8_t)*c);
    return (uint32_t)hash;
}

static struct target *find(const struct node *node, const struct address *address)
{
    const uint32_t hash = address_hash(address);
    for (uint32_t i = 0; i < node->targets_count; i++)
        if (node->target_hashes[i] == hash && address_equal(&node->targets[i].address, address))
            return &node->targets[i];
    return NULL;
}

static void set(struct node *node, struct target *target, const struct address *address,
                const uint8_t *id, bool is_seed)
{
    *target = (struct target){
        .address = *address, .is_seed = is_seed, .has_id = id != NULL, .next_ns = node->now_ns};
    if (id)
        memcpy(target->id, id, ID_BYTES);
    node->target_hashes[target - node->targets] = address_hash(address);
    node->dial_ns = node->now_ns;
}

void dial_add(struct node *node, const struct address *address, const uint8_t *id, bool is_seed)
{
    if (!address->host[0] || address->port == 0)
        return;
    struct target *target = find(node, address);
    if (!target && node->targets_count < node->targets_max)
        set(node, &node->targets[node->targets_count++], address, id, is_seed);
    if (target && id && !target->conn && !target->is_self) {
        memcpy(target->id, id, ID_BYTES);
        target->has_id = true;
    }
}

/* A member says that it is to be called elsewhere now; it had no address before if from is "". */
void dial_moved(struct node *node, const struct address *from, const struct address *to,
                const uint8_t id[static ID_BYTES])
{
    struct target *target = from->host[0] ? find(node, from) : NULL;
    const bool is_its = target && target->has_id && memcmp(target->id, id, ID_BYTES) == 0;
    if (is_its && !target->is_seed && !target->conn && to->host[0] && !find(node, to))
        set(node, target, to, id, false);
    else
        dial_add(node, to, id, false);
}

/* Conversations that are or may become neighbours; strangers at the door do not count. */
static uint32_t calls(const struct node *node, uint32_t *dialled)
{
    uint32_t calls = 0;
    *dialled = 0;
    for (uint32_t i = 0; i < node->options.peers_max; i++) {
        const struct peer *peer = &node->peers[i];
        const bool under_way = peer->dialled && peer->state != PEER_FREE;
        if (peer->state == PEER_CLOSING ||
            !(under_way || peer->state == PEER_MEETING || peer->state == PEER_OPEN))
            continue;
        calls++;
        *dialled += peer->dialled;
    }
    return calls;
}

static bool is_mesh(const struct node *node)
{
    return node->live <= MESH_MAX;
}

/* A node that is leaving calls too: what it told must reach somebody. */
static bool wants_more(const struct node *node)
{
    uint32_t dialled;
    const uint32_t open = calls(node, &dialled);
    if (node->stage == STAGE_LEFT)
        return false;
    return is_mesh(node) ? open < node->options.peers_max : open < DEGREE || dialled < DEGREE / 2;
}

/* Nobody there that we know to be in the swarm. */
static bool is_lost(const struct node *node, const struct target *target)
{
    const struct member *member = target->has_id ? members_find(&node->members, target->id) : NULL;
    return !member || !member->known_live;
}

/* A node that left said so; it is called again only if the user named it and we stay. */
static bool is_gone(const struct node *node, const struct target *target)
{
    if (!target->has_id || (target->is_seed && node->stage == STAGE_RUNNING))
        return false;
    const struct member *member = members_find(&node->members, target->id);
    return member && member->record.stage == STAGE_LEFT;
}

/* Over whatever connection; one that is closing has not ended yet. */
static bool is_talked_to(const struct node *node, const uint8_t id[static ID_BYTES])
{
    for (uint32_t i = 0; i < node->options.peers_max; i++) {
        const struct peer *peer = &node->peers[i];
        const bool is_open = peer->state == PEER_OPEN;
        if ((is_open || peer->state == PEER_CLOSING) && memcmp(peer->id, id, ID_BYTES) == 0)
            return true;
    }
    return false;
}

/* The lost are called in their own time, or when there are few to call at all. */
static struct target *due(struct node *node, bool lost)
{
    if (node->targets_count == 0)
        return NULL;
    const uint32_t start = rng_below(&node->rng, node->targets_count);
    for (uint32_t i = 0; i < node->targets_count; i++) {
        struct target *target = &node->targets[(start + i) % node->targets_count];
        if (target->is_self || target->conn || node->now_ns < target->next_ns)
            continue;
        if (is_gone(node, target) || (target->has_id && is_talked_to(node, target->id)))
            continue;
        const bool is_wanted = lost == is_lost(node, target);
        if (is_wanted || (!lost && (is_mesh(node) || target->is_seed)))
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

static struct target *next_target(struct node *node)
{
    struct target *target = wants_more(node) ? due(node, false) : NULL;
    if (target || node->now_ns < node->reach_ns || node->stage == STAGE_LEFT)
        return target;
    node->reach_ns = node->now_ns + about_ns(node, REACH_NS);
    return due(node, true);
}

bool dial_next(struct node *node, struct action *action)
{
    if (node->now_ns < node->dial_ns)
        return false;
    struct peer *peer = free_peer(node);
    struct target *target = peer ? next_target(node) : NULL;
    if (!target) {
        node->dial_ns = node->now_ns + LOOK_NS;
        return false;
    }
    const uint64_t slot = (uint64_t)(peer - node->peers);
    target->conn = (uint64_t)++node->generation << 32 | slot;
    peer_start(peer, target->conn, true, &target->address, node->now_ns);
    *action =
        (struct action){.kind = ACTION_DIAL, .conn = target->conn, .address = target->address};
    return true;
}

/* Leave one neighbour of those we called, if there are others to call. */
void dial_shuffle(struct node *node)
{
    if (node->now_ns < node->shuffle_ns)
        return;
    const bool is_first = node->shuffle_ns == 0;
    node->shuffle_ns = node->now_ns + about_ns(node, SHUFFLE_NS);
    if (is_first || is_mesh(node) || node->stage != STAGE_RUNNING || !node->joined ||
        node->reachable <= node_neighbours(node) + 1)
        return;
    struct peer *peer, *chosen = NULL;
    uint32_t called = 0;
    for (uint32_t i = 0; (peer = node_neighbour(node, &i)); i++)
        if (peer->dialled && rng_below(&node->rng, ++called) == 0)
            chosen = peer;
    if (called >= DEGREE / 2)
        node_hang_up(node, chosen, BYE_FULL, "other neighbours are to be tried");
}

void dial_on_met(struct node *node, const struct peer *peer)
{
    struct target *target = dial_target(node, peer);
    if (!target)
        return;
    memcpy(target->id, peer->id, ID_BYTES);
    target->has_id = true;
}

void dial_on_open(struct node *node, const struct peer *peer)
{
    struct target *target = dial_target(node, peer);
    if (target)
        target->failures = 0;
}

void dial_on_self(struct node *node, const struct peer *peer)
{
    struct target *target = dial_target(node, peer);
    if (target)
        target->is_self = true;
}

/* New keys are fetched by the one who called: if both did, one call would be in vain. */
static void leave_it_to_the_caller(struct node *node, const struct peer *peer)
{
    for (uint32_t i = 0; i < node->targets_count; i++) {
        struct target *target = &node->targets[i];
        if (target->has_id && !target->conn && memcmp(target->id, peer->id, ID_BYTES) == 0)
            target->next_ns = node->now_ns + SECOND_NS;
    }
}

void dial_on_closed(struct node *node, const struct peer *peer)
{
    struct target *target = dial_target(node, peer);
    if (!target && peer->retry == RETRY_AT_ONCE)
        leave_it_to_the_caller(node, peer);
    if (!target)
        return;
    target->conn = 0;
    target->next_ns = node->dial_ns = node->now_ns;
    if (peer->retry == RETRY_AT_ONCE)
        return;
    if (peer->retry == RETRY_LATE && target->failures < LATE_FAILURES)
        target->failures = LATE_FAILURES;
    double wait = (double)BACKOFF_MIN_NS * pow(1.6, fmin(target->failures, LATE_FAILURES));
    target->failures++;
    target->next_ns += about_ns(node, (uint64_t)fmin(wait, (double)BACKOFF_MAX_NS));
}
