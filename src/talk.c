/* What is said, and what is done when it is heard: one function per message. */
#include <stdio.h>
#include <string.h>

#include "inside.h"

#define RECORDS_PER_ROUND 16

static bool say_bulk(struct peer *peer, enum message_kind kind, const uint8_t *bulk, size_t bytes)
{
    return peer_say(peer, &(struct message){.kind = kind, .bulk = {bulk, bytes}});
}

void talk_hello(struct node *node, struct peer *peer)
{
    const struct message hello = {
        .kind = HELLO,
        .incarnation = node->options.incarnation,
        .port = node->options.listen_port,
        .text = {(const uint8_t *)peer->address.host, strlen(peer->address.host)},
        .bulk = {node->members.members[0].bytes, RECORD_BYTES},
    };
    CHECK(peer_say(peer, &hello));
}

void talk_members(struct node *node, struct peer *peer)
{
    size_t bytes = members_encode(&node->members, &node->rng, RECORDS_PER_ROUND, node->scratch);
    (void)say_bulk(peer, MEMBERS, node->scratch, bytes); /* a full queue: next round */
}

void talk_version(struct node *node, struct peer *peer)
{
    size_t bytes = versions_encode(&node->versions, node->scratch, MESSAGE_MAX - MESSAGE_ADDS);
    (void)peer_say(peer, &(struct message){.kind = VERSION,
                                           .digest = node->versions.digest,
                                           .bulk = {node->scratch, bytes}});
}

static void note_member(struct node *node, struct member *member)
{
    const struct record *record = &member->record;
    const bool live = member_is_live(&node->members, member, node->now_ns);
    if (live == member->known_live)
        return;
    member->known_live = live;
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

/* False when the record shows that the sender is broken. */
static bool learn_record(struct node *node, struct peer *from, const uint8_t *bytes)
{
    struct member *member;
    enum status status = members_learn(&node->members, bytes, node->context, node->now_ns, &member);
    if (status == MALFORMED || status == FORGED) {
        node_hang_up(node, from, BYE_BROKEN, "sent a member record that is not valid");
        return false;
    }
    if (status == OK) {
        note_member(node, member);
        if (member->record.address.host[0])
            dial_add(node, &member->record.address, member->record.id, false);
    }
    return true;
}

/* Another life or another machine with this peer's identity? The later life stays. */
static bool settle_duplicate(struct node *node, struct peer *peer)
{
    struct peer *other = node_peer_by_id(node, peer->id, peer);
    if (!other)
        return true;
    if (peer->incarnation != other->incarnation) {
        struct peer *older = peer->incarnation < other->incarnation ? peer : other;
        node_hang_up(node, older, BYE_IDENTITY_TAKEN, "a later start of the same node is here");
        return older != peer;
    }
    /* Both sides called each other: both keep the call of the smaller id. Who called twice has lost
     * the first connection, even if we have not noticed: the newer one stays. */
    const bool own_is_smaller = memcmp(node->own->id, peer->id, ID_BYTES) < 0;
    const bool crossed = peer->dialled != other->dialled;
    struct peer *extra = crossed && peer->dialled != own_is_smaller ? peer : other;
    node_hang_up(node, extra, BYE_DUPLICATE, "");
    return extra != peer;
}

static bool is_self(struct node *node, struct peer *peer, uint64_t incarnation)
{
    if (memcmp(peer->id, node->own->id, ID_BYTES) != 0)
        return false;
    if (incarnation == node->options.incarnation) {
        dial_on_self(node, peer);
        node_hang_up(node, peer, BYE_SELF, "");
        return true;
    }
    (void)node_note(node, peer, NOTE_IDENTITY_TAKEN, LEVEL_ERROR,
                    "is another running node with our identity: give each machine its own key "
                    "file (hearsay keygen)");
    node_hang_up(node, peer, BYE_IDENTITY_TAKEN, "");
    return true;
}

/* How others reach us, as far as they can tell: kept if it is better than what we knew. */
static void learn_observed(struct node *node, const struct bytes *host)
{
    struct address seen = {.port = node->options.listen_port};
    if (host->count == 0 || host->count >= HOST_BYTES || seen.port == 0)
        return;
    memcpy(seen.host, host->at, host->count);
    if (address_network(&seen) == 0)
        return;
    if (!node->observed.host[0] ||
        (address_is_loopback(&node->observed) && !address_is_loopback(&seen)))
        node->observed = seen;
}

static void on_hello(struct node *node, struct peer *peer, const struct message *hello)
{
    struct record record;
    if (peer->state != PEER_MEETING || hello->bulk.count != RECORD_BYTES ||
        record_parse(hello->bulk.at, &record) != OK || hello->port > UINT16_MAX ||
        memcmp(record.id, peer->id, ID_BYTES) != 0 || record.incarnation != hello->incarnation) {
        node_hang_up(node, peer, BYE_BROKEN, "introduced itself wrongly");
        return;
    }
    if (is_self(node, peer, hello->incarnation))
        return;
    peer->incarnation = hello->incarnation;
    dial_on_open(node, peer);
    if (!settle_duplicate(node, peer))
        return;
    peer_move(peer, PEER_OPEN, node->now_ns);
    node->company_ns = node->now_ns;
    learn_observed(node, &hello->text);
    if (!learn_record(node, peer, hello->bulk.at))
        return;
    (void)node_note(node, peer, NOTE_NEIGHBOUR, LEVEL_INFO,
                    peer->dialled ? "is a neighbour (we called)" : "is a neighbour (it called)");
    node_refresh_record(node);
    talk_members(node, peer);
    talk_version(node, peer);
}

static void on_members(struct node *node, struct peer *peer, const struct bytes *records)
{
    if (records->count % RECORD_BYTES != 0) {
        node_hang_up(node, peer, BYE_BROKEN, "sent member records of impossible size");
        return;
    }
    for (size_t at = 0; at < records->count; at += RECORD_BYTES)
        if (!learn_record(node, peer, records->at + at))
            return;
}

/* Who leaves waits until all its neighbours have shown that they hold what it told, and we send our
 * version to one neighbour a second: answer. Who leaves too sends it to everyone anyway. */
static void on_version(struct node *node, struct peer *peer, const struct message *version)
{
    spread_on_version(node, peer, version->digest, version->bulk.at, version->bulk.count);
    const struct member *member = members_find(&node->members, peer->id);
    if (peer->state == PEER_OPEN && node->stage == STAGE_RUNNING && member &&
        member->record.stage != STAGE_RUNNING)
        talk_version(node, peer);
}

static void on_pong(struct node *node, struct peer *peer, uint64_t token)
{
    if (token == peer->pinged_ns && node->now_ns >= token)
        peer->rtt_ns = node->now_ns - token;
}

static void on_bye(struct node *node, struct peer *peer, const struct message *bye)
{
    if (bye->reason == BYE_SELF)
        dial_on_self(node, peer);
    if (bye->reason == BYE_IDENTITY_TAKEN && notes_allow(&node->notes, node->now_ns))
        (void)node_note(node, peer, NOTE_IDENTITY_TAKEN, LEVEL_ERROR,
                        "knows another running node with our identity: give each machine its own "
                        "key file (hearsay keygen)");
    int count = (int)(bye->text.count < 64 ? bye->text.count : 64);
    char text[65] = "";
    for (int i = 0; i < count; i++)
        text[i] = bye->text.at[i] >= ' ' && bye->text.at[i] < 127 ? (char)bye->text.at[i] : '?';
    (void)snprintf(peer->why, sizeof peer->why, "%s%s",
                   bye->reason == BYE_LEAVING ? "left"
                   : text[0]                  ? "it said: "
                                              : "",
                   bye->reason == BYE_LEAVING ? "" : text);
    peer->retry = node_retry_after(node, peer, bye->reason);
    peer->was_open = peer->state == PEER_OPEN;
    peer->quiet = bye->reason == BYE_SELF || bye->reason == BYE_DUPLICATE;
    peer_move(peer, PEER_CLOSING, node->now_ns);
}

void talk_hear(struct node *node, struct peer *peer, const uint8_t *bytes, size_t count)
{
    struct message message;
    if (message_decode(node->reader, bytes, count, &message) != OK) {
        node_hang_up(node, peer, BYE_BROKEN, "sent a message that is not valid");
        return;
    }
    if (peer->state == PEER_MEETING && message.kind != HELLO && message.kind != BYE) {
        node_hang_up(node, peer, BYE_BROKEN, "did not introduce itself first");
        return;
    }
    switch (message.kind) {
    case HELLO:
        on_hello(node, peer, &message);
        break;
    case MEMBERS:
        on_members(node, peer, &message.bulk);
        break;
    case PING:
        (void)peer_say(peer, &(struct message){.kind = PONG, .token = message.token});
        break;
    case PONG:
        on_pong(node, peer, message.token);
        break;
    case RUMOR:
        spread_on_rumor(node, peer, message.bulk.at, message.bulk.count);
        break;
    case PRUNE:
        spread_on_prune(node, peer, message.tag);
        break;
    case VERSION:
        on_version(node, peer, &message);
        break;
    case WANT:
        spread_on_want(node, peer, message.tag, message.seq);
        break;
    case GONE:
        spread_on_gone(node, peer, message.tag, message.seq);
        break;
    case BYE:
        on_bye(node, peer, &message);
        break;
    case MESSAGE_KINDS:
        break;
    }
}
