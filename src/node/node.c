/* The doors of the node, and the actions it asks for. */
#include "node/node.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "wire/bytes.h"
#include "node/inside.h"

_Static_assert(NODE_PEERS_MAX <= SLOTS_MAX, "a set of slots holds all peers");

#define CLOSING_NS      (2 * SECOND_NS)
#define RENEW_NS        (600 * SECOND_NS)
#define PUBLISH_SPAN_NS (10 * SECOND_NS) /* a budget saves up for so long, or until it is time */
#define CATCH_UP_NS     (5 * SECOND_NS) /* after asking for what is missing, it comes for so long */
#define NOTES_WAITING   256
#define DEAD_AFTER      5 /* times a neighbour's silence: a member far away */

size_t node_arena_bytes(const struct node_options *options)
{
    const size_t candidates = options->members_max + NODE_SEEDS_MAX;
    const size_t incarnations = options->incarnations_max;
    const size_t per_peer = sizeof(struct peer) + sizeof(struct rapport) +
                            peer_arena_bytes(options->send_queue_bytes, options->incarnations_max) +
                            bit_words(options->members_max) * 8 + 64;
    const size_t slots = 4 * sizeof(uint32_t); /* open addressing: at most so many for one */
    return sizeof(struct node) + 4096 + options->peers_max * per_peer +
           options->members_max * (sizeof(struct member) + slots) +
           incarnations * (sizeof(struct origin) + slots) +
           candidates * (sizeof(struct candidate) + sizeof(uint32_t)) +
           rumor_log_arena_bytes(options->log_bytes) + fetch_arena_bytes(options) +
           incarnations * (sizeof(uint32_t) + sizeof(uint64_t)) + incarnations / 8 + 64 +
           NOTES_WAITING * sizeof(struct note) + decoded_arena_bytes(RUMOR_ENTRIES_MAX) +
           2 * FRAME_MAX + 16 * 64;
}

bool node_can_restore(const struct node_options *options)
{
    return options->history_bytes / HISTORY_ENTRY_BYTES < options->incarnations_max;
}

static void init_credentials(struct node *node)
{
    const struct node_options *options = &node->options;
    struct introduction ours;
    introduction_make(&ours, options->swarm_id, options->model, options->parameters);
    peer_credentials_init(&node->credentials, options->identity, options->swarm_key, &ours,
                          &node->entropy);
    secret_blake2b(node->context, CONTEXT_BYTES, node->credentials.prologue, INTRODUCTION_BYTES,
                   NULL, 0);
}

static void init_peers(struct node *node, struct arena *arena)
{
    const struct node_options *options = &node->options;
    node->peers = arena_take(arena, options->peers_max, sizeof *node->peers);
    node->rapports = arena_take(arena, options->peers_max, sizeof *node->rapports);
    for (uint32_t i = 0; i < options->peers_max; i++) {
        peer_init(&node->peers[i], arena, options->send_queue_bytes, options->incarnations_max);
        node->rapports[i].news =
            arena_take(arena, bit_words(options->members_max), sizeof(uint64_t));
    }
}

/* The version of a base that was saved by an earlier life. */
static void restore(struct node *node)
{
    const struct node_options *options = &node->options;
    for (size_t at = 0; at + HISTORY_ENTRY_BYTES <= options->history_bytes;
         at += HISTORY_ENTRY_BYTES) {
        const struct history_entry told = history_entry_at(options->history + at);
        struct origin *origin = versions_add(&node->versions, told.id, told.incarnation);
        CHECK(origin);
        versions_set(&node->versions, origin, told.next, told.samples);
    }
    node->remembers = options->history_bytes > 0;
    node->options.history = NULL;
}

struct node *node_new(struct arena *arena, const struct node_options *options, uint64_t now_ns)
{
    CHECK(options->peers_max > 0 && options->peers_max <= NODE_PEERS_MAX);
    CHECK(options->members_max > 1 && options->incarnations_max > 0 && options->parameters > 0);
    struct node *node = arena_take(arena, 1, sizeof *node);
    node->options = *options;
    node->now_ns = now_ns;
    entropy_from_seed(&node->entropy, options->entropy);
    uint64_t seed = options->seed;
    if (seed == 0)
        entropy_bytes(&node->entropy, &seed, sizeof seed);
    node->rng = rng_new(seed, bytes_get(options->identity->id, 8));
    node->waits = rng_new(seed, ~bytes_get(options->identity->id, 8));
    init_credentials(node);
    node->reader = message_reader_new();
    init_peers(node, arena);
    members_init(&node->members, arena, options->members_max, DEAD_AFTER * options->silence_ns);
    node->candidates_max = options->members_max + NODE_SEEDS_MAX;
    node->candidates = arena_take(arena, node->candidates_max, sizeof *node->candidates);
    node->candidate_hashes =
        arena_take(arena, node->candidates_max, sizeof *node->candidate_hashes);
    versions_init(&node->versions, arena, options->incarnations_max, options->digest);
    restore(node);
    node->own = versions_add(&node->versions, options->identity->id, options->incarnation);
    node->first_incarnation = options->incarnation;
    node->seen = arena_take(arena, bit_words(options->incarnations_max), sizeof *node->seen);
    fetch_init(node, arena);
    serve_init(node, arena);
    rumor_log_init(&node->log, arena, options->log_bytes);
    decoded_init(&node->decoded, arena, RUMOR_ENTRIES_MAX);
    node->scratch = arena_take(arena, FRAME_MAX, 1);
    notes_init(&node->notes, arena, NOTES_WAITING, options->notes_per_s);
    node->published_ns = node->rate_ns = node->reviewed_ns = node->grew_ns = node->born_ns = now_ns;
    node->pacer_wake_ns = UINT64_MAX;
    node->uplink.at_ns = now_ns;
    node->ease = 1;
    node->slowest = LINK_RATE_FIRST;
    node->joined = options->seeds_count == 0;
    node->gossip_ns = now_ns + rng_below(&node->rng, (uint32_t)SECOND_NS);
    node->check_ns = now_ns;
    node->live = 1;
    node->found = BUDGET_FIRST;
    node->stats.budget = options->bytes_per_s ? (double)options->bytes_per_s : BUDGET_FIRST;
    member_gossip_renew(node);
    publish_schedule_renew(node);
    publish_schedule_wait(node, 0, 1);
    for (uint32_t i = 0; i < options->seeds_count; i++)
        dialer_add(node, &options->seeds[i], NULL, true);
    return node;
}

void node_free(struct node *node)
{
    message_reader_free(node->reader);
    for (uint32_t i = 0; i < node->options.peers_max; i++)
        peer_end(&node->peers[i]);
    secret_wipe(node, sizeof *node);
}

static struct peer *peer_at(struct node *node, uint64_t conn)
{
    const uint32_t slot = (uint32_t)conn;
    if (slot >= node->options.peers_max)
        return NULL;
    struct peer *peer = &node->peers[slot];
    return peer->state != PEER_FREE && peer->conn == conn ? peer : NULL;
}

/* Doors: the network. */

/* May a stranger from this address begin a conversation? */
static bool may_knock(const struct node *node, const struct address *from)
{
    const uint64_t network = address_network(from);
    uint32_t half_open = 0, same_network = 0;
    for (uint32_t i = 0; i < node->options.peers_max; i++) {
        const struct peer *peer = &node->peers[i];
        if (peer->state != PEER_GREETED && peer->state != PEER_PROVED)
            continue;
        half_open++;
        same_network += address_network(&peer->address) == network;
    }
    return half_open < node->options.half_open_max && half_open <= node->options.peers_max / 2 &&
           same_network < node->options.half_open_per_net_max;
}

uint64_t node_on_accept(struct node *node, uint64_t now_ns, const struct address *from)
{
    node->now_ns = now_ns;
    if (node->stage == STAGE_LEFT || !may_knock(node, from))
        return 0;
    for (uint32_t i = 0; i < node->options.peers_max; i++) {
        struct peer *peer = &node->peers[i];
        if (peer->state != PEER_FREE)
            continue;
        peer_start(peer, (uint64_t)++node->generation << 32 | i, false, from, now_ns);
        return peer->conn;
    }
    if (notes_allow(&node->notes, now_ns))
        (void)address_text(from, notes_add(&node->notes, now_ns, NOTE_FULL, LEVEL_WARNING,
                                           "turned away: limits.peers reached")
                                     ->where);
    return 0;
}

void node_on_connected(struct node *node, uint64_t now_ns, uint64_t conn)
{
    node->now_ns = now_ns;
    struct peer *peer = peer_at(node, conn);
    if (!peer || peer->state != PEER_DIALLING)
        return;
    peer_on_connected(peer, &node->credentials, now_ns);
    slots_put(&node->ready, node_slot(node, peer), true);
}

void node_on_bytes(struct node *node, uint64_t now_ns, uint64_t conn, const uint8_t *bytes,
                   size_t count)
{
    node->now_ns = now_ns;
    struct peer *peer = peer_at(node, conn);
    if (peer) /* the answer to a greeting is no message */
        slots_put(&node->ready, node_slot(node, peer), true);
    while (peer && count > 0) {
        struct problem problem;
        size_t message_bytes;
        const uint8_t *message;
        switch (peer_take(peer, &node->credentials, now_ns, &bytes, &count, &problem)) {
        case PEER_NOTHING:
            pacer_consider_ack(node, peer);
            return;
        case PEER_MET:
            peer->renew_ns = now_ns + RENEW_NS + rng_below(&node->rng, 60) * SECOND_NS;
            dispatch_meet(node, peer);
            break;
        case PEER_SAID:
            message = peer_message(peer, &message_bytes);
            dispatch_message(node, peer, message, message_bytes);
            break;
        case PEER_REFUSED:
            node_hang_up(node, peer, BYE_BROKEN, problem.text);
            return;
        }
    }
}

void node_on_sent(struct node *node, uint64_t now_ns, uint64_t conn)
{
    node->now_ns = now_ns;
    struct peer *peer = peer_at(node, conn);
    if (!peer)
        return;
    peer_on_sent(peer);
    slots_put(&node->ready, node_slot(node, peer), true);
    push_backlog_on_sent(node, peer);
}

static bool is_power_of_two(uint32_t n)
{
    return (n & (n - 1)) == 0;
}

/* Why a conversation that never opened came to nothing. */
static void note_failed(struct node *node, const struct peer *peer, const char *why)
{
    if (peer->dialled) {
        const struct candidate *candidate = dialer_candidate(node, peer);
        const uint32_t failures = candidate ? candidate->failures : 0;
        if (!is_power_of_two(failures)) /* the same again: say it ever more rarely */
            return;
        struct note *note =
            notes_add(&node->notes, node->now_ns, NOTE_DIAL_FAILED,
                      candidate && candidate->is_seed ? LEVEL_WARNING : LEVEL_DEBUG,
                      "cannot be reached: %s (try %u)", why, (unsigned)failures + 1);
        (void)address_text(&peer->address, note->where);
    } else if (notes_allow(&node->notes, node->now_ns)) {
        struct note *note = notes_add(&node->notes, node->now_ns, NOTE_REFUSED, LEVEL_WARNING,
                                      "was refused: %s", why);
        (void)address_text(&peer->address, note->where);
    }
}

static void note_closed(struct node *node, const struct peer *peer, const char *why)
{
    if (peer->quiet)
        return;
    if (peer->was_open || peer->state == PEER_OPEN) {
        char text[160];
        (void)snprintf(text, sizeof text, "is no neighbour any more: %s", why);
        (void)node_note(node, peer, NOTE_NEIGHBOUR_LOST,
                        peer->retry == RETRY_AT_ONCE ? LEVEL_DEBUG : LEVEL_INFO, text);
        return;
    }
    note_failed(node, peer, why);
}

void node_on_closed(struct node *node, uint64_t now_ns, uint64_t conn, const char *why)
{
    node->now_ns = now_ns;
    struct peer *peer = peer_at(node, conn);
    if (!peer)
        return;
    const char *reason = peer->why[0] ? peer->why : why;
    if (!reason[0] && peer->state == PEER_ANSWERED)
        reason = PEER_NO_ANSWER;
    note_closed(node, peer, reason[0] ? reason : "the connection ended without a goodbye");
    dialer_on_closed(node, peer);
    node->gone_sent_bytes += peer->link.sent;
    node->gone_received_bytes += peer->link.received;
    slots_put(&node->open, node_slot(node, peer), false);
    fetch_on_lost(node, conn);
    if (peer->retry != RETRY_AT_ONCE) /* else it is back before anybody else has helped */
        repair_on_lost(node, conn);
    slots_put(&node->ready, node_slot(node, peer), false);
    slots_put(&node->held_up, node_slot(node, peer), false);
    peer_end(peer);
}

/* Doors: the learner. */

void node_on_step(struct node *node, uint64_t now_ns, uint32_t steps, uint64_t samples)
{
    node->now_ns = now_ns;
    node->stats.steps += steps;
    node->stats.samples += samples;
    node->steps_since += steps;
    publish_schedule_on_step(node, steps);
    publish_schedule_consider(node);
}

void node_on_published(struct node *node, uint64_t now_ns, const struct update *update)
{
    CHECK(node->publish == PUBLISH_OUT);
    node->now_ns = now_ns;
    const uint64_t rumor_bytes_published = node->stats.rumor_bytes_published;
    broadcast_publish(node, update);
    budget_on_published(node, node->stats.rumor_bytes_published - rumor_bytes_published);
    node->publish = PUBLISH_IDLE;
    node->publications++;
    publish_schedule_wait(node, PUBLISH_WAIT_LEAST, PUBLISH_WAIT_MOST);
    if (node->publishing_last)
        leave_on_published(node, update->count);
    publish_schedule_consider(node);
}

void node_on_applied(struct node *node, uint64_t now_ns, uint32_t entries)
{
    node->now_ns = now_ns;
    CHECK(entries <= node->applying && node->applying_rumors > 0);
    node->applying -= entries;
    node->applying_rumors--;
}

/* Actions. */

/* Has this peer something to send, or is it done? */
static bool peer_action(struct node *node, struct peer *peer, struct action *action)
{
    if (peer->state == PEER_FREE || peer->hangup_asked)
        return false;
    if (pacer_next_send(node, peer, &action->bytes, &action->count)) {
        action->kind = ACTION_SEND;
        action->conn = peer->conn;
        return true;
    }
    if (peer->state != PEER_CLOSING ||
        !(peer_is_flushed(peer) || node->now_ns - peer->since_ns > CLOSING_NS))
        return false;
    peer->hangup_asked = true;
    *action = (struct action){.kind = ACTION_HANGUP, .conn = peer->conn};
    return true;
}

/* One after the other, so that none has all of what may be sent. */
static bool next_peer_action(struct node *node, struct action *action)
{
    while (slots_count(&node->ready) > 0) {
        uint32_t i = slots_next(&node->ready, node->turn % SLOTS_MAX);
        i = i < SLOTS_MAX ? i : slots_next(&node->ready, 0);
        node->turn = i;
        if (peer_action(node, &node->peers[i], action))
            return true;
        slots_put(&node->ready, i, false);
    }
    return false;
}

static double due_bytes(const struct node *node)
{
    const uint64_t span_ns = node->now_ns - node->published_ns;
    const uint64_t wait_ns = publish_schedule_wait_ns(node);
    const uint64_t most_ns = wait_ns > PUBLISH_SPAN_NS ? wait_ns : PUBLISH_SPAN_NS;
    const double seconds = (double)(span_ns < most_ns ? span_ns : most_ns) * 1e-9;
    return node->stats.budget * seconds;
}

/* The first is small: it goes to everybody from everywhere, and by who was second the trees are
 * found on which the others travel. */
static uint32_t budget_bytes(const struct node *node)
{
    const bool is_small = node->own->next == 0 && !node->publishing_last;
    const double bytes = is_small ? 0 : node->due_bytes;
    const double most = fmin((double)node->options.log_bytes / 8, UINT32_MAX);
    if (node->publishing_last && node->live == 1)
        return (uint32_t)most; /* there is no line to spare */
    return (uint32_t)fmin(fmax(bytes, 256), most);
}

static bool next_train(struct node *node, struct action *action)
{
    if (!node->joined || node->training_asked || !node->options.trains ||
        node->stage != STAGE_RUNNING)
        return false;
    node->training_asked = true;
    *action = (struct action){.kind = ACTION_TRAIN, .swarm_samples = node_swarm_samples(node)};
    return true;
}

/* The step the swarm's base made since our last telling is gone on with only if it was the
 * swarm's step: what was heard to catch up is old. */
static double beta(const struct node *node)
{
    const bool caught_up = node->asked_ns == 0 || node->now_ns - node->asked_ns > CATCH_UP_NS;
    return caught_up && node->stats.rumors_published > 0 ? node->outer_step.beta : 0;
}

static bool next_publish(struct node *node, struct action *action)
{
    if (node->publish != PUBLISH_WANTED || rumor_log_is_crowded(&node->log))
        return false;
    node->publishing_last = node->stage == STAGE_LEAVING;
    node->due_bytes = due_bytes(node);
    node->stats.share =
        members_own_share(&node->members, node->options.weigh_throughput, node->now_ns);
    *action = (struct action){
        .kind = ACTION_PUBLISH,
        .terms = {.budget_bytes = budget_bytes(node),
                  .tau = node->options.tau,
                  .share = node->stats.share,
                  .gain = node->outer_step.gain,
                  .beta = beta(node),
                  .swarm_samples = node_swarm_samples(node)},
        .last = node->publishing_last,
    };
    node->publish = PUBLISH_OUT;
    node->published_ns = node->now_ns;
    node->steps_since = 0;
    return true;
}

bool node_next(struct node *node, struct action *action)
{
    if (notes_next(&node->notes, &action->note)) {
        action->kind = ACTION_NOTE;
        return true;
    }
    if (next_peer_action(node, action) || dialer_next(node, action) ||
        fetch_next_write(node, action) || broadcast_next_apply(node, action) ||
        next_train(node, action) || next_publish(node, action) || serve_next_read(node, action) ||
        serve_next_save(node, action))
        return true;
    if (node->must_restart) {
        node->must_restart = false;
        action->kind = ACTION_RESTART;
        return true;
    }
    if (node->finished && !node->finished_said) {
        node->finished_said = true;
        action->kind = ACTION_FINISHED;
        return true;
    }
    return false;
}
