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

struct trouble {
    struct world *world;
    struct affair *affairs;
    uint32_t count;
    uint32_t *holder;     /* [nodes_max] the affair that keeps this node down, or will, + 1 */
    struct guest *guests; /* [outsiders_max] */
    bool ended;
};

static uint64_t now_ns(const struct trouble *trouble)
{
    return world_now_ns(trouble->world);
}

static void put(struct trouble *trouble, const struct affair *affair, uint64_t at_ns,
                enum what what, uint32_t node)
{
    const uint64_t number = (uint64_t)(affair - trouble->affairs);
    world_put(trouble->world, at_ns, OURS << 32 | number, (uint64_t)what << 32 | node);
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

static uint32_t nodes_of(const struct trouble *trouble)
{
    const uint32_t count = trouble->world->nodes_count;
    return count < FAULT_NODES_MAX ? count : FAULT_NODES_MAX;
}

static bool is_up(const struct trouble *trouble, uint32_t i)
{
    return world_is_running(trouble->world, i) && trouble->holder[i] == 0;
}

/* One of a that is up, or WIRE_NOBODY. */
static uint32_t draw(struct trouble *trouble, struct affair *affair)
{
    uint32_t up = 0;
    for (uint32_t i = 0; i < nodes_of(trouble); i++)
        up += node_set_has(&affair->fault.a, i) && is_up(trouble, i);
    uint32_t chosen = up > 0 ? rng_below(&affair->rng, up) : 0;
    for (uint32_t i = 0; i < nodes_of(trouble); i++)
        if (node_set_has(&affair->fault.a, i) && is_up(trouble, i) && chosen-- == 0)
            return i;
    return WIRE_NOBODY;
}

static void choose(struct trouble *trouble, struct affair *affair)
{
    static const struct node_set nobody;
    const struct fault *fault = &affair->fault;
    affair->struck = fault->any ? nobody : fault->a;
    const uint32_t one = fault->any ? draw(trouble, affair) : WIRE_NOBODY;
    if (one != WIRE_NOBODY)
        node_set_add(&affair->struck, one);
    const bool all_others = memcmp(&fault->b, &nobody, sizeof nobody) == 0;
    affair->others = all_others ? nobody : fault->b;
    for (uint32_t i = 0; all_others && i < nodes_of(trouble); i++)
        if (!node_set_has(&affair->struck, i))
            node_set_add(&affair->others, i);
}

/* Processes. */

static void take_down(struct trouble *trouble, const struct affair *affair, uint32_t i)
{
    if (!is_up(trouble, i))
        return;
    trouble->holder[i] = (uint32_t)(affair - trouble->affairs) + 1;
    const bool silently = affair->fault.value < 0 || affair->fault.value > 0;
    if (affair->fault.actions > 0)
        world_kill_in(trouble->world, i, affair->fault.actions, silently);
    else
        world_kill(trouble->world, i, silently);
}

static void start_again(struct trouble *trouble, enum fault_disk disk, uint32_t i)
{
    if (disk == FAULT_DISK_ROTS)
        drive_rot(&trouble->world->nodes[i].drive);
    if (disk == FAULT_DISK_LOST)
        world_wipe(trouble->world, i);
    world_start(trouble->world, i);
}

static void bring_back(struct trouble *trouble, const struct affair *affair, uint32_t i)
{
    trouble->holder[i] = 0;
    world_kill_in(trouble->world, i, 0, false);
    if (!world_is_running(trouble->world, i) && !trouble->world->nodes[i].finished)
        start_again(trouble, affair->fault.disk, i);
}

static void bring_back_held(struct trouble *trouble, const struct affair *affair)
{
    for (uint32_t i = 0; i < nodes_of(trouble); i++)
        if (trouble->holder[i] == (uint32_t)(affair - trouble->affairs) + 1)
            bring_back(trouble, affair, i);
}

/* Another node with the identity of node i, running or not; WIRE_NOBODY: there is none. */
static uint32_t twin_of(const struct trouble *trouble, uint32_t i, bool running)
{
    const struct world_node *nodes = trouble->world->nodes;
    for (uint32_t k = 0; k < trouble->world->nodes_count; k++)
        if (k != i && world_is_running(trouble->world, k) == running &&
            memcmp(nodes[k].identity.id, nodes[i].identity.id, ID_BYTES) == 0)
            return k;
    return WIRE_NOBODY;
}

static void duplicate(struct trouble *trouble, uint32_t i)
{
    const uint32_t twin = twin_of(trouble, i, false);
    if (world_is_running(trouble->world, i) && twin != WIRE_NOBODY)
        world_start(trouble->world, twin);
}

/* Somebody has noticed: the copy is stopped, and the node, turned away since, started again. */
static void end_duplicate(struct trouble *trouble, uint32_t i)
{
    struct world *world = trouble->world;
    const uint32_t twin = twin_of(trouble, i, true);
    if (twin == WIRE_NOBODY)
        return;
    world_kill(world, twin, false);
    if (!world_is_running(world, i) || node_is_leaving(world->nodes[i].node))
        return;
    world_kill(world, i, false);
    world_start(world, i);
}

/* Outsiders. */

static void invite(struct trouble *trouble, struct affair *affair, uint32_t victim)
{
    enum hostile_kind kind = HOSTILE_VILLAIN;
    if (affair->fault.kind == FAULT_WRONG_KEY)
        kind = HOSTILE_STRANGER;
    else if (affair->fault.kind == FAULT_MUTE)
        kind = HOSTILE_MUTE;
    struct hostile *hostile = hostile_enter(trouble->world, kind, victim, rng_next(&affair->rng));
    struct guest *guest = trouble->guests;
    while (hostile && guest->hostile)
        guest++;
    if (hostile)
        *guest = (struct guest){hostile, (uint32_t)(affair - trouble->affairs)};
}

static void throw_out(struct trouble *trouble, const struct affair *affair)
{
    for (uint32_t i = 0; i < trouble->world->outsiders_max; i++) {
        struct guest *guest = &trouble->guests[i];
        if (!guest->hostile || guest->affair != (uint32_t)(affair - trouble->affairs))
            continue;
        hostile_leave(guest->hostile);
        guest->hostile = NULL;
    }
}

/* Wires. */

static void cut(struct trouble *trouble, struct affair *affair, bool now)
{
    if (affair->cut == now)
        return;
    affair->cut = now;
    for (uint32_t i = 0; i < nodes_of(trouble); i++) {
        for (uint32_t k = 0; node_set_has(&affair->struck, i) && k < nodes_of(trouble); k++) {
            if (k == i || !node_set_has(&affair->others, k))
                continue;
            wire_cut(&trouble->world->wire, i, k, now);
            if (!affair->fault.one_way)
                wire_cut(&trouble->world->wire, k, i, now);
        }
    }
}

static void reset(struct trouble *trouble, const struct affair *affair, uint32_t i)
{
    for (uint32_t k = 0; k < nodes_of(trouble); k++)
        if (k != i && node_set_has(&affair->others, k))
            wire_reset(&trouble->world->wire, i, k);
}

static void prolong(uint64_t *until_ns, uint64_t to_ns)
{
    if (*until_ns < to_ns)
        *until_ns = to_ns;
}

/* The next slice of standing still or not reading, for whom this has not ended otherwise: a process
 * that was killed meanwhile and has started again stands still no more. A nanosecond longer, so
 * that the next slice comes before it ends. */
static void slice(struct trouble *trouble, struct affair *affair)
{
    const uint64_t over = over_ns(&affair->fault), next_ns = now_ns(trouble) + SLICE_NS;
    const uint64_t until_ns = over <= next_ns ? over : next_ns + 1;
    const bool goes_on = affair->begun;
    for (uint32_t i = 0; i < nodes_of(trouble); i++) {
        struct party *party = &trouble->world->wire.parties[i];
        uint64_t *field = affair->fault.kind == FAULT_PAUSE ? &party->paused_ns : &party->deaf_ns;
        if (node_set_has(&affair->struck, i) && world_is_running(trouble->world, i) &&
            (!goes_on || *field > now_ns(trouble)))
            prolong(field, until_ns);
    }
    if (over > next_ns)
        put(trouble, affair, next_ns, TURN, 0);
}

/* A machine with too much to do. */

static void stall_in_this_period(struct trouble *trouble, struct affair *affair, uint32_t i)
{
    const uint64_t at_ns = now_ns(trouble) + rng_next(&affair->rng) % affair->fault.every_ns;
    if (at_ns < over_ns(&affair->fault))
        put(trouble, affair, at_ns, STALL, i);
}

static void stall_again(struct trouble *trouble, struct affair *affair)
{
    const struct fault *fault = &affair->fault;
    const uint32_t one = fault->any ? draw(trouble, affair) : WIRE_NOBODY;
    for (uint32_t i = 0; i < nodes_of(trouble); i++)
        if (fault->any ? i == one : node_set_has(&fault->a, i))
            stall_in_this_period(trouble, affair, i);
    if (now_ns(trouble) + fault->every_ns < over_ns(fault))
        put(trouble, affair, now_ns(trouble) + fault->every_ns, TURN, 0);
}

static void stall(struct trouble *trouble, struct affair *affair, uint32_t i)
{
    const struct fault *fault = &affair->fault;
    const uint64_t takes_ns =
        fault->least_ns + rng_next(&affair->rng) % (fault->most_ns - fault->least_ns + 1);
    const uint64_t until_ns = now_ns(trouble) + takes_ns;
    if (affair->begun && world_is_running(trouble->world, i))
        world_pause(trouble->world, i, until_ns < over_ns(fault) ? until_ns : over_ns(fault));
}

/* Beginning, turning, end. */

static void strike(struct trouble *trouble, struct affair *affair, uint32_t i)
{
    const struct fault *fault = &affair->fault;
    struct party *party = &trouble->world->wire.parties[i];
    switch (fault->kind) {
    case FAULT_CRASH:
        take_down(trouble, affair, i);
        break;
    case FAULT_CLOG:
        pipe_clog(&party->up, over_ns(fault));
        pipe_clog(&party->down, over_ns(fault));
        break;
    case FAULT_RESET:
        reset(trouble, affair, i);
        break;
    case FAULT_HALF_OPEN:
        wire_half_open(&trouble->world->wire, i);
        break;
    case FAULT_FRAGMENT:
        prolong(&party->fragment_ns, over_ns(fault));
        break;
    case FAULT_TAMPER:
        prolong(&party->tamper_ns, over_ns(fault));
        break;
    case FAULT_CLOCK:
        trouble->world->nodes[i].clock_ms += (int64_t)(fault->value * 1000);
        break;
    case FAULT_DUPLICATE:
        duplicate(trouble, i);
        break;
    case FAULT_WRONG_KEY:
    case FAULT_HOSTILE:
    case FAULT_MUTE:
        invite(trouble, affair, i);
        break;
    case FAULT_PAUSE: /* these four strike all at once, and turn */
    case FAULT_SLOW_READER:
    case FAULT_PARTITION:
    case FAULT_CHURN:
    case FAULT_KINDS:
        break;
    }
}

static void flap(struct trouble *trouble, struct affair *affair)
{
    cut(trouble, affair, !affair->cut);
    if (affair->fault.every_ns > 0)
        put(trouble, affair, now_ns(trouble) + (affair->fault.every_ns + 1) / 2, TURN, 0);
}

static void churn(struct trouble *trouble, struct affair *affair)
{
    const struct fault *fault = &affair->fault;
    const uint32_t one = affair->begun ? draw(trouble, affair) : WIRE_NOBODY;
    if (one != WIRE_NOBODY) {
        take_down(trouble, affair, one);
        put(trouble, affair, now_ns(trouble) + fault->away_ns, BACK, one);
    }
    CHECK(fault->every_ns > 0);
    if (now_ns(trouble) + fault->every_ns < over_ns(fault))
        put(trouble, affair, now_ns(trouble) + fault->every_ns, TURN, 0);
}

static void turn(struct trouble *trouble, struct affair *affair)
{
    if (affair->fault.kind == FAULT_PAUSE && affair->fault.every_ns > 0)
        stall_again(trouble, affair);
    else if (affair->fault.kind == FAULT_PAUSE || affair->fault.kind == FAULT_SLOW_READER)
        slice(trouble, affair);
    if (affair->fault.kind == FAULT_PARTITION)
        flap(trouble, affair);
    if (affair->fault.kind == FAULT_CHURN)
        churn(trouble, affair);
}

static void begin(struct trouble *trouble, struct affair *affair)
{
    choose(trouble, affair);
    turn(trouble, affair);
    affair->begun = true;
    for (uint32_t i = 0; i < nodes_of(trouble); i++)
        if (node_set_has(&affair->struck, i))
            strike(trouble, affair, i);
}

/* What ends with a time of its own needs nothing here. */
static void end(struct trouble *trouble, struct affair *affair)
{
    if (!affair->begun)
        return;
    affair->begun = false;
    affair->ended_ns = now_ns(trouble);
    cut(trouble, affair, false);
    throw_out(trouble, affair);
    if (affair->fault.kind == FAULT_CRASH)
        bring_back_held(trouble, affair);
    for (uint32_t i = 0; i < nodes_of(trouble); i++)
        if (affair->fault.kind == FAULT_DUPLICATE && node_set_has(&affair->struck, i))
            end_duplicate(trouble, i);
}

/* Doors. */

struct trouble *trouble_new(struct world *world, const struct fault *faults, uint32_t count,
                            uint64_t seed)
{
    struct trouble *trouble = calloc(1, sizeof *trouble);
    CHECK(trouble);
    trouble->world = world;
    trouble->affairs = calloc(count + 1, sizeof *trouble->affairs);
    trouble->holder = calloc(world->nodes_max, sizeof *trouble->holder);
    trouble->guests = calloc(world->outsiders_max + 1, sizeof *trouble->guests);
    CHECK(trouble->affairs && trouble->holder && trouble->guests);
    trouble->count = count;
    for (uint32_t k = 0; k < count; k++) {
        struct affair *affair = &trouble->affairs[k];
        affair->fault = faults[k];
        affair->fault.from_ns += WORLD_BEGIN_NS;
        affair->fault.to_ns += WORLD_BEGIN_NS;
        affair->rng = rng_new(seed ^ rng_mix(faults[k].seed), k);
        put(trouble, affair, affair->fault.from_ns, BEGIN, 0);
        if (over_ns(&affair->fault) != NEVER_NS)
            put(trouble, affair, over_ns(&affair->fault), END, 0);
    }
    return trouble;
}

bool trouble_owns(uint64_t subject)
{
    return subject >> 32 == OURS;
}

void trouble_on_event(struct trouble *trouble, uint64_t subject, uint64_t amount)
{
    struct affair *affair = &trouble->affairs[(uint32_t)subject];
    if (trouble->ended)
        return;
    switch ((enum what)(amount >> 32)) {
    case BEGIN:
        begin(trouble, affair);
        break;
    case TURN:
        if (affair->begun)
            turn(trouble, affair);
        break;
    case BACK:
        bring_back(trouble, affair, (uint32_t)amount);
        break;
    case STALL:
        stall(trouble, affair, (uint32_t)amount);
        break;
    case END:
        end(trouble, affair);
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

bool trouble_explains(const struct trouble *trouble, uint32_t i, uint32_t j, uint64_t since_ns)
{
    const struct world *world = trouble->world;
    const struct world_node *at = &world->nodes[j];
    if (!at->node || node_is_leaving(at->node) || world->wire.parties[j].paused_ns > since_ns ||
        (at->life > 1 && at->born_ns > since_ns))
        return true;
    for (uint32_t k = 0; k < trouble->count; k++) {
        const struct affair *affair = &trouble->affairs[k];
        if ((affair->begun || affair->ended_ns > since_ns) && explains(affair, i, j))
            return true;
    }
    return false;
}

void trouble_end(struct trouble *trouble)
{
    struct world *world = trouble->world;
    trouble->ended = true;
    for (uint32_t k = 0; k < trouble->count; k++)
        end(trouble, &trouble->affairs[k]);
    for (uint32_t i = 0; i < nodes_of(trouble); i++) {
        struct party *party = &world->wire.parties[i];
        party->fragment_ns = party->tamper_ns = 0;
        pipe_unclog(&party->up, now_ns(trouble));
        pipe_unclog(&party->down, now_ns(trouble));
        if (trouble->holder[i])
            bring_back(trouble, &trouble->affairs[trouble->holder[i] - 1], i);
    }
}

void trouble_free(struct trouble *trouble)
{
    for (uint32_t k = 0; k < trouble->count; k++)
        throw_out(trouble, &trouble->affairs[k]);
    free(trouble->affairs);
    free(trouble->holder);
    free(trouble->guests);
    free(trouble);
}
