/* Rumors that arrive and rumors that this node publishes: adds them to the log and the version, and
 * pushes them to neighbours. */
#include <math.h>
#include <string.h>

#include "base/digest.h"
#include "node/broadcast/barred.h"
#include "node/broadcast/broadcast_private.h"
#include "node/broadcast/identity_clash.h"
#include "node/broadcast/rumor_step.h"
#include "node/orders/admitted.h"
#include "node/orders/verdict.h"
#include "node/rate/rate.h"
#include "wire/move.h"

/* Maximum seconds that an own rumor may take on the slowest link. */
#define RUMOR_S     0.2
#define RUMOR_USUAL 4096 /* bytes that an own rumor may have on any link, however slow */

static void push(struct node *node, const struct origin *origin, const struct peer *from,
                 const uint8_t *rumor, size_t bytes)
{
    const uint32_t origin_index = broadcast_index(node, origin);
    const struct peer *peer;
    CHECK(origin->next > 0); /* `next` already counts this rumor */
    for (uint32_t i = 0; (peer = connection_neighbour(node, &i)); i++) {
        struct broadcast_neighbour *neighbour = &node->broadcast->neighbours[i];
        if (peer == from || bit_get(neighbour->lazy, origin_index) ||
            peer_is_origin(peer, origin) || !broadcast_is_together(node, peer))
            continue;
        if (!push_backlog_say(node, peer, origin, rumor, bytes))
            push_backlog_add(neighbour, origin_index, origin->next - 1);
    }
}

/* Records that the origin's next rumor, with this head, is in the log, and counts it as known. */
static void know(struct node *node, struct origin *origin, const struct signed_head *head,
                 const struct update *update)
{
    versions_advance(&node->broadcast->versions, origin, head, digest_of_update(update));
    node->broadcast->advanced_ns = node->now_ns;
    const uint64_t before = origin->samples, samples = signed_head_samples(head);
    origin->samples = origin_is_expelled(origin) ? 0 : samples;
    membership_on_rumor(node, origin->id, origin->incarnation, update,
                        samples > before ? samples - before : 0);
    repair_on_known(node, origin);
}

/* Handles a rumor whose predecessors are missing: they must come first, from one neighbour. If more
 * neighbours pushed, a node that joins a busy swarm over a thin link would never catch up. */
static void on_gap(struct node *node, const struct peer *from, struct origin *origin, uint32_t seq)
{
    CHECK(seq > origin->next);
    const struct gap *gap = &origin->gap;
    const struct peer *asked = gap->missing ? connection_open_peer(node, gap->missing_from) : NULL;
    if (asked && asked != from && asked->conn == origin->parent_conn &&
        !peer_is_origin(from, origin))
        tree_prune(node, from, origin);
    else
        repair_note_missing(node, origin, seq + 1, from);
}

static void refuse(struct node *node, const struct peer *from, enum error error)
{
    struct problem problem;
    CHECK(error != OK);
    (void)problem_set(&problem, error, "sent an invalid rumor (%s)", error_name(error));
    connection_hang_up(node, from, BYE_BROKEN, problem.text);
}

/* Returns true if `head` continues the stream after `before`, its last known head or zeros. */
static bool follows(const struct signed_head *before, const struct signed_head *head)
{
    return memcmp(head->bytes + HEAD_PREV_AT, before->hash, HEAD_HASH_BYTES) == 0 &&
           head_samples_follow(signed_head_samples(before), signed_head_samples(head));
}

/* Takes the next rumor of an origin: checks it, logs it, counts it as known and pushes it. Returns
 * false if the rumor is refused. */
static bool take(struct node *node, const struct peer *from, struct origin *origin,
                 const struct rumor_head *head, struct bytes rumor, struct rumor_step *step)
{
    struct broadcast *broadcast = node->broadcast;
    /* a head may claim more entries than any rumor has; then the rumor is not decoded */
    const uint32_t entries = u32_min(head->count, RUMOR_ENTRIES_MAX);
    struct update *update = decoded_room(&broadcast->apply.decoded, entries);
    const enum error error = rumor_decode(rumor.at, rumor.count, node->context,
                                          node->options.parameters, RUMOR_ENTRIES_MAX, update);
    if (error != OK) {
        equivocation_on_refused(node, rumor.at, rumor.count);
        refuse(node, from, error);
        return false;
    }
    struct signed_head signed_head;
    rumor_signed_head(rumor.at, rumor.count, node->context, &signed_head);
    if (origin && !follows(&origin->last, &signed_head)) {
        equivocation_found(node, &origin->last, &signed_head);
        return false;
    }
    if (!origin && !(origin = broadcast_meet(node, from, head->origin, head->incarnation)))
        return false;
    const uint32_t origin_index = broadcast_index(node, origin);
    if (!rumor_log_append(&broadcast->log, node->now_ns, origin_index, head->seq, false, rumor.at,
                          (uint32_t)rumor.count)) {
        /* the learner is behind, so the rumor is requested again later */
        repair_note_missing(node, origin, head->seq + 1, from);
        return false;
    }
    decoded_keep(&broadcast->apply.decoded, broadcast->log.newest);
    *step = rumor_step_of(origin_index, &signed_head, &origin->last);
    know(node, origin, &signed_head, update);
    broadcast_on_first(node, from, origin_index);
    broadcast->counts.received++;
    broadcast->counts.received_bytes += rumor.count;
    origin->bytes += rumor.count;
    push(node, origin, from, rumor.at, rumor.count);
    return true;
}

/* Returns true for a rumor of our present or a later incarnation that this node has not published:
 * another process has our identity. The rumor is refused, because this node will publish under that
 * number itself. */
static bool is_ours_to_come(const struct node *node, const struct rumor_head *head)
{
    const struct origin *own = node->broadcast->own;
    return memcmp(head->origin, own->id, ID_BYTES) == 0 &&
           (head->incarnation == own->incarnation ? head->seq >= own->next
                                                  : head->incarnation > own->incarnation);
}

/* Returns true if this rumor is beyond the limit of an expelled origin, or while rumors of the
 * origin are being taken out. The sender may not know of the expulsion yet. */
static bool is_expelled(const struct node *node, const struct rumor_head *head,
                        const struct origin *origin)
{
    const uint32_t keep =
        origin ? origin->keep : verdict_keep(node, head->origin, head->incarnation);
    return head->seq >= keep || (origin && origin->applied > origin->next);
}

/* Handles a rumor whose number is known: a duplicate, or equivocation if its head differs. */
static void on_again(struct node *node, const struct peer *from, struct origin *origin,
                     const struct rumor_head *head, const uint8_t *rumor, size_t bytes)
{
    const uint32_t origin_index = broadcast_index(node, origin);
    struct signed_head ours, theirs;
    if (equivocation_head(node, origin_index, head->seq, &ours) &&
        memcmp(ours.bytes, rumor, HEAD_BYTES) != 0) {
        rumor_signed_head(rumor, bytes, node->context, &theirs);
        const enum error error = signed_head_verify(&theirs);
        if (error == OK)
            equivocation_found(node, &ours, &theirs);
        else
            refuse(node, from, error);
        return;
    }
    node->broadcast->counts.duplicates++;
    broadcast_on_twice(node, from, origin_index);
}

/* Skips a rumor whose origin is not admitted here, and asks the sender not to push this origin's
 * rumors. */
static void pass_over(struct node *node, const struct peer *from, const struct rumor_head *head)
{
    CHECK(from->state == PEER_OPEN);
    barred_on_stranger(node, from, head->origin, head->incarnation);
    (void)connection_say(
        node, from,
        &(struct message){.kind = PRUNE, .tag = origin_tag(head->origin, head->incarnation)});
}

bool broadcast_on_rumor(struct node *node, const struct peer *from, const uint8_t *rumor,
                        size_t bytes, struct rumor_step *step)
{
    struct rumor_head head;
    if (!broadcast_is_together(node, from))
        return false; /* the rumor was in transit when the partition was found */
    if (rumor_peek(rumor, bytes, &head) != OK) {
        refuse(node, from, MALFORMED);
        return false;
    }
    if (is_ours_to_come(node, &head)) {
        if (head.incarnation == node->broadcast->own->incarnation)
            identity_clash_on_rumor(node, from, (struct bytes){rumor, bytes});
        return false;
    }
    if (!admitted_takes(node, from, head.origin)) {
        pass_over(node, from, &head);
        return false;
    }
    struct origin *origin =
        versions_find(&node->broadcast->versions, origin_tag(head.origin, head.incarnation));
    if (is_expelled(node, &head, origin))
        return false;
    /* some blocks of our base already contain the rumor, and others do not */
    if (base_state(node) == BASE_ROLLING) {
        if (origin)
            tree_prune(node, from, origin);
        return false;
    }
    if (origin && head.seq < origin->next) {
        on_again(node, from, origin, &head, rumor, bytes);
        return false;
    }
    if (head.seq > (origin ? origin->next : 0)) {
        if (origin) /* the first rumor of an unknown origin, or a VERSION, will follow */
            on_gap(node, from, origin, head.seq);
        return false;
    }
    return take(node, from, origin, &head, (struct bytes){rumor, bytes}, step);
}

/* Returns the largest size of an own rumor. An urgent message waits behind a rumor in transit, so
 * a rumor must not occupy the slowest link for long. */
static size_t rumor_bytes_max(const struct node *node)
{
    return (size_t)fmin(fmax(budget_slowest(node) * RUMOR_S, RUMOR_USUAL), RUMOR_MAX);
}

/* Returns the count of learned samples that the next rumor reports. A valid rumor exceeds the last
 * reported count by at most HEAD_SAMPLES_STEP; later rumors report the remainder. */
static uint64_t samples_to_claim(const struct node *node)
{
    const uint64_t samples = publish_schedule_samples(node);
    const uint64_t before = signed_head_samples(&node->broadcast->own->last);
    CHECK(samples >= before);
    return samples - before <= HEAD_SAMPLES_STEP ? samples : before + HEAD_SAMPLES_STEP;
}

/* Publishes the entries of the update from index `from` on as one rumor of at most bytes_max bytes.
 * Adds the rumor's length and samples to *sum. Returns how many entries it contains. */
static uint32_t publish_part(struct node *node, const struct update *update, uint32_t from,
                             size_t bytes_max, struct rumor_step *sum)
{
    struct broadcast *broadcast = node->broadcast;
    struct origin *own = broadcast->own;
    struct rumor_head head = {
        .incarnation = own->incarnation,
        .seq = own->next,
        .samples = samples_to_claim(node),
    };
    memcpy(head.origin, own->id, ID_BYTES);
    memcpy(head.prev, own->last.hash, HEAD_HASH_BYTES);
    struct signed_head signed_head;
    uint32_t taken;
    size_t bytes;
    const uint32_t entries = move_entries(update->amount, update->level + from,
                                          update->count - from, node->options.parameters);
    struct update part = *update;
    part.count = from + entries;
    rumor_encode(&head, &part, from, bytes_max, node->options.identity, node->context,
                 node->scratch, &taken, &bytes);
    CHECK(taken > 0 && taken <= entries && head_is_within(node->scratch, node->options.parameters));
    const uint32_t origin_index = broadcast_index(node, own);
    CHECK(rumor_log_append(&broadcast->log, node->now_ns, origin_index, head.seq, true,
                           node->scratch, (uint32_t)bytes));
    part.count = taken;
    part.index += from;
    part.level += from;
    rumor_signed_head(node->scratch, bytes, node->context, &signed_head);
    const struct rumor_step step = rumor_step_of(origin_index, &signed_head, &own->last);
    sum->length += step.length;
    sum->samples += step.samples;
    know(node, own, &signed_head, &part);
    own->applied = own->next;
    own->applied_last = own->last;
    broadcast->counts.published++;
    broadcast->counts.published_bytes += bytes;
    own->bytes += bytes;
    push(node, own, NULL, node->scratch, bytes);
    return taken;
}

bool broadcast_has_published(const struct node *node)
{
    return node->broadcast->counts.published > 0;
}

uint64_t broadcast_publish(struct node *node, const struct update *update, struct rumor_step *sum)
{
    const uint64_t before = node->broadcast->counts.published_bytes;
    const size_t bytes_max = rumor_bytes_max(node);
    uint32_t from = 0;
    *sum = (struct rumor_step){0};
    while (from < update->count)
        from += publish_part(node, update, from, bytes_max, sum);
    CHECK(from == update->count);
    return node->broadcast->counts.published_bytes - before;
}
