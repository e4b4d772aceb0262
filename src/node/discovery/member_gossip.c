/* Member gossip: how members learn of each other.
 *
 * A MEMBER_UPDATE follows the broadcast tree of its origin (broadcast/broadcast_tree.c), so each
 * node receives each record about once. Where the tree is broken a member seems silent. Before this
 * node marks the member as dead, it asks a neighbour for a sign of the member's life, and the
 * answer repairs the tree.
 * With n live members each renews its record about every n / 4 seconds, and at most about once a
 * second, so the traffic of a node does not grow with n.
 */
#include <math.h>
#include <string.h>

#include "node/broadcast/barred.h"
#include "node/broadcast/broadcast.h"
#include "node/broadcast/identity_clash.h"
#include "node/broadcast/progress.h"
#include "node/discovery/discovery_private.h"
#include "node/membership/failure_detector.h"
#include "node/orders/admitted.h"
#include "node/orders/verdict.h"
#include "node/rate/rate.h"

#define RENEW_MIN_NS SECOND_NS       /* shortest renewal period of a node's record */
#define LEAVE_MIN_NS (SECOND_NS / 5) /* shortest renewal period after training has ended */
/* The renewal period grows by this time per live member. */
#define PER_MEMBER_NS (SECOND_NS / 4)
#define LEAVE_FASTER  8 /* factor on the rate of renewals after the end of a node's training */
/* Factor by which a node's throughput must change before that alone causes a new record. */
#define RATE_CHANGE     2.0f
#define UPDATES_AT_ONCE 64 /* maximum records per MEMBER_UPDATE */
#define LISTED_AT_ONCE  16 /* maximum records per MEMBER_LIST */
/* Maximum members for which one call of member_gossip_review asks for a sign of life. */
#define SIGNS_AT_ONCE 16
/* member_gossip_ask_for_list waits for this number of renewal periods after a list was last
 * requested or arrived. */
#define LIST_PERIODS 2
/* member_gossip_compare waits for this time, plus PER_MEMBER_NS per live member, after a list was
 * last requested or arrived. */
#define LIST_WAIT_NS (2 * SECOND_NS)

static struct discovery_neighbour *neighbour_of(const struct node *node, const struct peer *peer)
{
    return &node->discovery->neighbours[connection_slot(node, peer)];
}

uint64_t member_gossip_period_ns(const struct node *node)
{
    const uint64_t longest_ns = RENEW_MS_MAX * MS_NS;
    const bool running = leaving_stage(node) == STAGE_RUNNING;
    const uint64_t least_ns = running ? RENEW_MIN_NS : LEAVE_MIN_NS;
    const uint64_t period_ns = membership_live(node) * PER_MEMBER_NS / (running ? 1 : LEAVE_FASTER);
    return period_ns < least_ns ? least_ns : u64_min(period_ns, longest_ns);
}

/* Returns true if the neighbour may lack this record. A neighbour has its own record, unless the
 * record is of a later start of the neighbour's node (broadcast/identity_clash.h). */
static bool is_for(const struct node *node, const struct peer *peer, const struct member *member)
{
    const struct record *record = &member->record;
    if (memcmp(peer->id, record->id, ID_BYTES) == 0)
        return peer->incarnation < record->incarnation;
    return membership_number(node, member) == 0 || member->origin_index == ORIGIN_NONE ||
           !broadcast_is_lazy(node, peer, member->origin_index);
}

/* Queues a member's new record for all neighbours that may lack it. This node's own record
 * (number 0) goes to every neighbour: a neighbour that gets none of our rumors may see no other
 * sign of our life. */
static void mark(struct node *node, const struct member *member, const struct peer *from)
{
    const uint32_t number = membership_number(node, member);
    const struct peer *peer;
    for (uint32_t i = 0; (peer = connection_neighbour(node, &i)); i++) {
        if (peer == from || !is_for(node, peer, member))
            continue;
        struct discovery_neighbour *neighbour = &node->discovery->neighbours[i];
        bit_set(neighbour->updates, number, true);
        neighbour->has_updates = true;
    }
}

/* The following functions create and renew this node's own record. */

/* Returns the address for this node's record: the configured one, or else the one that neighbours
 * see. host is "" if neither is known or this node does not listen. */
static struct address own_address(const struct node *node)
{
    struct address address = node->options.advertise.host[0] ? node->options.advertise
                                                             : node->discovery->gossip.observed;
    if (!address.host[0])
        address.port = node->options.listen_port;
    return node->options.listen_port ? address : (struct address){0};
}

/* Returns true if the throughput in this node's last record is too far from the present one. If a
 * node that has reported a throughput becomes faster, it renews its record after RENEW_MIN_NS,
 * because its rumors may not claim more samples than the record allows (byzantine.h). Below one
 * sample a second a node counts as stopped, so a further fall is not worth a record. */
static bool rate_is_outdated(const struct node *node, float said, float now, uint64_t age_ns)
{
    const float before = fmaxf(said, 1), after = fmaxf(now, 1);
    const bool is_faster = after > before * RATE_CHANGE, is_slower = after < before / RATE_CHANGE;
    if (is_faster && said > 0)
        return age_ns >= RENEW_MIN_NS;
    return (is_faster || is_slower) && age_ns >= member_gossip_period_ns(node) / 2;
}

/* Returns the age in ns at which this node's last record must be renewed: the present renewal
 * period or that in the record, whichever is shorter, less a random part. */
static uint64_t due_after_ns(const struct node *node, const struct record *said)
{
    CHECK(said->renew_ms > 0);
    const uint64_t promised_ns = said->renew_ms * MS_NS, period_ns = member_gossip_period_ns(node);
    const uint64_t most_ns = u64_min(promised_ns, period_ns);
    return most_ns - (uint64_t)(node->discovery->gossip.renew_early * (double)most_ns);
}

/* Returns true if this node's last record is too old or no longer true. After the end of its
 * training, the node also renews its record once its base no longer changes, because it waits until
 * other members report the same digest. */
static bool is_outdated(const struct node *node, const struct record *said,
                        const struct record *now)
{
    CHECK(node->now_ns >= node->discovery->gossip.renewed_ns);
    const uint64_t age_ns = node->now_ns - node->discovery->gossip.renewed_ns;
    const bool rests =
        now->stage != STAGE_RUNNING && now->digest == node->discovery->gossip.seen_digest;
    return age_ns >= due_after_ns(node, said) || said->incarnation != now->incarnation ||
           said->stage != now->stage || said->trains != now->trains ||
           !address_equal(&said->address, &now->address) ||
           (rests && said->digest != now->digest) ||
           (said->swarm_samples == 0 && now->swarm_samples > 0) ||
           rate_is_outdated(node, said->samples_per_second, now->samples_per_second, age_ns);
}

static uint32_t lag_ms(const struct node *node)
{
    if (!broadcast_lags(node))
        return 0;
    return (uint32_t)fmin((double)(broadcast_lag_ns(node, node->now_ns) / MS_NS), UINT32_MAX);
}

/* Returns true if this node was asked to finish (node_finish) and has published its last rumor.
 * Then it does not count as training: the training members share the work. */
static bool has_finished(const struct node *node)
{
    const enum stage stage = leaving_stage(node);
    return finishing_state(node) != FINISHING_NOT &&
           (stage == STAGE_SETTLED || stage == STAGE_LEFT);
}

static struct record own_record(const struct node *node, uint64_t stamp)
{
    const struct origin *own = broadcast_own(node);
    struct record record = {
        .incarnation = own->incarnation,
        .stamp = stamp,
        .samples = publish_schedule_samples(node),
        .digest = broadcast_versions(node)->digest,
        .samples_per_second = (float)publish_schedule_samples_per_s(node),
        .uplink = (float)budget_uplink(node),
        .ingress = (float)budget_ingress(node),
        .lag_ms = lag_ms(node),
        .swarm_samples = joining_has_joined(node) ? progress_to_say(node) : 0,
        .renew_ms = (uint32_t)(member_gossip_period_ns(node) / MS_NS),
        .stage = leaving_stage(node),
        .trains = node->options.trains && joining_has_joined(node) && !has_finished(node) &&
                  publish_schedule_goes_on(node),
        .address = own_address(node),
    };
    CHECK(record.renew_ms > 0 && record.renew_ms <= RENEW_MS_MAX);
    memcpy(record.id, own->id, ID_BYTES);
    return record;
}

static void replace_own(struct node *node, const struct record *record)
{
    const struct members *members = membership_members(node);
    membership_update_own(node, record);
    CHECK(members->count > 0 && members->members[0].record.stamp == record->stamp);
    node->discovery->gossip.renewed_ns = node->now_ns;
    node->discovery->gossip.renew_early = 0.25 * rng_uniform(&node->rng);
    membership_set_origin(node, &members->members[0],
                          versions_index(broadcast_versions(node), broadcast_own(node)));
    mark(node, &members->members[0], NULL);
}

void member_gossip_renew(struct node *node)
{
    const struct members *members = membership_members(node);
    const struct record *said = &members->members[0].record;
    const struct record record = own_record(node, said->stamp + 1);
    broadcast_on_rate(node, broadcast_own(node), record.samples_per_second);
    if (members->count == 0 || is_outdated(node, said, &record))
        replace_own(node, &record);
}

void member_gossip_sign_again(struct node *node)
{
    const struct record record =
        own_record(node, membership_members(node)->members[0].record.stamp + 1);
    replace_own(node, &record);
}

/* The following functions handle records of other members. */

/* Sets the incarnation of the record's member in the conversation with that member. */
static void renew_peer(struct node *node, const struct record *record)
{
    const struct peer *peer = connection_by_id(node, record->id, NULL);
    if (peer && peer->incarnation < record->incarnation)
        connection_set_incarnation(node, peer, record->incarnation);
}

/* Returns the member's origin. Adds the origin if it is missing; returns NULL if the table of
 * origins must not take it. So records have a broadcast tree even if their member never publishes.
 */
static const struct origin *origin_of(struct node *node, const struct peer *from,
                                      const struct member *member)
{
    const struct origin *origin = member->origin_index == ORIGIN_NONE
                                      ? broadcast_origin_of(node, from, &member->record)
                                      : &broadcast_versions(node)->origins[member->origin_index];
    if (origin && origin->incarnation != member->record.incarnation)
        origin = broadcast_origin_of(node, from, &member->record);
    return origin;
}

static void on_update(struct node *node, const struct peer *from, const struct member *member,
                      bool pass_on)
{
    CHECK(membership_number(node, member) > 0);
    if (from->state == PEER_OPEN && memcmp(from->id, member->record.id, ID_BYTES) == 0)
        renew_peer(node, &member->record);
    const struct origin *origin = origin_of(node, from, member);
    const uint32_t origin_index =
        origin ? versions_index(broadcast_versions(node), origin) : ORIGIN_NONE;
    membership_set_origin(node, member, origin_index);
    if (origin)
        broadcast_on_rate(node, origin, member->record.samples_per_second);
    membership_on_change(node, member);
    if (!pass_on)
        return;
    if (origin)
        broadcast_on_first(node, from, origin_index);
    mark(node, member, from);
}

/* Handles a record that is not newer than the one that this node has. If `from` has sent our record
 * itself, drops the copy queued for `from`. If the member's last sign of life is recent, one of two
 * neighbours that push its origin is asked to stop. */
static void on_known(struct node *node, const struct peer *from, const uint8_t *bytes)
{
    const struct members *members = membership_members(node);
    const struct member *member = members_find(members, bytes);
    if (!member || member == members->members)
        return;
    if (memcmp(member->bytes, bytes, RECORD_BYTES) == 0)
        bit_set(neighbour_of(node, from)->updates, membership_number(node, member), false);
    const bool lately = node->now_ns - member->advanced_ns < member_silence_ns(members, member) / 4;
    if (lately && member->origin_index != ORIGIN_NONE)
        broadcast_on_twice(node, from, member->origin_index);
}

static void on_stranger(struct node *node, const struct peer *from, const uint8_t *bytes)
{
    struct record record;
    if (record_parse(bytes, &record) == OK)
        barred_on_stranger(node, from, record.id, record.incarnation);
}

static bool end_forger(struct node *node, const struct peer *from)
{
    connection_hang_up(node, from, BYE_BROKEN, "sent an invalid member record");
    return false;
}

static bool on_own_record(struct node *node, const struct peer *from, const uint8_t *bytes)
{
    return identity_clash_on_gossip(node, from, bytes) == OK || end_forger(node, from);
}

static bool on_record(struct node *node, const struct peer *from, const uint8_t *bytes,
                      bool pass_on)
{
    const struct member *member;
    struct address before;
    if (verdict_reason(node, bytes))
        return true; /* the sender may not know of the member's expulsion yet */
    if (memcmp(bytes, broadcast_own(node)->id, ID_BYTES) == 0)
        return on_own_record(node, from, bytes);
    if (!admitted_may_be(node, bytes)) {
        on_stranger(node, from, bytes);
        return true;
    }
    const enum error error = membership_learn(node, bytes, &member, &before);
    if (error == MALFORMED || error == FORGED)
        return end_forger(node, from);
    if (error == MISSING && pass_on && from->state == PEER_OPEN)
        on_known(node, from, bytes);
    if (error != OK)
        return true;
    on_update(node, from, member, pass_on);
    if (!address_equal(&before, &member->record.address))
        dialer_moved(node, &before, &member->record.address, member->record.id);
    return true;
}

bool member_gossip_on_records(struct node *node, const struct peer *from,
                              const struct bytes *records, bool pass_on)
{
    if (records->count % RECORD_BYTES != 0) {
        connection_hang_up(node, from, BYE_BROKEN, "sent member records of invalid size");
        return false;
    }
    for (size_t at = 0; at < records->count; at += RECORD_BYTES)
        if (!on_record(node, from, records->at + at, pass_on))
            return false;
    return true;
}

void member_gossip_on_list(struct node *node)
{
    node->discovery->gossip.listed_ns = node->now_ns;
}

void member_gossip_on_observed(struct node *node, const struct bytes *host)
{
    struct address *observed = &node->discovery->gossip.observed;
    struct address seen = {.port = node->options.listen_port};
    if (host->count == 0 || host->count >= HOST_BYTES || seen.port == 0)
        return;
    memcpy(seen.host, host->at, host->count);
    if (address_network(&seen) == 0)
        return;
    if (!observed->host[0] || (address_is_loopback(observed) && !address_is_loopback(&seen)))
        *observed = seen;
}

/* The following functions send queued records. */

static bool say_records(struct node *node, const struct peer *peer, enum message_kind kind,
                        size_t bytes)
{
    CHECK(bytes > 0 && bytes % RECORD_BYTES == 0 && bytes <= MESSAGE_MAX - MESSAGE_ADDS);
    return connection_say(node, peer,
                          &(struct message){.kind = kind, .bulk = {node->scratch, bytes}});
}

static void flush_to(struct node *node, const struct peer *peer)
{
    struct discovery_neighbour *neighbour = neighbour_of(node, peer);
    const struct members *members = membership_members(node);
    uint32_t taken[UPDATES_AT_ONCE], count = 0;
    for (uint32_t i = 0; i < members->count && count < UPDATES_AT_ONCE; i++) {
        if (neighbour->updates[i / 64] == 0)
            i |= 63; /* the 64 members of this word have no record to send */
        else if (bit_get(neighbour->updates, i))
            taken[count++] = i;
    }
    for (uint32_t i = 0; i < count; i++)
        memcpy(node->scratch + i * RECORD_BYTES, members->members[taken[i]].bytes, RECORD_BYTES);
    if (count > 0 && !say_records(node, peer, MEMBER_UPDATE, count * RECORD_BYTES))
        return; /* the queue is full; the next call of member_gossip_flush tries again */
    for (uint32_t i = 0; i < count; i++)
        bit_set(neighbour->updates, taken[i], false);
    neighbour->has_updates = count == UPDATES_AT_ONCE;
}

static void list_to(struct node *node, const struct peer *peer)
{
    struct discovery_neighbour *neighbour = neighbour_of(node, peer);
    uint32_t next = neighbour->list_next;
    CHECK(next < neighbour->list_end && neighbour->list_end <= membership_members(node)->count);
    const size_t bytes = members_encode(membership_members(node), node->now_ns, &next,
                                        LISTED_AT_ONCE, node->scratch);
    if (bytes == 0 || say_records(node, peer, MEMBER_LIST, bytes))
        neighbour->list_next = next;
}

void member_gossip_flush(struct node *node)
{
    const struct peer *peer;
    for (uint32_t i = 0; (peer = connection_neighbour(node, &i)); i++) {
        const struct discovery_neighbour *neighbour = &node->discovery->neighbours[i];
        if (neighbour->has_updates)
            flush_to(node, peer);
        if (neighbour->list_next < neighbour->list_end)
            list_to(node, peer);
    }
}

void member_gossip_forget(struct node *node, uint32_t number)
{
    CHECK(number < membership_members(node)->count);
    for (uint32_t i = 0; i < node->options.limits.peers_max; i++)
        bit_set(node->discovery->neighbours[i].updates, number, false);
}

uint32_t member_gossip_waiting(const struct node *node)
{
    uint32_t waiting = 0;
    for (uint32_t i = 0; connection_neighbour(node, &i); i++)
        for (uint32_t number = 0; number < membership_members(node)->count; number++)
            waiting += bit_get(node->discovery->neighbours[i].updates, number);
    return waiting;
}

void member_gossip_on_query(struct node *node, const struct peer *from, uint64_t tag)
{
    struct discovery_neighbour *neighbour = neighbour_of(node, from);
    const struct origin *origin = versions_find(broadcast_versions(node), tag);
    const struct member *member = origin ? membership_find(node, origin->id) : NULL;
    if (member && !member->is_barred) {
        bit_set(neighbour->updates, membership_number(node, member), true);
        neighbour->has_updates = true;
    } else if (tag == 0) {
        neighbour->list_next = 1; /* member 0 is this node, whose record the neighbour has */
        neighbour->list_end = membership_members(node)->count;
    }
}

void member_gossip_show_later(struct node *node, const struct peer *peer)
{
    CHECK(peer->state == PEER_OPEN);
    const struct member *member = membership_find(node, peer->id);
    if (!member || member->record.incarnation <= peer->incarnation)
        return;
    bit_set(neighbour_of(node, peer)->updates, membership_number(node, member), true);
    neighbour_of(node, peer)->has_updates = true;
}

static void ask_for_list(struct node *node, const struct peer *from)
{
    if (connection_say(node, from, &(struct message){.kind = MEMBER_QUERY}))
        node->discovery->gossip.listed_ns = node->now_ns;
}

void member_gossip_relist(struct node *node)
{
    const struct peer *peer;
    for (uint32_t i = 0; (peer = connection_neighbour(node, &i)); i++)
        ask_for_list(node, peer);
}

void member_gossip_compare(struct node *node, const struct peer *from, uint64_t members)
{
    const uint32_t live = membership_live(node);
    const uint64_t listed_ns = node->discovery->gossip.listed_ns;
    const uint64_t wait_ns = LIST_WAIT_NS + live * PER_MEMBER_NS;
    if (members > live + live / 8 && (!listed_ns || node->now_ns - listed_ns >= wait_ns))
        ask_for_list(node, from);
}

void member_gossip_ask_for_list(struct node *node, const struct peer *from)
{
    if (node->now_ns - node->discovery->gossip.listed_ns >=
        LIST_PERIODS * member_gossip_period_ns(node))
        ask_for_list(node, from);
}

/* The following functions handle members that are silent. */

/* Asks a random neighbour for a sign of the member's life if half of its permitted silence is over.
 * Returns true if it asked. */
static bool ask_for_sign(struct node *node, const struct member *member)
{
    if (!failure_detector_is_sign_due(node, member))
        return false;
    CHECK(member->origin_index < broadcast_versions(node)->count);
    const struct peer *peer = connection_random(node);
    const struct origin *origin = &broadcast_versions(node)->origins[member->origin_index];
    if (!peer || !repair_ask(node, peer, member->origin_index) ||
        !connection_say(node, peer, &(struct message){.kind = MEMBER_QUERY, .tag = origin->tag}))
        return false;
    failure_detector_on_sign_asked(node, member);
    return true;
}

void member_gossip_review(struct node *node)
{
    uint32_t asked = 0;
    failure_detector_begin(node);
    for (uint32_t i = 1; i < membership_members(node)->count; i++)
        if (failure_detector_review(node, i) && asked < SIGNS_AT_ONCE)
            asked += ask_for_sign(node, membership_at(node, i));
}

void member_gossip_end_round(struct node *node)
{
    node->discovery->gossip.seen_digest = broadcast_versions(node)->digest;
}
