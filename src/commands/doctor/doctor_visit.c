#include "commands/doctor/doctor_visit.h"

#include <stdio.h>
#include <string.h>

#include "base/min_max.h"

#define ANSWER_NS (5000 * MS_NS)
/* Time limit of all visits together, enough for a slow dial and a handshake. */
#define VISIT_NS (30000 * MS_NS)
/* Time limit for the peer to acknowledge the large goodbye, or to send its settings. */
#define ARRIVAL_NS  (3000 * MS_NS)
#define LARGE_BYTES 8192 /* bytes added to the first goodbye: more than one Ethernet packet */
#define QUEUE_BYTES (2 * LARGE_BYTES)
/* Number of the connection on which settings are compared. The first connection only tests the
 * path. */
#define SETTINGS_ROUND 2

static void begin(struct round *round, struct visit *visit)
{
    const uint64_t now_ns = monotonic_ns();
    const uint64_t conn = ++round->dials << 32 | (uint64_t)(visit - round->visits);
    peer_start(&visit->peer, conn, true, &visit->address, now_ns);
    /* No earlier deadline: the transport has its own time limit for a dial. */
    visit->deadline_ns = round->end_ns;
    visit->is_connected = visit->late = visit->awaits_settings = false;
    transport_dial(round->transport, conn, &visit->address, 0);
}

static struct visit *visit_at(struct round *round, uint64_t conn)
{
    struct visit *visit = &round->visits[(uint32_t)conn];
    return visit->peer.state != PEER_FREE && visit->peer.conn == conn ? visit : NULL;
}

static void flush(struct round *round, struct visit *visit)
{
    const uint8_t *bytes;
    size_t count;
    if (peer_next_send(&visit->peer, SIZE_MAX, true, &bytes, &count))
        transport_send(round->transport, visit->peer.conn, bytes, count);
    else if (visit->peer.state == PEER_MEETING && peer_is_flushed(&visit->peer) &&
             visit->rounds > 1 && /* the peer closes the first connection */
             !visit->awaits_settings)
        transport_hang_up(round->transport, visit->peer.conn);
}

static void set_timer(struct round *round)
{
    uint64_t next_ns = round->end_ns;
    for (uint32_t i = 0; i < round->count; i++)
        if (!round->visits[i].is_over && !round->visits[i].late &&
            round->visits[i].deadline_ns < next_ns)
            next_ns = round->visits[i].deadline_ns;
    transport_set_timer(round->transport, next_ns);
}

static void on_connected(void *self, uint64_t conn)
{
    struct round *round = self;
    struct visit *visit = visit_at(round, conn);
    const uint64_t now_ns = monotonic_ns();
    visit->is_connected = true;
    struct transport_reached reached = {.connect_ns = 0};
    (void)transport_reached(round->transport, conn, &reached);
    if (visit->rounds == 0) {
        visit->reached = reached.address;
        memcpy(visit->tried, reached.tried, sizeof visit->tried);
    }
    visit->trip_ns[visit->rounds++] = reached.connect_ns;
    visit->deadline_ns = now_ns + ANSWER_NS;
    if (!round->can_greet) {
        transport_hang_up(round->transport, conn);
        return;
    }
    peer_on_connected(&visit->peer, &visit->credentials, 0, now_ns);
    flush(round, visit);
    set_timer(round);
}

/* Sends a BYE with a reason after which the peer keeps no note about this node. On the first
 * connection the BYE is large, to see whether full-size packets arrive. The peer ignores the added
 * bytes, since it reads them only with the reasons FULL and IDENTITY_TAKEN. */
static void say_goodbye(struct visit *visit)
{
    static const char why[] = "hearsay doctor only checked whether it is accepted";
    static const uint8_t large[LARGE_BYTES];
    struct message bye = {
        .kind = BYE, .reason = BYE_DUPLICATE, .text = {(const uint8_t *)why, sizeof why - 1}};
    if (visit->rounds == 1)
        bye.bulk = (struct bytes){large, sizeof large};
    CHECK(peer_say(&visit->peer, &bye));
}

/* Sends our settings and waits for the peer's. A peer of an older protocol would answer with BYE,
 * so it gets no settings. */
static void show_settings(struct round *round, struct visit *visit)
{
    const uint8_t *text = (const uint8_t *)round->settings;
    const struct message message = {.kind = SETTINGS, .text = {text, strlen(round->settings)}};
    visit->awaits_settings = true;
    CHECK(peer_say(&visit->peer, &message));
}

/* Ends a visit to a peer that has proved its identity but does not accept this node as a member.
 * Characters of its reason that cannot be printed become '?'. */
static void on_refusal(struct round *round, struct visit *visit, const struct message *bye)
{
    const char *remedy = bye->reason == BYE_EXPELLED
                             ? "this node is expelled"
                             : "have the id of this node listed or admitted";
    const int used = snprintf(visit->why, sizeof visit->why, "%s: ", remedy);
    char *text = visit->why + used;
    const size_t most = size_min(sizeof visit->why - (size_t)used - 1, bye->text.count);
    for (size_t i = 0; i < most; i++)
        text[i] = bye->text.at[i] >= ' ' && bye->text.at[i] < 127 ? (char)bye->text.at[i] : '?';
    text[most] = '\0';
    transport_hang_up(round->transport, visit->peer.conn);
}

static void on_message(struct round *round, struct visit *visit)
{
    struct message message;
    size_t bytes;
    const uint8_t *said = peer_message(&visit->peer, &bytes);
    if (!visit->awaits_settings || message_decode(round->reader, said, bytes, &message) != OK)
        return;
    if (message.kind == BYE &&
        (message.reason == BYE_EXPELLED || message.reason == BYE_NOT_ADMITTED))
        on_refusal(round, visit, &message);
    if (message.kind != SETTINGS)
        return;
    visit->awaits_settings = false;
    /* An invalid settings text is treated as if the peer had sent none. A node would refuse this
     * peer with a message. */
    if (settings_compare(round->settings, &message.text, &visit->difference) != OK)
        visit->difference = (struct settings_difference){.other = ""};
    say_goodbye(visit);
    flush(round, visit);
}

/* Returns true if the peer refused only the model, and either model is that of a program, which
 * this command cannot know. problem: the peer's difference from this node. */
static bool is_incomparable(const struct round *round, const struct visit *visit,
                            const struct problem *problem)
{
    const struct introduction *ours = &visit->credentials.ours, *theirs = &visit->peer.theirs;
    return memcmp(ours->swarm, theirs->swarm, sizeof ours->swarm) == 0 &&
           introduction_common(ours, theirs) != PROTOCOL_PROBE &&
           (round->is_of_program || strstr(problem->text, "theirs " MODEL_PARTS_RUN));
}

/* Takes the peer's model over for a second dial, unless the difference is an error. Different first
 * weights are no error: when such nodes meet, one of them adopts the weights of the other. */
static bool take_model(const struct round *round, struct visit *visit,
                       const struct problem *problem)
{
    struct introduction ours = visit->credentials.ours;
    const struct introduction *theirs = &visit->peer.theirs;
    if (visit->takes_first || visit->takes_model)
        return false;
    visit->takes_first = introduction_same_form(&ours, theirs);
    visit->takes_model = !visit->takes_first && is_incomparable(round, visit, problem);
    if (!visit->takes_first && !visit->takes_model)
        return false;
    memcpy(ours.model, theirs->model, sizeof ours.model);
    memcpy(ours.form, theirs->form, sizeof ours.form);
    ours.parameters = theirs->parameters;
    credentials_set_introduction(&visit->credentials, &ours);
    visit->must_dial_again = true;
    visit->rounds--;
    return true;
}

/* Consumes received bytes until an event happens, and handles it. Returns false if no bytes are
 * left, or the connection ends. */
static bool take(struct round *round, struct visit *visit, const uint8_t **bytes, size_t *count)
{
    struct problem problem;
    switch (peer_take(&visit->peer, &visit->credentials, monotonic_ns(), bytes, count, &problem)) {
    case PEER_MET:
        visit->is_through = true;
        memcpy(visit->id, visit->peer.id, ID_BYTES);
        visit->protocol = visit->peer.protocol;
        visit->deadline_ns = monotonic_ns() + ARRIVAL_NS;
        if (visit->rounds == SETTINGS_ROUND && visit->protocol == PROTOCOL_NEWEST &&
            !visit->takes_model)
            show_settings(round, visit);
        else
            say_goodbye(visit);
        flush(round, visit);
        set_timer(round);
        return true;
    case PEER_REFUSED:
        if (!take_model(round, visit, &problem))
            (void)snprintf(visit->why, sizeof visit->why, "%s", problem.text);
        transport_hang_up(round->transport, visit->peer.conn);
        return false;
    case PEER_SAID:
        on_message(round, visit);
        return !visit->why[0];
    case PEER_NOTHING:
        return false;
    }
    return false;
}

static void on_bytes(void *self, uint64_t conn, const uint8_t *bytes, size_t count)
{
    struct round *round = self;
    struct visit *visit = visit_at(round, conn);
    while (count > 0 && take(round, visit, &bytes, &count))
        continue;
}

static void on_sent(void *self, uint64_t conn)
{
    struct round *round = self;
    struct visit *visit = visit_at(round, conn);
    peer_on_sent(&visit->peer);
    flush(round, visit);
}

/* Returns true if the peer must be dialled again: with its model hash, or for another measurement
 * of the round-trip time. Otherwise sets visit->why if the visit failed. */
static bool has_next_round(const struct round *round, struct visit *visit, const char *why)
{
    if (visit->must_dial_again) {
        visit->must_dial_again = false;
        return true;
    }
    if (round->can_greet && !visit->is_through && !visit->why[0])
        (void)snprintf(visit->why, sizeof visit->why, "%s",
                       visit->late
                           ? "it does not answer: it is no hearsay node, or a node that hangs"
                       : why[0] ? why
                                : PEER_NO_ANSWER);
    return !visit->why[0] && visit->rounds < ROUNDS;
}

static void finish_if_over(struct round *round)
{
    for (uint32_t i = 0; i < round->count; i++)
        if (!round->visits[i].is_over)
            return;
    transport_stop(round->transport);
}

static void on_closed(void *self, uint64_t conn, const char *why)
{
    struct round *round = self;
    struct visit *visit = visit_at(round, conn);
    peer_end(&visit->peer);
    if (!visit->is_connected && visit->rounds == 0)
        (void)snprintf(visit->tried, sizeof visit->tried, "%s",
                       visit->late ? "no answer in time" : why);
    if (visit->is_connected && has_next_round(round, visit, why) &&
        monotonic_ns() < round->end_ns) {
        begin(round, visit);
    } else {
        visit->is_over = true;
        finish_if_over(round);
    }
    set_timer(round);
}

/* Sets swallowed_bytes if the peer has still not acknowledged the large goodbye: then large
 * packets are lost. */
static void look_at_arrival(const struct round *round, struct visit *visit)
{
    uint32_t segment_bytes = 0;
    if (transport_unacknowledged(round->transport, visit->peer.conn, &segment_bytes) > 0)
        visit->swallowed_bytes = segment_bytes;
}

static void on_timer(void *self)
{
    struct round *round = self;
    const uint64_t now_ns = monotonic_ns();
    for (uint32_t i = 0; i < round->count; i++) {
        struct visit *visit = &round->visits[i];
        if (visit->is_over || visit->late ||
            (now_ns < visit->deadline_ns && now_ns < round->end_ns))
            continue;
        visit->late = true;
        if (visit->is_through)
            look_at_arrival(round, visit);
        transport_hang_up(round->transport, visit->peer.conn);
    }
    if (now_ns < round->end_ns)
        set_timer(round);
}

static void on_signal(void *self, int number)
{
    struct round *round = self;
    (void)number;
    transport_stop(round->transport);
}

static void start_visits(struct round *round, struct arena *arena)
{
    for (uint32_t i = 0; i < round->count; i++) {
        struct visit *visit = &round->visits[i];
        peer_init(&visit->peer, arena, arena, QUEUE_BYTES);
        visit->credentials = round->credentials;
        visit->is_over = visit->is_self || visit->numbers == 0;
        if (!visit->is_over)
            begin(round, visit);
    }
}

void visit_all(struct round *round)
{
    const struct transport_owner owner = {.self = round,
                                          .on_connected = on_connected,
                                          .on_bytes = on_bytes,
                                          .on_sent = on_sent,
                                          .on_closed = on_closed,
                                          .on_timer = on_timer,
                                          .on_signal = on_signal};
    struct arena arena;
    arena_init(&arena, round->count * peer_arena_bytes(QUEUE_BYTES) + 4096);
    round->transport = transport_new(&owner);
    round->reader = message_reader_new();
    round->end_ns = monotonic_ns() + VISIT_NS;
    start_visits(round, &arena);
    set_timer(round);
    finish_if_over(round);
    transport_run(round->transport);
    transport_free(round->transport);
    message_reader_free(round->reader);
    for (uint32_t i = 0; i < round->count; i++)
        peer_end(&round->visits[i].peer);
    arena_release(&arena);
}
