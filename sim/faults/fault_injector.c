#include "faults/fault_injector.h"

#include <stdlib.h>
#include <string.h>

#include "faults/hostile.h"
#include "base/error.h"

#define OURS     0x54726F75ull /* the upper half of our subjects; the lower is the affair */
#define SLICE_NS SECOND_NS     /* a pause is prolonged so often: it can end early */

enum what { BEGIN, TURN, BACK, STALL, END };

/* A fault, and what has become of it. */
struct affair {
    struct fault fault;
    struct rng rng;
    struct node_set struck, others;
    bool begun;
    bool cut;          /* PARTITION: now */
    uint64_t ended_ns; /* 0: it has not */
};

struct guest {
    struct hostile *hostile; /* NULL: the place is free */
    uint32_t affair;
};

struct fault_injector {
    struct world *world;
    struct affair *affairs;
    uint32_t count;
    uint32_t *holder;     /* [nodes_max] the affair that keeps this node down, or will, + 1 */
    struct guest *guests; /* [outsiders_max] */
    bool ended;
};

static uint64_t now_ns(const struct fault_injector *injector)
{
    return world_now_ns(injector->world);
}

static void put(struct fault_injector *injector, const struct affair *affair, uint64_t at_ns,
                enum what what, uint32_t node)
{
    const uint64_t number = (uint64_t)(affair - injector->affairs);
    world_put(injector->world, at_ns, OURS << 32 | number, (uint64_t)what << 32 | node);
}

/* When it is over, NEVER_NS: not before all is well again. */
static uint64_t over_ns(const struct fault *fault)
{
    if (fault->to_ns > fault->from_ns)
        return fault->to_ns;
    if (fault->kind == FAULT_CRASH || fault->kind == FAULT_DUPLICATE)
        return NEVER_NS;
    return fault->from_ns + FAULT_SHORT_NS;
}

/* Whom it strikes. */

static uint32_t nodes_of(const struct fault_injector *injector)
{
    const uint32_t count = injector->world->nodes_count;
    return count < FAULT_NODES_MAX ? count : FAULT_NODES_MAX;
}

static bool is_up(const struct fault_injector *injector, uint32_t i)
{
    return world_is_running(injector->world, i) && injector->holder[i] == 0;
}

/* One of a that is up, or WIRE_NOBODY. */
static uint32_t draw(struct fault_injector *injector, struct affair *affair)
{
    uint32_t up = 0;
    for (uint32_t i = 0; i < nodes_of(injector); i++)
        up += node_set_has(&affair->fault.a, i) && is_up(injector, i);
    uint32_t chosen = up > 0 ? rng_below(&affair->rng, up) : 0;
    for (uint32_t i = 0; i < nodes_of(injector); i++)
        if (node_set_has(&affair->fault.a, i) && is_up(injector, i) && chosen-- == 0)
            return i;
    return WIRE_NOBODY;
}

static void choose(struct fault_injector *injector, struct affair *affair)
{
    static const struct node_set nobody;
    const struct fault *fault = &affair->fault;
    affair->struck = fault->any ? nobody : fault->a;
    const uint32_t one = fault->any ? draw(injector, affair) : WIRE_NOBODY;
    if (one != WIRE_NOBODY)
        node_set_add(&affair->struck, one);
    const bool all_others = memcmp(&fault->b, &nobody, sizeof nobody) == 0;
    affair->others = all_others ? nobody : fault->b;
    for (uint32_t i = 0; all_others && i < nodes_of(injector); i++)
        if (!node_set_has(&affair->struck, i))
            node_set_add(&affair->others, i);
}

/* Processes. */

static void take_down(struct fault_injector *injector, const struct affair *affair, uint32_t i)
{
    if (!is_up(injector, i))
        return;
    injector->holder[i] = (uint32_t)(affair - injector->affairs) + 1;
    const bool silently = affair->fault.value < 0 || affair->fault.value > 0;
    if (affair->fault.actions > 0)
        world_kill_in(injector->world, i, affair->fault.actions, silently);
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

static void bring_back(struct fault_injector *injector, const struct affair *affair, uint32_t i)
{
    injector->holder[i] = 0;
    world_kill_in(injector->world, i, 0, false);
    if (!world_is_running(injector->world, i) && !injector->world->nodes[i].finished)
        start_again(injector, affair->fault.disk, i);
}

static void bring_back_held(struct fault_injector *injector, const struct affair *affair)
{
    for (uint32_t i = 0; i < nodes_of(injector); i++)
        if (injector->holder[i] == (uint32_t)(affair - injector->affairs) + 1)
            bring_back(injector, affair, i);
}

/* Another node with the identity of node i, running or not; WIRE_NOBODY: there is none. */
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

/* Somebody has noticed: the copy is stopped, and the node, turned away since, started again. */
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

/* Outsiders. */

static void invite(struct fault_injector *injector, struct affair *affair, uint32_t victim)
{
    enum hostile_kind kind = HOSTILE_VILLAIN;
    if (affair->fault.kind == FAULT_WRONG_KEY)
        kind = HOSTILE_STRANGER;
    else if (affair->fault.kind == FAULT_MUTE)
        kind = HOSTILE_MUTE;
    struct hostile *hostile = hostile_enter(injector->world, kind, victim, rng_next(&affair->rng));
    struct guest *guest = injector->guests;
    while (hostile && guest->hostile)
        guest++;
    if (hostile)
        *guest = (struct guest){hostile, (uint32_t)(affair - injector->affairs)};
}

static void throw_out(struct fault_injector *injector, const struct affair *affair)
{
    for (uint32_t i = 0; i < injector->world->outsiders_max; i++) {
        struct guest *guest = &injector->guests[i];
        if (!guest->hostile || guest->affair != (uint32_t)(affair - injector->affairs))
            continue;
        hostile_leave(guest->hostile);
        guest->hostile = NULL;
    }
}

/* Wires. */

static void cut(struct fault_injector *injector, struct affair *affair, bool now)
{
    if (affair->cut == now)
        return;
    affair->cut = now;
    for (uint32_t i = 0; i < nodes_of(injector); i++) {
        for (uint32_t k = 0; node_set_has(&affair->struck, i) && k < nodes_of(injector); k++) {
            if (k == i || !node_set_has(&affair->others, k))
                continue;
            wire_cut(&injector->world->wire, i, k, now);
            if (!affair->fault.one_way)
                wire_cut(&injector->world->wire, k, i, now);
        }
    }
}

static void reset(struct fault_injector *injector, const struct affair *affair, uint32_t i)
{
    for (uint32_t k = 0; k < nodes_of(injector); k++)
        if (k != i && node_set_has(&affair->others, k))
            wire_reset(&injector->world->wire, i, k);
}

static void prolong(uint64_t *until_ns, uint64_t to_ns)
{
    if (*until_ns < to_ns)
        *until_ns = to_ns;
}

/* The next slice of standing still or not reading, for whom this has not ended otherwise: a process
 * that was killed meanwhile and has started again stands still no more. A nanosecond longer, so
 * that the next slice comes before it ends. */
static void slice(struct fault_injector *injector, struct affair *affair)
{
    const uint64_t over = over_ns(&affair->fault), next_ns = now_ns(injector) + SLICE_NS;
    const uint64_t until_ns = over <= next_ns ? over : next_ns + 1;
    const bool goes_on = affair->begun;
    for (uint32_t i = 0; i < nodes_of(injector); i++) {
        struct party *party = &injector->world->wire.parties[i];
        uint64_t *field = affair->fault.kind == FAULT_PAUSE ? &party->paused_ns : &party->deaf_ns;
        if (node_set_has(&affair->struck, i) && world_is_running(injector->world, i) &&
            (!goes_on || *field > now_ns(injector)))
            prolong(field, until_ns);
    }
    if (over > next_ns)
        put(injector, affair, next_ns, TURN, 0);
}

/* A machine with too much to do. */

static void stall_in_this_period(struct fault_injector *injector, struct affair *affair, uint32_t i)
{
    const uint64_t at_ns = now_ns(injector) + rng_next(&affair->rng) % affair->fault.every_ns;
    if (at_ns < over_ns(&affair->fault))
        put(injector, affair, at_ns, STALL, i);
}

static void stall_again(struct fault_injector *injector, struct affair *affair)
{
    const struct fault *fault = &affair->fault;
    const uint32_t one = fault->any ? draw(injector, affair) : WIRE_NOBODY;
    for (uint32_t i = 0; i < nodes_of(injector); i++)
        if (fault->any ? i == one : node_set_has(&fault->a, i))
            stall_in_this_period(injector, affair, i);
    if (now_ns(injector) + fault->every_ns < over_ns(fault))
        put(injector, affair, now_ns(injector) + fault->every_ns, TURN, 0);
}

static void stall(struct fault_injector *injector, struct affair *affair, uint32_t i)
{
    const struct fault *fault = &affair->fault;
    const uint64_t takes_ns =
        fault->least_ns + rng_next(&affair->rng) % (fault->most_ns - fault->least_ns + 1);
    const uint64_t until_ns = now_ns(injector) + takes_ns;
    if (affair->begun && world_is_running(injector->world, i))
        world_pause(injector->world, i, until_ns < over_ns(fault) ? until_ns : over_ns(fault));
}

/* Beginning, turning, end. */

static void strike(struct fault_injector *injector, struct affair *affair, uint32_t i)
{
    const struct fault *fault = &affair->fault;
    struct party *party = &injector->world->wire.parties[i];
    switch (fault->kind) {
    case FAULT_CRASH:
        take_down(injector, affair, i);
        break;
    case FAULT_CLOG:
        pipe_clog(&party->up, over_ns(fault));
        pipe_clog(&party->down, over_ns(fault));
        break;
    case FAULT_RESET:
        reset(injector, affair, i);
        break;
    case FAULT_HALF_OPEN:
        wire_half_open(&injector->world->wire, i);
        break;
    case FAULT_FRAGMENT:
        prolong(&party->fragment_ns, over_ns(fault));
        break;
    case FAULT_TAMPER:
        prolong(&party->tamper_ns, over_ns(fault));
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
        invite(injector, affair, i);
        break;
    case FAULT_PAUSE: /* these four strike all at once, and turn */
    case FAULT_SLOW_READER:
    case FAULT_PARTITION:
    case FAULT_CHURN:
    case FAULT_KINDS:
        break;
    }
}

static void flap(struct fault_injector *injector, struct affair *affair)
{
    cut(injector, affair, !affair->cut);
    if (affair->fault.every_ns > 0)
        put(injector, affair, now_ns(injector) + (affair->fault.every_ns + 1) / 2, TURN, 0);
}

static void churn(struct fault_injector *injector, struct affair *affair)
{
    const struct fault *fault = &affair->fault;
    const uint32_t one = affair->begun ? draw(injector, affair) : WIRE_NOBODY;
    if (one != WIRE_NOBODY) {
        take_down(injector, affair, one);
        put(injector, affair, now_ns(injector) + fault->away_ns, BACK, one);
    }
    CHECK(fault->every_ns > 0);
    if (now_ns(injector) + fault->every_ns < over_ns(fault))
        put(injector, affair, now_ns(injector) + fault->every_ns, TURN, 0);
}

static void turn(struct fault_injector *injector, struct affair *affair)
{
    if (affair->fault.kind == FAULT_PAUSE && affair->fault.every_ns > 0)
        stall_again(injector, affair);
    else if (affair->fault.kind == FAULT_PAUSE || affair->fault.kind == FAULT_SLOW_READER)
        slice(injector, affair);
    if (affair->fault.kind == FAULT_PARTITION)
        flap(injector, affair);
    if (affair->fault.kind == FAULT_CHURN)
        churn(injector, affair);
}

static void begin(struct fault_injector *injector, struct affair *affair)
{
    choose(injector, affair);
    turn(injector, affair);
    affair->begun = true;
    for (uint32_t i = 0; i < nodes_of(injector); i++)
        if (node_set_has(&affair->struck, i))
            strike(injector, affair, i);
}

/* What ends with a time of its own needs nothing here. */
static void end(struct fault_injector *injector, struct affair *affair)
{
    if (!affair->begun)
        return;
    affair->begun = false;
    affair->ended_ns = now_ns(injector);
    cut(injector, affair, false);
    throw_out(injector, affair);
    if (affair->fault.kind == FAULT_CRASH)
        bring_back_held(injector, affair);
    for (uint32_t i = 0; i < nodes_of(injector); i++)
        if (affair->fault.kind == FAULT_DUPLICATE && node_set_has(&affair->struck, i))
            end_duplicate(injector, i);
}

/* Doors. */

struct fault_injector *fault_injector_new(struct world *world, const struct fault *faults,
                                          uint32_t count, uint64_t seed)
{
    struct fault_injector *injector = calloc(1, sizeof *injector);
    CHECK(injector);
    injector->world = world;
    injector->affairs = calloc(count + 1, sizeof *injector->affairs);
    injector->holder = calloc(world->nodes_max, sizeof *injector->holder);
    injector->guests = calloc(world->outsiders_max + 1, sizeof *injector->guests);
    CHECK(injector->affairs && injector->holder && injector->guests);
    injector->count = count;
    for (uint32_t k = 0; k < count; k++) {
        struct affair *affair = &injector->affairs[k];
        affair->fault = faults[k];
        affair->fault.from_ns += WORLD_BEGIN_NS;
        affair->fault.to_ns += WORLD_BEGIN_NS;
        affair->rng = rng_new(seed ^ rng_mix(faults[k].seed), k);
        put(injector, affair, affair->fault.from_ns, BEGIN, 0);
        if (over_ns(&affair->fault) != NEVER_NS)
            put(injector, affair, over_ns(&affair->fault), END, 0);
    }
    return injector;
}

bool fault_injector_owns(uint64_t subject)
{
    return subject >> 32 == OURS;
}

void fault_injector_on_event(struct fault_injector *injector, uint64_t subject, uint64_t amount)
{
    struct affair *affair = &injector->affairs[(uint32_t)subject];
    if (injector->ended)
        return;
    switch ((enum what)(amount >> 32)) {
    case BEGIN:
        begin(injector, affair);
        break;
    case TURN:
        if (affair->begun)
            turn(injector, affair);
        break;
    case BACK:
        bring_back(injector, affair, (uint32_t)amount);
        break;
    case STALL:
        stall(injector, affair, (uint32_t)amount);
        break;
    case END:
        end(injector, affair);
        break;
    }
}

/* Does this one keep i from hearing j? What ends a process shows in the process itself. */
static bool explains(const struct affair *affair, uint32_t i, uint32_t j)
{
    const struct node_set *a = &affair->struck, *b = &affair->others;
    switch (affair->fault.kind) {
    case FAULT_PARTITION:
    case FAULT_RESET:
        return (node_set_has(a, i) && node_set_has(b, j)) ||
               (node_set_has(b, i) && node_set_has(a, j));
    case FAULT_CLOG:
    case FAULT_HALF_OPEN:
    case FAULT_SLOW_READER:
    case FAULT_FRAGMENT:
    case FAULT_TAMPER:
    case FAULT_DUPLICATE: /* one of the two is turned away everywhere */
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
        const struct affair *affair = &injector->affairs[k];
        if ((affair->begun || affair->ended_ns > since_ns) && explains(affair, i, j))
            return true;
    }
    return false;
}

void fault_injector_end(struct fault_injector *injector)
{
    struct world *world = injector->world;
    injector->ended = true;
    for (uint32_t k = 0; k < injector->count; k++)
        end(injector, &injector->affairs[k]);
    for (uint32_t i = 0; i < nodes_of(injector); i++) {
        struct party *party = &world->wire.parties[i];
        party->fragment_ns = party->tamper_ns = 0;
        pipe_unclog(&party->up, now_ns(injector));
        pipe_unclog(&party->down, now_ns(injector));
        if (injector->holder[i])
            bring_back(injector, &injector->affairs[injector->holder[i] - 1], i);
    }
}

void fault_injector_free(struct fault_injector *injector)
{
    for (uint32_t k = 0; k < injector->count; k++)
        throw_out(injector, &injector->affairs[k]);
    free(injector->affairs);
    free(injector->holder);
    free(injector->guests);
    free(injector);
}
