/* What is said, and what is done when it is heard: one function per message. */
#include <stdio.h>
#include <string.h>

#include "node/inside.h"

/* In a large swarm a node that has neighbours enough says at once whom else to call: twice as many
 * as a node looks for, and more where few can be called. Who is a neighbour already and comes back
 * over another connection is let in. So is, while there is any room, a member that has been
 * training somewhere without our knowing that it lives: there may be a whole swarm behind it. */
static bool is_full(const struct node *node, const struct peer *peer, bool is_lost)
{
    const uint32_t most = node->options.peers_max / 4 * 3;
    const uint32_t reachable = node->reachable ? node->reachable : 1;
    const uint64_t enough = is_lost ? most : 2ull * DEGREE * node->live / reachable;
    return !peer->dialled && node->live > MESH_MAX &&
           node_neighbours(node) >= (enough < most ? enough : most) &&
           !node_peer_by_id(node, peer->id, peer);
}

static void turn_away(struct node *node, struct peer *peer)
{
    static const char why[] = "has neighbours enough; others are to be called";
    const uint32_t others = node->members.count - 1;
    uint32_t from = 1;
    if (others > RECORDS_AT_ONCE)
        from += rng_below(&node->rng, others - RECORDS_AT_ONCE + 1);
    const size_t bytes =
        members_encode(&node->members, node->now_ns, &from, RECORDS_AT_ONCE, node->scratch);
    const struct message bye = {.kind = BYE,
                                .reason = BYE_FULL,
                                .text = {(const uint8_t *)why, sizeof why - 1},
                                .bulk = {node->scratch, bytes}};
    CHECK(node_say(node, peer, &bye));
    node_close(node, peer, BYE_FULL, why);
}

static void say_hello(struct node *node, struct peer *peer)
{
    const struct message hello = {
        .kind = HELLO,
        .incarnation = node->options.incarnation,
        .port = node->options.listen_port,
        .text = {(const uint8_t *)peer->address.host, strlen(peer->address.host)},
        .bulk = {node->members.members[0].bytes, RECORD_BYTES},
    };
    CHECK(node_say(node, peer, &hello));
}

/* The session stands. Who called introduces itself first (with its proof, so that no time is
 * lost): so who is called knows, before it answers, whether there is room. */
void dispatch_meet(struct node *node, struct peer *peer)
{
    dialer_on_met(node, peer);
    if (peer->dialled)
        say_hello(node, peer);
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
    if (incarnation >= node->first_incarnation && incarnation <= node->options.incarnation) {
        dialer_on_self(node, peer);
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

/* It is back, and was not dead when it was given up. */
static void learn_patience(struct node *node, const struct peer *peer)
{
    struct member *member = members_find(&node->members, peer->id);
    if (!member || !member->given_up_ns || member->record.incarnation != peer->incarnation)
        return;
    const uint64_t before_ns = member->patience_ns ? member->patience_ns : node->options.silence_ns;
    member->patience_ns =
        2 * before_ns < NODE_PATIENCE_MAX_NS ? 2 * before_ns : NODE_PATIENCE_MAX_NS;
    member->given_up_ns = 0;
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
    const struct member *known = members_find(&node->members, peer->id);
    const bool is_lost = record.trains && !(known && known->known_live);
    if (!member_gossip_on_records(node, peer, &hello->bulk, true))
        return;
    if (is_full(node, peer, is_lost)) {
        turn_away(node, peer);
        return;
    }
    if (!settle_duplicate(node, peer))
        return;
    if (!peer->dialled)
        say_hello(node, peer);
    dialer_on_open(node, peer);
    node_open(node, peer);
    learn_patience(node, peer);
    learn_observed(node, &hello->text);
    (void)node_note(node, peer, NOTE_NEIGHBOUR, LEVEL_INFO,
                    peer->dialled ? "is a neighbour (we called)" : "is a neighbour (it called)");
    if (node_say(node, peer, &(struct message){.kind = PING, .token = node->now_ns}))
        peer->pinged_ns = node->now_ns;
    pacer_say_ack(node, peer);
    member_gossip_renew(node);
    anti_entropy_show(node, peer, true);
    if (node_is_catching_up(node))
        broadcast_hold_back(node, peer);
}

/* Who leaves waits until all its neighbours have shown that they hold what it told, and we send our
 * version to one neighbour a second: answer. Who leaves too sends it to everyone anyway. */
static void on_version(struct node *node, struct peer *peer, const struct message *version)
{
    anti_entropy_on_version(node, peer, version);
    const struct member *member = members_find(&node->members, peer->id);
    if (peer->state == PEER_OPEN && node->stage == STAGE_RUNNING && member &&
        member->record.stage != STAGE_RUNNING)
        anti_entropy_show(node, peer, false);
}

/* Our version has become another one: neighbours shall know at once, and who we are now. */
static void on_other_version(struct node *node)
{
    member_gossip_renew(node);
    member_gossip_flush(node);
    anti_entropy_show_all(node);
}

static void on_pong(struct node *node, struct peer *peer, uint64_t token)
{
    if (token == peer->pinged_ns && node->now_ns >= token)
        peer->rtt_ns = node->now_ns - token;
    if (token <= peer->pinged_ns)
        peer->answered_ns = token;
}

static void on_bye(struct node *node, struct peer *peer, const struct message *bye)
{
    if (bye->reason == BYE_SELF)
        dialer_on_self(node, peer);
    if (bye->reason == BYE_IDENTITY_TAKEN && notes_allow(&node->notes, node->now_ns))
        (void)node_note(node, peer, NOTE_IDENTITY_TAKEN, LEVEL_ERROR,
                        "knows another running node with our identity: give each machine its own "
                        "key file (hearsay keygen)");
    if (bye->reason == BYE_FULL) {
        node->company_ns = node->now_ns; /* there is a swarm */
        if (!member_gossip_on_records(node, peer, &bye->bulk, false))
            return;
    }
    int count = (int)(bye->text.count < 64 ? bye->text.count : 64);
    char text[65] = "";
    for (int i = 0; i < count; i++)
        text[i] = bye->text.at[i] >= ' ' && bye->text.at[i] < 127 ? (char)bye->text.at[i] : '?';
    char why[sizeof peer->why];
    (void)snprintf(why, sizeof why, "%s%s",
                   bye->reason == BYE_LEAVING ? "left"
                   : text[0]                  ? "it said: "
                                              : "",
                   bye->reason == BYE_LEAVING ? "" : text);
    node_close(node, peer, bye->reason, why);
}

static void hear(struct node *node, struct peer *peer, const struct message *message)
{
    switch (message->kind) {
    case HELLO:
        on_hello(node, peer, message);
        break;
    case MEMBER_UPDATE:
        (void)member_gossip_on_records(node, peer, &message->bulk, true);
        break;
    case MEMBER_QUERY:
        member_gossip_on_query(node, peer, message->tag);
        break;
    case MEMBER_LIST:
        node->listed_ns = node->now_ns;
        (void)member_gossip_on_records(node, peer, &message->bulk, false);
        break;
    case PING:
        (void)node_say(node, peer, &(struct message){.kind = PONG, .token = message->token});
        break;
    case PONG:
        on_pong(node, peer, message->token);
        break;
    case ACK:
        pacer_on_ack(node, peer, message);
        break;
    case RUMOR:
        broadcast_on_rumor(node, peer, message->bulk.at, message->bulk.count);
        break;
    case PRUNE:
        broadcast_on_prune(node, peer, message->tag);
        break;
    case VERSION:
        on_version(node, peer, message);
        break;
    case WANT:
        if (message->tag == TAG_ALL)
            anti_entropy_show(node, peer, true);
        else
            push_backlog_on_want(node, peer, message->tag, message->seq);
        break;
    case GONE:
        repair_on_gone(node, peer, message->tag, message->seq);
        break;
    case TAKE:
        serve_on_take(node, peer);
        break;
    case HISTORY:
        if (takeover_on_history(node, peer, message))
            on_other_version(node);
        break;
    case FETCH:
        serve_on_fetch(node, peer, message->block, message->count);
        break;
    case BLOCK:
        fetch_on_block(node, peer, message);
        break;
    case BYE:
        on_bye(node, peer, message);
        break;
    case MESSAGE_KINDS:
        break;
    }
}

void dispatch_message(struct node *node, struct peer *peer, const uint8_t *bytes, size_t count)
{
    struct message message;
    if (message_decode(node->reader, bytes, count, &message) != OK)
        node_hang_up(node, peer, BYE_BROKEN, "sent a message that is not valid");
    else if (peer->state == PEER_MEETING && message.kind != HELLO && message.kind != BYE)
        node_hang_up(node, peer, BYE_BROKEN, "did not introduce itself first");
    else
        hear(node, peer, &message);
}
