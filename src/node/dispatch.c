#include "node/dispatch.h"

#include <stdio.h>
#include <string.h>

#include "node/broadcast/barred.h"
#include "node/broadcast/broadcast.h"
#include "node/broadcast/equivocation.h"
#include "node/broadcast/identity_clash.h"
#include "node/broadcast/rumor_step.h"
#include "node/connection/settings.h"
#include "node/connection/spoken.h"
#include "node/discovery/discovery.h"
#include "node/governance/admit.h"
#include "node/governance/expulsion.h"
#include "node/governance/quarantine.h"
#include "node/governance/suspension.h"
#include "node/inference.h"
#include "node/join.h"
#include "node/lifecycle/lifecycle.h"
#include "node/membership/failure_detector.h"
#include "node/membership/membership.h"
#include "node/orders/admitted.h"
#include "node/orders/key_rotation.h"
#include "node/orders/orders.h"
#include "node/orders/proofs.h"
#include "node/orders/quorum_votes.h"
#include "node/orders/verdict.h"
#include "node/rate/rate.h"
#include "node/transfer/transfer.h"

/* Time without a rumor after which no missing rumor is expected any more. */
#define QUIET_NS         (2 * SECOND_NS)
#define RECORDS_IN_A_BYE 16

/* The following functions meet a new peer. */

/* Returns true if a peer that has dialled this node must be refused because this node has enough
 * neighbours. In a large swarm, twice DEGREE are enough, or more if few members have an address to
 * dial. A peer with another open conversation is not refused. A training member that was unknown or
 * dead here (is_lost) is refused only if few slots are free, because a whole swarm may be behind
 * it. */
static bool is_full(const struct node *node, const struct peer *peer, bool is_lost)
{
    CHECK(peer->state == PEER_MEETING);
    const uint32_t most = connection_neighbours_most(node), live = membership_live(node);
    const uint32_t reachable = membership_reachable(node) ? membership_reachable(node) : 1;
    const uint64_t enough = is_lost ? most : 2ull * DEGREE * live / reachable;
    return !peer->dialled && live > MESH_MAX &&
           connection_neighbours(node) >= u64_min(enough, most) &&
           !connection_by_id(node, peer->id, peer);
}

static void turn_away(struct node *node, const struct peer *peer)
{
    static const char why[] = "this node has enough neighbours; call another member";
    const struct members *members = membership_members(node);
    CHECK(members->count > 1);
    const uint32_t others = members->count - 1;
    uint32_t from = 1;
    if (others > RECORDS_IN_A_BYE)
        from += rng_below(&node->rng, others - RECORDS_IN_A_BYE + 1);
    const size_t bytes =
        members_encode(members, node->now_ns, &from, RECORDS_IN_A_BYE, node->scratch);
    const struct message bye = {.kind = BYE,
                                .reason = BYE_FULL,
                                .text = {(const uint8_t *)why, sizeof why - 1},
                                .bulk = {node->scratch, bytes}};
    CHECK(connection_say(node, peer, &bye));
    connection_close(node, peer, BYE_FULL, why);
}

static void say_hello(struct node *node, const struct peer *peer)
{
    const struct message hello = {
        .kind = HELLO,
        .incarnation = broadcast_own(node)->incarnation,
        .port = node->options.listen_port,
        .text = {(const uint8_t *)peer->address.host, strlen(peer->address.host)},
        .bulk = {membership_at(node, 0)->bytes, RECORD_BYTES},
    };
    CHECK(connection_say(node, peer, &hello));
}

void dispatch_met(struct node *node, const struct peer *peer)
{
    CHECK(peer->state == PEER_MEETING);
    dialer_on_met(node, peer);
    if (admit_meet(node, peer) && peer->dialled)
        say_hello(node, peer);
}

/* Sends BYE_IDENTITY_TAKEN and closes the conversation. record: signed record of the other process
 * with this identity, as proof; NULL = none. */
static void refuse_identity(struct node *node, const struct peer *peer, const uint8_t *record,
                            const char *why)
{
    const struct message bye = {.kind = BYE,
                                .reason = BYE_IDENTITY_TAKEN,
                                .text = {(const uint8_t *)why, strlen(why)},
                                .bulk = {record, record ? RECORD_BYTES : 0}};
    if (peer_can_say(peer))
        (void)connection_say(node, peer, &bye);
    connection_close(node, peer, BYE_IDENTITY_TAKEN, why);
}

/* Decides between two conversations with one identity. If the incarnations differ, the later one
 * stays. Returns false if `peer` was closed. */
static bool settle_duplicate(struct node *node, const struct peer *peer)
{
    const struct peer *other = connection_by_id(node, peer->id, peer);
    if (!other)
        return true;
    if (peer->incarnation != other->incarnation) {
        const struct peer *older = peer->incarnation < other->incarnation ? peer : other;
        const struct member *member = membership_find(node, peer->id);
        refuse_identity(node, older, member ? member->bytes : NULL,
                        "a later start of the same node is connected");
        return older != peer;
    }
    /* If both sides have dialled, both keep the connection that the side with the smaller id has
     * dialled. If one side has dialled twice, it has lost its first connection, so the newer one
     * stays. */
    const bool own_is_smaller = memcmp(broadcast_own(node)->id, peer->id, ID_BYTES) < 0;
    const bool crossed = peer->dialled != other->dialled;
    const struct peer *extra = crossed && peer->dialled != own_is_smaller ? peer : other;
    connection_hang_up(node, extra, BYE_DUPLICATE, "");
    return extra != peer;
}

static bool is_self(struct node *node, const struct peer *peer, const struct message *hello)
{
    const uint64_t incarnation = hello->incarnation;
    const struct origin *own = broadcast_own(node);
    if (memcmp(peer->id, own->id, ID_BYTES) != 0)
        return false;
    if (incarnation >= node->options.incarnation && incarnation <= own->incarnation) {
        dialer_on_self(node, peer);
        connection_hang_up(node, peer, BYE_SELF, "");
        return true;
    }
    identity_clash_on_record(node, peer, &hello->bulk);
    refuse_identity(node, peer, membership_at(node, 0)->bytes,
                    "another running node has the same identity");
    return true;
}

static bool is_introduction(const struct peer *peer, const struct message *hello,
                            struct record *record)
{
    return peer->state == PEER_MEETING && hello->bulk.count == RECORD_BYTES &&
           record_parse(hello->bulk.at, record) == OK && hello->port <= UINT16_MAX &&
           memcmp(record->id, peer->id, ID_BYTES) == 0 && record->incarnation == hello->incarnation;
}

static void open_neighbour(struct node *node, const struct peer *peer)
{
    dialer_on_open(node, peer);
    connection_open(node, peer);
    join_on_company(node);
    suspension_on_open(node, peer);
    CHECK(peer->state == PEER_OPEN);
}

/* If the peer is expelled or not admitted, ends the conversation and returns true. Before that,
 * sends it the orders, proofs or votes against it, so that it can check the reason. */
static bool turn_out(struct node *node, const struct peer *peer)
{
    const char *reason = verdict_reason(node, peer->id);
    const bool is_barred = !admitted_may_be(node, peer->id);
    if (!reason && !is_barred)
        return false;
    if (!peer->dialled)
        say_hello(node, peer);
    if (orders_expelling(node, peer->id) || is_barred)
        orders_say(node, peer, 0);
    proofs_say_one(node, peer, peer->id);
    votes_say_against(node, peer, peer->id);
    if (reason)
        connection_hang_up(node, peer, BYE_EXPELLED, reason);
    else
        connection_hang_up(node, peer, BYE_NOT_ADMITTED, admitted_refusal(node));
    return true;
}

/* A peer that refused the last conversation for a lasting reason most likely refuses this one too,
 * so the note about its beginning is for debugging. */
static void note_neighbour(struct node *node, const struct peer *peer)
{
    const bool was_refused = dialer_dialed(node, peer).certainty == NOTE_LASTING;
    char text[sizeof((struct note *)NULL)->text];
    (void)snprintf(text, sizeof text, "is a neighbour (%s called)%s", peer->dialled ? "we" : "it",
                   spoken_remark(node, peer));
    (void)connection_note(node, peer, NOTE_NEIGHBOUR, was_refused ? LEVEL_DEBUG : LEVEL_INFO, text);
}

/* Sends the first messages to a new neighbour. */
static void welcome(struct node *node, const struct peer *peer)
{
    note_neighbour(node, peer);
    member_gossip_show_later(node, peer);
    connection_ping(node, peer);
    pacer_say_ack(node, peer);
    member_gossip_renew(node);
    orders_show(node, peer); /* orders come before our version, which depends on them */
    key_rotation_ask(node, peer);
    proofs_say(node, peer);
    votes_say(node, peer);
    settings_show(node, peer);
    admitted_say(node, peer);
    anti_entropy_show(node, peer, true);
    if (!base_is_whole(node))
        broadcast_hold_back(node, peer);
}

static void on_hello(struct node *node, const struct peer *peer, const struct message *hello)
{
    struct record record;
    if (!is_introduction(peer, hello, &record)) {
        connection_hang_up(node, peer, BYE_BROKEN, "sent an invalid HELLO");
        return;
    }
    if (is_self(node, peer, hello) || turn_out(node, peer))
        return;
    connection_set_incarnation(node, peer, hello->incarnation);
    const struct member *known = membership_find(node, peer->id);
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
    open_neighbour(node, peer);
    failure_detector_on_return(node, peer->id, peer->incarnation);
    member_gossip_on_observed(node, &hello->text);
    welcome(node, peer);
}

/* The following functions compare versions with neighbours. */

static void ask_for_all(struct node *node, const struct peer *peer)
{
    if (!fetch_is_asking(node))
        anti_entropy_ask_for_all(node, peer);
}

/* Handles the version of a neighbour on the other side of a partition. No rumors pass until one
 * side has taken over the other's base. */
static void on_partitioned(struct node *node, const struct peer *from)
{
    CHECK(broadcast_is_partitioned(node, from));
    if (!partition_peer_yields(node, from))
        return;
    broadcast_set_knows(node, from, 0); /* the neighbour's rumors do not count for joining */
    join_on_knowledge(node, from, 0);
}

/* Compares a neighbour's version, or a slice of it, with ours, and requests the rumors that we
 * lack. */
static void on_slice(struct node *node, const struct peer *from, const struct message *version)
{
    const struct versions *ours = broadcast_versions(node);
    CHECK(broadcast_is_together(node, from));
    const uint64_t missing = anti_entropy_missing(node, from, version);
    if (fetch_is_ahead(node, from) && !version->whole)
        ask_for_all(node, from);
    if (fetch_on_missing(node, from, version, missing) && !joining_has_joined(node))
        fetch_consider(node); /* do so at once, since a joining node has nothing else to do */
    /* A base that is being requested contains the missing rumors. */
    if (joining_has_joined(node) || !fetch_is_asking(node))
        repair_slice(node, from, version);
    if (version->hash == ours->hash)
        anti_entropy_on_same(node, from, version);
    else if (missing == 0 && version->rumors > ours->rumors &&
             node->now_ns - broadcast_advanced_ns(node) >= QUIET_NS)
        ask_for_all(node, from);
    join_on_knowledge(node, from, version->base ? missing : 0);
    lost_rumors_on_version(node, from, version);
    if (!digest_votes_on_version(node, from, version))
        anti_entropy_check_digest(node, from, version);
}

/* Returns false if all members have finished: then the base must not change. */
static bool takes_rumors(const struct node *node)
{
    return finishing_state(node) != FINISHING_DONE;
}

static void compare(struct node *node, const struct peer *from, const struct message *version)
{
    CHECK(from->state == PEER_OPEN);
    if (!anti_entropy_on_version(node, from, version))
        return;
    if (!takes_rumors(node)) {
        /* Shows whether the neighbour lacks rumors that this node published. */
        (void)anti_entropy_missing(node, from, version);
        return;
    }
    const bool was_partitioned = broadcast_is_partitioned(node, from);
    if (version->whole)
        partition_judge(node, from, version);
    if (was_partitioned && !broadcast_is_partitioned(node, from))
        /* since the partition, the neighbour has got no rumors from us */
        anti_entropy_show(node, from, true);
    anti_entropy_on_compared(node, from);
    suspension_on_version(node, from, version);
    member_gossip_compare(node, from, version->members);
    if (broadcast_is_partitioned(node, from))
        on_partitioned(node, from);
    else
        on_slice(node, from, version);
}

static void on_rumor(struct node *node, const struct peer *from, const struct message *message)
{
    struct rumor_step step;
    if (takes_rumors(node) &&
        broadcast_on_rumor(node, from, message->bulk.at, message->bulk.count, &step))
        quarantine_on_rumor(node, &step);
}

/* Compares a neighbour's version with ours. A neighbour whose training has ended also gets our
 * version at once, because it waits until all its neighbours have shown that they have its rumors.
 * Our periodic version goes to only one neighbour a second. After the end of our own training, it
 * goes to all neighbours anyway. */
static void on_version(struct node *node, const struct peer *peer, const struct message *said)
{
    const struct message version = barred_take_out(node, peer, said);
    compare(node, peer, &version);
    const struct member *member = membership_find(node, peer->id);
    if (peer->state == PEER_OPEN && leaving_stage(node) == STAGE_RUNNING && member &&
        member->record.stage != STAGE_RUNNING)
        anti_entropy_show(node, peer, false);
}

static void on_history(struct node *node, const struct peer *peer, const struct message *history)
{
    suspension_on_history(node, peer, history);
    if (!takeover_on_history(node, peer, history))
        return;
    /* The new record tells the neighbours our new incarnation at once. */
    member_gossip_renew(node);
    member_gossip_flush(node);
    anti_entropy_show_all(node);
}

static void on_want(struct node *node, const struct peer *peer, const struct message *want)
{
    if (want->tag == TAG_ALL)
        anti_entropy_show(node, peer, true);
    else
        push_backlog_on_want(node, peer, want->tag, want->seq);
}

static void on_gone(struct node *node, const struct peer *peer, const struct message *gone)
{
    if (repair_on_gone(node, peer, gone->tag, gone->seq))
        fetch_set_ahead(node, peer);
}

/* The following functions handle BYE. */

/* Copies a peer's reason to `out`, at most `room` - 1 characters. The peer is not trusted, so
 * characters that cannot be printed become '?'. */
static void put_reason(char *out, size_t room, const struct message *bye)
{
    CHECK(room > 0);
    const size_t most = size_min(room - 1, bye->text.count);
    for (size_t i = 0; i < most; i++)
        out[i] = bye->text.at[i] >= ' ' && bye->text.at[i] < 127 ? (char)bye->text.at[i] : '?';
    out[most] = '\0';
}

static void on_bye(struct node *node, const struct peer *peer, const struct message *bye)
{
    if (bye->reason == BYE_SELF)
        dialer_on_self(node, peer);
    if (bye->reason == BYE_IDENTITY_TAKEN)
        identity_clash_on_record(node, peer, &bye->bulk);
    if (bye->reason == BYE_NOT_ADMITTED && peer->dialled)
        join_on_turned_away(node);
    if (bye->reason == BYE_FULL) {
        join_on_company(node); /* the refusal shows that the peer belongs to a swarm */
        if (!member_gossip_on_records(node, peer, &bye->bulk, false))
            return;
    }
    char text[65], why[sizeof peer->why];
    put_reason(text, sizeof text, bye);
    if (bye->reason == BYE_LEAVING)
        (void)snprintf(why, sizeof why, "left");
    else if (text[0])
        (void)snprintf(
            why, sizeof why, "it said: %s%s", text,
            bye->reason == BYE_NOT_ADMITTED ? "; have the id of this node listed or admitted" : "");
    else
        (void)snprintf(why, sizeof why, "it sent BYE with reason %u", (unsigned)bye->reason);
    connection_on_bye(node, peer, bye->reason, why);
}

/* Handles a SWARM_KEY message and wipes it, because the key may stay only in the arena for
 * secrets. */
static void on_swarm_key(struct node *node, const struct peer *peer, const struct message *message)
{
    key_rotation_on_message(node, peer, message->number, &message->bulk);
    connection_wipe_taken(node, peer);
}

static void on_member_list(struct node *node, const struct peer *peer, const struct message *list)
{
    CHECK(peer->state == PEER_OPEN);
    member_gossip_on_list(node);
    (void)member_gossip_on_records(node, peer, &list->bulk, false);
}

/* Handles messages about admission, keys, expulsion and settings. Refuses inference messages. */
static void on_rule(struct node *node, const struct peer *peer, const struct message *message)
{
    CHECK(peer->state == PEER_OPEN && message->kind < MESSAGE_KINDS);
    if (message->kind == ORDERS || message->kind == PROOF)
        expulsion_on_message(node, peer, message);
    else if (message->kind == VOTES)
        quarantine_on_votes(node, peer, message);
    else if (message->kind == LISTED)
        admit_on_listed(node, peer, message->hash);
    else if (message->kind == SWARM_KEY)
        on_swarm_key(node, peer, message);
    else if (message->kind == SETTINGS)
        settings_on_message(node, peer, &message->text);
    else
        connection_hang_up(node, peer, BYE_BROKEN, "sent an inference message as a neighbour");
}

/* Returns true if a message of this kind may come before HELLO. An inference client sends INFERENCE
 * and ACK, and never HELLO. A peer that dials this node and sends SETTINGS gets ours, unless it is
 * refused, and may compare them without joining. */
static bool is_early(const struct peer *peer, enum message_kind kind)
{
    CHECK(peer->state == PEER_MEETING);
    return kind == BYE || kind == INFERENCE || kind == (peer->asks ? ACK : HELLO) ||
           (kind == SETTINGS && !peer->dialled && !peer->asks);
}

static void dispatch(struct node *node, const struct peer *peer, const struct message *message)
{
    CHECK(peer->state == PEER_OPEN || is_early(peer, message->kind));
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
        on_member_list(node, peer, message);
        break;
    case PING:
        (void)connection_say(node, peer, &(struct message){.kind = PONG, .token = message->token});
        break;
    case PONG:
        connection_on_pong(node, peer, message->token);
        break;
    case ACK:
        pacer_on_ack(node, peer, message);
        break;
    case RUMOR:
        on_rumor(node, peer, message);
        break;
    case PRUNE:
        broadcast_on_prune(node, peer, message->tag);
        break;
    case VERSION:
        on_version(node, peer, message);
        break;
    case WANT:
        on_want(node, peer, message);
        break;
    case GONE:
        on_gone(node, peer, message);
        break;
    case TAKE:
        serve_on_take(node, peer);
        break;
    case HISTORY:
        on_history(node, peer, message);
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
    case HEADS:
        equivocation_on_heads(node, peer, message->tag, message->bulk.at, message->bulk.count);
        break;
    case ORDERS:
    case PROOF:
    case VOTES:
    case LISTED:
    case SWARM_KEY:
    case SETTINGS:
    case INFERENCE:
    case REPLY:
    case MESSAGE_KINDS:
        on_rule(node, peer, message);
    }
}

void dispatch_message(struct node *node, const struct peer *peer, const uint8_t *bytes,
                      size_t count)
{
    struct message message;
    CHECK(peer->state == PEER_MEETING || peer->state == PEER_OPEN);
    if (connection_decode(node, bytes, count, &message) != OK)
        connection_hang_up(node, peer, BYE_BROKEN, "sent an invalid message");
    else if (!peer_knows(peer, message.kind))
        connection_hang_up(node, peer, BYE_BROKEN, "sent a message of a newer protocol");
    else if (peer->state == PEER_MEETING && !is_early(peer, message.kind))
        connection_hang_up(node, peer, BYE_BROKEN, "sent a message before HELLO");
    else if (!work_admits(node, peer, &message))
        return;
    else if (peer->state == PEER_MEETING && message.kind == INFERENCE)
        inference_on_request(node, peer, &message);
    else if (peer->state == PEER_OPEN || message.kind != SETTINGS)
        dispatch(node, peer, &message);
    else if (!turn_out(node, peer))
        settings_show(node, peer);
    expulsion_on_equivocation(node);
}
