/* How rumors travel: pushed along a tree for each origin, asked for where the tree has a gap.
 *
 * Push: a new rumor goes at once to every neighbour that has not asked us to be spared this
 * origin's. Who gets one twice answers PRUNE to the second (or, if the second is the origin itself,
 * to the first); what is left is a tree for each origin (Leitão, Pereira, Rodrigues 2007, who have
 * one tree for all). What the queue for a neighbour has no room for is owed to it (owed.c). Want:
 * VERSION shows that a neighbour has more. If that does not arrive by itself for a while, ask;
 * asking also grafts: who is asked pushes from now on, and who pushed so far is to stop. Records of
 * members (news.c) take the same trees.
 */
#include <math.h>
#include <string.h>

#include "digest.h"
#include "inside.h"

#define WANT_AFTER_NS  (SECOND_NS / 2) /* or a round trip, on a longer way ... */
#define WANT_LATEST_NS (5 * SECOND_NS) /* ... but no later */
#define ASK_AGAIN_NS   (2 * SECOND_NS)
#define RUMOR_S        0.2
#define RUMOR_USUAL    4096
#define APPLYING_MAX   256 /* rumors with the learner at once */
#define GONE_ENOUGH    4   /* neighbours that no longer have it, if most are not fewer */

bool spread_say(struct node *node, struct peer *peer, const struct origin *origin,
                const uint8_t *rumor, size_t bytes)
{
    if (flow_is_full(node, peer) ||
        !node_say(node, peer, &(struct message){.kind = RUMOR, .bulk = {rumor, bytes}}))
        return false;
    node_rapport(node, peer)->told_bytes += origin == node->own ? bytes : 0;
    return true;
}

static bool is_origin(const struct peer *peer, const struct origin *origin)
{
    return memcmp(peer->id, origin->id, ID_BYTES) == 0;
}

static void push(struct node *node, const struct origin *origin, const struct peer *from,
                 const uint8_t *rumor, size_t bytes)
{
    const uint32_t place = versions_place(&node->versions, origin);
    struct peer *peer;
    for (uint32_t i = 0; (peer = node_neighbour(node, &i)); i++) {
        if (peer == from || bit_get(peer->lazy, place) || is_origin(peer, origin) ||
            !node_is_together(node, peer))
            continue;
        if (!spread_say(node, peer, origin, rumor, bytes))
            owed_add(peer, place, origin->next - 1);
    }
}

static void set_lacking(struct node *node, struct origin *origin, bool lacking)
{
    node->lacking += lacking ? !origin->lacking : -(uint32_t)origin->lacking;
    origin->lacking = lacking;
}

/* It is the next of its origin and stands in the log: it is known from now on. */
static void know(struct node *node, struct origin *origin, const struct rumor_head *head,
                 const struct update *update)
{
    versions_advance(&node->versions, origin, digest_of_update(update));
    node->advanced_ns = node->now_ns;
    origin->gone = 0;
    origin->samples = head->samples;
    if (origin->lacking && origin->next >= origin->lacking_to)
        set_lacking(node, origin, false);
    if (origin->behind_ns && origin->next >= origin->behind_to) { /* and what was shown since? */
        origin->behind_ns = origin->next < origin->lacking_to ? node->now_ns : 0;
        origin->behind_to = origin->lacking_to;
        node->behind -= origin->behind_ns == 0;
    }
}

void spread_lack(struct node *node, struct origin *origin, uint32_t to, const struct peer *from)
{
    if (!origin->lacking) {
        set_lacking(node, origin, true);
        origin->lacking_at = origin->next;
        origin->lacking_since_ns = node->now_ns;
        origin->lacking_to = to;
    }
    if (to > origin->lacking_to)
        origin->lacking_to = to;
    origin->lacking_from = from->conn;
    origin->shown_ns = node->now_ns;
    if (origin->behind_ns == 0) {
        origin->behind_ns = node->now_ns;
        origin->behind_to = to;
        node->behind++;
    }
}

static struct peer *peer_of(const struct node *node, uint64_t conn)
{
    struct peer *peer = &node->peers[(uint32_t)conn];
    return peer->conn == conn && peer->state == PEER_OPEN ? peer : NULL;
}

static void prune(struct node *node, struct peer *peer, const struct origin *origin)
{
    const uint32_t place = versions_place(&node->versions, origin);
    if (!bit_get(peer->pruned, place) &&
        node_say(node, peer, &(struct message){.kind = PRUNE, .tag = origin->tag}))
        bit_set(peer->pruned, place, true);
}

/* Who takes over a base hears what others say from its donor, and passes nothing on until it is
 * asked: on a thin link there is no room for what either side has anyway. Who has a base of patches
 * hears nothing from anybody. */
void spread_hold_back(struct node *node, struct peer *peer)
{
    for (uint32_t i = 1; i < node->members.count; i++) {
        const struct member *member = &node->members.members[i];
        if (!member->known_live || member->place == PLACE_NONE)
            continue;
        if (node->catchup.is_patching || memcmp(peer->id, member->record.id, ID_BYTES) != 0)
            prune(node, peer, &node->versions.origins[member->place]);
        bit_set(peer->lazy, member->place, true);
        owed_forget(peer, member->place);
    }
}

void spread_lean_on(struct node *node, const struct peer *donor)
{
    struct peer *peer;
    for (uint32_t i = 0; (peer = node_neighbour(node, &i)); i++)
        if (peer != donor)
            spread_hold_back(node, peer);
    for (uint32_t place = 0; place < node->versions.count; place++)
        node->versions.origins[place].heard_from = donor->conn;
}

/* This neighbour was the first with what this origin says now. What a pruned one sends was under
 * way already: if it counted, the other would be pruned next, and nobody were left. */
void spread_on_first(struct node *node, const struct peer *from, struct origin *origin)
{
    if (!bit_get(from->pruned, versions_place(&node->versions, origin)))
        origin->heard_from = from->conn;
}

/* Two send us what this origin says: one must stop, as long as both are there. The origin itself is
 * never sent away for being slower once than somebody who passes it on. */
void spread_on_twice(struct node *node, struct peer *from, struct origin *origin)
{
    struct peer *other = peer_of(node, origin->heard_from);
    if (!is_origin(from, origin)) {
        if (other && other != from)
            prune(node, from, origin);
        return;
    }
    origin->heard_from = from->conn;
    if (other && !is_origin(other, origin))
        prune(node, other, origin);
}

/* What lies between must come first, from one neighbour. That others push what cannot be heard yet
 * would only take the link from it: whoever joins a busy swarm over a thin link would never catch
 * up. */
static void on_gap(struct node *node, struct peer *from, struct origin *origin, uint32_t seq)
{
    const struct peer *asked = origin->lacking ? peer_of(node, origin->lacking_from) : NULL;
    if (asked && asked != from && !is_origin(from, origin))
        prune(node, from, origin);
    else
        spread_lack(node, origin, seq + 1, from);
}

/* What it claims may be more than any rumor has; then it is not decoded. */
static uint32_t room_for(const struct rumor_head *head)
{
    return head->count < RUMOR_ENTRIES_MAX ? head->count : RUMOR_ENTRIES_MAX;
}

/* A rumor that stands in the log, once more: valid until another is decoded. */
const struct update *spread_logged(struct node *node, const uint8_t *rumor, uint32_t bytes)
{
    struct rumor_head head;
    CHECK(rumor_peek(rumor, bytes, &head) == OK);
    struct update *update = decoded_room(&node->decoded, head.count);
    rumor_decode_again(rumor, bytes, node->options.parameters, update);
    return update;
}

static void refuse(struct node *node, struct peer *from, enum status status)
{
    struct problem problem;
    (void)problem_set(&problem, status, "sent a rumor that is not valid (%s)", status_name(status));
    node_hang_up(node, from, BYE_BROKEN, problem.text);
}

void spread_on_rumor(struct node *node, struct peer *from, const uint8_t *rumor, size_t bytes)
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
    if (node->catchup.is_patching) { /* it is in some of our blocks already, and not in others */
        if (origin)
            prune(node, from, origin);
        return;
    }
    if (origin && head.seq < origin->next) {
        node->stats.duplicates++;
        spread_on_twice(node, from, origin);
        return;
    }
    if (head.seq > (origin ? origin->next : 0)) {
        if (origin) /* nothing is kept of a stranger's word: its first rumor or VERSION comes */
            on_gap(node, from, origin, head.seq);
        return;
    }
    struct update *update = decoded_room(&node->decoded, room_for(&head));
    enum status status = rumor_decode(rumor, bytes, node->context, node->options.parameters,
                                      RUMOR_ENTRIES_MAX, update);
    if (status != OK) {
        refuse(node, from, status);
        return;
    }
    if (!origin && !(origin = versions_add(&node->versions, head.origin, head.incarnation))) {
        if (notes_allow(&node->notes, node->now_ns))
            (void)node_note(node, from, NOTE_FULL, LEVEL_WARNING,
                            "no room for another origin: raise limits.members");
        return;
    }
    const uint32_t place = versions_place(&node->versions, origin);
    if (!log_append(&node->log, place, head.seq, false, rumor, (uint32_t)bytes)) {
        spread_lack(node, origin, head.seq + 1, from); /* the learner is behind: hear it later */
        return;
    }
    decoded_keep(&node->decoded, node->log.newest);
    know(node, origin, &head, update);
    members_heard(&node->members, origin->id, origin->incarnation, node->now_ns);
    spread_on_first(node, from, origin);
    node->stats.rumors_heard++;
    node->stats.heard_bytes += bytes;
    push(node, origin, from, rumor, bytes);
}

void spread_on_prune(struct node *node, struct peer *from, uint64_t tag)
{
    const struct origin *origin = versions_find(&node->versions, tag);
    if (!origin)
        return;
    const uint32_t place = versions_place(&node->versions, origin);
    bit_set(from->lazy, place, true);
    owed_forget(from, place);
}

/* A base of patches has no use for rumors. */
static bool want(struct node *node, struct peer *peer, uint64_t tag, uint32_t seq)
{
    return !node->catchup.is_patching &&
           node_say(node, peer, &(struct message){.kind = WANT, .tag = tag, .seq = seq});
}

/* Ask this neighbour for all that comes next from this origin: now, and as soon as it has it. */
bool spread_ask_from(struct node *node, struct peer *peer, struct origin *origin)
{
    if (!want(node, peer, origin->tag, origin->next))
        return false;
    bit_set(peer->pruned, versions_place(&node->versions, origin), false);
    return true;
}

/* Who is ahead of us is not fed by us: it may take the place of who has fed us too late. */
static bool change_to(struct node *node, struct peer *peer, struct origin *origin)
{
    struct peer *before = peer_of(node, origin->heard_from);
    if (!spread_ask_from(node, peer, origin))
        return false;
    if (before && before != peer && !is_origin(before, origin))
        prune(node, before, origin);
    origin->heard_from = peer->conn;
    origin->changed_ns = node->now_ns;
    return true;
}

/* It may have much to send us before that. */
static bool is_awaited(const struct node *node, const struct origin *origin)
{
    const struct peer *asked = peer_of(node, origin->heard_from);
    return asked && origin->changed_ns > 0 &&
           node->now_ns - origin->changed_ns < ASK_AGAIN_NS + asked->rtt_ns;
}

/* An origin not known yet: ask one neighbour for all of it, not each that shows it. */
void spread_ask_first(struct node *node, struct peer *peer, uint64_t tag)
{
    for (uint32_t i = 0; i < ASKED_MAX; i++) {
        const struct asked *asked = &node->asked[i];
        if (asked->tag == tag && asked->at_ns && node->now_ns - asked->at_ns < ASK_AGAIN_NS)
            return;
    }
    if (!want(node, peer, tag, 0))
        return;
    node->asked_ns = node->now_ns;
    node->asked[node->asked_next++ % ASKED_MAX] = (struct asked){.tag = tag, .at_ns = node->now_ns};
}

/* Who took over a base has nothing in its log of what is in it, so the next is asked. If most no
 * longer have a rumor, or some of very many, it is to be had in a base only. */
void spread_on_gone(struct node *node, struct peer *from, uint64_t tag, uint64_t seq)
{
    struct origin *origin = versions_find(&node->versions, tag);
    if (!node_is_together(node, from) || (origin && seq < origin->next))
        return;
    if (!origin || ++origin->gone >= GONE_ENOUGH || origin->gone * 2 > node_neighbours(node)) {
        node_rapport(node, from)->ahead = true;
        return;
    }
    struct peer *other = node_random_neighbour(node);
    if (other != from)
        (void)spread_ask_from(node, other, origin);
}

/* What is urgent waits behind a rumor under way: so the slowest link should not be busy with one
 * for long. */
static size_t rumor_bytes(const struct node *node)
{
    return (size_t)fmin(fmax(node->slowest * RUMOR_S, RUMOR_USUAL), RUMOR_MAX);
}

void spread_told(struct node *node, const struct update *update)
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
        CHECK(log_append(&node->log, place, head.seq, true, node->scratch, (uint32_t)bytes));
        const struct update part = {.tau = update->tau,
                                    .amount = update->amount,
                                    .count = taken,
                                    .index = update->index + from,
                                    .level = update->level + from};
        know(node, node->own, &head, &part);
        node->own->handed = node->own->next;
        node->own->handed_samples = node->own->samples;
        node->stats.rumors_told++;
        node->stats.told_bytes += bytes;
        push(node, node->own, NULL, node->scratch, bytes);
        from += taken;
    }
}

/* Who brought us what these origins say is gone: somebody else must. */
void spread_on_lost(struct node *node, uint64_t conn)
{
    for (uint32_t i = 0; i < node->versions.count; i++) {
        struct origin *origin = &node->versions.origins[i];
        struct peer *peer = origin->heard_from == conn ? node_random_neighbour(node) : NULL;
        if (peer)
            (void)spread_ask_from(node, peer, origin);
    }
}

/* What a neighbour far away has heard may be on its way to us from another as far away. */
static uint64_t want_after_ns(const struct peer *peer)
{
    const uint64_t after_ns = peer->rtt_ns > WANT_AFTER_NS ? peer->rtt_ns : WANT_AFTER_NS;
    return after_ns < WANT_LATEST_NS ? after_ns : WANT_LATEST_NS;
}

/* Ask for what did not come by itself. */
void spread_ask(struct node *node)
{
    for (uint32_t i = 0; i < node->versions.count && node->lacking > 0; i++) {
        struct origin *origin = &node->versions.origins[i];
        struct peer *peer = origin->lacking ? peer_of(node, origin->lacking_from) : NULL;
        if (origin->lacking && !peer)
            set_lacking(node, origin, false); /* the next VERSION says who else has it */
        if (!peer || node->now_ns - origin->lacking_since_ns < want_after_ns(peer) ||
            is_awaited(node, origin))
            continue;
        if (origin->next == origin->lacking_at) {
            if (change_to(node, peer, origin) && node_lags(node))
                node->asked_ns = node->now_ns;
            set_lacking(node, origin, false); /* if it does not help, the next VERSION says so */
        }
        origin->lacking_at = origin->next;
        origin->lacking_since_ns = node->now_ns;
    }
}

static bool is_ours(const struct node *node, const struct origin *origin)
{
    return memcmp(origin->id, node->own->id, ID_BYTES) == 0;
}

/* What came before a base was taken over that has it is passed by. */
static const struct log_entry *next_to_hand(struct node *node)
{
    const struct log_entry *entry;
    while ((entry = log_next_to_hand(&node->log))) {
        const uint32_t handed = node->versions.origins[entry->place].handed;
        CHECK(entry->seq <= handed);
        if (entry->seq == handed)
            return entry;
        log_handed(&node->log);
    }
    return NULL;
}

bool spread_next_apply(struct node *node, struct action *action)
{
    const struct log_entry *entry = next_to_hand(node);
    if (!entry)
        return false;
    struct origin *origin = &node->versions.origins[entry->place];
    const uint8_t *rumor = log_bytes(&node->log, entry);
    struct rumor_head head;
    CHECK(rumor_peek(rumor, entry->bytes, &head) == OK);
    if (node->applying_rumors == APPLYING_MAX ||
        (node->applying > 0 && node->applying + head.count > node->options.apply_window))
        return false;
    const struct update *update = decoded_at(&node->decoded, node->log.handed + 1);
    if (!update)
        update = spread_logged(node, rumor, entry->bytes);
    origin->handed_samples = head.samples;
    origin->handed++;
    log_handed(&node->log);
    node->applying += update->count;
    node->applying_rumors++;
    *action = (struct action){.kind = ACTION_APPLY,
                              .update = update,
                              .tag = origin->tag,
                              .seq = head.seq,
                              .own = node->remembers && is_ours(node, origin)};
    return true;
}
