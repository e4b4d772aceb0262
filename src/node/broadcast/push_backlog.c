/* What a neighbour is to have of each origin, and its queue had no room for.
 *
 *   push, WANT ──queue full──► from which rumor on ──room again──► from the log, in order
 *
 * Nothing is kept but that number, and while it is kept nothing else of that origin is pushed.
 * PRUNE ends it: another was faster; TAKE ends it for all: it is in the base. So a tree bends where
 * a line is full, and does not break: who is fed late is fed, and looks for somebody else only if
 * nothing comes at all.
 */
#include "node/inside.h"

void push_backlog_add(struct peer *peer, uint32_t place, uint32_t from)
{
    peer->backlog_count += !bit_get(peer->backlog, place);
    bit_set(peer->backlog, place, true);
    bit_set(peer->lazy, place, true);
    peer->backlog_from[place] = from;
}

void push_backlog_forget(struct peer *peer, uint32_t place)
{
    peer->backlog_count -= bit_get(peer->backlog, place);
    bit_set(peer->backlog, place, false);
}

void push_backlog_forget_all(const struct node *node, struct peer *peer)
{
    for (uint32_t place = 0; place < node->versions.count && peer->backlog_count > 0; place++) {
        if (!bit_get(peer->backlog, place))
            continue;
        push_backlog_forget(peer, place);
        bit_set(peer->lazy, place, false);
    }
}

/* Says what this origin says from there on, until the queue is full, and pushes what comes. While
 * blocks wait, which let all before them, one rumor goes after each. False: there is no room. */
static bool pay(struct node *node, struct peer *peer, uint32_t place, uint32_t from)
{
    const struct origin *origin = &node->versions.origins[place];
    push_backlog_forget(peer, place);
    const bool has_blocks = queue_bytes(&peer->blocks) > 0;
    peer->blocks_left = queue_bytes(&peer->blocks);
    for (uint32_t next = from; next < origin->next; next++) {
        uint32_t bytes;
        const uint8_t *rumor = rumor_log_find(&node->log, place, next, &bytes);
        if (!rumor) {
            (void)node_say(node, peer,
                           &(struct message){.kind = GONE, .tag = origin->tag, .seq = next});
            return true;
        }
        if ((has_blocks && next > from) || !broadcast_say(node, peer, origin, rumor, bytes)) {
            push_backlog_add(peer, place, next);
            return next > from;
        }
    }
    bit_set(peer->lazy, place, false);
    return true;
}

void push_backlog_on_want(struct node *node, struct peer *from, uint64_t tag, uint64_t seq)
{
    const struct origin *origin = versions_find(&node->versions, tag);
    if (origin && !node_rapport(node, from)->partitioned && seq <= UINT32_MAX)
        (void)pay(node, from, versions_place(&node->versions, origin), (uint32_t)seq);
}

static bool may_pay(const struct node *node, const struct peer *peer)
{
    const size_t blocks = queue_bytes(&peer->blocks);
    return peer->backlog_count > 0 && peer->state == PEER_OPEN && !pacer_is_full(node, peer) &&
           !node_rapport(node, peer)->partitioned && (blocks == 0 || blocks != peer->blocks_left);
}

/* One origin after the other. */
void push_backlog_on_sent(struct node *node, struct peer *peer)
{
    uint32_t place = peer->backlog_cursor;
    while (may_pay(node, peer)) {
        do
            place = place + 1 < node->versions.count ? place + 1 : 0;
        while (!bit_get(peer->backlog, place));
        peer->backlog_cursor = place;
        if (!pay(node, peer, place, peer->backlog_from[place]))
            break;
    }
}
