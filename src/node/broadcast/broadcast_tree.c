/* How rumors travel: pushed along a tree for each origin.
 *
 * A new rumor goes at once to every neighbour that has not asked us to be spared this origin's. Who
 * gets one twice answers PRUNE to the second (or, if the second is the origin itself, to the
 * first); what is left is a tree for each origin (Leitão, Pereira, Rodrigues 2007, who have one
 * tree for all). What the queue for a neighbour has no room for is owed to it (owed.c); what does
 * not come along a tree is asked for (want.c). Records of members (news.c) take the same trees.
 */
#include <math.h>
#include <string.h>

#include "base/digest.h"
#include "node/inside.h"

#define RUMOR_S      0.2
#define RUMOR_USUAL  4096
#define APPLYING_MAX 256 /* rumors with the learner at once */

bool broadcast_say(struct node *node, struct peer *peer, const struct origin *origin,
                   const uint8_t *rumor, size_t bytes)
{
    if (pacer_is_full(node, peer) ||
        !node_say(node, peer, &(struct message){.kind = RUMOR, .bulk = {rumor, bytes}}))
        return false;
    node_rapport(node, peer)->rumor_bytes_published += origin == node->own ? bytes : 0;
    return true;
}

static void push(struct node *node, const struct origin *origin, const struct peer *from,
                 const uint8_t *rumor, size_t bytes)
{
    const uint32_t place = versions_place(&node->versions, origin);
    struct peer *peer;
    for (uint32_t i = 0; (peer = node_neighbour(node, &i)); i++) {
        if (peer == from || bit_get(peer->lazy, place) || peer_is_origin(peer, origin) ||
            !node_is_together(node, peer))
            continue;
        if (!broadcast_say(node, peer, origin, rumor, bytes))
            push_backlog_add(peer, place, origin->next - 1);
    }
}

/* It is the next of its origin and stands in the log: it is known from now on. */
static void know(struct node *node, struct origin *origin, const struct rumor_head *head,
                 const struct update *update)
{
    versions_advance(&node->versions, origin, digest_of_update(update));
    node->advanced_ns = node->now_ns;
    origin->samples = head->samples;
    repair_on_known(node, origin);
}

void broadcast_prune(struct node *node, struct peer *peer, const struct origin *origin)
{
    const uint32_t place = versions_place(&node->versions, origin);
    if (!bit_get(peer->pruned, place) &&
        node_say(node, peer, &(struct message){.kind = PRUNE, .tag = origin->tag}))
        bit_set(peer->pruned, place, true);
}

/* Who takes over a base hears what others say from its donor, and passes nothing on until it is
 * asked: on a thin link there is no room for what either side has anyway. Who has a base of patches
 * hears nothing from anybody. */
void broadcast_hold_back(struct node *node, struct peer *peer)
{
    for (uint32_t i = 1; i < node->members.count; i++) {
        const struct member *member = &node->members.members[i];
        if (!member->known_live || member->place == PLACE_NONE)
            continue;
        if (node->transfer.is_rolling || memcmp(peer->id, member->record.id, ID_BYTES) != 0)
            broadcast_prune(node, peer, &node->versions.origins[member->place]);
        bit_set(peer->lazy, member->place, true);
        push_backlog_forget(peer, member->place);
    }
}

void broadcast_lean_on(struct node *node, const struct peer *donor)
{
    struct peer *peer;
    for (uint32_t i = 0; (peer = node_neighbour(node, &i)); i++)
        if (peer != donor)
            broadcast_hold_back(node, peer);
    for (uint32_t place = 0; place < node->versions.count; place++)
        node->versions.origins[place].parent_conn = donor->conn;
}

/* This neighbour was the first with what this origin says now. What a pruned one sends was under
 * way already: if it counted, the other would be pruned next, and nobody were left. */
void broadcast_on_first(struct node *node, const struct peer *from, struct origin *origin)
{
    if (!bit_get(from->pruned, versions_place(&node->versions, origin)))
        origin->parent_conn = from->conn;
}

/* Two send us what this origin says: one must stop, as long as both are there. The origin itself is
 * never sent away for being slower once than somebody who passes it on. */
void broadcast_on_twice(struct node *node, struct peer *from, struct origin *origin)
{
    struct peer *other = node_open_peer(node, origin->parent_conn);
    if (!peer_is_origin(from, origin)) {
        if (other && other != from)
            broadcast_prune(node, from, origin);
        return;
    }
    origin->parent_conn = from->conn;
    if (other && !peer_is_origin(other, origin))
        broadcast_prune(node, other, origin);
}

/* What lies between must come first, from one neighbour. That others push what cannot be heard yet
 * would only take the link from it: whoever joins a busy swarm over a thin link would never catch
 * up. */
static void on_gap(struct node *node, struct peer *from, struct origin *origin, uint32_t seq)
{
    const struct peer *asked = origin->missing ? node_open_peer(node, origin->missing_from) : NULL;
    if (asked && asked != from && asked->conn == origin->parent_conn &&
        !peer_is_origin(from, origin))
        broadcast_prune(node, from, origin);
    else
        repair_note_missing(node, origin, seq + 1, from);
}

/* What it claims may be more than any rumor has; then it is not decoded. */
static uint32_t room_for(const struct rumor_head *head)
{
    return head->count < RUMOR_ENTRIES_MAX ? head->count : RUMOR_ENTRIES_MAX;
}

/* A rumor that stands in the log, once more: valid until another is decoded. */
const struct update *broadcast_logged(struct node *node, const uint8_t *rumor, uint32_t bytes)
{
    struct rumor_head head;
    CHECK(rumor_peek(rumor, bytes, &head) == OK);
    struct update *update = decoded_room(&node->decoded, head.count);
    rumor_decode_again(rumor, bytes, node->options.parameters, update);
    return update;
}

static void refuse(struct node *node, struct peer *from, enum error error)
{
    struct problem problem;
    (void)problem_set(&problem, error, "sent a rumor that is not valid (%s)", error_name(error));
    node_hang_up(node, from, BYE_BROKEN, problem.text);
}

void broadcast_on_rumor(struct node *node, struct peer *from, const uint8_t *rumor, size_t bytes)
{
    struct rumor_head head;
    if (!node_is_together(node, from))
        return; /* under way when it turned out how long we were apart */
    if (rumor_peek(rumor, bytes, &head) != OK) {
        refuse(node, from, MALFORMED);
        return;
    }
    struct origin *origin =
        versions_find(&node->versions, origin_tag(head.origin, head.incarnation));
    if (node->transfer.is_rolling) { /* it is in some of our blocks already, and not in others */
        if (origin)
            broadcast_prune(node, from, origin);
        return;
    }
    if (origin && head.seq < origin->next) {
        node->stats.duplicates++;
        broadcast_on_twice(node, from, origin);
        return;
    }
    if (head.seq > (origin ? origin->next : 0)) {
        if (origin) /* nothing is kept of a stranger's word: its first rumor or VERSION comes */
            on_gap(node, from, origin, head.seq);
        return;
    }
    struct update *update = decoded_room(&node->decoded, room_for(&head));
    enum error error = rumor_decode(rumor, bytes, node->context, node->options.parameters,
                                    RUMOR_ENTRIES_MAX, update);
    if (error != OK) {
        refuse(node, from, error);
        return;
    }
    if (!origin && !(origin = node_meet(node, from, head.origin, head.incarnation)))
        return;
    const uint32_t place = versions_place(&node->versions, origin);
    if (!rumor_log_append(&node->log, place, head.seq, false, rumor, (uint32_t)bytes)) {
        repair_note_missing(node, origin, head.seq + 1,
                            from); /* the learner is behind: hear it later */
        return;
    }
    decoded_keep(&node->decoded, node->log.newest);
    know(node, origin, &head, update);
    members_on_rumor(&node->members, origin->id, origin->incarnation, node->now_ns);
    broadcast_on_first(node, from, origin);
    node->stats.rumors_received++;
    node->stats.rumor_bytes_received += bytes;
    push(node, origin, from, rumor, bytes);
}

void broadcast_on_prune(struct node *node, struct peer *from, uint64_t tag)
{
    const struct origin *origin = versions_find(&node->versions, tag);
    if (!origin)
        return;
    const uint32_t place = versions_place(&node->versions, origin);
    bit_set(from->lazy, place, true);
    push_backlog_forget(from, place);
}

/* What is urgent waits behind a rumor under way: so the slowest link should not be busy with one
 * for long. */
static size_t rumor_bytes(const struct node *node)
{
    return (size_t)fmin(fmax(node->slowest * RUMOR_S, RUMOR_USUAL), RUMOR_MAX);
}

void broadcast_publish(struct node *node, const struct update *update)
{
    const size_t most = rumor_bytes(node);
    uint32_t from = 0;
    while (from < update->count) {
        struct rumor_head head = {
            .incarnation = node->own->incarnation,
            .seq = node->own->next,
            .samples = node->stats.samples,
        };
        memcpy(head.origin, node->own->id, ID_BYTES);
        uint32_t taken;
        size_t bytes;
        rumor_encode(&head, update, from, most, node->options.identity, node->context,
                     node->scratch, &taken, &bytes);
        const uint32_t place = versions_place(&node->versions, node->own);
        CHECK(rumor_log_append(&node->log, place, head.seq, true, node->scratch, (uint32_t)bytes));
        const struct update part = {.tau = update->tau,
                                    .amount = update->amount,
                                    .count = taken,
                                    .index = update->index + from,
                                    .level = update->level + from};
        know(node, node->own, &head, &part);
        node->own->applied = node->own->next;
        node->own->applied_samples = node->own->samples;
        node->stats.rumors_published++;
        node->stats.rumor_bytes_published += bytes;
        push(node, node->own, NULL, node->scratch, bytes);
        from += taken;
    }
}

static bool is_ours(const struct node *node, const struct origin *origin)
{
    return memcmp(origin->id, node->own->id, ID_BYTES) == 0;
}

/* What came before a base was taken over that has it is passed by. */
static const struct rumor_log_entry *next_to_apply(struct node *node)
{
    const struct rumor_log_entry *entry;
    while ((entry = rumor_log_next_to_apply(&node->log))) {
        const uint32_t applied = node->versions.origins[entry->place].applied;
        CHECK(entry->seq <= applied);
        if (entry->seq == applied)
            return entry;
        rumor_log_applied(&node->log);
    }
    return NULL;
}

bool broadcast_next_apply(struct node *node, struct action *action)
{
    const struct rumor_log_entry *entry = next_to_apply(node);
    if (!entry)
        return false;
    struct origin *origin = &node->versions.origins[entry->place];
    const uint8_t *rumor = rumor_log_bytes(&node->log, entry);
    struct rumor_head head;
    CHECK(rumor_peek(rumor, entry->bytes, &head) == OK);
    if (node->applying_rumors == APPLYING_MAX ||
        (node->applying > 0 && node->applying + head.count > node->options.apply_window))
        return false;
    const struct update *update = decoded_at(&node->decoded, node->log.applied + 1);
    if (!update)
        update = broadcast_logged(node, rumor, entry->bytes);
    origin->applied_samples = head.samples;
    origin->applied++;
    rumor_log_applied(&node->log);
    node->applying += update->count;
    node->applying_rumors++;
    *action = (struct action){.kind = ACTION_APPLY,
                              .update = update,
                              .tag = origin->tag,
                              .seq = head.seq,
                              .own = node->remembers && is_ours(node, origin)};
    return true;
}
