#include "commands/node_question.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/memory.h"
#include "node/connection/peer.h"
#include "socket/transport.h"
#include "wire/frame.h"
#include "wire/reply.h"

#define SECOND_NS   1000000000ull
#define MS_NS       (SECOND_NS / 1000)
#define CALL_NS     (10 * SECOND_NS)       /* for a connection and a handshake */
#define REPLY_NS    (70 * SECOND_NS)       /* a conversation lasts a minute */
#define PATIENCE_S  300                    /* with a node that is busy */
#define WAIT_MS_MAX (PATIENCE_S * 1000ull) /* of what it is told to wait, after a long answer */
#define AGAIN_NS    SECOND_NS              /* to call again, where there was no room */
#define QUEUE_BYTES (2 * FRAME_MAX)

/* Events since the last call or question. */
enum progress {
    NOTHING_YET,
    REFUSED, /* and `theirs` says what the other is */
    MET,     /* the session stands */
    REPLIED, /* in `reply` */
    ENDED    /* the connection is over; `why` says why */
};

/* The last reply. */
struct reply {
    enum reply_reason reason;
    uint64_t count, wait_ns;
    char about[QUESTION_WORDS_BYTES];
    size_t about_bytes;
    float numbers[NODE_PREDICT_MAX];
    size_t numbers_bytes;
};

struct node_question {
    struct node_question_options options;
    struct transport *transport;
    struct arena arena;             /* of the peer */
    struct peer peer;               /* the conversation */
    struct credentials credentials; /* with the introduction that the node has */
    struct identity identity;
    struct entropy entropy;
    uint8_t swarm_key[KEY_BYTES];
    struct message_reader *reader;
    struct question_shape shape;
    uint32_t most;
    struct introduction theirs; /* as it said when it was knocked at */
    uint64_t dials;             /* so far: numbers the connections */
    uint64_t received;          /* bytes of this connection */
    enum progress progress;
    uint64_t bye; /* reason of a BYE that came; 0: none */
    bool is_late; /* its time was over */
    char why[160];
    char where[ADDRESS_TEXT_BYTES];
    struct reply reply;
};

/* The conversation. */

static void flush(struct node_question *question)
{
    struct peer *peer = &question->peer;
    const uint8_t *bytes;
    size_t count;
    if (peer_next_send(peer, SIZE_MAX, true, &bytes, &count))
        transport_send(question->transport, peer->conn, bytes, count);
}

static void progress(struct node_question *question, enum progress to)
{
    question->progress = to;
    transport_stop(question->transport);
}

static void note_why(struct node_question *question, const char *text, size_t bytes)
{
    const size_t room = sizeof question->why - 1, most = bytes < room ? bytes : room;
    for (size_t i = 0; i < most; i++)
        question->why[i] = text[i] >= ' ' && text[i] < 127 ? text[i] : '?';
    question->why[most] = '\0';
}

static void on_reply(struct node_question *question, const struct message *message)
{
    struct reply *reply = &question->reply;
    const struct message ack = {
        .kind = ACK, .received = question->received, .clock = transport_now_ns() / 1000};
    if (message->reason > REPLY_NONE || message->text.count > sizeof reply->about ||
        message->bulk.count > sizeof reply->numbers) {
        note_why(question, "its answer makes no sense", 25);
        transport_hang_up(question->transport, question->peer.conn);
        return;
    }
    reply->reason = (enum reply_reason)message->reason;
    reply->count = message->count;
    reply->wait_ns = (message->wait < WAIT_MS_MAX ? message->wait : WAIT_MS_MAX) * MS_NS;
    reply->about_bytes = message->text.count;
    reply->numbers_bytes = message->bulk.count;
    if (message->text.count > 0)
        memcpy(reply->about, message->text.at, message->text.count);
    if (message->bulk.count > 0)
        memcpy(reply->numbers, message->bulk.at, message->bulk.count);
    (void)peer_say(&question->peer, &ack); /* or it is soon sent nothing more */
    flush(question);
    progress(question, REPLIED);
}

static void on_message(struct node_question *question)
{
    size_t bytes;
    const uint8_t *at = peer_message(&question->peer, &bytes);
    struct message message;
    if (message_decode(question->reader, at, bytes, &message) != OK)
        return;
    if (message.kind == REPLY)
        on_reply(question, &message);
    if (message.kind == BYE) {
        question->bye = message.reason;
        note_why(question, (const char *)message.text.at, message.text.count);
        transport_hang_up(question->transport, question->peer.conn);
    }
}

static void on_bytes(void *self, uint64_t conn, const uint8_t *bytes, size_t count)
{
    struct node_question *question = self;
    struct problem problem;
    question->received += count;
    while (count > 0 && question->peer.conn == conn)
        switch (peer_take(&question->peer, &question->credentials, transport_now_ns(), &bytes,
                          &count, &problem)) {
        case PEER_MET:
            flush(question);
            progress(question, MET);
            break;
        case PEER_SAID:
            on_message(question);
            break;
        case PEER_REFUSED:
            note_why(question, problem.text, strlen(problem.text));
            question->theirs = question->peer.theirs;
            if (question->peer.differs)
                progress(question, REFUSED);
            transport_hang_up(question->transport, conn);
            return;
        case PEER_NOTHING:
            flush(question);
            return;
        }
}

static void on_connected(void *self, uint64_t conn)
{
    struct node_question *question = self;
    (void)conn;
    peer_on_connected(&question->peer, &question->credentials, 0, transport_now_ns());
    flush(question);
}

static void on_sent(void *self, uint64_t conn)
{
    struct node_question *question = self;
    (void)conn;
    peer_on_sent(&question->peer);
    flush(question);
}

static void on_closed(void *self, uint64_t conn, const char *why)
{
    struct node_question *question = self;
    (void)conn;
    if (!question->why[0])
        note_why(question, why, strlen(why));
    if (!question->why[0] && question->peer.state == PEER_ANSWERED)
        note_why(question, PEER_NO_ANSWER, sizeof PEER_NO_ANSWER - 1);
    peer_end(&question->peer);
    if (question->progress != REFUSED)
        question->progress = ENDED;
    transport_stop(question->transport);
}

static void on_timer(void *self)
{
    struct node_question *question = self;
    question->is_late = true;
    transport_stop(question->transport);
}

static void on_signal(void *self, int number)
{
    (void)self, (void)number;
    exit(1); /* nothing is half done */
}

/* Waits for an event, at most this long. */
static void wait_for(struct node_question *question, uint64_t span_ns)
{
    question->is_late = false;
    transport_set_timer(question->transport, transport_now_ns() + span_ns);
    while (question->progress == NOTHING_YET && !question->is_late)
        transport_run(question->transport);
}

/* Waits as told, otherwise the node closes the connection. */
static void sleep_for(struct node_question *question, uint64_t span_ns)
{
    const enum progress before = question->progress;
    question->is_late = false;
    transport_set_timer(question->transport, transport_now_ns() + span_ns);
    while (question->progress == before && !question->is_late)
        transport_run(question->transport);
}

static void hang_up(struct node_question *question)
{
    if (question->peer.state == PEER_FREE)
        return;
    transport_hang_up(question->transport, question->peer.conn);
    while (question->peer.state != PEER_FREE)
        transport_run(question->transport);
}

static enum error failed(const struct node_question *question, struct problem *problem)
{
    const char *why = question->why[0]    ? question->why
                      : question->is_late ? "it does not answer in time"
                                          : "it closed the connection";
    return problem_set(problem, FAILED, "%s: %s", question->where, why);
}

/* Calling. */

static void call(struct node_question *question, const struct introduction *introduction)
{
    hang_up(question);
    credentials_init(&question->credentials, &question->identity, question->swarm_key, introduction,
                     &question->entropy);
    peer_start(&question->peer, ++question->dials, true, &question->options.address,
               transport_now_ns());
    question->progress = NOTHING_YET;
    question->why[0] = '\0';
    question->bye = 0;
    question->received = 0;
    transport_dial(question->transport, question->peer.conn, &question->options.address, 0);
    wait_for(question, CALL_NS);
}

/* Shows no protocol, and is told what the node is; `ours` is what it lets in. */
static enum error knock(struct node_question *question, struct introduction *ours,
                        struct problem *problem)
{
    const struct introduction none = {.protocol = PROTOCOL_PROBE}, *theirs = &question->theirs;
    struct problem difference;
    call(question, &none);
    if (question->progress != REFUSED)
        return failed(question, problem);
    *ours = *theirs;
    ours->offers = 0;
    introduction_set_versions(ours);
    if (introduction_compare(ours, theirs, &difference) != OK)
        return problem_set(problem, MISMATCH, "%s: %s; use a hearsay of the same", question->where,
                           difference.text);
    if (!(theirs->offers & OFFERS_ANSWERS))
        return problem_set(problem, MISMATCH,
                           "%s: answers no questions: set node.answers = yes there, or ask "
                           "another node",
                           question->where);
    return OK;
}

static enum error meet(struct node_question *question, struct problem *problem)
{
    struct introduction ours;
    const enum error error = knock(question, &ours, problem);
    if (error != OK)
        return error;
    call(question, &ours);
    if (question->progress == MET && !peer_knows(&question->peer, QUESTION))
        return problem_set(problem, MISMATCH, "%s: does not speak the protocol that it has shown",
                           question->where);
    return question->progress == MET ? OK : failed(question, problem);
}

/* Asking. */

/* One question and its reply, in this conversation. ENDED in progress: there is none any more. */
static void say(struct node_question *question, const void *samples, uint32_t count)
{
    const struct message message = {
        .kind = QUESTION,
        .count = count,
        .bulk = {samples, count > 0 ? count * question->shape.bytes : 0}};
    question->progress = NOTHING_YET;
    CHECK(peer_say(&question->peer, &message));
    flush(question);
    wait_for(question, REPLY_NS);
}

/* It is to be called again: the conversation was long enough, or there was no room for one. */
static bool may_return(const struct node_question *question)
{
    return question->progress == ENDED && (question->bye == BYE_RENEW || question->bye == BYE_FULL);
}

/* Asks until there is an answer, patiently. */
static enum error ask(struct node_question *question, const void *samples, uint32_t count,
                      struct problem *problem)
{
    const uint64_t end_ns = transport_now_ns() + PATIENCE_S * SECOND_NS;
    const struct reply *reply = &question->reply;
    while (transport_now_ns() < end_ns) {
        if (question->peer.state != PEER_MEETING) {
            const enum error error = meet(question, problem);
            if (error != OK)
                return error;
        }
        say(question, samples, count);
        if (question->progress == REPLIED && reply->reason == REPLY_DONE)
            return OK;
        if (question->progress != REPLIED && !may_return(question))
            return failed(question, problem);
        sleep_for(question, question->progress == REPLIED ? reply->wait_ns : AGAIN_NS);
    }
    return problem_set(
        problem, FAILED, "%s: %s for %d s; try another node, or later", question->where,
        reply->reason == REPLY_NONE ? "has had no model that can be asked" : "has been busy",
        PATIENCE_S);
}

/* Before the next question. */
static void rest(struct node_question *question)
{
    const uint64_t wait_ns = question->reply.wait_ns;
    question->reply.wait_ns = 0;
    if (wait_ns > 0 && question->peer.state == PEER_MEETING)
        sleep_for(question, wait_ns);
}

enum error node_question_ask(struct node_question *question, const void *samples, uint32_t count,
                             float *numbers, struct problem *problem)
{
    CHECK(count > 0 && count <= question->most);
    rest(question);
    const enum error error = ask(question, samples, count, problem);
    const size_t bytes = count * (size_t)question->shape.outputs * sizeof *numbers;
    if (error != OK)
        return error;
    if (question->reply.count != count || question->reply.numbers_bytes != bytes)
        return problem_set(problem, MALFORMED, "%s: its answer makes no sense", question->where);
    memcpy(numbers, question->reply.numbers, bytes);
    return OK;
}

/* The request form. */
static enum error learn(struct node_question *question, struct problem *problem)
{
    const struct reply *reply = &question->reply;
    enum error error = ask(question, NULL, 0, problem);
    if (error != OK)
        return error;
    if (question_words_read(reply->about, reply->about_bytes, &question->shape) != OK ||
        reply->count == 0 || reply->count > NODE_QUESTION_MAX / question->shape.bytes ||
        reply->count > NODE_PREDICT_MAX / (uint64_t)question->shape.outputs)
        return problem_set(problem, MALFORMED, "%s: its answer makes no sense", question->where);
    question->most = (uint32_t)reply->count;
    return OK;
}

/* The client's identity: from a file, or a new random one. */
static enum error load_keys(struct node_question *question, struct problem *problem)
{
    uint8_t seed[SEED_BYTES];
    entropy_from_system(&question->entropy);
    if (question->options.identity) {
        const enum error error =
            identity_load(&question->identity, question->options.identity, problem);
        if (error != OK)
            return error;
    } else {
        entropy_bytes(&question->entropy, seed, sizeof seed);
        identity_from_seed(&question->identity, seed);
        secret_wipe(seed, sizeof seed);
    }
    return swarm_key_load(question->swarm_key, question->options.swarm_key, problem);
}

enum error node_question_open(struct node_question **made,
                              const struct node_question_options *options, struct problem *problem)
{
    struct node_question *question = *made = memory_new(1, sizeof *question);
    const struct transport_owner owner = {.self = question,
                                          .on_connected = on_connected,
                                          .on_bytes = on_bytes,
                                          .on_sent = on_sent,
                                          .on_closed = on_closed,
                                          .on_timer = on_timer,
                                          .on_signal = on_signal};
    secret_start();
    question->options = *options;
    (void)address_text(&options->address, question->where);
    arena_init(&question->arena, peer_arena_bytes(QUEUE_BYTES) + 4096);
    peer_init(&question->peer, &question->arena, &question->arena, QUEUE_BYTES);
    question->reader = message_reader_new();
    question->transport = transport_new(&owner);
    const enum error error = load_keys(question, problem);
    return error == OK ? learn(question, problem) : error;
}

void node_question_close(struct node_question *question)
{
    if (question->peer.state == PEER_MEETING) {
        (void)peer_say(&question->peer, &(struct message){.kind = BYE, .reason = BYE_LEAVING});
        flush(question);
    }
    hang_up(question);
    transport_free(question->transport);
    message_reader_free(question->reader);
    arena_release(&question->arena);
    secret_wipe(question, sizeof *question);
    free(question);
}

const struct question_shape *node_question_shape(const struct node_question *question)
{
    return &question->shape;
}

uint32_t node_question_most(const struct node_question *question)
{
    return question->most;
}
