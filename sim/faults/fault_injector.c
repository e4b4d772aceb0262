#include "faults/fault_injector.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "faults/hostile.h"

/* Upper 32 bits of the subject of an injector's event. */
#define EVENT_TAG 0x54726F75ull
/* Pauses and slow readers are extended by slices of this length, so that they can end early. */
#define SLICE_NS SECOND_NS

enum step { BEGIN, TURN, BACK, STALL, END };

struct injection {          /* a fault of the list and its state */
    struct fault fault;     /* its times are in world time */
    struct rng rng;         /* used for this fault only */
    struct node_set struck; /* nodes that the fault has struck */
    struct node_set others; /* PARTITION, RESET: nodes on the other side (fault.b, resolved) */
    bool begun;             /* the fault has begun and not ended */
    bool cut;               /* PARTITION: the network is cut now */
    uint64_t ended_ns;      /* time at which the fault ended; 0 = not yet */
};

struct intruder {
    struct hostile *hostile; /* NULL = the slot is free */
    uint32_t injection;      /* index of the fault that placed the attacker */
};

struct fault_injector {
    struct world *world;
    struct injection *injections; /* [count] */
    uint32_t count;
    uint32_t *holder; /* [nodes_max] index + 1 of the fault that keeps the node down; 0 = none */
    struct intruder *intruders; /* [outsiders_max] */
    bool ended;                 /* fault_injector_end was called */
};

static uint64_t now_ns(const struct fault_injector *injector)
{
    return world_now_ns(injector->world);
}

static void schedule(struct fault_injector *injector, const struct injection *injection,
                     uint64_t at_ns, enum step step, uint32_t node)
{
    const uint64_t number = (uint64_t)(injection - injector->injections);
    world_put(injector->world, at_ns, EVENT_TAG << 32 | number, (uint64_t)step << 32 | node);
}

/* Returns the end of the fault; NEVER_NS = it lasts until fault_injector_end. */
static uint64_t over_ns(const struct fault *fault)
{
    if (fault->to_ns > fault->from_ns)
        return fault->to_ns;
    if (fault->kind == FAULT_CRASH || fault->kind == FAULT_DUPLICATE)
        return NEVER_NS;
    return fault->from_ns + FAULT_SHORT_NS;
}

static uint32_t nodes_of(const struct fault_injector *injector)
{
    const uint32_t count = injector->world->nodes_count;
    return u32_min(count, FAULT_NODES_MAX);
}

static bool is_up(const struct fault_injector *injector, uint32_t i)
{
    return world_is_running(injector->world, i) && injector->holder[i] == 0;
}

/* Draws a running node of the fault's set a; WIRE_NOBODY = none runs. */
static uint32_t draw_node(struct fault_injector *injector, struct injection *injection)
{
    uint32_t up = 0;
    for (uint32_t i = 0; i < nodes_of(injector); i++)
        up += node_set_has(&injection->fault.a, i) && is_up(injector, i);
    uint32_t chosen = up > 0 ? rng_below(&injection->rng, up) : 0;
    for (uint32_t i = 0; i < nodes_of(injector); i++)
        if (node_set_has(&injection->fault.a, i) && is_up(injector, i) && chosen-- == 0)
            return i;
    return WIRE_NOBODY;
}

static void choose_nodes(struct fault_injector *injector, struct injection *injection)
{
    static const struct node_set nobody;
    const struct fault *fault = &injection->fault;
    injection->struck = fault->any ? nobody : fault->a;
    const uint32_t one = fault->any ? draw_node(injector, injection) : WIRE_NOBODY;
    if (one != WIRE_NOBODY)
        node_set_add(&injection->struck, one);
    const bool all_others = memcmp(&fault->b, &nobody, sizeof nobody) == 0;
    injection->others = all_others ? nobody : fault->b;
    for (uint32_t i = 0; all_others && i < nodes_of(injector); i++)
        if (!node_set_has(&injection->struck, i))
            node_set_add(&injection->others, i);
}

static void take_down(struct fault_injector *injector, const struct injection *injection,
                      uint32_t i)
{
    if (!is_up(injector, i))
        return;
    injector->holder[i] = (uint32_t)(injection - injector->injections) + 1;
    const bool silently = injection->fault.value < 0 || injection->fault.value > 0;
    if (injection->fault.actions > 0)
        world_kill_in(injector->world, i, injection->fault.actions, silently);
    else
        world_kill(injector->world, i, silently);
}

static void start_again(struct fault_injector *injector, enum fault_disk disk, uint32_t i)
{
    if (disk == FAULT_DISK_ROTS)
        sim_disk_rot(&injector->world->nodes[i].sim_disk);
    if (disk == FAULT_DISK_LOST)
        world_wipe(injector->world, i);
    world_start(injector->world, i);
}

static void restart(struct fault_injector *injector, const struct injection *injection, uint32_t i)
{
    injector->holder[i] = 0;
    world_kill_in(injector->world, i, 0, false);
    if (!world_is_running(injector->world, i) && !injector->world->nodes[i].finished)
        start_again(injector, injection->fault.disk, i);
}

static void restart_held(struct fault_injector *injector, const struct injection *injection)
{
    for (uint32_t i = 0; i < nodes_of(injector); i++)
        if (injector->holder[i] == (uint32_t)(injection - injector->injections) + 1)
            restart(injector, injection, i);
}

/* Returns another node with node i's identity; WIRE_NOBODY = none. running: true = the returned
 * node runs, false = it does not run. */
static uint32_t twin_of(const struct fault_injector *injector, uint32_t i, bool running)
{
    const struct world_node *nodes = injector->world->nodes;
    for (uint32_t k = 0; k < injector->world->nodes_count; k++)
        if (k != i && world_is_running(injector->world, k) == running &&
            memcmp(nodes[k].identity.id, nodes[i].identity.id, ID_BYTES) == 0)
            return k;
    return WIRE_NOBODY;
}

static void duplicate(struct fault_injector *injector, uint32_t i)
{
    const uint32_t twin = twin_of(injector, i, false);
    if (world_is_running(injector->world, i) && twin != WIRE_NOBODY)
        world_start(injector->world, twin);
}

/* Kills node i's duplicate and restarts node i, which other nodes may have refused because of the
 * duplicate. */
static void end_duplicate(struct fault_injector *injector, uint32_t i)
{
    struct world *world = injector->world;
    const uint32_t twin = twin_of(injector, i, true);
    if (twin == WIRE_NOBODY)
        return;
    world_kill(world, twin, false);
    if (!world_is_running(world, i) || node_is_leaving(world->nodes[i].node))
        return;
    world_kill(world, i, false);
    world_start(world, i);
}

static void add_intruder(struct fault_injector *injector, struct injection *injection,
                         uint32_t victim)
{
    enum hostile_kind kind = HOSTILE_MEMBER;
    if (injection->fault.kind == FAULT_WRONG_KEY)
        kind = HOSTILE_STRANGER;
    else if (injection->fault.kind == FAULT_MUTE)
        kind = HOSTILE_MUTE;
    struct hostile *hostile =
        hostile_enter(injector->world, kind, victim, rng_next(&injection->rng));
    struct intruder *intruder = injector->intruders;
    while (hostile && intruder->hostile)
        intruder++;
    if (hostile)
        *intruder = (struct intruder){hostile, (uint32_t)(injection - injector->injections)};
}

static void remove_intruders(struct fault_injector *injector, const struct injection *injection)
{
    for (uint32_t i = 0; i < injector->world->outsiders_max; i++) {
        struct intruder *intruder = &injector->intruders[i];
        if (!intruder->hostile ||
            intruder->injection != (uint32_t)(injection - injector->injections))
            continue;
        hostile_leave(intruder->hostile);
        intruder->hostile = NULL;
    }
}

static void cut(struct fault_injector *injector, struct injection *injection, bool now)
{
    if (injection->cut == now)
        return;
    injection->cut = now;
    for (uint32_t i = 0; i < nodes_of(injector); i++) {
        for (uint32_t k = 0; node_set_has(&injection->struck, i) && k < nodes_of(injector); k++) {
            if (k == i || !node_set_has(&injection->others, k))
                continue;
            wire_cut(&injector->world->wire, i, k, now);
            if (!injection->fault.one_way)
                wire_cut(&injector->world->wire, k, i, now);
        }
    }
}

static void reset(struct fault_injector *injector, const struct injection *injection, uint32_t i)
{
    for (uint32_t k = 0; k < nodes_of(injector); k++)
        if (k != i && node_set_has(&injection->others, k))
            wire_reset(&injector->world->wire, i, k);
}

static void extend_until(uint64_t *until_ns, uint64_t to_ns)
{
    *until_ns = u64_max(*until_ns, to_ns);
}

/* Extends a pause or a slow reader by one slice plus a nanosecond, so that slices overlap. A
 * restart ends both, which are then not extended. */
static void extend(struct fault_injector *injector, struct injection *injection)
{
    const uint64_t over = over_ns(&injection->fault), next_ns = now_ns(injector) + SLICE_NS;
    const uint64_t until_ns = over <= next_ns ? over : next_ns + 1;
    const bool is_extension = injection->begun;
    for (uint32_t i = 0; i < nodes_of(injector); i++) {
        struct party *party = &injector->world->wire.parties[i];
        uint64_t *field =
            injection->fault.kind == FAULT_PAUSE ? &party->paused_ns : &party->deaf_ns;
        if (node_set_has(&injection->struck, i) && world_is_running(injector->world, i) &&
            (!is_extension || *field > now_ns(injector)))
            extend_until(field, until_ns);
    }
    if (over > next_ns)
        schedule(injector, injection, next_ns, TURN, 0);
}

static void stall_in_this_period(struct fault_injector *injector, struct injection *injection,
                                 uint32_t i)
{
    const uint64_t at_ns = now_ns(injector) + rng_next(&injection->rng) % injection->fault.every_ns;
    if (at_ns < over_ns(&injection->fault))
        schedule(injector, injection, at_ns, STALL, i);
}

static void stall_again(struct fault_injector *injector, struct injection *injection)
{
    const struct fault *fault = &injection->fault;
    const uint32_t one = fault->any ? draw_node(injector, injection) : WIRE_NOBODY;
    for (uint32_t i = 0; i < nodes_of(injector); i++)
        if (fault->any ? i == one : node_set_has(&fault->a, i))
            stall_in_this_period(injector, injection, i);
    if (now_ns(injector) + fault->every_ns < over_ns(fault))
        schedule(injector, injection, now_ns(injector) + fault->every_ns, TURN, 0);
}

static void stall(struct fault_injector *injector, struct injection *injection, uint32_t i)
{
    const struct fault *fault = &injection->fault;
    const uint64_t takes_ns =
        fault->least_ns + rng_next(&injection->rng) % (fault->most_ns - fault->least_ns + 1);
    const uint64_t until_ns = now_ns(injector) + takes_ns;
    if (injection->begun && world_is_running(injector->world, i))
        world_pause(injector->world, i, u64_min(until_ns, over_ns(fault)));
}

static void strike(struct fault_injector *injector, struct injection *injection, uint32_t i)
{
    const struct fault *fault = &injection->fault;
    struct party *party = &injector->world->wire.parties[i];
    switch (fault->kind) {
    case FAULT_CRASH:
        take_down(injector, injection, i);
        break;
    case FAULT_CLOG:
        pipe_clog(&party->up, over_ns(fault));
        pipe_clog(&party->down, over_ns(fault));
        break;
    case FAULT_RESET:
        reset(injector, injection, i);
        break;
    case FAULT_HALF_OPEN:
        wire_half_open(&injector->world->wire, i);
        break;
    case FAULT_FRAGMENT:
        extend_until(&party->fragment_ns, over_ns(fault));
        break;
    case FAULT_TAMPER:
        extend_until(&party->tamper_ns, over_ns(fault));
        break;
    case FAULT_CLOCK:
        injector->world->nodes[i].clock_ms += (int64_t)(fault->value * 1000);
        break;
    case FAULT_DUPLICATE:
        duplicate(injector, i);
        break;
    case FAULT_WRONG_KEY:
    case FAULT_HOSTILE:
    case FAULT_MUTE:
        add_intruder(injector, injection, i);
        break;
    case FAULT_POISON:
        world_poison(injector->world, i, fault->poison, fault->value, fault->seed);
        break;
    case FAULT_RUIN:
        world_ruin(injector->world, i, fault->ruin, fault->value, rng_mix(fault->seed + i));
        break;
    case FAULT_PAUSE: /* injection_turn() applies PAUSE, SLOW_READER, PARTITION and CHURN */
    case FAULT_SLOW_READER:
    case FAULT_PARTITION:
    case FAULT_CHURN:
    case FAULT_KINDS:
        break;
    }
}

static void toggle(struct fault_injector *injector, struct injection *injection)
{
    cut(injector, injection, !injection->cut);
    if (injection->fault.every_ns > 0)
        schedule(injector, injection, now_ns(injector) + (injection->fault.every_ns + 1) / 2, TURN,
                 0);
}

static void churn(struct fault_injector *injector, struct injection *injection)
{
    const struct fault *fault = &injection->fault;
    const uint32_t one = injection->begun ? draw_node(injector, injection) : WIRE_NOBODY;
    if (one != WIRE_NOBODY) {
        take_down(injector, injection, one);
        schedule(injector, injection, now_ns(injector) + fault->away_ns, BACK, one);
    }
    CHECK(fault->every_ns > 0);
    if (now_ns(injector) + fault->every_ns < over_ns(fault))
        schedule(injector, injection, now_ns(injector) + fault->every_ns, TURN, 0);
}

static void injection_turn(struct fault_injector *injector, struct injection *injection)
{
    if (injection->fault.kind == FAULT_PAUSE && injection->fault.every_ns > 0)
        stall_again(injector, injection);
    else if (injection->fault.kind == FAULT_PAUSE || injection->fault.kind == FAULT_SLOW_READER)
        extend(injector, injection);
    if (injection->fault.kind == FAULT_PARTITION)
        toggle(injector, injection);
    if (injection->fault.kind == FAULT_CHURN)
        churn(injector, injection);
}

static void injection_begin(struct fault_injector *injector, struct injection *injection)
{
    choose_nodes(injector, injection);
    injection_turn(injector, injection);
    injection->begun = true;
    for (uint32_t i = 0; i < nodes_of(injector); i++)
        if (node_set_has(&injection->struck, i))
            strike(injector, injection, i);
}

/* Ends the fault, except for effects that end at a fixed time anyway, such as clogs. */
static void injection_end(struct fault_injector *injector, struct injection *injection)
{
    if (!injection->begun)
        return;
    injection->begun = false;
    injection->ended_ns = now_ns(injector);
    cut(injector, injection, false);
    remove_intruders(injector, injection);
    if (injection->fault.kind == FAULT_CRASH)
        restart_held(injector, injection);
    for (uint32_t i = 0; i < nodes_of(injector); i++) {
        const bool is_struck = node_set_has(&injection->struck, i);
        if (is_struck && injection->fault.kind == FAULT_DUPLICATE)
            end_duplicate(injector, i);
        if (is_struck && injection->fault.kind == FAULT_POISON)
            world_cure(injector->world, i, injection->fault.poison);
    }
}

struct fault_injector *fault_injector_new(struct world *world, const struct fault *faults,
                                          uint32_t count, uint64_t seed)
{
    struct fault_injector *injector = memory_new(1, sizeof *injector);
    injector->world = world;
    injector->injections = memory_new(count + 1, sizeof *injector->injections);
    injector->holder = memory_new(world->nodes_max, sizeof *injector->holder);
    injector->intruders = memory_new(world->outsiders_max + 1, sizeof *injector->intruders);
    injector->count = count;
    for (uint32_t k = 0; k < count; k++) {
        struct injection *injection = &injector->injections[k];
        injection->fault = faults[k];
        injection->fault.from_ns += WORLD_BEGIN_NS;
        injection->fault.to_ns += WORLD_BEGIN_NS;
        injection->rng = rng_new(seed ^ rng_mix(faults[k].seed), k);
        schedule(injector, injection, injection->fault.from_ns, BEGIN, 0);
        if (over_ns(&injection->fault) != NEVER_NS)
            schedule(injector, injection, over_ns(&injection->fault), END, 0);
    }
    return injector;
}

bool fault_injector_owns(uint64_t subject)
{
    return subject >> 32 == EVENT_TAG;
}

void fault_injector_on_event(struct fault_injector *injector, uint64_t subject, uint64_t amount)
{
    struct injection *injection = &injector->injections[(uint32_t)subject];
    if (injector->ended)
        return;
    switch ((enum step)(amount >> 32)) {
    case BEGIN:
        injection_begin(injector, injection);
        break;
    case TURN:
        if (injection->begun)
            injection_turn(injector, injection);
        break;
    case BACK:
        restart(injector, injection, (uint32_t)amount);
        break;
    case STALL:
        stall(injector, injection, (uint32_t)amount);
        break;
    case END:
        injection_end(injector, injection);
        break;
    }
}

/* Returns true if this fault may keep node i from receiving from node j. Ignores crashes and
 * pauses: fault_injector_explains reads them from the state of node j. */
static bool explains(const struct injection *injection, uint32_t i, uint32_t j)
{
    const struct node_set *a = &injection->struck, *b = &injection->others;
    switch (injection->fault.kind) {
    case FAULT_PARTITION:
    case FAULT_RESET:
        return (node_set_has(a, i) && node_set_has(b, j)) ||
               (node_set_has(b, i) && node_set_has(a, j));
    case FAULT_CLOG:
    case FAULT_HALF_OPEN:
    case FAULT_SLOW_READER:
    case FAULT_FRAGMENT:
    case FAULT_TAMPER:
    case FAULT_DUPLICATE: /* other nodes refuse one of the two processes */
        return node_set_has(a, i) || node_set_has(a, j);
    default:
        return false;
    }
}

bool fault_injector_explains(const struct fault_injector *injector, uint32_t i, uint32_t j,
                             uint64_t since_ns)
{
    const struct world *world = injector->world;
    const struct world_node *at = &world->nodes[j];
    if (!at->node || node_is_leaving(at->node) || world->wire.parties[j].paused_ns > since_ns ||
        (at->incarnation > 1 && at->born_ns > since_ns))
        return true;
    for (uint32_t k = 0; k < injector->count; k++) {
        const struct injection *injection = &injector->injections[k];
        if ((injection->begun || injection->ended_ns > since_ns) && explains(injection, i, j))
            return true;
    }
    return false;
}

void fault_injector_end(struct fault_injector *injector)
{
    struct world *world = injector->world;
    injector->ended = true;
    for (uint32_t k = 0; k < injector->count; k++)
        injection_end(injector, &injector->injections[k]);
    for (uint32_t i = 0; i < nodes_of(injector); i++) {
        struct party *party = &world->wire.parties[i];
        party->fragment_ns = party->tamper_ns = 0;
        pipe_unclog(&party->up, now_ns(injector));
        pipe_unclog(&party->down, now_ns(injector));
        if (injector->holder[i])
            restart(injector, &injector->injections[injector->holder[i] - 1], i);
    }
}

void fault_injector_free(struct fault_injector *injector)
{
    for (uint32_t k = 0; k < injector->count; k++)
        remove_intruders(injector, &injector->injections[k]);
    free(injector->injections);
    free(injector->holder);
    free(injector->intruders);
    free(injector);
}
