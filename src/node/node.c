/* Entry points of the node: events in, actions out. */
#include "node/node.h"

#include <stdio.h>
#include <string.h>

#include "frame/bytes.h"
#include "node/broadcast/broadcast.h"
#include "node/broadcast/identity_clash.h"
#include "node/broadcast/progress.h"
#include "node/broadcast/replace_version.h"
#include "node/broadcast/retract.h"
#include "node/connection/admission_control.h"
#include "node/discovery/discovery.h"
#include "node/dispatch.h"
#include "node/finish.h"
#include "node/first_weights.h"
#include "node/governance/byzantine.h"
#include "node/governance/expulsion.h"
#include "node/governance/own_labels.h"
#include "node/governance/quarantine.h"
#include "node/governance/suspension.h"
#include "node/inference.h"
#include "node/inspect.h"
#include "node/join.h"
#include "node/labels_api.h"
#include "node/leave.h"
#include "node/lifecycle/lifecycle.h"
#include "node/membership/failure_detector.h"
#include "node/membership/membership.h"
#include "node/membership/shares.h"
#include "node/orders/admitted.h"
#include "node/orders/key_rotation.h"
#include "node/orders/orders.h"
#include "node/orders/proofs.h"
#include "node/orders/quorum_votes.h"
#include "node/rate/rate.h"
#include "node/timers.h"
#include "node/transfer/transfer.h"

/* Time after a request for missing rumors in which the node counts as catching up. */
#define CATCH_UP_NS   (5 * SECOND_NS)
#define NOTES_WAITING 256

size_t node_arena_bytes(const struct node_options *options)
{
    return sizeof(struct node) + 4096 + sizeof(struct entropy) + lifecycle_arena_bytes() +
           connections_arena_bytes(options) + membership_arena_bytes(options) +
           rate_arena_bytes(options) + broadcast_arena_bytes(options) +
           discovery_arena_bytes(options) + transfer_arena_bytes(options) + join_arena_bytes() +
           leave_arena_bytes() + finish_arena_bytes() + identity_clash_arena_bytes() +
           orders_arena_bytes(options) + admitted_arena_bytes() + proofs_arena_bytes() +
           key_rotation_arena_bytes() + expulsion_arena_bytes() + suspension_arena_bytes() +
           votes_arena_bytes(options) + byzantine_arena_bytes(options) +
           quarantine_arena_bytes(options) + own_labels_arena_bytes() +
           inference_arena_bytes(options) + timers_arena_bytes() +
           NOTES_WAITING * sizeof(struct note) + FRAME_MAX + 4 * 64;
}

size_t node_keys_bytes(uint32_t peers_max)
{
    return sizeof(struct entropy) + connections_keys_bytes(peers_max) + key_rotation_arena_bytes() +
           64;
}

static void init_shared(struct node *node, struct arena *arena, const struct node_options *options,
                        uint64_t now_ns)
{
    node->options = *options;
    node->now_ns = node->born_ns = now_ns;
    node->keys = options->keys.memory ? options->keys.memory : arena;
    node->entropy = arena_alloc(node->keys, 1, sizeof *node->entropy);
    entropy_from_seed(node->entropy, options->keys.entropy);
    node->seed = options->seed;
    if (node->seed == 0)
        entropy_bytes(node->entropy, &node->seed, sizeof node->seed);
    node->rng = rng_new(node->seed, bytes_get(options->identity->id, 8));
    node->scratch = arena_alloc(arena, FRAME_MAX, 1);
    notes_init(&node->notes, arena, NOTES_WAITING, options->limits.notes_per_s);
}

struct node *node_new(struct arena *arena, const struct node_options *options, uint64_t now_ns)
{
    CHECK(options->identity && options->swarm_key && options->keys.entropy);
    CHECK(options->parameters > 0);
    CHECK(options->seeds_count <= NODE_SEEDS_MAX);
    struct node *node = arena_alloc(arena, 1, sizeof *node);
    init_shared(node, arena, options, now_ns);
    node->lifecycle = lifecycle_new(arena, options);
    node->connections = connections_new(arena, node);
    node->orders = orders_new(arena, node);
    node->proofs = proofs_new(arena, node);
    node->votes = votes_new(arena, node);
    node->admitted = admitted_new(arena);
    node->key_rotation = key_rotation_new(node);
    node->membership = membership_new(arena, node);
    node->rate = rate_new(arena, node);
    node->broadcast = broadcast_new(arena, node);
    node->discovery = discovery_new(arena, node);
    node->transfer = transfer_new(arena, node);
    node->join = join_new(arena);
    node->leave = leave_new(arena);
    node->finish = finish_new(arena);
    node->identity_clash = identity_clash_new(arena);
    node->expulsion = expulsion_new(arena);
    node->suspension = suspension_new(arena);
    node->byzantine = byzantine_new(arena, options);
    node->quarantine = quarantine_new(arena, options);
    node->own_labels = own_labels_new(arena);
    node->inference = inference_new(arena, options);
    node->timers = timers_new(arena, node);
    member_gossip_renew(node);
    publish_schedule_renew(node);
    for (uint32_t i = 0; i < options->seeds_count; i++)
        dialer_add(node, &options->seeds[i], NULL, true);
    expulsion_begin(node);
    first_weights_show(node);
    return node;
}

void node_free(struct node *node)
{
    connections_free(node);
    key_rotation_free(node);
    secret_wipe(node->entropy, sizeof *node->entropy);
    secret_wipe(node, sizeof *node);
}

static void begin_event(struct node *node, uint64_t now_ns)
{
    CHECK(now_ns >= node->now_ns);
    node->now_ns = now_ns;
}

/* The following functions are called for events of the network. */

static void note_full(struct node *node, const struct address *from)
{
    if (!notes_allow_once(&node->notes, node->now_ns, NOTE_FULL, from->host, ""))
        return;
    struct note *note = notes_add(&node->notes, node->now_ns, NOTE_FULL, LEVEL_WARNING,
                                  "was refused: limits.peers reached");
    (void)address_text(from, note->where);
}

uint64_t node_on_accept(struct node *node, uint64_t now_ns, const struct address *from)
{
    begin_event(node, now_ns);
    if (leaving_stage(node) == STAGE_LEFT || !admission_control_admits(node, from))
        return 0;
    const uint64_t conn = connection_accept(node, from);
    if (conn)
        rate_on_start(node, connection_find(node, conn));
    else
        note_full(node, from);
    return conn;
}

void node_on_connected(struct node *node, uint64_t now_ns, uint64_t conn)
{
    begin_event(node, now_ns);
    const struct peer *peer = connection_find(node, conn);
    if (peer)
        connection_on_dialled(node, peer, dialer_dialed(node, peer).failures);
}

/* Consumes received bytes until an event happens, and handles it. Returns false if no bytes are
 * left, or the conversation must end. */
static bool take(struct node *node, const struct peer *peer, const uint8_t **bytes, size_t *count)
{
    struct problem problem;
    const size_t before = *count;
    const enum peer_event event = connection_take(node, peer, bytes, count, &problem);
    CHECK(*count <= before);
    CHECK(event != PEER_NOTHING || *count == 0);
    rate_on_received(node, peer, before - *count);
    size_t message_bytes;
    const uint8_t *message;
    switch (event) {
    case PEER_NOTHING:
        pacer_consider_ack(node, peer);
        return false;
    case PEER_MET:
        dispatch_met(node, peer);
        return true;
    case PEER_SAID:
        message = peer_message(peer, &message_bytes);
        dispatch_message(node, peer, message, message_bytes);
        return true;
    case PEER_REFUSED:
        first_weights_on_refused(node, peer, problem.text);
        return false;
    }
    return false;
}

uint64_t node_on_bytes(struct node *node, uint64_t now_ns, uint64_t conn, const uint8_t *bytes,
                       size_t count)
{
    CHECK(bytes || count == 0);
    begin_event(node, now_ns);
    const struct peer *peer = connection_find(node, conn);
    if (!peer)
        return 0;
    /* The handling of these bytes may put a handshake frame into the peer's buffer. */
    connection_set_ready(node, connection_slot(node, peer), true);
    while (count > 0 && take(node, peer, &bytes, &count))
        continue;
    return work_resume_ns(node, peer);
}

void node_on_sent(struct node *node, uint64_t now_ns, uint64_t conn)
{
    begin_event(node, now_ns);
    const struct peer *peer = connection_find(node, conn);
    if (!peer)
        return;
    connection_on_sent(node, peer);
    broadcast_on_sent(node, peer);
}

static bool is_power_of_two(uint32_t n)
{
    return (n & (n - 1)) == 0;
}

/* Returns the level of a note about a failed dial: DEBUG unless the address is a seed whose node
 * has not left. One failed dial of a seed is usual while a swarm starts. A second one, or a reason
 * that is more than a guess, needs a person. */
static enum note_level failure_level(const struct node *node, const struct peer *peer,
                                     const struct dialed *dialed)
{
    const struct member *member = dialed->id ? membership_find(node, dialed->id) : NULL;
    if (!dialed->is_seed || (member && member->record.stage == STAGE_LEFT))
        return LEVEL_DEBUG;
    return dialed->failures > 0 || connection_certainty(peer) > NOTE_GUESSED ? LEVEL_WARNING
                                                                             : LEVEL_INFO;
}

/* Adds a note that says why a conversation has never opened. For a dialled address, adds it if 0,
 * 1, 2, 4, 8, … dials in a row failed before this one, or if the reason is more certain than that
 * of the last conversation. For a peer that dialled this node, adds it at most once per host and
 * reason in NOTES_AGAIN_NS. */
static void note_failed(struct node *node, const struct peer *peer, const char *why)
{
    const struct dialed dialed = dialer_dialed(node, peer);
    const enum note_certainty certainty = connection_certainty(peer);
    struct note *note;
    CHECK(!peer->was_open);
    if (peer->dialled && !is_power_of_two(dialed.failures) && certainty <= dialed.certainty)
        return;
    if (!peer->dialled &&
        !notes_allow_once(&node->notes, node->now_ns, NOTE_REFUSED, peer->address.host, why))
        return;
    if (peer->dialled)
        note =
            notes_add(&node->notes, node->now_ns, peer->differs ? NOTE_MISMATCH : NOTE_DIAL_FAILED,
                      failure_level(node, peer, &dialed), "%s: %s (try %u)",
                      certainty == NOTE_GUESSED ? "cannot be reached" : "cannot become a neighbour",
                      why, (unsigned)dialed.failures + 1);
    else
        note = notes_add(&node->notes, node->now_ns, NOTE_REFUSED, LEVEL_WARNING, "was refused: %s",
                         why);
    note->certainty = certainty;
    (void)address_text(&peer->address, note->where);
    if (dialed.id)
        identity_text(note->who, dialed.id);
}

static void note_closed(struct node *node, const struct peer *peer, const char *why)
{
    if (peer->quiet)
        return;
    if (!peer->was_open && peer->state != PEER_OPEN) {
        note_failed(node, peer, why);
        return;
    }
    char text[sizeof peer->why + 32];
    failure_detector_on_lost(node, peer->id);
    (void)snprintf(text, sizeof text, "is no longer a neighbour: %s", why);
    const bool is_repeated = peer->refuses && dialer_dialed(node, peer).certainty == NOTE_LASTING;
    const enum note_level level = peer->retry == RETRY_AT_ONCE || is_repeated ? LEVEL_DEBUG
                                  : peer->refuses                             ? LEVEL_WARNING
                                                                              : LEVEL_INFO;
    connection_note(node, peer, NOTE_NEIGHBOUR_LOST, level, text)->certainty =
        connection_certainty(peer);
}

void node_on_closed(struct node *node, uint64_t now_ns, uint64_t conn, const char *why)
{
    CHECK(why);
    begin_event(node, now_ns);
    const struct peer *peer = connection_find(node, conn);
    if (!peer)
        return;
    const bool returns_at_once = peer->retry == RETRY_AT_ONCE;
    const char *reason = peer->why[0] ? peer->why : why;
    if (!reason[0] && peer->state == PEER_ANSWERED)
        reason = PEER_NO_ANSWER;
    note_closed(node, peer, reason[0] ? reason : "the connection ended without BYE");
    join_on_closed(node, peer);
    dialer_on_closed(node, peer);
    rate_on_end(node, peer);
    broadcast_on_end(node, peer);
    discovery_on_end(node, peer);
    admitted_on_end(node, peer);
    transfer_on_end(node, peer);
    connection_end(node, peer);
    fetch_on_lost(node, conn);
    /* If the conversation starts again at once, the peer is back before another neighbour could
     * send its rumors. */
    if (!returns_at_once)
        repair_on_lost(node, conn);
    CHECK(!connection_find(node, conn));
}

/* The following functions are called for answers of the learner. */

void node_on_step(struct node *node, uint64_t now_ns, uint32_t steps, uint64_t samples)
{
    begin_event(node, now_ns);
    if (publish_schedule_on_step(node, steps, samples)) {
        budget_probe(node, broadcast_eager(node), broadcast_together(node),
                     broadcast_lag_ns(node, now_ns));
        publish_schedule_renew(node);
    }
    publish_schedule_consider(node);
}

void node_on_published(struct node *node, uint64_t now_ns, const struct update *update,
                       uint64_t took_ns)
{
    CHECK(publishing_state(node) == PUBLISHING_OUT);
    CHECK(update->count <= node->options.parameters);
    begin_event(node, now_ns);
    struct rumor_step sum;
    const uint64_t bytes = broadcast_publish(node, update, &sum);
    if (votes_count_here(node)) /* otherwise the whole share is used, whatever the length */
        byzantine_on_published(node, &sum);
    transfer_on_update(node, update);
    if (publish_schedule_end(node, bytes, update, own_labels_on_published(node, took_ns)))
        leave_on_published(node, update);
    expulsion_on_published(node);
    publish_schedule_consider(node);
}

void node_on_label_fit(struct node *node, uint64_t now_ns, const struct label_fit *fit)
{
    begin_event(node, now_ns);
    own_labels_on_fit(node, fit);
}

void node_on_agreement(struct node *node, uint64_t now_ns, double agreement)
{
    uint32_t origin_index, seq;
    begin_event(node, now_ns);
    if (broadcast_compared(node, &origin_index, &seq))
        byzantine_on_compared(node, origin_index, seq, agreement);
}

void node_on_trial(struct node *node, uint64_t now_ns, const struct base_trial *trial)
{
    begin_event(node, now_ns);
    quarantine_on_trial(node, trial);
}

void node_on_applied(struct node *node, uint64_t now_ns, uint32_t entries)
{
    begin_event(node, now_ns);
    broadcast_on_applied(node, entries);
}

void node_on_incarnation(struct node *node, uint64_t now_ns, uint64_t incarnation)
{
    begin_event(node, now_ns);
    CHECK(publishing_state(node) != PUBLISHING_OUT);
    if (!replace_version_raise_incarnation(node, incarnation))
        return; /* the table of origins is full */
    identity_clash_on_reserved(node, incarnation);
    member_gossip_sign_again(node);
    member_gossip_flush(node);
    fetch_forgive(node);
    anti_entropy_show_all(node);
}

/* The following functions choose the next action. */

/* Returns the outer momentum of the learner's next update. It is 0 before the node's first
 * publication, after the end of its training, and while it catches up and so applies old rumors. */
static double beta(const struct node *node)
{
    const uint64_t asked_ns = broadcast_asked_ns(node);
    const bool caught_up = asked_ns == 0 || node->now_ns - asked_ns > CATCH_UP_NS;
    const bool goes_on = broadcast_has_published(node) && leaving_stage(node) == STAGE_RUNNING;
    return caught_up && goes_on ? publish_schedule_beta(node) : 0;
}

/* Sets *action to the next change of the learner's base: a retraction, or else an update. Returns
 * false if there is none. */
static bool next_apply(struct node *node, struct action *action)
{
    if (!retract_next(node, action) && !broadcast_next_apply(node, action))
        return false;
    action->beta = beta(node);
    action->swarm_samples = progress_samples(node);
    transfer_on_update(node, action->update);
    return true;
}

static bool next_train(struct node *node, struct action *action)
{
    if (joining_state(node) != JOINING_JOINED || !node->options.trains ||
        leaving_stage(node) != STAGE_RUNNING || base_state(node) == BASE_FETCHING ||
        orders_expelling_self(node))
        return false; /* training starts only when the fetched base is complete */
    joining_move(node, JOINING_TRAINING);
    progress_review(node);
    *action = (struct action){.kind = ACTION_TRAIN, .swarm_samples = progress_samples(node)};
    return true;
}

static bool next_publish(struct node *node, struct action *action)
{
    if (publishing_state(node) != PUBLISHING_WANTED || broadcast_lacks_first(node) ||
        rumor_log_is_crowded(broadcast_log(node)))
        return false;
    const struct publish_facts facts = {
        .swarm_samples = progress_samples(node),
        .is_first = broadcast_own(node)->next == 0,
        .beta = beta(node),
        .part = votes_count_here(node) ? byzantine_own_part(node) : 1,
    };
    publish_schedule_begin(node, &facts, action);
    own_labels_on_publish(node, &action->terms);
    return true;
}

bool node_next(struct node *node, struct action *action)
{
    if (notes_next(&node->notes, &action->note)) {
        action->kind = ACTION_NOTE;
        return true;
    }
    return pacer_next_action(node, action) || dialer_next(node, action) ||
           fetch_next_write(node, action) || quarantine_next_trial(node, action) ||
           next_apply(node, action) || next_train(node, action) || next_publish(node, action) ||
           serve_next_read(node, action) || serve_next_save(node, action) ||
           inference_next(node, action) || join_next_restart(node, action) ||
           identity_clash_next(node, action) || leave_next_finished(node, action);
}
