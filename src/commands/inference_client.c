#include "commands/inference_client.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/memory.h"
#include "base/time_units.h"
#include "frame/frame.h"
#include "node/connection/peer.h"
#include "socket/transport.h"
#include "wire/reply.h"

#define CALL_NS (10 * SECOND_NS) /* time limit of connecting and the handshake */
/* Time limit of a reply. It is longer than a minute, after which a node closes a connection. */
#define REPLY_NS   (70 * SECOND_NS)
#define PATIENCE_S 300 /* seconds for which a request to a busy node is repeated */
/* Longest pause that a node's reply may ask for; a longer one is shortened to it. */
#define WAIT_MS_MAX   (PATIENCE_S * 1000ull)
#define AGAIN_NS      SECOND_NS /* pause before dialling again a node that had no free slot */
#define QUEUE_BYTES   (2 * FRAME_MAX)
#define INVALID_REPLY "its reply is invalid; ask another node"

/* Last event of the connection since the last dial or request. */
enum progress {
    NOTHING_YET,
    REFUSED, /* the node refused; its introduction is in `theirs` */
    MET,     /* the handshake is complete */
    REPLIED, /* a reply arrived and is in `reply` */
    ENDED    /* the connection ended for the reason in `why` */
};

/* Last reply of the node. */
struct reply {
    enum reply_reason reason;
    uint64_t count, wait_ns;
    char about[INFERENCE_WORDS_BYTES];
    size_t about_bytes;
    float numbers[NODE_PREDICT_MAX];
    size_t numbers_bytes;
};

struct inference_client {
    struct inference_client_options options;
    struct transport *transport;
    struct arena arena;
    struct peer peer;
    struct credentials credentials; /* our keys with the introduction that the node expects */
    struct identity identity;
    struct entropy entropy;
    uint8_t swarm_key[KEY_BYTES];
    struct message_reader *reader;
    struct inference_shape shape;
    uint32_t most;
    /* The node's introduction, which its refusal of the version probe contained. */
    struct introduction theirs;
    uint64_t dials;    /* dials so far; also numbers the connections */
    uint64_t received; /* bytes received on this connection */
    enum progress progress;
    uint64_t bye; /* reason of a received BYE; 0 = none */
    bool is_late; /* the time limit of the current wait has passed */
    char why[160];
    char where[ADDRESS_TEXT_BYTES];
    struct reply reply;
};

static void flush(struct inference_client *client)
{
    struct peer *peer = &client->peer;
    const uint8_t *bytes;
    size_t count;
    if (peer_next_send(peer, SIZE_MAX, true, &bytes, &count))
        transport_send(client->transport, peer->conn, bytes, count);
}

static void progress(struct inference_client *client, enum progress to)
{
    client->progress = to;
    transport_stop(client->transport);
}

static void note_why(struct inference_client *client, const char *text, size_t bytes)
{
    const size_t room = sizeof client->why - 1, most = size_min(bytes, room);
    for (size_t i = 0; i < most; i++)
        client->why[i] = text[i] >= ' ' && text[i] < 127 ? text[i] : '?';
    client->why[most] = '\0';
}

static void on_reply(struct inference_client *client, const struct message *message)
{
    struct reply *reply = &client->reply;
    const struct message ack = {
        .kind = ACK, .received = client->received, .clock = monotonic_ns() / 1000};
    if (message->reason > REPLY_NONE || message->text.count > sizeof reply->about ||
        message->bulk.count > sizeof reply->numbers) {
        note_why(client, INVALID_REPLY, sizeof INVALID_REPLY - 1);
        transport_hang_up(client->transport, client->peer.conn);
        return;
    }
    reply->reason = (enum reply_reason)message->reason;
    reply->count = message->count;
    reply->wait_ns = u64_min(message->wait, WAIT_MS_MAX) * MS_NS;
    reply->about_bytes = message->text.count;
    reply->numbers_bytes = message->bulk.count;
    if (message->text.count > 0)
        memcpy(reply->about, message->text.at, message->text.count);
    if (message->bulk.count > 0)
        memcpy(reply->numbers, message->bulk.at, message->bulk.count);
    (void)peer_say(&client->peer, &ack); /* without ACKs the node soon stops sending */
    flush(client);
    progress(client, REPLIED);
}

static void on_message(struct inference_client *client)
{
    size_t bytes;
    const uint8_t *at = peer_message(&client->peer, &bytes);
    struct message message;
    if (message_decode(client->reader, at, bytes, &message) != OK)
        return;
    if (message.kind == REPLY)
        on_reply(client, &message);
    if (message.kind == BYE) {
        client->bye = message.reason;
        note_why(client, (const char *)message.text.at, message.text.count);
        transport_hang_up(client->transport, client->peer.conn);
    }
}

static void on_bytes(void *self, uint64_t conn, const uint8_t *bytes, size_t count)
{
    struct inference_client *client = self;
    struct problem problem;
    client->received += count;
    while (count > 0 && client->peer.conn == conn)
        switch (peer_take(&client->peer, &client->credentials, monotonic_ns(), &bytes, &count,
                          &problem)) {
        case PEER_MET:
            flush(client);
            progress(client, MET);
            break;
        case PEER_SAID:
            on_message(client);
            break;
        case PEER_REFUSED:
            note_why(client, problem.text, strlen(problem.text));
            client->theirs = client->peer.theirs;
            if (client->peer.differs)
                progress(client, REFUSED);
            transport_hang_up(client->transport, conn);
            return;
        case PEER_NOTHING:
            flush(client);
            return;
        }
}

static void on_connected(void *self, uint64_t conn)
{
    struct inference_client *client = self;
    (void)conn;
    peer_on_connected(&client->peer, &client->credentials, 0, monotonic_ns());
    flush(client);
}

static void on_sent(void *self, uint64_t conn)
{
    struct inference_client *client = self;
    (void)conn;
    peer_on_sent(&client->peer);
    flush(client);
}

static void on_closed(void *self, uint64_t conn, const char *why)
{
    struct inference_client *client = self;
    (void)conn;
    if (!client->why[0])
        note_why(client, why, strlen(why));
    if (!client->why[0] && client->peer.state == PEER_ANSWERED)
        note_why(client, PEER_NO_ANSWER, sizeof PEER_NO_ANSWER - 1);
    peer_end(&client->peer);
    if (client->progress != REFUSED)
        client->progress = ENDED;
    transport_stop(client->transport);
}

static void on_timer(void *self)
{
    struct inference_client *client = self;
    client->is_late = true;
    transport_stop(client->transport);
}

static void on_signal(void *self, int number)
{
    (void)self, (void)number;
    exit(1); /* the client writes no file that could be left incomplete */
}

/* Runs the transport until an event or for at most span_ns. */
static void wait_for(struct inference_client *client, uint64_t span_ns)
{
    client->is_late = false;
    transport_set_timer(client->transport, monotonic_ns() + span_ns);
    while (client->progress == NOTHING_YET && !client->is_late)
        transport_run(client->transport);
}

/* Waits for span_ns or until the connection ends. Runs the transport meanwhile, which shows whether
 * the node closes the connection. */
static void sleep_for(struct inference_client *client, uint64_t span_ns)
{
    const enum progress before = client->progress;
    client->is_late = false;
    transport_set_timer(client->transport, monotonic_ns() + span_ns);
    while (client->progress == before && !client->is_late)
        transport_run(client->transport);
}

static void hang_up(struct inference_client *client)
{
    if (client->peer.state == PEER_FREE)
        return;
    transport_hang_up(client->transport, client->peer.conn);
    while (client->peer.state != PEER_FREE)
        transport_run(client->transport);
}

static enum error failed(const struct inference_client *client, struct problem *problem)
{
    const char *why = client->why[0]    ? client->why
                      : client->is_late ? "it did not answer in time"
                                        : "it closed the connection";
    return problem_set(problem, FAILED, "%s: %s", client->where, why);
}

/* Dials the node with this introduction. Waits until the node has accepted or refused it, or the
 * connection has ended, for at most CALL_NS. */
static void call(struct inference_client *client, const struct introduction *introduction)
{
    hang_up(client);
    credentials_init(&client->credentials, &client->identity, client->swarm_key, introduction,
                     &client->entropy);
    peer_start(&client->peer, ++client->dials, true, &client->options.address, monotonic_ns());
    client->progress = NOTHING_YET;
    client->why[0] = '\0';
    client->bye = 0;
    client->received = 0;
    transport_dial(client->transport, client->peer.conn, &client->options.address, 0);
    wait_for(client, CALL_NS);
}

/* Sends a version probe. The node refuses it and thereby shows its introduction. Sets *ours to the
 * introduction that the node will accept. */
static enum error probe(struct inference_client *client, struct introduction *ours,
                        struct problem *problem)
{
    const struct introduction none = {.protocol = PROTOCOL_PROBE}, *theirs = &client->theirs;
    struct problem difference;
    call(client, &none);
    if (client->progress != REFUSED)
        return failed(client, problem);
    *ours = *theirs;
    ours->offers = 0;
    introduction_set_versions(ours);
    if (introduction_compare(ours, theirs, &difference) != OK)
        return problem_set(problem, MISMATCH, "%s: %s; use the same version of hearsay",
                           client->where, difference.text);
    if (!(theirs->offers & OFFERS_ANSWERS))
        return problem_set(problem, MISMATCH,
                           "%s: the node does not serve inference; set node.answers = yes there, "
                           "or ask another node",
                           client->where);
    return OK;
}

static enum error meet(struct inference_client *client, struct problem *problem)
{
    struct introduction ours;
    const enum error error = probe(client, &ours, problem);
    if (error != OK)
        return error;
    call(client, &ours);
    if (client->progress == MET && !peer_knows(&client->peer, INFERENCE))
        return problem_set(problem, MISMATCH,
                           "%s: the node does not support the protocol version that it announced; "
                           "ask another node",
                           client->where);
    return client->progress == MET ? OK : failed(client, problem);
}

/* Sends one request on the open connection and waits for the reply. Afterwards `progress` is
 * REPLIED, ENDED, or NOTHING_YET after a timeout. */
static void say(struct inference_client *client, const void *samples, uint32_t count)
{
    const struct message message = {.kind = INFERENCE,
                                    .count = count,
                                    .bulk = {samples, count > 0 ? count * client->shape.bytes : 0}};
    client->progress = NOTHING_YET;
    CHECK(peer_say(&client->peer, &message));
    flush(client);
    wait_for(client, REPLY_NS);
}

/* Returns true if the client may dial again: the session reached its time or request limit, or the
 * node had no free slot. */
static bool may_return(const struct inference_client *client)
{
    return client->progress == ENDED && (client->bye == BYE_RENEW || client->bye == BYE_FULL);
}

/* Repeats the request until the reply is REPLY_DONE, an error occurs or PATIENCE_S have passed. */
static enum error ask(struct inference_client *client, const void *samples, uint32_t count,
                      struct problem *problem)
{
    const uint64_t end_ns = monotonic_ns() + PATIENCE_S * SECOND_NS;
    const struct reply *reply = &client->reply;
    while (monotonic_ns() < end_ns) {
        if (client->peer.state != PEER_MEETING) {
            const enum error error = meet(client, problem);
            if (error != OK)
                return error;
        }
        say(client, samples, count);
        if (client->progress == REPLIED && reply->reason == REPLY_DONE)
            return OK;
        if (client->progress != REPLIED && !may_return(client))
            return failed(client, problem);
        sleep_for(client, client->progress == REPLIED ? reply->wait_ns : AGAIN_NS);
    }
    return problem_set(problem, FAILED, "%s: %s for %d s; try another node, or later",
                       client->where,
                       reply->reason == REPLY_NONE ? "the node has had no model to serve"
                                                   : "the node has been busy",
                       PATIENCE_S);
}

/* Waits, if the connection is open, as long as the last reply demands before the next request. */
static void rest(struct inference_client *client)
{
    const uint64_t wait_ns = client->reply.wait_ns;
    client->reply.wait_ns = 0;
    if (wait_ns > 0 && client->peer.state == PEER_MEETING)
        sleep_for(client, wait_ns);
}

enum error inference_client_request(struct inference_client *client, const void *samples,
                                    uint32_t count, float *numbers, struct problem *problem)
{
    CHECK(count > 0 && count <= client->most);
    rest(client);
    const enum error error = ask(client, samples, count, problem);
    const size_t bytes = count * (size_t)client->shape.outputs * sizeof *numbers;
    if (error != OK)
        return error;
    if (client->reply.count != count || client->reply.numbers_bytes != bytes)
        return problem_set(problem, MALFORMED, "%s: " INVALID_REPLY, client->where);
    memcpy(numbers, client->reply.numbers, bytes);
    return OK;
}

/* Requests the format of samples and the maximum number of samples per request. */
static enum error learn(struct inference_client *client, struct problem *problem)
{
    const struct reply *reply = &client->reply;
    enum error error = ask(client, NULL, 0, problem);
    if (error != OK)
        return error;
    if (inference_words_read(reply->about, reply->about_bytes, &client->shape) != OK ||
        reply->count == 0 || reply->count > NODE_INFERENCE_MAX / client->shape.bytes ||
        reply->count > NODE_PREDICT_MAX / (uint64_t)client->shape.outputs)
        return problem_set(problem, MALFORMED, "%s: " INVALID_REPLY, client->where);
    client->most = (uint32_t)reply->count;
    return OK;
}

/* Loads the swarm key and the client's identity, from a file or as a new random one. */
static enum error load_keys(struct inference_client *client, struct problem *problem)
{
    uint8_t seed[SEED_BYTES];
    entropy_from_system(&client->entropy);
    if (client->options.identity) {
        const enum error error =
            identity_load(&client->identity, client->options.identity, problem);
        if (error != OK)
            return error;
    } else {
        entropy_bytes(&client->entropy, seed, sizeof seed);
        identity_from_seed(&client->identity, seed);
        secret_wipe(seed, sizeof seed);
    }
    return swarm_key_load(client->swarm_key, client->options.swarm_key, problem);
}

enum error inference_client_open(struct inference_client **made,
                                 const struct inference_client_options *options,
                                 struct problem *problem)
{
    struct inference_client *client = *made = memory_new(1, sizeof *client);
    const struct transport_owner owner = {.self = client,
                                          .on_connected = on_connected,
                                          .on_bytes = on_bytes,
                                          .on_sent = on_sent,
                                          .on_closed = on_closed,
                                          .on_timer = on_timer,
                                          .on_signal = on_signal};
    secret_start();
    client->options = *options;
    (void)address_text(&options->address, client->where);
    arena_init(&client->arena, peer_arena_bytes(QUEUE_BYTES) + 4096);
    peer_init(&client->peer, &client->arena, &client->arena, QUEUE_BYTES);
    client->reader = message_reader_new();
    client->transport = transport_new(&owner);
    const enum error error = load_keys(client, problem);
    return error == OK ? learn(client, problem) : error;
}

void inference_client_close(struct inference_client *client)
{
    if (client->peer.state == PEER_MEETING) {
        (void)peer_say(&client->peer, &(struct message){.kind = BYE, .reason = BYE_LEAVING});
        flush(client);
    }
    hang_up(client);
    transport_free(client->transport);
    message_reader_free(client->reader);
    arena_release(&client->arena);
    secret_wipe(client, sizeof *client);
    free(client);
}

const struct inference_shape *inference_client_shape(const struct inference_client *client)
{
    return &client->shape;
}

uint32_t inference_client_samples_max(const struct inference_client *client)
{
    return client->most;
}
