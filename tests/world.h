/* A world for nodes: links in memory, a clock that is a number, and a learner that only adds.
 *
 *   node i lives at 10.i.0.1:7000
 *   ACTION_DIAL, SEND, HANGUP ─► events, ordered by (time, sequence) ─► node_on_… of the other end
 *   ACTION_APPLY, TELL        ─► events ─► the learner's base ─► node_on_applied, node_on_told
 *
 * One seed, one run: the trace is a hash over everything any node asked for. After every event the
 * node's digest must be that of its learner's base, whenever the learner has heard all there is.
 * A line whose other end is no node but a puppet hands the bytes to the test (puppet.h).
 */
#ifndef HEARSAY_TEST_WORLD_H
#define HEARSAY_TEST_WORLD_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "digest.h"
#include "node.h"
#include "rng.h"
#include "status.h"

#define WORLD_NODES_MAX  64
#define WORLD_PARAMETERS 600
#define WORLD_PORT       7000
#define SECOND           1000000000ull
#define MILLI            1000000ull
#define NOBODY           (-1) /* the other end of a line is a puppet */

static const uint8_t WORLD_KEY[KEY_BYTES] = {0x5A, 1, 2, 3};

/* Adds what it hears, makes up what it tells. */
struct world_learner {
    int32_t base[WORLD_PARAMETERS];
    struct rng rng;
    uint64_t step_ns;
    uint32_t step_samples;
    uint64_t apply_ns;
    uint64_t tell_ns;
    bool stalled; /* takes updates and never answers */
    bool ended;   /* has told its last */
    uint32_t entries_most;
    double share; /* as it was asked to tell with last */
};

struct world_node {
    struct node *node; /* NULL: not running */
    struct arena arena;
    struct identity identity;
    struct node_options options;
    struct world_learner learner;
    uint64_t life;
    bool training; /* since ACTION_TRAIN */
    bool finished;
    uint64_t finished_ns;
    uint32_t notes[NOTE_KINDS];
    struct note last[NOTE_KINDS];
    uint32_t dials;
    uint64_t dialled_ns; /* last */
    uint64_t send_rate;  /* bytes per second; 0: as fast as you like */
};

struct line_end {
    int node;
    uint64_t life;
    uint64_t conn;
    bool up;
    bool closed_said;
    uint64_t clear_ns; /* when all that was sent to this end is there */
};

struct line {
    struct line_end end[2];
    bool deaf; /* takes bytes and delivers none */
};

enum event_kind {
    ON_ACCEPT,
    ON_CONNECTED,
    ON_BYTES,
    ON_SENT,
    ON_CLOSED,
    ON_STEP,
    ON_TOLD,
    ON_APPLIED
};

struct event {
    uint64_t at_ns;
    uint64_t order;
    enum event_kind kind;
    int node;
    uint64_t life;
    uint32_t line;
    int end; /* of it: the one this happens to */
    const uint8_t *lent;
    uint8_t *bytes;
    size_t count;
    const char *why;
    struct tell tell;
    bool last;
    struct update update;
};

struct world {
    uint64_t now_ns;
    uint64_t latency_ns;
    uint64_t seed;
    uint64_t trace;
    struct world_node nodes[WORLD_NODES_MAX];
    int count;
    bool blocked[WORLD_NODES_MAX][WORLD_NODES_MAX]; /* no new connection between these */
    struct line *lines;
    uint32_t lines_count;
    struct event *heap;
    size_t heap_count, heap_max;
    uint64_t order;
    void (*on_puppet_bytes)(void *self, const uint8_t *bytes, size_t count);
    void (*on_puppet_closed)(void *self);
    void *puppet;
    uint64_t events;
};

/* The heap of events. */

static inline bool event_before(const struct event *a, const struct event *b)
{
    return a->at_ns != b->at_ns ? a->at_ns < b->at_ns : a->order < b->order;
}

static inline void event_swap(struct event *a, struct event *b)
{
    struct event t = *a;
    *a = *b;
    *b = t;
}

static inline void world_put(struct world *world, struct event event)
{
    if (world->heap_count == world->heap_max) {
        world->heap_max = world->heap_max ? 2 * world->heap_max : 1024;
        world->heap = realloc(world->heap, world->heap_max * sizeof *world->heap);
        CHECK(world->heap);
    }
    event.order = world->order++;
    size_t at = world->heap_count++;
    world->heap[at] = event;
    for (; at > 0 && event_before(&world->heap[at], &world->heap[(at - 1) / 2]); at = (at - 1) / 2)
        event_swap(&world->heap[at], &world->heap[(at - 1) / 2]);
}

static inline struct event world_take(struct world *world)
{
    struct event first = world->heap[0];
    world->heap[0] = world->heap[--world->heap_count];
    for (size_t at = 0;;) {
        size_t least = at;
        for (size_t child = 2 * at + 1; child <= 2 * at + 2 && child < world->heap_count; child++)
            if (event_before(&world->heap[child], &world->heap[least]))
                least = child;
        if (least == at)
            return first;
        event_swap(&world->heap[at], &world->heap[least]);
        at = least;
    }
}

/* The learner. */

static inline uint64_t world_base_digest(const struct world_learner *learner)
{
    uint64_t digest = 0;
    for (uint32_t c = 0; c < WORLD_PARAMETERS; c++)
        digest = digest_add(digest, digest_of_entry(c, (uint32_t)learner->base[c]));
    return digest;
}

static inline void world_add(struct world_learner *learner, const struct update *update)
{
    for (uint32_t i = 0; i < update->count; i++) {
        const int level = update->level[i];
        const uint32_t units = update->amount * (uint32_t)level;
        const uint32_t sum = (uint32_t)learner->base[update->index[i]] + units;
        memcpy(&learner->base[update->index[i]], &sum, sizeof sum);
    }
}

/* Some entries, in order, with levels of either sign; now and then nothing at all. */
static inline struct update world_invent(struct world_learner *learner, uint32_t budget_bytes)
{
    struct update update = {.tau = 0.01f, .amount = 1 + rng_below(&learner->rng, AMOUNT_MAX)};
    update.index = calloc(WORLD_PARAMETERS, sizeof *update.index);
    update.level = calloc(WORLD_PARAMETERS, sizeof *update.level);
    CHECK(update.index && update.level);
    uint32_t most =
        budget_bytes / 8 < learner->entries_most ? budget_bytes / 8 : learner->entries_most;
    most = rng_below(&learner->rng, most + 1);
    for (uint32_t c = 0; c < WORLD_PARAMETERS && update.count < most; c++) {
        if (rng_below(&learner->rng, WORLD_PARAMETERS) >= 2 * most)
            continue;
        const int level = (int)rng_below(&learner->rng, 2 * LEVEL_MAX) - LEVEL_MAX;
        update.index[update.count] = c;
        update.level[update.count++] = (int8_t)(level < 0 ? level : level + 1);
    }
    return update;
}

static inline struct update world_copy(const struct update *from)
{
    struct update copy = *from;
    copy.index = malloc((from->count + 1) * sizeof *copy.index);
    copy.level = malloc(from->count + 1);
    CHECK(copy.index && copy.level);
    memcpy(copy.index, from->index, from->count * sizeof *copy.index);
    memcpy(copy.level, from->level, from->count);
    return copy;
}

/* Nodes are born and die. */

static inline struct address world_address(int i)
{
    struct address address = {.port = WORLD_PORT};
    (void)snprintf(address.host, sizeof address.host, "10.%d.0.1", i);
    return address;
}

static inline struct node_options world_options(void)
{
    struct node_options options = {
        .swarm_id = "world",
        .model = "600 numbers",
        .parameters = WORLD_PARAMETERS,
        .incarnation = 1,
        .listen_port = WORLD_PORT,
        .trains = true,
        .bytes_per_s = 4000,
        .interval_ns = SECOND / 2,
        .steps_min = 4,
        .gain = 1,
        .beta = 0.3,
        .weigh_throughput = true,
        .log_bytes = 1 << 20,
        .apply_window = 2000,
        .peers_max = 16,
        .members_max = 64,
        .half_open_max = 8,
        .half_open_per_net_max = 4,
        .handshake_ns = 5 * SECOND,
        .silence_ns = 10 * SECOND,
        .grace_ns = 20 * SECOND,
        .send_queue_bytes = 1 << 18,
        .notes_per_s = 10,
    };
    memcpy(options.swarm_key, WORLD_KEY, KEY_BYTES);
    return options;
}

/* seed: the identity's; two nodes with one seed are one to the others. */
static inline void world_identity(struct identity *identity, uint8_t seed)
{
    const uint8_t bytes[SEED_BYTES] = {seed, 0x77};
    identity_from_seed(identity, bytes);
}

static inline void world_trace(struct world *world, const void *bytes, size_t count)
{
    const uint8_t *at = bytes;
    for (size_t i = 0; i < count; i++)
        world->trace = rng_mix(world->trace ^ at[i]) + 1;
}

static inline int world_add_node(struct world *world, const struct node_options *options)
{
    CHECK(world->count < WORLD_NODES_MAX);
    const int i = world->count++;
    struct world_node *at = &world->nodes[i];
    at->options = *options;
    at->learner.step_ns = 20 * MILLI;
    at->learner.step_samples = 32;
    at->learner.apply_ns = MILLI;
    at->learner.tell_ns = MILLI;
    at->learner.entries_most = 60;
    at->learner.rng = rng_new(world->seed, 100 + (uint64_t)i);
    world_identity(&at->identity, (uint8_t)(i + 1));
    return i;
}

/* Let node j know where node i is. */
static inline void world_seed(struct world *world, int j, int i)
{
    struct node_options *options = &world->nodes[j].options;
    options->seeds[options->seeds_count++] = world_address(i);
}

static inline void world_pump(struct world *world, int i);

static inline void world_start_node(struct world *world, int i)
{
    struct world_node *at = &world->nodes[i];
    CHECK(!at->node);
    at->life++;
    at->finished = at->training = false;
    memset(at->learner.base, 0, sizeof at->learner.base);
    at->options.identity = &at->identity;
    at->options.seed = world->seed * 1000 + (uint64_t)i + 1;
    at->options.entropy[0] = (uint8_t)(i + 1);
    at->options.entropy[1] = (uint8_t)world->seed;
    at->options.entropy[2] = (uint8_t)at->life;
    at->options.digest = world_base_digest(&at->learner);
    arena_init(&at->arena, node_arena_bytes(&at->options));
    at->node = node_new(&at->arena, &at->options, world->now_ns);
    at->learner.ended = false;
    world_pump(world, i);
}

static inline void world_init(struct world *world, uint64_t seed)
{
    *world = (struct world){.now_ns = 5 * SECOND, .latency_ns = 20 * MILLI, .seed = seed};
}

static inline void world_free_event(struct event *event)
{
    free(event->bytes);
    free(event->update.index);
    free(event->update.level);
}

static inline void world_free(struct world *world)
{
    for (int i = 0; i < world->count; i++)
        if (world->nodes[i].node) {
            node_free(world->nodes[i].node);
            arena_release(&world->nodes[i].arena);
        }
    for (size_t i = 0; i < world->heap_count; i++)
        world_free_event(&world->heap[i]);
    free(world->heap);
    free(world->lines);
}

/* Lines. */

static inline struct line_end *world_end(struct world *world, uint32_t line, int end)
{
    return &world->lines[line].end[end];
}

static inline uint32_t world_new_line(struct world *world, struct line_end a, struct line_end b)
{
    world->lines = realloc(world->lines, (world->lines_count + 1) * sizeof *world->lines);
    CHECK(world->lines);
    world->lines[world->lines_count] = (struct line){.end = {a, b}};
    return world->lines_count++;
}

static inline bool world_find_end(const struct world *world, int i, uint64_t conn, uint32_t *line,
                                  int *end)
{
    for (uint32_t at = world->lines_count; at-- > 0;)
        for (int e = 0; e < 2; e++) {
            const struct line_end *have = &world->lines[at].end[e];
            if (have->node == i && have->conn == conn && have->life == world->nodes[i].life) {
                *line = at;
                *end = e;
                return true;
            }
        }
    return false;
}

/* Tell this end, after all that is on its way, that the line is closed. */
static inline void world_close_end(struct world *world, uint32_t line, int end, uint64_t at_ns,
                                   const char *why)
{
    struct line_end *to = world_end(world, line, end);
    if (to->closed_said)
        return;
    if (at_ns < to->clear_ns)
        at_ns = to->clear_ns;
    to->clear_ns = at_ns;
    world_put(world, (struct event){.at_ns = at_ns,
                                    .kind = ON_CLOSED,
                                    .node = to->node,
                                    .life = to->life,
                                    .line = line,
                                    .end = end,
                                    .why = why});
}

/* The line breaks: what is under way is lost, both ends hear it now. */
static inline void world_break_line(struct world *world, uint32_t line)
{
    for (int end = 0; end < 2; end++) {
        struct line_end *at = world_end(world, line, end);
        at->up = false;
        at->clear_ns = 0;
        world_close_end(world, line, end, world->now_ns, "connection reset");
    }
}

static inline void world_cut(struct world *world, int a, int b)
{
    for (uint32_t line = 0; line < world->lines_count; line++) {
        const struct line_end *end = world->lines[line].end;
        if ((end[0].node == a && end[1].node == b) || (end[0].node == b && end[1].node == a))
            world_break_line(world, line);
    }
}

/* Between these two nothing passes any more, and nobody is told. */
static inline void world_deafen(struct world *world, int a, int b, bool deaf)
{
    world->blocked[a][b] = world->blocked[b][a] = deaf;
    for (uint32_t line = 0; line < world->lines_count; line++) {
        const struct line_end *end = world->lines[line].end;
        if ((end[0].node == a && end[1].node == b) || (end[0].node == b && end[1].node == a))
            world->lines[line].deaf = deaf;
    }
}

static inline void world_stop_node(struct world *world, int i)
{
    struct world_node *at = &world->nodes[i];
    node_free(at->node);
    arena_release(&at->arena);
    at->node = NULL;
}

/* The process dies: its connections break. */
static inline void world_kill(struct world *world, int i)
{
    for (uint32_t line = 0; line < world->lines_count; line++)
        for (int end = 0; end < 2; end++)
            if (world->lines[line].end[end].node == i)
                world_break_line(world, line);
    world_stop_node(world, i);
}

/* Actions. */

static inline void world_dial(struct world *world, int i, const struct action *action)
{
    struct world_node *from = &world->nodes[i];
    from->dials++;
    from->dialled_ns = world->now_ns;
    int to = NOBODY;
    for (int j = 0; j < world->count; j++) {
        const struct address address = world_address(j);
        if (address_equal(&address, &action->address))
            to = j;
    }
    const bool reachable = to != NOBODY && world->nodes[to].node && !world->blocked[i][to];
    const uint32_t line = world_new_line(
        world, (struct line_end){.node = i, .life = from->life, .conn = action->conn, .up = true},
        (struct line_end){.node = to, .life = to == NOBODY ? 0 : world->nodes[to].life});
    const uint64_t at_ns = world->now_ns + world->latency_ns;
    if (reachable)
        world_put(world, (struct event){.at_ns = at_ns,
                                        .kind = ON_ACCEPT,
                                        .node = to,
                                        .life = world->nodes[to].life,
                                        .line = line,
                                        .end = 1});
    else
        world_close_end(world, line, 0, at_ns, "connection refused");
}

static inline void world_send(struct world *world, int i, const struct action *action)
{
    uint32_t line;
    int end;
    CHECK(world_find_end(world, i, action->conn, &line, &end));
    CHECK(action->count > 0);
    const uint64_t rate = world->nodes[i].send_rate;
    const uint64_t sent_ns = world->now_ns + (rate ? action->count * SECOND / rate : 0);
    struct line_end *to = world_end(world, line, 1 - end);
    if (to->node == NOBODY && to->up)
        world->on_puppet_bytes(world->puppet, action->bytes, action->count);
    for (int copy = 0; copy < 2; copy++) {
        struct event event = {.at_ns = sent_ns,
                              .kind = copy ? ON_SENT : ON_BYTES,
                              .line = line,
                              .end = copy ? end : 1 - end,
                              .lent = action->bytes,
                              .bytes = malloc(action->count),
                              .count = action->count};
        CHECK(event.bytes);
        memcpy(event.bytes, action->bytes, action->count);
        event.node = world_end(world, line, event.end)->node;
        event.life = world_end(world, line, event.end)->life;
        if (!copy) {
            event.at_ns += world->latency_ns;
            event.at_ns = event.at_ns < to->clear_ns ? to->clear_ns : event.at_ns;
            to->clear_ns = event.at_ns;
        }
        world_put(world, event);
    }
}

static inline void world_hang_up(struct world *world, int i, uint64_t conn)
{
    uint32_t line;
    int end;
    if (!world_find_end(world, i, conn, &line, &end))
        return;
    world_end(world, line, end)->up = false;
    world_end(world, line, end)->clear_ns = 0;
    world_close_end(world, line, end, world->now_ns, "");
    if (world_end(world, line, 1 - end)->node == NOBODY)
        world->on_puppet_closed(world->puppet);
    else
        world_close_end(world, line, 1 - end, world->now_ns + world->latency_ns, "");
}

static inline void world_note(struct world_node *at, const struct note *note)
{
    at->notes[note->kind]++;
    at->last[note->kind] = *note;
}

static inline void world_act(struct world *world, int i, const struct action *action)
{
    struct world_node *at = &world->nodes[i];
    struct event event = {.at_ns = world->now_ns, .node = i, .life = at->life};
    switch (action->kind) {
    case ACTION_DIAL:
        world_dial(world, i, action);
        break;
    case ACTION_SEND:
        world_send(world, i, action);
        world_trace(world, action->bytes, action->count);
        break;
    case ACTION_HANGUP:
        world_hang_up(world, i, action->conn);
        break;
    case ACTION_APPLY:
        event.kind = ON_APPLIED;
        event.at_ns += at->learner.apply_ns;
        event.update = world_copy(action->update);
        world_put(world, event);
        break;
    case ACTION_TRAIN:
        event.kind = ON_STEP;
        event.at_ns += at->learner.step_ns;
        at->training = true;
        world_put(world, event);
        break;
    case ACTION_TELL:
        event.kind = ON_TOLD;
        event.at_ns += at->learner.tell_ns;
        event.tell = action->tell;
        event.last = action->last;
        world_put(world, event);
        break;
    case ACTION_NOTE:
        world_note(at, &action->note);
        break;
    case ACTION_FINISHED:
        at->finished = true;
        at->finished_ns = world->now_ns;
        break;
    }
}

static inline void world_pump(struct world *world, int i)
{
    struct world_node *at = &world->nodes[i];
    struct action action;
    for (int actions = 0; at->node && node_next(at->node, &action); actions++) {
        CHECK(actions < 100000);
        const bool has_conn = action.kind == ACTION_DIAL || action.kind == ACTION_SEND ||
                              action.kind == ACTION_HANGUP;
        const uint64_t seen[4] = {world->now_ns, (uint64_t)i, action.kind,
                                  has_conn ? action.conn : 0};
        world_trace(world, seen, sizeof seen);
        world_act(world, i, &action);
    }
    if (at->finished && at->node)
        world_stop_node(world, i);
}

/* Equal version, equal base: the digest that the node derives from rumors alone is that of the
 * base its learner holds. */
static inline void world_check(struct world *world, int i)
{
    struct world_node *at = &world->nodes[i];
    if (!at->node)
        return;
    struct node_stats stats;
    node_stats(at->node, world->now_ns, &stats);
    if (stats.waiting == 0)
        CHECK(stats.digest == world_base_digest(&at->learner));
}

/* Events. */

static inline void world_on_step(struct world *world, struct event *event)
{
    struct world_node *at = &world->nodes[event->node];
    if (at->learner.ended || at->learner.stalled)
        return;
    node_on_step(at->node, world->now_ns, 1, at->learner.step_samples);
    world_put(world, (struct event){.at_ns = world->now_ns + at->learner.step_ns,
                                    .kind = ON_STEP,
                                    .node = event->node,
                                    .life = event->life});
}

static inline void world_on_told(struct world *world, struct event *event)
{
    struct world_node *at = &world->nodes[event->node];
    at->learner.share = event->tell.share;
    event->update = world_invent(&at->learner, event->tell.budget_bytes);
    world_add(&at->learner, &event->update);
    at->learner.ended |= event->last;
    node_on_told(at->node, world->now_ns, &event->update);
}

static inline void world_on_accept(struct world *world, struct event *event)
{
    struct line_end *from = world_end(world, event->line, 0);
    struct address address = world_address(from->node);
    address.port = 40000;
    const uint64_t conn = node_on_accept(world->nodes[event->node].node, world->now_ns, &address);
    struct line_end *to = world_end(world, event->line, 1);
    if (conn == 0) {
        world_close_end(world, event->line, 0, world->now_ns + world->latency_ns, "");
        return;
    }
    to->conn = conn;
    to->up = true;
    world_put(world, (struct event){.at_ns = world->now_ns + world->latency_ns,
                                    .kind = ON_CONNECTED,
                                    .node = from->node,
                                    .life = from->life,
                                    .line = event->line});
}

static inline void world_on_line(struct world *world, struct event *event)
{
    struct node *node = world->nodes[event->node].node;
    struct line_end *end = world_end(world, event->line, event->end);
    switch (event->kind) {
    case ON_CONNECTED:
        if (end->up)
            node_on_connected(node, world->now_ns, end->conn);
        break;
    case ON_BYTES:
        if (end->up && !world->lines[event->line].deaf)
            node_on_bytes(node, world->now_ns, end->conn, event->bytes, event->count);
        break;
    case ON_SENT:
        if (!end->up)
            break;
        CHECK(memcmp(event->lent, event->bytes, event->count) == 0); /* they stay the node's */
        node_on_sent(node, world->now_ns, end->conn);
        break;
    default:
        end->up = false;
        if (!end->closed_said && end->conn)
            node_on_closed(node, world->now_ns, end->conn, event->why);
        end->closed_said = true;
    }
}

static inline void world_on_event(struct world *world, struct event *event)
{
    if (event->node == NOBODY || !world->nodes[event->node].node ||
        world->nodes[event->node].life != event->life)
        return;
    struct world_node *at = &world->nodes[event->node];
    switch (event->kind) {
    case ON_STEP:
        world_on_step(world, event);
        break;
    case ON_TOLD:
        world_on_told(world, event);
        break;
    case ON_APPLIED:
        if (at->learner.stalled) { /* later */
            event->at_ns += SECOND / 10;
            world_put(world, *event);
            event->update = (struct update){0};
            return;
        }
        world_add(&at->learner, &event->update);
        node_on_applied(at->node, world->now_ns, event->update.count);
        break;
    case ON_ACCEPT:
        world_on_accept(world, event);
        break;
    default:
        world_on_line(world, event);
    }
    world_pump(world, event->node);
    world_check(world, event->node);
}

/* The node that wants to be woken first, or NOBODY before `until_ns`. */
static inline int world_sleeper(const struct world *world, uint64_t until_ns, uint64_t *wake_ns)
{
    int first = NOBODY;
    *wake_ns = until_ns;
    for (int i = 0; i < world->count; i++) {
        if (!world->nodes[i].node)
            continue;
        const uint64_t at_ns = node_wake_ns(world->nodes[i].node);
        if (at_ns < *wake_ns) {
            first = i;
            *wake_ns = at_ns;
        }
    }
    return first;
}

static inline void world_run_until(struct world *world, uint64_t until_ns)
{
    for (;;) {
        uint64_t wake_ns;
        const int sleeper = world_sleeper(world, until_ns, &wake_ns);
        const bool has_event = world->heap_count > 0 && world->heap[0].at_ns <= wake_ns;
        if (!has_event && sleeper == NOBODY)
            break;
        world->events++;
        if (has_event) {
            struct event event = world_take(world);
            if (event.at_ns > world->now_ns)
                world->now_ns = event.at_ns;
            world_on_event(world, &event);
            world_free_event(&event);
        } else {
            if (wake_ns > world->now_ns)
                world->now_ns = wake_ns;
            node_on_time(world->nodes[sleeper].node, world->now_ns);
            CHECK(node_wake_ns(world->nodes[sleeper].node) > world->now_ns);
            world_pump(world, sleeper);
            world_check(world, sleeper);
        }
    }
    world->now_ns = until_ns;
}

static inline void world_run(struct world *world, uint64_t span_ns)
{
    world_run_until(world, world->now_ns + span_ns);
}

/* What a story asks. */

static inline struct node_stats world_stats(const struct world *world, int i)
{
    struct node_stats stats;
    CHECK(world->nodes[i].node);
    node_stats(world->nodes[i].node, world->now_ns, &stats);
    return stats;
}

/* Training ends everywhere (as a pause: nobody leaves). */
static inline void world_rest(struct world *world)
{
    for (int i = 0; i < world->count; i++)
        world->nodes[i].learner.ended = true;
}

/* Do these two hold the same base, and have their nodes the same version? */
static inline bool world_equal(const struct world *world, int a, int b)
{
    const struct world_node *x = &world->nodes[a], *y = &world->nodes[b];
    if (memcmp(x->learner.base, y->learner.base, sizeof x->learner.base) != 0)
        return false;
    if (!x->node || !y->node)
        return true;
    const struct node_stats p = world_stats(world, a), q = world_stats(world, b);
    return p.digest == q.digest && p.version == q.version && p.waiting == 0 && q.waiting == 0;
}

static inline bool world_all_equal(const struct world *world)
{
    int first = NOBODY;
    for (int i = 0; i < world->count; i++) {
        if (!world->nodes[i].node)
            continue;
        if (first != NOBODY && !world_equal(world, first, i))
            return false;
        first = i;
    }
    return true;
}

#endif
