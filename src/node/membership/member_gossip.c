/* How members hear of each other: each renews its own record, and passes on what is new to it.
 *
 *   our record renewed ──► NEWS ──► neighbours ──► NEWS ──► theirs …
 *   who knows few      ──► WHO  ──► one neighbour ──► MEMBERS, some at a time
 *   a member is silent ──► WHO  ──► one neighbour ──► NEWS of it
 *
 * NEWS takes the tree of its origin (spread.c), so that everyone gets each record about once. Where
 * the tree is broken a member falls silent; before it is taken for dead some neighbour is asked for
 * it, which mends the tree. With n live members each renews every n / 4 seconds, so what a node
 * sends for it does not grow with the swarm.
 */
#include <math.h>
#include <string.h>

#include "node/inside.h"

#define MS_NS           (SECOND_NS / 1000)
#define RENEW_MIN_NS    SECOND_NS
#define LEAVE_MIN_NS    (SECOND_NS / 5)
#define PER_MEMBER_NS   (SECOND_NS / 4)
#define LEAVE_FASTER    8    /* who leaves says more often how far it is */
#define RATE_CHANGE     2.0f /* a speed that changed so much is news */
#define UPDATES_AT_ONCE 64
#define SIGNS_AT_ONCE   16
#define LIST_WAIT_NS    (2 * SECOND_NS)

uint64_t member_gossip_period_ns(const struct node *node)
{
    const uint64_t longest_ns = RENEW_MS_MAX * MS_NS;
    const bool running = node->stage == STAGE_RUNNING;
    const uint64_t least_ns = running ? RENEW_MIN_NS : LEAVE_MIN_NS;
    const uint64_t period_ns = node->live * PER_MEMBER_NS / (running ? 1 : LEAVE_FASTER);
    return period_ns < least_ns ? least_ns : period_ns < longest_ns ? period_ns : longest_ns;
}

/* The record of this member is new to us: it will be to others. Our own (0) is for all neighbours:
 * who hears no rumors of ours may have no other sign of life. */
static void mark(struct node *node, const struct member *member, const struct peer *from)
{
    const uint32_t number = (uint32_t)(member - node->members.members);
    struct peer *peer;
    for (uint32_t i = 0; (peer = node_neighbour(node, &i)); i++) {
        if (peer == from || memcmp(peer->id, member->record.id, ID_BYTES) == 0 ||
            (number > 0 && member->place != PLACE_NONE && bit_get(peer->lazy, member->place)))
            continue;
        bit_set(node->rapports[i].news, number, true);
        node->rapports[i].has_news = true;
    }
}

/* Our own record. */

/* Without a host as long as nobody has told us how we are reached. */
static struct address own_address(const struct node *node)
{
    struct address address =
        node->options.advertise.host[0] ? node->options.advertise : node->observed;
    if (!address.host[0])
        address.port = node->options.listen_port;
    return node->options.listen_port ? address : (struct address){0};
}

/* Who learns less than a sample a second has stopped, and how it slows down is no news. */
static bool rate_differs(float before, float now)
{
    before = fmaxf(before, 1);
    now = fmaxf(now, 1);
    return now > before * RATE_CHANGE || now < before / RATE_CHANGE;
}

/* When the next record is due: as now seems right, but no later than the last one promised. */
static uint64_t due_after_ns(const struct node *node, const struct record *said)
{
    const uint64_t promised_ns = said->renew_ms * MS_NS, period_ns = member_gossip_period_ns(node);
    const uint64_t most_ns = promised_ns < period_ns ? promised_ns : period_ns;
    return most_ns - (uint64_t)(node->renew_early * (double)most_ns);
}

/* Does our last record still say what is so? Who leaves waits for others to hold its base: a base
 * that has come to rest is news. */
static bool is_outdated(const struct node *node, const struct record *said,
                        const struct record *now)
{
    const uint64_t age_ns = node->now_ns - node->renewed_ns;
    const bool rests = now->stage != STAGE_RUNNING && now->digest == node->seen_digest;
    return age_ns >= due_after_ns(node, said) || said->incarnation != now->incarnation ||
           said->stage != now->stage || said->trains != now->trains ||
           !address_equal(&said->address, &now->address) ||
           (rests && said->digest != now->digest) ||
           (age_ns >= member_gossip_period_ns(node) / 2 &&
            rate_differs(said->samples_per_second, now->samples_per_second));
}

static uint32_t lag_ms(const struct node *node)
{
    if (!node_lags(node))
        return 0;
    return (uint32_t)fmin((double)(node_lag_ns(node, node->now_ns) / MS_NS), UINT32_MAX);
}

/* Sign a new record if the last one is old or wrong. */
void member_gossip_renew(struct node *node)
{
    const struct member *own = &node->members.members[0];
    struct record record = {
        .incarnation = node->options.incarnation,
        .stamp = own->record.stamp + 1,
        .samples = node->stats.samples,
        .digest = node->versions.digest,
        .samples_per_second = (float)node->stats.samples_per_second,
        .uplink = (float)node->stats.uplink,
        .ingress = (float)node->stats.ingress,
        .lag_ms = lag_ms(node),
        .renew_ms = (uint32_t)(member_gossip_period_ns(node) / MS_NS),
        .stage = node->stage,
        .trains = node->options.trains && node->joined,
        .address = own_address(node),
    };
    memcpy(record.id, node->own->id, ID_BYTES);
    node->own->rate = fmaxf(node->own->rate, record.samples_per_second);
    if (node->members.count > 0 && !is_outdated(node, &own->record, &record))
        return;
    members_update_own(&node->members, &record, node->options.identity, node->context,
                       node->now_ns);
    node->renewed_ns = node->now_ns;
    node->renew_early = 0.25 * rng_uniform(&node->rng);
    node->members.members[0].place = versions_place(&node->versions, node->own);
    mark(node, &node->members.members[0], NULL);
}

/* Records of others. */

static void note_member(struct node *node, struct member *member)
{
    const struct record *record = &member->record;
    const bool live = member_is_live(&node->members, member, node->now_ns);
    if (live == member->known_live)
        return;
    member->known_live = live;
    node->live += live ? 1 : -1u;
    node->reachable += live && record->address.port;
    if (!live && record->stage != STAGE_LEFT)
        return; /* died: noted where silence is noticed */
    if (!notes_allow(&node->notes, node->now_ns))
        return;
    struct note *note =
        live ? notes_add(&node->notes, node->now_ns, NOTE_MEMBER, LEVEL_INFO, "is in the swarm")
             : notes_add(&node->notes, node->now_ns, NOTE_MEMBER_LEFT, LEVEL_INFO,
                         "has left the swarm after %llu samples",
                         (unsigned long long)record->samples);
    identity_text(note->who, record->id);
    if (record->address.host[0])
        (void)address_text(&record->address, note->where);
}

/* Every life of a member is an origin, so that its news has a tree even if it never tells. */
static struct origin *origin_of(struct node *node, const struct peer *from,
                                const struct member *member)
{
    const struct record *record = &member->record;
    struct origin *origin =
        versions_find(&node->versions, origin_tag(record->id, record->incarnation));
    return origin ? origin : node_meet(node, from, record->id, record->incarnation);
}

/* It goes on under a new incarnation. */
static void renew_peer(struct node *node, const struct record *record)
{
    struct peer *peer = node_peer_by_id(node, record->id, NULL);
    if (peer && peer->incarnation < record->incarnation)
        peer->incarnation = record->incarnation;
}

static void on_news(struct node *node, struct peer *from, struct member *member, bool pass_on)
{
    if (from->state == PEER_OPEN && memcmp(from->id, member->record.id, ID_BYTES) == 0)
        renew_peer(node, &member->record);
    struct origin *origin = member->place == PLACE_NONE ? origin_of(node, from, member)
                                                        : &node->versions.origins[member->place];
    if (origin && origin->incarnation != member->record.incarnation)
        origin = origin_of(node, from, member);
    member->place = origin ? versions_place(&node->versions, origin) : PLACE_NONE;
    if (origin)
        origin->rate = fmaxf(origin->rate, member->record.samples_per_second);
    note_member(node, member);
    if (!pass_on)
        return;
    if (origin)
        broadcast_on_first(node, from, origin);
    mark(node, member, from);
}

/* We knew it already. Who has shown us a record need not be sent it; and if we heard it lately,
 * need not send us more from this origin: somebody else is quicker. */
static void on_known(struct node *node, struct peer *from, const uint8_t *bytes)
{
    const struct member *member = members_find(&node->members, bytes);
    if (!member || member == node->members.members)
        return;
    if (memcmp(member->bytes, bytes, RECORD_BYTES) == 0)
        bit_set(node_rapport(node, from)->news, (uint32_t)(member - node->members.members), false);
    const bool lately =
        node->now_ns - member->advanced_ns < member_silence_ns(&node->members, member) / 4;
    if (lately && member->place != PLACE_NONE)
        broadcast_on_twice(node, from, &node->versions.origins[member->place]);
}

/* False when the record shows that the sender is broken. */
static bool hear_record(struct node *node, struct peer *from, const uint8_t *bytes, bool pass_on)
{
    struct member *member = members_find(&node->members, bytes);
    const struct address before = member ? member->record.address : (struct address){0};
    enum error error = members_learn(&node->members, bytes, node->context, node->now_ns, &member);
    if (error == MALFORMED || error == FORGED) {
        node_hang_up(node, from, BYE_BROKEN, "sent a member record that is not valid");
        return false;
    }
    if (error == MISSING && pass_on && from->state == PEER_OPEN)
        on_known(node, from, bytes);
    if (error != OK)
        return true;
    on_news(node, from, member, pass_on);
    if (!address_equal(&before, &member->record.address))
        dialer_moved(node, &before, &member->record.address, member->record.id);
    return true;
}

bool member_gossip_on_records(struct node *node, struct peer *from, const struct bytes *records,
                              bool pass_on)
{
    if (records->count % RECORD_BYTES != 0) {
        node_hang_up(node, from, BYE_BROKEN, "sent member records of impossible size");
        return false;
    }
    for (size_t at = 0; at < records->count; at += RECORD_BYTES)
        if (!hear_record(node, from, records->at + at, pass_on))
            return false;
    return true;
}

/* Sending. */

static bool say_records(struct node *node, struct peer *peer, enum message_kind kind, size_t bytes)
{
    return node_say(node, peer, &(struct message){.kind = kind, .bulk = {node->scratch, bytes}});
}

static void flush_to(struct node *node, struct peer *peer)
{
    struct rapport *rapport = node_rapport(node, peer);
    uint32_t taken[UPDATES_AT_ONCE], count = 0;
    for (uint32_t i = 0; i < node->members.count && count < UPDATES_AT_ONCE; i++) {
        if (rapport->news[i / 64] == 0)
            i |= 63; /* none of these 64 */
        else if (bit_get(rapport->news, i))
            taken[count++] = i;
    }
    for (uint32_t i = 0; i < count; i++)
        memcpy(node->scratch + i * RECORD_BYTES, node->members.members[taken[i]].bytes,
               RECORD_BYTES);
    if (count > 0 && !say_records(node, peer, MEMBER_UPDATE, count * RECORD_BYTES))
        return; /* a full queue: next time */
    for (uint32_t i = 0; i < count; i++)
        bit_set(rapport->news, taken[i], false);
    rapport->has_news = count == UPDATES_AT_ONCE;
}

static void list_to(struct node *node, struct peer *peer)
{
    struct rapport *rapport = node_rapport(node, peer);
    uint32_t next = rapport->list_next;
    const size_t bytes =
        members_encode(&node->members, node->now_ns, &next, RECORDS_AT_ONCE, node->scratch);
    if (bytes == 0 || say_records(node, peer, MEMBER_LIST, bytes))
        rapport->list_next = next;
}

void member_gossip_flush(struct node *node)
{
    struct peer *peer;
    for (uint32_t i = 0; (peer = node_neighbour(node, &i)); i++) {
        if (node->rapports[i].has_news)
            flush_to(node, peer);
        if (node->rapports[i].list_next < node->rapports[i].list_end)
            list_to(node, peer);
    }
}

/* Tag 0: it wants to know us all. Otherwise a sign of life of this one. */
void member_gossip_on_query(struct node *node, struct peer *from, uint64_t tag)
{
    struct rapport *rapport = node_rapport(node, from);
    const struct origin *origin = versions_find(&node->versions, tag);
    const struct member *member = origin ? members_find(&node->members, origin->id) : NULL;
    if (member) {
        bit_set(rapport->news, (uint32_t)(member - node->members.members), true);
        rapport->has_news = true;
    } else if (tag == 0) {
        rapport->list_next = 1; /* we have introduced ourselves */
        rapport->list_end = node->members.count;
    }
}

/* A neighbour knows so many live members. If it is clearly more than we do, it shall list them; but
 * what it takes for alive may be dead, so a large swarm is not listed again soon. */
void member_gossip_compare(struct node *node, struct peer *from, uint64_t members)
{
    const uint64_t wait_ns = LIST_WAIT_NS + node->live * PER_MEMBER_NS;
    if (members <= node->live + node->live / 8 ||
        (node->listed_ns && node->now_ns - node->listed_ns < wait_ns))
        return;
    if (node_say(node, from, &(struct message){.kind = MEMBER_QUERY}))
        node->listed_ns = node->now_ns;
}

/* Noticing silence. */

static void note_death(struct node *node, struct member *member)
{
    member->known_live = false;
    node->live--;
    struct note *note = notes_add(&node->notes, node->now_ns, NOTE_MEMBER_DEAD, LEVEL_WARNING,
                                  "has been silent for too long: taken for dead");
    identity_text(note->who, member->record.id);
    if (member->record.address.host[0])
        (void)address_text(&member->record.address, note->where);
}

/* Half its time is over: ask some neighbour, and again another. */
static bool ask_for_sign(struct node *node, struct member *member)
{
    const uint64_t silence_ns = member_silence_ns(&node->members, member);
    if (member->place == PLACE_NONE || node->now_ns - member->advanced_ns < silence_ns / 2 ||
        node->now_ns - member->asked_ns < silence_ns / 8)
        return false;
    struct peer *peer = node_random_neighbour(node);
    struct origin *origin = &node->versions.origins[member->place];
    if (!peer || !repair_ask(node, peer, origin) ||
        !node_say(node, peer, &(struct message){.kind = MEMBER_QUERY, .tag = origin->tag}))
        return false;
    member->asked_ns = node->now_ns;
    return true;
}

void member_gossip_review(struct node *node)
{
    uint32_t asked = 0;
    node->reachable = node->members.members[0].record.address.port != 0;
    for (uint32_t i = 1; i < node->members.count; i++) {
        struct member *member = &node->members.members[i];
        if (!member->known_live)
            continue;
        if (!member_is_live(&node->members, member, node->now_ns))
            note_death(node, member);
        else if (asked < SIGNS_AT_ONCE)
            asked += ask_for_sign(node, member);
        node->reachable += member->known_live && member->record.address.port;
    }
}
