/* The push backlog: rumors of each origin that did not fit a neighbour's queue.
 *
 *   push, WANT ──queue full──► number of the first rumor ──space again──► from the log, in order
 *
 * Only that first number is kept. Until the backlog ends, no other rumor of that origin is pushed.
 * PRUNE ends the backlog, because another neighbour was faster. A TAKE that is answered ends the
 * backlogs of all origins, because the base contains the rumors. So a full link delays rumors but
 * does not break the tree: the neighbour looks for another parent only if no rumor arrives. Tests:
 * tests/world/test_repair.c.
 */
#include <string.h>

#include "node/broadcast/broadcast_private.h"
#include "node/rate/rate.h"

bool push_backlog_say(struct node *node, const struct peer *peer, const struct origin *origin,
                      const uint8_t *rumor, size_t bytes)
{
    if (pacer_is_full(node, peer) ||
        !connection_say(node, peer, &(struct message){.kind = RUMOR, .bulk = {rumor, bytes}}))
        return false;
    if (origin == node->broadcast->own)
        budget_on_own(node, peer, bytes);
    return true;
}

void push_backlog_add(struct broadcast_neighbour *neighbour, uint32_t origin_index, uint32_t from)
{
    neighbour->backlog_count += !bit_get(neighbour->backlog, origin_index);
    bit_set(neighbour->backlog, origin_index, true);
    bit_set(neighbour->lazy, origin_index, true);
    neighbour->backlog_from[origin_index] = from;
}

void push_backlog_forget(struct broadcast_neighbour *neighbour, uint32_t origin_index)
{
    const bool is_there = bit_get(neighbour->backlog, origin_index);
    CHECK(!is_there || neighbour->backlog_count > 0);
    neighbour->backlog_count -= is_there;
    bit_set(neighbour->backlog, origin_index, false);
}

uint32_t broadcast_backlog(const struct node *node, const struct peer *peer)
{
    return broadcast_neighbour(node, peer)->backlog_count;
}

void broadcast_forget_backlog(struct node *node, const struct peer *peer)
{
    struct broadcast_neighbour *neighbour = broadcast_neighbour(node, peer);
    const uint32_t count = node->broadcast->versions.count;
    for (uint32_t origin_index = 0; origin_index < count && neighbour->backlog_count > 0;
         origin_index++) {
        if (!bit_get(neighbour->backlog, origin_index))
            continue;
        push_backlog_forget(neighbour, origin_index);
        bit_set(neighbour->lazy, origin_index, false);
    }
    CHECK(neighbour->backlog_count == 0);
}

/* Sends this origin's rumors from number `from` on until the neighbour's queue is full. Sends only
 * one rumor while blocks of a base are queued, because rumors overtake blocks. Returns false if the
 * queue had no space for the first rumor. After the last rumor, the neighbour is eager again. */
static bool serve(struct node *node, const struct peer *peer, uint32_t origin_index, uint32_t from)
{
    CHECK(origin_index < node->broadcast->versions.count);
    struct broadcast_neighbour *neighbour = broadcast_neighbour(node, peer);
    const struct origin *origin = &node->broadcast->versions.origins[origin_index];
    push_backlog_forget(neighbour, origin_index);
    const bool has_blocks = queue_bytes(&peer->blocks) > 0;
    neighbour->blocks_left = queue_bytes(&peer->blocks);
    for (uint32_t next = from; next < origin->next; next++) {
        uint32_t bytes;
        const uint8_t *rumor = rumor_log_find(&node->broadcast->log, origin_index, next, &bytes);
        if (!rumor) {
            (void)connection_say(node, peer,
                                 &(struct message){.kind = GONE, .tag = origin->tag, .seq = next});
            return true;
        }
        if ((has_blocks && next > from) || !push_backlog_say(node, peer, origin, rumor, bytes)) {
            push_backlog_add(neighbour, origin_index, next);
            return next > from;
        }
    }
    bit_set(neighbour->lazy, origin_index, false);
    return true;
}

void push_backlog_on_want(struct node *node, const struct peer *from, uint64_t tag, uint64_t seq)
{
    const struct origin *origin = versions_find(&node->broadcast->versions, tag);
    if (origin && !broadcast_is_partitioned(node, from) && seq <= UINT32_MAX)
        (void)serve(node, from, broadcast_index(node, origin), (uint32_t)seq);
}

static bool may_serve(const struct node *node, const struct peer *peer)
{
    const struct broadcast_neighbour *neighbour = broadcast_neighbour(node, peer);
    const size_t blocks = queue_bytes(&peer->blocks);
    CHECK(neighbour->backlog_count <= node->broadcast->versions.count);
    return neighbour->backlog_count > 0 && peer->state == PEER_OPEN && !pacer_is_full(node, peer) &&
           !neighbour->is_partitioned && (blocks == 0 || blocks != neighbour->blocks_left);
}

void broadcast_on_sent(struct node *node, const struct peer *peer)
{
    struct broadcast_neighbour *neighbour = broadcast_neighbour(node, peer);
    uint32_t origin_index = neighbour->backlog_cursor;
    while (may_serve(node, peer)) {
        do
            origin_index =
                origin_index + 1 < node->broadcast->versions.count ? origin_index + 1 : 0;
        while (!bit_get(neighbour->backlog, origin_index));
        neighbour->backlog_cursor = origin_index;
        if (!serve(node, peer, origin_index, neighbour->backlog_from[origin_index]))
            break;
    }
}
