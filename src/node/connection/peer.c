#include "node/connection/peer.h"

#include <stdio.h>
#include <string.h>

#include "base/bits.h"
#include "base/min_max.h"
#include "frame/bytes.h"
#include "frame/frame.h"

#define MAY(state)    (1u << (state))
#define URGENT_BYTES  2048
#define VERSION_BYTES 2 /* bytes of the chosen protocol version in message 2 of the handshake */
#define ANSWER_BYTES  (CERTIFICATE_BYTES + VERSION_BYTES)

static const unsigned MOVES[PEER_STATES] = {
    [PEER_FREE] = MAY(PEER_DIALLING) | MAY(PEER_GREETED),
    [PEER_DIALLING] = MAY(PEER_ANSWERED) | MAY(PEER_CLOSING) | MAY(PEER_FREE),
    [PEER_ANSWERED] =
        MAY(PEER_MEETING) | MAY(PEER_TURNED_AWAY) | MAY(PEER_CLOSING) | MAY(PEER_FREE),
    [PEER_GREETED] = MAY(PEER_PROVED) | MAY(PEER_CLOSING) | MAY(PEER_FREE),
    [PEER_PROVED] = MAY(PEER_MEETING) | MAY(PEER_CLOSING) | MAY(PEER_FREE),
    [PEER_TURNED_AWAY] = MAY(PEER_CLOSING) | MAY(PEER_FREE),
    [PEER_MEETING] = MAY(PEER_OPEN) | MAY(PEER_CLOSING) | MAY(PEER_FREE),
    [PEER_OPEN] = MAY(PEER_CLOSING) | MAY(PEER_FREE),
    [PEER_CLOSING] = MAY(PEER_FREE),
};

size_t peer_arena_bytes(size_t queue_max)
{
    return FRAME_MAX + LENGTH_BYTES + SENDING_BYTES + 2 * queue_max + URGENT_BYTES +
           peer_keys_bytes() + 9 * 64;
}

void peer_init(struct peer *peer, struct arena *arena, struct arena *keys, size_t queue_max)
{
    *peer = (struct peer){
        .keys = arena_alloc(keys, 1, sizeof *peer->keys),
        .in = arena_alloc(arena, FRAME_MAX + LENGTH_BYTES, 1),
        .out = arena_alloc(arena, SENDING_BYTES, 1),
        .queue = {.at = arena_alloc(arena, queue_max, 1), .max = queue_max},
        .urgent = {.at = arena_alloc(arena, URGENT_BYTES, 1), .max = URGENT_BYTES},
        .blocks = {.at = arena_alloc(arena, queue_max, 1), .max = queue_max},
    };
}

void peer_move(struct peer *peer, enum peer_state to, uint64_t now_ns)
{
    CHECK(MOVES[peer->state] & MAY(to));
    peer->state = to;
    peer->since_ns = now_ns;
}

void peer_start(struct peer *peer, uint64_t conn, bool dialled, const struct address *address,
                uint64_t now_ns)
{
    CHECK(peer_is_flushed(peer) && peer->in_bytes == 0);
    peer_move(peer, dialled ? PEER_DIALLING : PEER_GREETED, now_ns);
    peer->conn = conn;
    peer->dialled = dialled;
    peer->address = *address;
    peer->born_ns = now_ns;
    peer->heard_ns = now_ns;
    peer->framed_ns = now_ns;
    peer->pinged_ns = now_ns;
}

/* Returns where to write the next frame of the handshake. The frame follows the bytes in `out`,
 * because the transport may not have reported the previous frame as sent. */
static uint8_t *frame_content(struct peer *peer)
{
    CHECK(peer->out_bytes + LENGTH_BYTES + GREETING_MAX <= SENDING_BYTES);
    return peer->out + peer->out_bytes + LENGTH_BYTES;
}

static void send_frame(struct peer *peer, size_t content_bytes)
{
    CHECK(content_bytes <= GREETING_MAX);
    frame_head(peer->out + peer->out_bytes, content_bytes);
    peer->out_bytes += LENGTH_BYTES + content_bytes;
}

/* Starts a handshake. dialers: oldest protocol version of the dialer. */
static void begin_handshake(struct peer *peer, const struct credentials *credentials,
                            const struct entry_key *key, uint16_t dialers)
{
    uint8_t ephemeral[DH_BYTES], prologue[INTRODUCTION_BYTES];
    entropy_bytes(credentials->entropy, ephemeral, sizeof ephemeral);
    introduction_prologue(prologue, &credentials->ours, dialers);
    handshake_init(&peer->keys->handshake, peer->dialled, prologue, sizeof prologue, key->psk,
                   credentials->identity->noise_secret, ephemeral);
    peer->key_order = key->order;
    secret_wipe(ephemeral, sizeof ephemeral);
}

void peer_on_connected(struct peer *peer, const struct credentials *credentials, uint32_t key,
                       uint64_t now_ns)
{
    CHECK(key < credentials->keys_count);
    begin_handshake(peer, credentials, &credentials->keys[key], credentials->ours.protocol);
    uint8_t *content = frame_content(peer);
    uint8_t *message = content + GATE_BYTES;
    size_t bytes;
    CHECK(handshake_create(&peer->keys->handshake, NULL, 0, message, &bytes) == OK);
    gate_create(&credentials->keys[key].gate, content, message, bytes);
    send_frame(peer, GATE_BYTES + bytes);
    peer->heard_ns = peer->framed_ns = now_ns;
    peer_move(peer, PEER_ANSWERED, now_ns);
}

/* Returns the swarm key that authenticates this first frame, and sets *theirs to the introduction
 * of its sender. Returns NULL if no swarm key does. */
static const struct entry_key *key_for(const struct credentials *credentials, const uint8_t *frame,
                                       struct introduction *theirs)
{
    CHECK(credentials->keys_count > 0);
    for (uint32_t i = 0; i < credentials->keys_count; i++)
        if (gate_consume(&credentials->keys[i].gate, frame, frame + GATE_BYTES, HANDSHAKE_1_BYTES,
                         theirs) == OK)
            return &credentials->keys[i];
    return NULL;
}

/* Creates message 2 of the handshake. It contains the chosen protocol version only if that is
 * newer than the dialer's oldest one. So the message stays valid for a dialer that knows only one
 * version. */
static enum error create_answer(struct peer *peer, const struct credentials *credentials,
                                uint16_t dialers)
{
    uint8_t payload[ANSWER_BYTES];
    size_t payload_bytes = CERTIFICATE_BYTES, bytes;
    CHECK(peer->protocol >= dialers);
    memcpy(payload, credentials->identity->certificate, CERTIFICATE_BYTES);
    if (peer->protocol > dialers) {
        bytes_put(payload + CERTIFICATE_BYTES, peer->protocol, VERSION_BYTES);
        payload_bytes = ANSWER_BYTES;
    }
    const enum error error = handshake_create(&peer->keys->handshake, payload, payload_bytes,
                                              frame_content(peer), &bytes);
    if (error == OK)
        send_frame(peer, bytes);
    return error;
}

/* Appends a refusal to `out`. A dialer whose model has another form also gets the list of parts of
 * our model. Returns true if it does. */
static bool create_refusal(struct peer *peer, const struct credentials *credentials,
                           const struct entry_key *key, const uint8_t *ephemeral)
{
    struct gate gate = key->gate;
    const bool has_parts =
        credentials->parts && introduction_has_other_form(&gate.ours, &peer->theirs);
    gate.ours.offers |= has_parts ? OFFERS_PARTS : 0;
    refusal_create(&gate, credentials->entropy, ephemeral, frame_content(peer));
    send_frame(peer, REFUSAL_BYTES);
    if (has_parts) {
        const size_t bytes = model_parts_bytes(credentials->parts);
        CHECK(peer->out_bytes + LENGTH_BYTES + PARTS_MAX <= SENDING_BYTES);
        frame_head(peer->out + peer->out_bytes, bytes + PARTS_ADD);
        parts_create(&gate, credentials->entropy, ephemeral, credentials->parts, bytes,
                     peer->out + peer->out_bytes + LENGTH_BYTES);
        peer->out_bytes += LENGTH_BYTES + bytes + PARTS_ADD;
    }
    secret_wipe(&gate, sizeof gate);
    return has_parts;
}

/* Adds to the text of *problem where to read the difference: only the dialer knows the parts of
 * both models. */
static void point_to_dialer(struct problem *problem)
{
    const size_t used = strlen(problem->text);
    (void)snprintf(problem->text + used, sizeof problem->text - used,
                   "; its own message names the first difference");
}

/* On the accepting side: handles the first frame, which consists of the gate and message 1. */
static enum error on_greeting(struct peer *peer, const struct credentials *credentials,
                              const uint8_t *frame, size_t bytes, struct problem *problem)
{
    struct introduction theirs;
    const struct entry_key *key =
        bytes == GATE_BYTES + HANDSHAKE_1_BYTES ? key_for(credentials, frame, &theirs) : NULL;
    if (!key)
        return problem_set(problem, FORGED,
                           "did not prove the swarm key: not a member, or a node with another key");
    if (introduction_compare(&credentials->ours, &theirs, problem) != OK) {
        peer->theirs = theirs;
        peer->asks = theirs.protocol == PROTOCOL_PROBE;
        if (create_refusal(peer, credentials, key, frame + GATE_BYTES))
            point_to_dialer(problem);
        return MISMATCH;
    }
    peer->protocol = introduction_common(&credentials->ours, &theirs);
    begin_handshake(peer, credentials, key, theirs.protocol);
    uint8_t payload[HANDSHAKE_PAYLOAD_MAX];
    size_t payload_bytes;
    if (handshake_consume(&peer->keys->handshake, frame + GATE_BYTES, HANDSHAKE_1_BYTES, payload,
                          &payload_bytes) != OK ||
        create_answer(peer, credentials, theirs.protocol) != OK)
        return problem_set(problem, FORGED, "its first handshake message is invalid");
    return OK;
}

static enum error learn_identity(struct peer *peer, const uint8_t *payload, size_t bytes)
{
    if (bytes != CERTIFICATE_BYTES)
        return MALFORMED;
    return identity_check(peer->id, payload, peer->keys->handshake.their_public);
}

/* On the dialling side: reads the protocol version that the acceptor has chosen from the offered
 * ones. */
static enum error learn_protocol(struct peer *peer, const struct introduction *offered,
                                 const uint8_t *payload, size_t *bytes)
{
    const uint32_t newest = (uint32_t)offered->protocol + offered->newer;
    peer->protocol = offered->protocol;
    if (*bytes != ANSWER_BYTES)
        return OK;
    *bytes = CERTIFICATE_BYTES;
    peer->protocol = (uint16_t)bytes_get(payload + CERTIFICATE_BYTES, VERSION_BYTES);
    return peer->protocol > offered->protocol && peer->protocol <= newest ? OK : MALFORMED;
}

static void begin_session(struct peer *peer)
{
    uint8_t send_key[KEY_BYTES], receive_key[KEY_BYTES];
    handshake_split(&peer->keys->handshake, send_key, receive_key);
    session_init(&peer->keys->session, send_key, receive_key);
    secret_wipe(send_key, sizeof send_key);
    secret_wipe(receive_key, sizeof receive_key);
}

/* Returns true if the frame is a refusal that authenticates with one of our swarm keys. Tries
 * all keys, since this node may have shown any of them. */
static bool is_refusal(struct peer *peer, const struct credentials *credentials,
                       const uint8_t *frame, size_t bytes, struct introduction *theirs)
{
    for (uint32_t i = 0; i < credentials->keys_count && bytes == REFUSAL_BYTES; i++)
        if (refusal_consume(&credentials->keys[i].gate, frame,
                            peer->keys->handshake.ephemeral_public, theirs) == OK) {
            peer->refusal_key = i;
            return true;
        }
    return false;
}

/* On the dialling side: handles message 2 or a refusal. Returns MISSING if the list of parts of the
 * acceptor's model follows. */
static enum error on_answer(struct peer *peer, const struct credentials *credentials,
                            const uint8_t *frame, size_t bytes, struct problem *problem)
{
    struct introduction theirs;
    if (is_refusal(peer, credentials, frame, bytes, &theirs)) {
        peer->theirs = theirs;
        if (introduction_compare(&credentials->ours, &theirs, problem) == OK)
            return problem_set(problem, MISMATCH,
                               "it refused this node, but both describe the same model");
        const bool parts_follow = credentials->parts && theirs.offers & OFFERS_PARTS;
        return parts_follow ? MISSING : MISMATCH;
    }
    uint8_t payload[HANDSHAKE_PAYLOAD_MAX];
    size_t payload_bytes, out_bytes;
    if (handshake_consume(&peer->keys->handshake, frame, bytes, payload, &payload_bytes) != OK ||
        learn_protocol(peer, &credentials->ours, payload, &payload_bytes) != OK ||
        learn_identity(peer, payload, payload_bytes) != OK ||
        handshake_create(&peer->keys->handshake, credentials->identity->certificate,
                         CERTIFICATE_BYTES, frame_content(peer), &out_bytes) != OK)
        return problem_set(
            problem, FORGED,
            "its handshake reply is invalid: not a hearsay node, or the network changes bytes");
    send_frame(peer, out_bytes);
    begin_session(peer);
    return OK;
}

/* On the dialling side: handles the list of parts of the acceptor's model. Sets *problem to the
 * first part that differs, or to the reason of the refusal. */
static enum error on_parts(const struct peer *peer, const struct credentials *credentials,
                           uint8_t *frame, size_t bytes, struct problem *problem)
{
    char difference[MODEL_PARTS_DIFFERENCE];
    uint8_t *parts = frame + WIDE_NONCE_BYTES; /* the parts are decrypted in place */
    if (peer->refusal_key < credentials->keys_count &&
        parts_consume(&credentials->keys[peer->refusal_key].gate, frame, bytes,
                      peer->keys->handshake.ephemeral_public, parts) == OK &&
        model_parts_difference(difference, parts, bytes - PARTS_ADD, credentials->parts))
        return problem_set(problem, MISMATCH, "%s", difference);
    return problem_set(problem, MISMATCH, "%s", peer->why);
}

/* On the accepting side: handles message 3. */
static enum error on_proof(struct peer *peer, const uint8_t *frame, size_t bytes,
                           struct problem *problem)
{
    uint8_t payload[HANDSHAKE_PAYLOAD_MAX];
    size_t payload_bytes;
    if (handshake_consume(&peer->keys->handshake, frame, bytes, payload, &payload_bytes) != OK ||
        learn_identity(peer, payload, payload_bytes) != OK)
        return problem_set(problem, FORGED, "its last handshake message is invalid");
    begin_session(peer);
    return OK;
}

static enum peer_event on_greeting_frame(struct peer *peer, const struct credentials *credentials,
                                         uint64_t now_ns, uint8_t *frame, size_t bytes,
                                         struct problem *problem)
{
    enum error error;
    switch (peer->state) {
    case PEER_GREETED:
        error = on_greeting(peer, credentials, frame, bytes, problem);
        break;
    case PEER_ANSWERED:
        error = on_answer(peer, credentials, frame, bytes, problem);
        break;
    case PEER_PROVED:
        error = on_proof(peer, frame, bytes, problem);
        break;
    case PEER_TURNED_AWAY:
        error = on_parts(peer, credentials, frame, bytes, problem);
        break;
    default: /* peer_take reads frames only in these four states */
        CHECK(false);
    }
    peer->differs = error == MISMATCH || error == MISSING;
    if (error == MISSING) {
        (void)snprintf(peer->why, sizeof peer->why, "%.255s", problem->text);
        peer_move(peer, PEER_TURNED_AWAY, now_ns);
        return PEER_NOTHING;
    }
    if (error != OK)
        return PEER_REFUSED;
    const bool greeted = peer->state == PEER_GREETED;
    peer_move(peer, greeted ? PEER_PROVED : PEER_MEETING, now_ns);
    return greeted ? PEER_NOTHING : PEER_MET;
}

static enum peer_event on_frame(struct peer *peer, const struct credentials *credentials,
                                uint64_t now_ns, size_t content_bytes, struct problem *problem)
{
    uint8_t *frame = peer->in + LENGTH_BYTES;
    peer->heard_ns = peer->framed_ns = now_ns;
    if (peer->state < PEER_MEETING)
        return on_greeting_frame(peer, credentials, now_ns, frame, content_bytes, problem);
    size_t message_bytes;
    if (session_open(&peer->keys->session, frame, content_bytes, &message_bytes) != OK) {
        (void)problem_set(problem, FORGED,
                          "a record failed authentication: the network changes bytes");
        return PEER_REFUSED;
    }
    return PEER_SAID;
}

/* Moves bytes from *data into the buffer `in` until it contains `want` bytes. Returns false if
 * *data has too few. */
static bool fill(struct peer *peer, size_t want, const uint8_t **data, size_t *bytes)
{
    CHECK(want <= FRAME_MAX + LENGTH_BYTES && peer->in_bytes <= FRAME_MAX + LENGTH_BYTES);
    if (peer->in_bytes < want) {
        size_t missing = want - peer->in_bytes;
        size_t moved = size_min(missing, *bytes);
        memcpy(peer->in + peer->in_bytes, *data, moved);
        peer->in_bytes += moved;
        *data += moved;
        *bytes -= moved;
    }
    return peer->in_bytes >= want;
}

enum peer_event peer_take(struct peer *peer, const struct credentials *credentials, uint64_t now_ns,
                          const uint8_t **data, size_t *bytes, struct problem *problem)
{
    if (*bytes > 0 && now_ns - peer->framed_ns < FRAME_NS)
        peer->heard_ns = now_ns;
    enum peer_event event = PEER_NOTHING;
    while (event == PEER_NOTHING) {
        if (peer->state == PEER_CLOSING || peer->state == PEER_DIALLING) {
            *bytes = 0; /* in these states, received bytes are ignored */
            break;
        }
        CHECK(peer->in_used <= peer->in_bytes);
        /* Removes the frame that was handled last, if any. No bytes follow it, since the reader
         * stops at the end of a frame. */
        peer->in_bytes -= peer->in_used;
        peer->in_used = 0;
        if (!fill(peer, LENGTH_BYTES, data, bytes))
            break;
        const size_t limit = peer->state == PEER_TURNED_AWAY ? PARTS_MAX
                             : peer->state < PEER_MEETING    ? GREETING_MAX
                                                             : FRAME_MAX;
        size_t content = 0;
        enum error error = frame_first(peer->in, peer->in_bytes, limit, &content);
        if (error == TOO_BIG) {
            (void)problem_set(problem, TOO_BIG, "a frame has an invalid size: not a hearsay node");
            return PEER_REFUSED;
        }
        if (error == MISSING) {
            const size_t size = LENGTH_BYTES + ((size_t)peer->in[0] << 8 | peer->in[1]);
            if (!fill(peer, size, data, bytes))
                break;
            CHECK(frame_first(peer->in, peer->in_bytes, limit, &content) == OK);
        }
        peer->in_used = peer->in_bytes;
        event = on_frame(peer, credentials, now_ns, content, problem);
    }
    return event;
}

const uint8_t *peer_message(const struct peer *peer, size_t *bytes)
{
    CHECK(peer->in_used > LENGTH_BYTES + TAG_BYTES);
    *bytes = peer->in_used - LENGTH_BYTES - TAG_BYTES;
    return peer->in + LENGTH_BYTES;
}

void peer_wipe_taken(struct peer *peer)
{
    CHECK(peer->in_used <= peer->in_bytes);
    secret_wipe(peer->in, peer->in_used);
}

bool peer_can_say(const struct peer *peer)
{
    return peer->state == PEER_MEETING || peer->state == PEER_OPEN;
}

bool peer_knows(const struct peer *peer, enum message_kind kind)
{
    CHECK(peer_can_say(peer) && peer->protocol != PROTOCOL_PROBE);
    return message_since(kind) <= peer->protocol;
}

/* Returns true for kinds of small control messages, which are sent before other messages. */
static bool is_urgent(enum message_kind kind)
{
    return kind == PING || kind == PONG || kind == ACK || kind == WANT || kind == PRUNE;
}

bool peer_say(struct peer *peer, const struct message *message)
{
    CHECK(peer_knows(peer, message->kind));
    CHECK((message->text.at || !message->text.count) && (message->bulk.at || !message->bulk.count));
    CHECK((message->learned.at || !message->learned.count) &&
          (message->entries.at || !message->entries.count));
    const size_t most = message_capacity(message);
    /* HELLO must be the first message. */
    const bool introduced = peer->keys->session.sent_records > 0;
    struct queue *queue = message->kind == BLOCK                   ? &peer->blocks
                          : introduced && is_urgent(message->kind) ? &peer->urgent
                                                                   : &peer->queue;
    const size_t waiting = queue_bytes(&peer->queue) + queue_bytes(&peer->blocks);
    if (queue != &peer->urgent && waiting + LENGTH_BYTES + most > peer->queue.max)
        return false;
    uint8_t *room = queue_room(queue, most);
    if (!room && queue == &peer->urgent) {
        queue = &peer->queue;
        room = queue_room(queue, most);
    }
    if (!room)
        return false;
    const size_t bytes = message_encode(message, room, most);
    CHECK(bytes <= most && bytes <= MESSAGE_MAX);
    queue_add(queue, bytes);
    return true;
}

/* Returns the queue from which to send next. Blocks of the base are sent last: the receiver cannot
 * use a block before it has the rumors in the block. */
static struct queue *next_queue(struct peer *peer, bool is_open)
{
    if (queue_bytes(&peer->urgent) > 0 || !is_open)
        return &peer->urgent;
    return queue_bytes(&peer->queue) > 0 ? &peer->queue : &peer->blocks;
}

/* Encrypts queued messages into `out` until `out` has `most` bytes or the next message does not
 * fit. */
static void seal_queued(struct peer *peer, size_t most, bool is_open)
{
    CHECK(!peer->sending && peer->out_bytes <= SENDING_BYTES);
    while (peer->out_bytes < most) {
        struct queue *queue = next_queue(peer, is_open);
        size_t bytes;
        const uint8_t *message = queue_first(queue, &bytes);
        if (!message || peer->out_bytes + bytes + RECORD_OVERHEAD > SENDING_BYTES)
            break;
        session_seal(&peer->keys->session, message, bytes, peer->out + peer->out_bytes);
        peer->out_bytes += bytes + RECORD_OVERHEAD;
        peer->blocks_sealed += queue == &peer->blocks ? bytes + RECORD_OVERHEAD : 0;
        if (message_is_secret(message, bytes))
            queue_wipe_first(queue);
        queue_drop_first(queue);
    }
}

bool peer_next_send(struct peer *peer, size_t most, bool is_open, const uint8_t **bytes,
                    size_t *count)
{
    if (peer->sending || peer->state == PEER_FREE)
        return false;
    if (peer_queued_bytes(peer) > 0)
        seal_queued(peer, most, is_open);
    if (peer->out_bytes == 0 || most == 0)
        return false;
    peer->sending = true;
    peer->sending_bytes = size_min(peer->out_bytes, most);
    CHECK(peer->sending_bytes > 0 && peer->sending_bytes <= SENDING_BYTES);
    *bytes = peer->out;
    *count = peer->sending_bytes;
    return true;
}

void peer_on_sent(struct peer *peer)
{
    CHECK(peer->sending && peer->sending_bytes <= peer->out_bytes);
    peer->sending = false;
    peer->out_bytes -= peer->sending_bytes;
    memmove(peer->out, peer->out + peer->sending_bytes, peer->out_bytes);
}

size_t peer_waiting_bytes(const struct peer *peer, bool is_open)
{
    const size_t first = peer->out_bytes + queue_bytes(&peer->urgent);
    const size_t rest = is_open ? queue_bytes(&peer->queue) + queue_bytes(&peer->blocks) : 0;
    return peer->sending ? 0 : first + rest;
}

bool peer_is_flushed(const struct peer *peer)
{
    return !peer->sending && peer->out_bytes == 0 && peer_queued_bytes(peer) == 0;
}

void peer_end(struct peer *peer)
{
    handshake_wipe(&peer->keys->handshake);
    session_wipe(&peer->keys->session);
    struct peer empty = {
        .keys = peer->keys,
        .in = peer->in,
        .out = peer->out,
        .queue = {.at = peer->queue.at, .max = peer->queue.max},
        .urgent = {.at = peer->urgent.at, .max = peer->urgent.max},
        .blocks = {.at = peer->blocks.at, .max = peer->blocks.max},
    };
    *peer = empty;
}
