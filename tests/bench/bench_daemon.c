/* An origin that publishes to a daemon, for tests/bench/bench_daemon.sh:
 *
 *   bench_daemon PORT SWARM_KEY MODEL PARAMETERS DENSITY MEGABYTES RATE
 *
 * SWARM_KEY is a key file. MODEL is the model's description, as a node sends it. The program draws
 * eight publications with DENSITY and repeats them until their rumors have MEGABYTES. It cuts them
 * into rumors as a node does on a fast link, and signs all rumors before it sends any. Then it
 * joins the swarm through the node at PORT of the loopback. When it may send, it prints the number
 * and bytes of the rumors and the time (seconds of the monotonic clock). It sends the rumors at
 * RATE megabytes per second; 0 = as fast as the connection allows. If the node requests a rumor,
 * the program sends it and all later ones again. It runs until it is killed or the connection ends.
 */
#include <math.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/system_clock.h"
#include "node/broadcast/version.h"
#include "node/connection/peer.h"
#include "node/rate/congestion.h"
#include "support/base/updates.h"
#include "wire/record.h"
#include "wire/rumor.h"

#define QUEUE_BYTES (1u << 20)
#define DRAWN       8 /* number of different publications; later ones repeat them with new numbers */
/* Drawn part of the expected number of entries, density · parameters. As it is less than 1, all
 * indexes stay below `parameters`. */
#define FILLED      0.999
#define RUMORS_MAX  (1u << 20)
#define INCARNATION 1

struct teller {
    struct signed_head last; /* head of the last rumor that was made */
    struct identity identity;
    struct entropy entropy;
    struct credentials credentials;
    uint8_t context[CONTEXT_BYTES];
    struct arena arena;
    struct peer peer;
    struct congestion link; /* received bytes, for ACKs */
    struct message_reader *reader;
    int socket;

    uint8_t *rumors; /* all rumors, one after the other */
    size_t *ends;    /* [RUMORS_MAX] offset in `rumors` of each rumor's end */
    uint32_t count;
    uint32_t next;
    double rate;       /* bytes per nanosecond; 0 = unlimited */
    uint64_t start_ns; /* time at which sending began; 0 = it has not begun */
};

static void die(const char *why)
{
    (void)fprintf(stderr, "bench_daemon: %s\n", why);
    exit(EXIT_FAILURE);
}

static void add_rumors(struct teller *teller, const struct update *update)
{
    uint32_t from = 0;
    while (from < update->count) {
        struct rumor_head head = {.incarnation = INCARNATION, .seq = teller->count};
        const size_t begin = teller->count ? teller->ends[teller->count - 1] : 0;
        memcpy(head.origin, teller->identity.id, ID_BYTES);
        memcpy(head.prev, teller->last.hash, HEAD_HASH_BYTES);
        uint32_t taken;
        size_t bytes;
        rumor_encode(&head, update, from, RUMOR_MAX, &teller->identity, teller->context,
                     teller->rumors + begin, &taken, &bytes);
        rumor_signed_head(teller->rumors + begin, bytes, teller->context, &teller->last);
        teller->ends[teller->count++] = begin + bytes;
        from += taken;
    }
}

static void make_rumors(struct teller *teller, uint64_t parameters, double density, size_t bytes)
{
    const double mean = FILLED * density * (double)parameters;
    const uint32_t entries = (uint32_t)(mean - 3 * sqrt(mean));
    struct update told[DRAWN];
    for (uint32_t i = 0; i < DRAWN; i++) {
        told[i] = (struct update){.tau = 0.01f,
                                  .amount = 1000,
                                  .index = malloc(entries * sizeof(uint32_t)),
                                  .level = malloc(entries)};
        CHECK(told[i].index && told[i].level);
        if (draw_update(&told[i], entries, density, LAPLACE, i + 1) > parameters)
            die("a telling is drawn too long");
    }
    teller->rumors = malloc(bytes + RUMOR_MAX + 4 * (size_t)entries);
    teller->ends = calloc(RUMORS_MAX, sizeof *teller->ends);
    CHECK(teller->rumors && teller->ends);
    for (uint32_t i = 0; teller->count == 0 || teller->ends[teller->count - 1] < bytes; i++)
        add_rumors(teller, &told[i % DRAWN]);
    for (uint32_t i = 0; i < DRAWN; i++) {
        free(told[i].index);
        free(told[i].level);
    }
}

static void say(struct teller *teller, const struct message *message)
{
    CHECK(peer_say(&teller->peer, message));
}

static void introduce(struct teller *teller)
{
    uint8_t bytes[RECORD_BYTES];
    struct record record = {.incarnation = INCARNATION, .stamp = 1, .renew_ms = RENEW_MS_MAX};
    memcpy(record.id, teller->identity.id, ID_BYTES);
    record_create(&record, &teller->identity, teller->context, bytes);
    say(teller, &(struct message){
                    .kind = HELLO, .incarnation = INCARNATION, .bulk = {bytes, RECORD_BYTES}});
}

/* Starts sending. Called when the node has sent its version, because it then accepts rumors. */
static void begin(struct teller *teller)
{
    if (teller->start_ns)
        return;
    teller->start_ns = monotonic_ns();
    printf("%u %zu %.6f\n", (unsigned)teller->count, teller->ends[teller->count - 1],
           (double)teller->start_ns * 1e-9);
    (void)fflush(stdout);
}

static void apply(struct teller *teller)
{
    size_t bytes;
    const uint8_t *at = peer_message(&teller->peer, &bytes);
    struct message heard;
    CHECK(message_decode(teller->reader, at, bytes, &heard) == OK);
    if (heard.kind == HELLO)
        say(teller, &(struct message){.kind = VERSION, .hash = 1, .base = 1, .whole = 1});
    else if (heard.kind == PING)
        say(teller, &(struct message){.kind = PONG, .token = heard.token});
    else if (heard.kind == VERSION)
        begin(teller);
    else if (heard.kind == WANT && heard.tag == origin_tag(teller->identity.id, INCARNATION))
        teller->next = heard.seq < teller->next ? (uint32_t)heard.seq : teller->next;
    else if (heard.kind == BYE)
        die("the node does not want to hear any more");
}

/* Sends an ACK like every node. Without ACKs the node would soon stop sending. */
static void give_ack(struct teller *teller)
{
    struct congestion *link = &teller->link;
    if (teller->start_ns == 0 || !congestion_owes_ack(link, monotonic_ns()))
        return;
    say(teller, &(struct message){
                    .kind = ACK, .received = link->received, .clock = link->received_ns / 1000});
    congestion_on_acked(link, monotonic_ns());
}

static void take(struct teller *teller, const uint8_t *bytes, size_t count)
{
    struct problem problem;
    enum peer_event event;
    congestion_on_received(&teller->link, monotonic_ns(), count);
    while ((event = peer_take(&teller->peer, &teller->credentials, monotonic_ns(), &bytes, &count,
                              &problem)) != PEER_NOTHING) {
        if (event == PEER_REFUSED)
            die(problem.text);
        if (event == PEER_MET)
            introduce(teller);
        else
            apply(teller);
    }
    give_ack(teller);
}

/* Returns how many bytes the rate allows to have been sent by now. */
static double allowed_bytes(const struct teller *teller)
{
    if (teller->start_ns == 0)
        return 0;
    const double span_ns = (double)(monotonic_ns() - teller->start_ns);
    return teller->rate > 0 ? teller->rate * span_ns : INFINITY;
}

/* Queues the rumors that the rate allows by now. Returns true if the connection's buffer was too
 * full for all of these. */
static bool queue_rumors(struct teller *teller)
{
    const double most = allowed_bytes(teller);
    while (teller->next < teller->count && (double)teller->ends[teller->next] <= most) {
        const size_t begin = teller->next ? teller->ends[teller->next - 1] : 0;
        const struct message rumor = {
            .kind = RUMOR, .bulk = {teller->rumors + begin, teller->ends[teller->next] - begin}};
        if (!peer_say(&teller->peer, &rumor))
            return true;
        teller->next++;
    }
    return false;
}

static void send_all(struct teller *teller)
{
    const uint8_t *bytes;
    size_t count;
    while (peer_next_send(&teller->peer, SIZE_MAX, true, &bytes, &count)) {
        while (count > 0) {
            const ssize_t wrote = write(teller->socket, bytes, count);
            if (wrote <= 0)
                die("the node has closed the connection");
            bytes += wrote;
            count -= (size_t)wrote;
        }
        peer_on_sent(&teller->peer);
    }
}

_Noreturn static void converse(struct teller *teller)
{
    static uint8_t bytes[FRAME_MAX];
    struct pollfd end = {.fd = teller->socket, .events = POLLIN};
    for (;;) {
        const bool has_more = queue_rumors(teller);
        send_all(teller);
        if (poll(&end, 1, has_more ? 0 : 2) <= 0)
            continue;
        const ssize_t count = read(teller->socket, bytes, sizeof bytes);
        if (count <= 0)
            die("the node has closed the connection");
        take(teller, bytes, (size_t)count);
    }
}

static void enter(struct teller *teller, const char *key_path, const char *model,
                  uint64_t parameters)
{
    uint8_t key[KEY_BYTES], seed[SEED_BYTES];
    struct problem problem;
    struct introduction ours;
    if (swarm_key_load(key, key_path, &problem) != OK)
        die(problem.text);
    entropy_from_system(&teller->entropy);
    entropy_bytes(&teller->entropy, seed, sizeof seed);
    identity_from_seed(&teller->identity, seed);
    introduction_make(&ours, "hearsay", model, parameters);
    credentials_init(&teller->credentials, &teller->identity, key, &ours, &teller->entropy);
    introduction_context(teller->context, &ours);
}

static void call(struct teller *teller, uint16_t port)
{
    const struct sockaddr_in to = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    const struct address address = {.host = "127.0.0.1", .port = port};
    const int yes = 1;
    teller->socket = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (teller->socket < 0 || connect(teller->socket, (const struct sockaddr *)&to, sizeof to) != 0)
        die("cannot connect");
    (void)setsockopt(teller->socket, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    arena_init(&teller->arena, peer_arena_bytes(QUEUE_BYTES));
    peer_init(&teller->peer, &teller->arena, &teller->arena, QUEUE_BYTES);
    peer_start(&teller->peer, 1, true, &address, monotonic_ns());
    congestion_init(&teller->link, monotonic_ns());
    peer_on_connected(&teller->peer, &teller->credentials, 0, monotonic_ns());
}

int main(int argc, char **argv)
{
    static struct teller teller;
    if (argc != 8)
        die("started by tests/bench/bench_daemon.sh");
    const uint64_t parameters = strtoull(argv[4], NULL, 10);
    const size_t bytes = (size_t)strtoull(argv[6], NULL, 10) * 1000000;
    secret_start();
    teller.reader = message_reader_new();
    enter(&teller, argv[2], argv[3], parameters);
    make_rumors(&teller, parameters, strtod(argv[5], NULL), bytes);
    teller.rate = strtod(argv[7], NULL) * 1e-3;
    call(&teller, (uint16_t)strtoul(argv[1], NULL, 10));
    converse(&teller);
}
