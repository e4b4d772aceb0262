#include "node/inference.h"

#include <string.h>

#include "node/lifecycle/lifecycle.h"
#include "node/orders/admitted.h"
#include "node/orders/verdict.h"
#include "wire/reply.h"

#define CLIENTS_MAX     4
#define CLIENTS_PER_NET 2
#define ASKS_MAX        256 /* maximum requests in one conversation */
/* Rest of the learner after a request, as a multiple of the time that the request took. */
#define REST        49
#define REST_NS_MIN (10 * MS_NS)     /* minimum rest of the learner after a request */
#define BUSY_NS     (100 * MS_NS)    /* least wait that a client is told during another request */
#define NONE_NS     (10 * SECOND_NS) /* wait that a client is told while there is no model */

enum request_state {
    REQUEST_NONE,
    REQUEST_WAITS, /* the next PREDICT action will be for the request */
    REQUEST_OUT    /* the learner is working on the request */
};

struct client {
    uint64_t again_ns; /* earliest time at which the client may send its next request */
    uint32_t asks;
};

struct inference {
    enum request_state state; /* state of the request; there is one at a time */
    uint64_t conn;            /* conn of the client that sent the request */
    uint32_t count;
    uint64_t next_ns; /* earliest time at which the learner takes another request */
    uint8_t *samples; /* [NODE_INFERENCE_MAX] samples of the request; NULL = inference is off */
    struct client *clients; /* [peers_max] state of each client, by slot */
};

static bool answers(const struct node_options *options)
{
    return options->limits.answers.samples_max > 0;
}

size_t inference_arena_bytes(const struct node_options *options)
{
    return sizeof(struct inference) + options->limits.peers_max * sizeof(struct client) +
           (answers(options) ? NODE_INFERENCE_MAX : 0) + 3 * 64;
}

struct inference *inference_new(struct arena *arena, const struct node_options *options)
{
    const struct inference_form *form = &options->limits.answers;
    struct inference *inference = arena_alloc(arena, 1, sizeof *inference);
    inference->clients = arena_alloc(arena, options->limits.peers_max, sizeof *inference->clients);
    if (!answers(options))
        return inference;
    CHECK(form->outputs > 0 && form->samples_max <= NODE_PREDICT_MAX / form->outputs);
    CHECK(form->sample_bytes > 0 && form->samples_max <= NODE_INFERENCE_MAX / form->sample_bytes);
    inference->samples = arena_alloc(arena, NODE_INFERENCE_MAX, 1);
    return inference;
}

static struct client *client_of(struct node *node, const struct peer *peer)
{
    return &node->inference->clients[connection_slot(node, peer)];
}

/* Returns true if the limits of clients, in total and per network, permit this client. */
static bool has_room(const struct node *node, const struct peer *peer)
{
    const uint64_t network = address_network(&peer->address);
    uint32_t clients = 0, of_network = 0;
    for (uint32_t i = 0; i < node->options.limits.peers_max; i++) {
        const struct peer *other = connection_at(node, i);
        if (!other->asks || other->state != PEER_MEETING)
            continue;
        clients++;
        of_network += address_network(&other->address) == network;
    }
    CHECK(clients <= CLIENTS_MAX && of_network <= clients);
    return clients < CLIENTS_MAX && of_network < CLIENTS_PER_NET;
}

static bool let_in(struct node *node, const struct peer *peer)
{
    const char *reason = verdict_reason(node, peer->id);
    if (reason)
        connection_hang_up(node, peer, BYE_EXPELLED, reason);
    else if (!admitted_may_be(node, peer->id))
        connection_hang_up(node, peer, BYE_NOT_ADMITTED, admitted_refusal(node));
    else if (!has_room(node, peer))
        connection_hang_up(node, peer, BYE_FULL, "too many clients; try again later");
    else {
        *client_of(node, peer) = (struct client){.again_ns = node->now_ns};
        connection_set_asking(node, peer);
    }
    return peer->state == PEER_MEETING;
}

/* The following functions reply to clients. */

/* Sends a reply that tells the client to wait for wait_ns. The client loses its connection only
 * if its next request comes before half of that time, because its clock may run faster. */
static void reply(struct node *node, const struct peer *peer, const struct message *what,
                  uint64_t wait_ns)
{
    struct message message = *what;
    message.kind = REPLY;
    message.wait = (wait_ns + MS_NS - 1) / MS_NS;
    client_of(node, peer)->again_ns = node->now_ns + wait_ns / 2;
    if (!connection_say(node, peer, &message))
        connection_hang_up(node, peer, BYE_SILENT, "does not read its replies");
}

static void say_about(struct node *node, const struct peer *peer)
{
    const struct inference_form *form = &node->options.limits.answers;
    const struct message about = {
        .reason = REPLY_DONE,
        .count = form->samples_max,
        .text = {(const uint8_t *)form->about, strlen(form->about)},
    };
    reply(node, peer, &about, 0);
}

/* Returns the wait in ns to tell a client; 0 = the learner takes a request now. */
static uint64_t busy_ns(const struct node *node)
{
    const struct inference *inference = node->inference;
    const uint64_t rest_ns =
        inference->next_ns > node->now_ns ? inference->next_ns - node->now_ns : 0;
    return inference->state == REQUEST_NONE || rest_ns > BUSY_NS ? rest_ns : BUSY_NS;
}

static void take(struct node *node, const struct peer *peer, const struct message *ask)
{
    struct inference *inference = node->inference;
    CHECK(inference->state == REQUEST_NONE && ask->bulk.count <= NODE_INFERENCE_MAX);
    inference->state = REQUEST_WAITS;
    inference->conn = peer->conn;
    inference->count = (uint32_t)ask->count;
    memcpy(inference->samples, ask->bulk.at, ask->bulk.count);
}

static void answer(struct node *node, const struct peer *peer, const struct message *ask)
{
    const bool has_model = base_is_whole(node) && leaving_stage(node) == STAGE_RUNNING;
    const uint64_t wait_ns = busy_ns(node);
    if (ask->count == 0)
        say_about(node, peer);
    else if (!has_model)
        reply(node, peer, &(struct message){.reason = REPLY_NONE}, NONE_NS);
    else if (wait_ns > 0)
        reply(node, peer, &(struct message){.reason = REPLY_BUSY}, wait_ns);
    else
        take(node, peer, ask);
}

static bool is_request(const struct node *node, const struct message *ask)
{
    const struct inference_form *form = &node->options.limits.answers;
    return ask->count <= form->samples_max && ask->bulk.count == ask->count * form->sample_bytes;
}

void inference_on_request(struct node *node, const struct peer *peer, const struct message *ask)
{
    CHECK(peer->state == PEER_MEETING && ask->kind == INFERENCE);
    if (!answers(&node->options) || peer->dialled) {
        connection_hang_up(node, peer, BYE_BROKEN,
                           "this node answers no inference requests; set node.answers");
        return;
    }
    if (!peer->asks && !let_in(node, peer))
        return;
    struct client *client = client_of(node, peer);
    /* true = the learner still has the client's previous request */
    const bool has_one =
        node->inference->state != REQUEST_NONE && node->inference->conn == peer->conn;
    if (!is_request(node, ask))
        connection_hang_up(node, peer, BYE_BROKEN, "the request does not fit this node's model");
    else if (has_one || node->now_ns < client->again_ns)
        connection_hang_up(node, peer, BYE_BROKEN, "sent a request too soon");
    else if (client->asks++ == ASKS_MAX)
        connection_hang_up(node, peer, BYE_RENEW,
                           "the client's session has reached its request limit");
    else
        answer(node, peer, ask);
}

bool inference_next(struct node *node, struct action *action)
{
    struct inference *inference = node->inference;
    if (inference->state != REQUEST_WAITS)
        return false;
    inference->state = REQUEST_OUT;
    *action = (struct action){.kind = ACTION_PREDICT,
                              .bytes = inference->samples,
                              .count = inference->count * node->options.limits.answers.sample_bytes,
                              .entries = inference->count};
    CHECK(action->count > 0 && action->count <= NODE_INFERENCE_MAX);
    return true;
}

void node_on_predicted(struct node *node, uint64_t now_ns, const float *numbers, uint64_t took_ns)
{
    struct inference *inference = node->inference;
    CHECK(inference->state == REQUEST_OUT && now_ns >= node->now_ns);
    node->now_ns = now_ns;
    const uint64_t rest_ns = took_ns * REST;
    inference->state = REQUEST_NONE;
    inference->next_ns = now_ns + u64_max(rest_ns, REST_NS_MIN);
    const struct peer *peer = connection_find(node, inference->conn);
    if (!peer || peer->state != PEER_MEETING)
        return; /* the client has disconnected */
    const size_t bytes = inference->count * node->options.limits.answers.outputs * sizeof *numbers;
    const struct message said = {
        .reason = REPLY_DONE, .count = inference->count, .bulk = {(const uint8_t *)numbers, bytes}};
    reply(node, peer, &said, inference->next_ns - now_ns);
}
