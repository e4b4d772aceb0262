#include "node/connection/connection.h"

#include <stdio.h>
#include <string.h>

#include "node/lifecycle/lifecycle.h"

/* Time for which queued bytes may still be sent after a BYE. */
#define CLOSING_NS (2 * SECOND_NS)
/* After a BYE_RENEW, a conversation that lasted longer than this is dialled again at once. */
#define LASTED_NS (60 * SECOND_NS)
/* The keys of a session are replaced after this time and up to 59 s more. */
#define RENEW_NS (600 * SECOND_NS)
/* Longest duration of the conversation with an inference client. */
#define ASKING_NS (60 * SECOND_NS)
/* Number of PINGs that a silent neighbour is sent during limits.silence_ns. */
#define PINGS 3
/* A neighbour that is not silent is pinged again after this time, or after limits.silence_ns /
 * PINGS if that is longer. */
#define RTT_NS (30 * SECOND_NS)

_Static_assert(NODE_PEERS_MAX <= SLOTS_MAX, "a set of slots holds all peers");

struct connections {
    struct peer *peers;              /* [peers_max] conversations by slot */
    struct slots open;               /* slots of neighbours */
    struct slots ready;              /* slots that connection_next_ready returns */
    struct credentials *credentials; /* credentials, in node->keys, the arena for secrets */
    struct message_reader *reader;
    /* Number of conversations started, modulo 2^32; the upper half of the last one's conn. */
    uint32_t generation;
    struct connection_said said[MESSAGE_KINDS];
};

size_t connections_arena_bytes(const struct node_options *options)
{
    return sizeof(struct connections) + 128 + sizeof(struct credentials) + 64 +
           options->limits.peers_max *
               (sizeof(struct peer) + peer_arena_bytes(options->limits.send_queue_bytes) + 64);
}

size_t connections_keys_bytes(uint32_t peers_max)
{
    return sizeof(struct credentials) + 64 + peers_max * peer_keys_bytes();
}

struct introduction connection_introduction_of(const struct node_options *options)
{
    struct introduction ours;
    introduction_make(&ours, options->swarm_id, options->model, options->parameters);
    if (options->model_hash)
        memcpy(ours.model, options->model_hash, sizeof ours.model);
    if (options->limits.protocol_max)
        ours.newer = (uint8_t)(options->limits.protocol_max - ours.protocol);
    ours.offers = options->limits.answers.samples_max > 0 ? OFFERS_ANSWERS : 0;
    return ours;
}

struct connections *connections_new(struct arena *arena, struct node *node)
{
    const struct node_options *options = &node->options;
    CHECK(options->limits.peers_max > 0 && options->limits.peers_max <= NODE_PEERS_MAX);
    struct connections *connections = arena_alloc(arena, 1, sizeof *connections);
    const struct introduction ours = connection_introduction_of(options);
    connections->credentials = arena_alloc(node->keys, 1, sizeof *connections->credentials);
    credentials_init(connections->credentials, options->identity, options->swarm_key, &ours,
                     node->entropy);
    connections->credentials->parts = options->parts;
    introduction_context(node->context, &ours);
    connections->reader = message_reader_new();
    connections->peers = arena_alloc(arena, options->limits.peers_max, sizeof *connections->peers);
    for (uint32_t i = 0; i < options->limits.peers_max; i++)
        peer_init(&connections->peers[i], arena, node->keys, options->limits.send_queue_bytes);
    return connections;
}

void connections_free(struct node *node)
{
    message_reader_free(node->connections->reader);
    for (uint32_t i = 0; i < node->options.limits.peers_max; i++)
        peer_end(&node->connections->peers[i]);
    secret_wipe(node->connections->credentials, sizeof *node->connections->credentials);
}

void connection_set_keys(struct node *node, const struct swarm_key *keys, uint32_t count)
{
    credentials_set_keys(node->connections->credentials, keys, count);
}

void connection_set_model(struct node *node, const uint8_t model_hash[static 16])
{
    struct credentials *credentials = node->connections->credentials;
    struct introduction ours = credentials->ours;
    memcpy(ours.model, model_hash, sizeof ours.model);
    credentials_set_introduction(credentials, &ours);
    introduction_context(node->context, &ours);
}

void connection_set_standing(struct node *node, uint8_t standing)
{
    struct credentials *credentials = node->connections->credentials;
    struct introduction ours = credentials->ours;
    ours.standing = standing;
    credentials_set_introduction(credentials, &ours);
}

const struct introduction *connection_introduction(const struct node *node)
{
    return &node->connections->credentials->ours;
}

/* The following functions find conversations. */

const struct peer *connection_at(const struct node *node, uint32_t slot)
{
    CHECK(slot < node->options.limits.peers_max);
    return &node->connections->peers[slot];
}

uint32_t connection_slot(const struct node *node, const struct peer *peer)
{
    const ptrdiff_t slot = peer - node->connections->peers;
    CHECK(slot >= 0 && slot < node->options.limits.peers_max);
    return (uint32_t)slot;
}

/* Removes const from a peer. Only this folder may change a peer. */
static struct peer *own(struct node *node, const struct peer *peer)
{
    return &node->connections->peers[connection_slot(node, peer)];
}

const struct peer *connection_find(const struct node *node, uint64_t conn)
{
    const uint32_t slot = (uint32_t)conn;
    if (slot >= node->options.limits.peers_max)
        return NULL;
    const struct peer *peer = &node->connections->peers[slot];
    return peer->state != PEER_FREE && peer->conn == conn ? peer : NULL;
}

const struct peer *connection_open_peer(const struct node *node, uint64_t conn)
{
    const struct peer *peer = connection_at(node, (uint32_t)conn);
    return peer->conn == conn && peer->state == PEER_OPEN ? peer : NULL;
}

const struct peer *connection_by_id(const struct node *node, const uint8_t id[static ID_BYTES],
                                    const struct peer *except)
{
    const struct peer *peer;
    for (uint32_t i = 0; (peer = connection_neighbour(node, &i)); i++)
        if (peer != except && memcmp(peer->id, id, ID_BYTES) == 0)
            return peer;
    return NULL;
}

const struct peer *connection_neighbour(const struct node *node, uint32_t *slot)
{
    const struct connections *connections = node->connections;
    *slot = *slot < SLOTS_MAX ? slots_next(&connections->open, *slot) : SLOTS_MAX;
    if (*slot == SLOTS_MAX)
        return NULL;
    CHECK(connections->peers[*slot].state == PEER_OPEN);
    return &connections->peers[*slot];
}

uint32_t connection_neighbours(const struct node *node)
{
    return slots_count(&node->connections->open);
}

const struct peer *connection_random(struct node *node)
{
    const uint32_t open = connection_neighbours(node);
    uint32_t chosen = open ? rng_below(&node->rng, open) : 0;
    const struct peer *peer;
    for (uint32_t i = 0; (peer = connection_neighbour(node, &i)) && chosen > 0; i++)
        chosen--;
    CHECK((peer != NULL) == (open > 0));
    return peer;
}

uint32_t connection_neighbours_most(const struct node *node)
{
    return node->options.limits.peers_max / 4 * 3;
}

/* The following functions start conversations. */

bool connection_has_room(const struct node *node)
{
    for (uint32_t i = 0; i < node->options.limits.peers_max; i++)
        if (node->connections->peers[i].state == PEER_FREE)
            return true;
    return false;
}

static struct peer *start(struct node *node, bool dialled, const struct address *address)
{
    struct connections *connections = node->connections;
    for (uint32_t i = 0; i < node->options.limits.peers_max; i++) {
        struct peer *peer = &connections->peers[i];
        if (peer->state != PEER_FREE)
            continue;
        if (++connections->generation == 0)
            connections->generation = 1; /* generation is never 0, so no conn is 0 */
        peer_start(peer, (uint64_t)connections->generation << 32 | i, dialled, address,
                   node->now_ns);
        return peer;
    }
    return NULL;
}

uint64_t connection_accept(struct node *node, const struct address *from)
{
    const struct peer *peer = start(node, false, from);
    return peer ? peer->conn : 0;
}

const struct peer *connection_dial(struct node *node, const struct address *address)
{
    return start(node, true, address);
}

void connection_on_dialled(struct node *node, const struct peer *peer, uint32_t tries)
{
    const struct credentials *credentials = node->connections->credentials;
    if (peer->state != PEER_DIALLING)
        return;
    peer_on_connected(own(node, peer), credentials, tries % credentials->keys_count, node->now_ns);
    if (node->options.limits.dial_ns > 0)
        own(node, peer)->born_ns = node->now_ns;
    connection_set_ready(node, connection_slot(node, peer), true);
}

enum peer_event connection_take(struct node *node, const struct peer *peer, const uint8_t **bytes,
                                size_t *count, struct problem *problem)
{
    struct peer *ours = own(node, peer);
    const enum peer_event event =
        peer_take(ours, node->connections->credentials, node->now_ns, bytes, count, problem);
    if (event == PEER_MET)
        ours->renew_ns = node->now_ns + RENEW_NS + rng_below(&node->rng, 60) * SECOND_NS;
    return event;
}

void connection_wipe_taken(struct node *node, const struct peer *peer)
{
    peer_wipe_taken(own(node, peer));
}

enum error connection_decode(struct node *node, const uint8_t *bytes, size_t count,
                             struct message *message)
{
    return message_decode(node->connections->reader, bytes, count, message);
}

/* The following functions queue and send messages. */

bool connection_say(struct node *node, const struct peer *peer, const struct message *message)
{
    CHECK(message->kind < MESSAGE_KINDS);
    const size_t before = peer_queued_bytes(peer);
    if (!peer_say(own(node, peer), message))
        return false;
    CHECK(peer_queued_bytes(peer) > before + LENGTH_BYTES);
    struct connection_said *said = &node->connections->said[message->kind];
    said->count++;
    said->bytes += peer_queued_bytes(peer) - before - LENGTH_BYTES + RECORD_OVERHEAD;
    connection_set_ready(node, connection_slot(node, peer), true);
    return true;
}

bool connection_next_send(struct node *node, const struct peer *peer, size_t most, bool is_open,
                          const uint8_t **bytes, size_t *count)
{
    return peer_next_send(own(node, peer), most, is_open, bytes, count);
}

void connection_on_sent(struct node *node, const struct peer *peer)
{
    peer_on_sent(own(node, peer));
    connection_set_ready(node, connection_slot(node, peer), true);
}

uint32_t connection_next_ready(const struct node *node, uint32_t from)
{
    return slots_next(&node->connections->ready, from);
}

void connection_set_ready(struct node *node, uint32_t slot, bool is_ready)
{
    CHECK(slot < node->options.limits.peers_max);
    slots_put(&node->connections->ready, slot, is_ready);
}

bool connection_next_hangup(struct node *node, const struct peer *peer)
{
    if (peer->state != PEER_CLOSING ||
        !(peer_is_flushed(peer) || node->now_ns - peer->since_ns > CLOSING_NS))
        return false;
    CHECK(!peer->hangup_asked);
    own(node, peer)->hangup_asked = true;
    return true;
}

struct connection_said connection_said(const struct node *node, enum message_kind kind)
{
    CHECK(kind < MESSAGE_KINDS);
    return node->connections->said[kind];
}

/* The following functions open and close conversations. */

void connection_open(struct node *node, const struct peer *peer)
{
    peer_move(own(node, peer), PEER_OPEN, node->now_ns);
    slots_put(&node->connections->open, connection_slot(node, peer), true);
}

/* Returns true if a BYE with this reason lasts until a person changes a key, a list or an order. */
static bool is_refusal(uint64_t reason)
{
    return reason == BYE_IDENTITY_TAKEN || reason == BYE_EXPELLED || reason == BYE_NOT_ADMITTED;
}

static enum retry retry_after(const struct node *node, const struct peer *peer, uint64_t reason)
{
    if (is_refusal(reason) && (reason != BYE_NOT_ADMITTED || joining_has_joined(node)))
        /* After BYE_NOT_ADMITTED, a node that has yet to join dials again sooner: it may be
         * admitted before it gives up. */
        return RETRY_LATE;
    CHECK(node->now_ns >= peer->born_ns);
    const bool lasted = node->now_ns - peer->born_ns > LASTED_NS;
    return reason == BYE_RENEW && lasted ? RETRY_AT_ONCE : RETRY_USUAL;
}

void connection_close(struct node *node, const struct peer *peer, uint64_t reason, const char *why)
{
    struct peer *ours = own(node, peer);
    (void)snprintf(ours->why, sizeof ours->why, "%s", why);
    ours->retry = retry_after(node, peer, reason);
    ours->was_open = peer->state == PEER_OPEN;
    ours->was_silent = ours->was_open && reason == BYE_SILENT;
    ours->quiet = ours->asks || reason == BYE_SELF || reason == BYE_DUPLICATE || reason == BYE_FULL;
    peer_move(ours, PEER_CLOSING, node->now_ns);
    slots_put(&node->connections->open, connection_slot(node, peer), false);
    connection_set_ready(node, connection_slot(node, peer), true);
}

void connection_on_bye(struct node *node, const struct peer *peer, uint64_t reason, const char *why)
{
    own(node, peer)->was_told = true;
    own(node, peer)->refuses = is_refusal(reason);
    connection_close(node, peer, reason, why);
}

void connection_hang_up(struct node *node, const struct peer *peer, enum bye_reason reason,
                        const char *why)
{
    if (peer->state == PEER_CLOSING)
        return;
    if (peer_can_say(peer)) {
        const struct message bye = {
            .kind = BYE, .reason = reason, .text = {(const uint8_t *)why, strlen(why)}};
        (void)connection_say(node, peer, &bye);
    }
    connection_close(node, peer, reason, why);
    own(node, peer)->quiet |= reason == BYE_LEAVING;
}

void connection_end_quietly(struct node *node, const struct peer *peer, const char *why)
{
    connection_close(node, peer, BYE_BROKEN, why);
    own(node, peer)->quiet = true;
    own(node, peer)->differs = false;
}

void connection_end(struct node *node, const struct peer *peer)
{
    const uint32_t slot = connection_slot(node, peer);
    CHECK(peer->state != PEER_FREE);
    slots_put(&node->connections->open, slot, false);
    connection_set_ready(node, slot, false);
    peer_end(own(node, peer));
}

void connection_set_asking(struct node *node, const struct peer *peer)
{
    CHECK(peer->state == PEER_MEETING && !peer->dialled);
    own(node, peer)->asks = true;
}

void connection_set_incarnation(struct node *node, const struct peer *peer, uint64_t incarnation)
{
    CHECK(incarnation >= peer->incarnation);
    own(node, peer)->incarnation = incarnation;
}

void connection_set_unlike(struct node *node, const struct peer *peer,
                           const char unlike[static PEER_UNLIKE_BYTES])
{
    CHECK(peer->state == PEER_OPEN && memchr(unlike, '\0', PEER_UNLIKE_BYTES));
    memcpy(own(node, peer)->unlike, unlike, PEER_UNLIKE_BYTES);
}

void connection_set_mislabels(struct node *node, const struct peer *peer, bool mislabels)
{
    CHECK(peer->state == PEER_OPEN);
    own(node, peer)->mislabels = mislabels;
}

/* The following functions handle the timers of conversations. */

void connection_ping(struct node *node, const struct peer *peer)
{
    CHECK(peer->state == PEER_OPEN);
    if (connection_say(node, peer, &(struct message){.kind = PING, .token = node->now_ns}))
        own(node, peer)->pinged_ns = node->now_ns;
}

void connection_on_pong(struct node *node, const struct peer *peer, uint64_t token)
{
    struct peer *ours = own(node, peer);
    if (token == peer->pinged_ns && node->now_ns >= token)
        ours->rtt_ns = node->now_ns - token;
    if (token <= peer->pinged_ns)
        ours->answered_ns = u64_max(peer->answered_ns, token);
    CHECK(peer->answered_ns <= peer->pinged_ns && peer->pinged_ns <= node->now_ns);
}

static bool is_ping_due(const struct node *node, const struct peer *peer)
{
    const uint64_t now_ns = node->now_ns, ping_ns = node->options.limits.silence_ns / PINGS;
    CHECK(peer->pinged_ns <= now_ns && peer->heard_ns <= now_ns);
    return now_ns - peer->pinged_ns > ping_ns &&
           (now_ns - peer->heard_ns > ping_ns || now_ns - peer->pinged_ns > RTT_NS);
}

/* Returns how long after its start (born_ns) a conversation may still be in its present state:
 * connecting, showing the swarm key, finishing the handshake, or using this node for inference. */
static uint64_t handshake_ns(const struct node *node, const struct peer *peer)
{
    if (peer->state == PEER_DIALLING && node->options.limits.dial_ns > 0)
        return node->options.limits.dial_ns;
    const uint64_t most_ns = peer->asks ? ASKING_NS : node->options.limits.handshake_ns;
    return peer->state == PEER_GREETED && GREETING_NS < most_ns ? GREETING_NS : most_ns;
}

static void end_meeting(struct node *node, const struct peer *peer)
{
    CHECK(peer->state < PEER_OPEN);
    if (peer->state == PEER_TURNED_AWAY)
        connection_close(node, peer, BYE_BROKEN,
                         "it has another model and does not list its parts");
    else if (peer->state == PEER_DIALLING && node->options.limits.dial_ns > 0)
        connection_hang_up(node, peer, BYE_SILENT, "the connection attempt timed out");
    else if (peer->asks)
        connection_hang_up(node, peer, BYE_RENEW,
                           "the client's session has reached its time limit");
    else
        connection_hang_up(node, peer, BYE_SILENT, "the handshake timed out");
}

bool connection_check(struct node *node, const struct peer *peer, uint64_t patience_ns)
{
    const uint64_t now_ns = node->now_ns;
    CHECK(peer->state != PEER_FREE && patience_ns > 0);
    /* The conversation may have to end, or has bytes to send. */
    if (peer->state == PEER_CLOSING || peer_waiting_bytes(peer, true) > 0)
        connection_set_ready(node, connection_slot(node, peer), true);
    if (peer->state < PEER_OPEN && now_ns - peer->born_ns > handshake_ns(node, peer))
        end_meeting(node, peer);
    if (peer->state != PEER_OPEN)
        return true;
    if (now_ns - peer->heard_ns > patience_ns)
        return false;
    if (session_worn_out(&peer->keys->session) || now_ns > peer->renew_ns)
        connection_hang_up(node, peer, BYE_RENEW, "new keys");
    else if (is_ping_due(node, peer))
        connection_ping(node, peer);
    return true;
}

static uint64_t later(const struct node *node, uint64_t at_ns, uint64_t by_ns)
{
    CHECK(at_ns <= node->now_ns);
    return u64_min(at_ns + by_ns, node->now_ns);
}

void connection_forgive(struct node *node, uint64_t late_ns)
{
    for (uint32_t i = 0; i < node->options.limits.peers_max; i++) {
        struct peer *peer = &node->connections->peers[i];
        peer->heard_ns = later(node, peer->heard_ns, late_ns);
        peer->born_ns = later(node, peer->born_ns, late_ns);
    }
}

enum note_certainty connection_certainty(const struct peer *peer)
{
    CHECK(peer->state != PEER_FREE);
    const bool is_unread = peer->dialled && peer->state == PEER_ANSWERED;
    return peer->differs || peer->refuses ? NOTE_LASTING
           : peer->was_told               ? NOTE_TOLD
           : is_unread                    ? NOTE_UNREAD
                                          : NOTE_GUESSED;
}

struct note *connection_note(struct node *node, const struct peer *peer, enum note_kind kind,
                             enum note_level level, const char *text)
{
    CHECK(peer->state != PEER_FREE);
    struct note *note = notes_add(&node->notes, node->now_ns, kind, level, "%s", text);
    if (peer->state >= PEER_MEETING)
        identity_text(note->who, peer->id);
    (void)address_text(&peer->address, note->where);
    return note;
}
