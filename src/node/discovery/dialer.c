/* The dialer: which addresses to dial, from the user's list and from member records. It never
 * gives up on an address.
 *
 * Every address is a candidate. After a failed dial or a conversation it waits BACKOFF_MIN_NS ·
 * 1.6^failures, at most BACKOFF_MAX_NS, ± 25 % so that nodes do not dial in step. A candidate whose
 * node has a conversation with us, over any connection, is skipped. A small swarm is a full mesh.
 * In a larger one a node dials until it has DEGREE neighbours, DEGREE / 2 of them dialled by
 * itself. So each node keeps some neighbours of its own random choice, however many nodes dialled
 * it, and the graph stays connected.
 *
 * After a partition, or a start in two places, each part of a swarm has enough neighbours. So a
 * node sometimes dials an address with no known live member, however many neighbours it has.
 * It also hangs up on a neighbour of its own choice from time to time and dials another, so that
 * the graph keeps mixing.
 *
 * Addresses in records may be false, and a swarm must not become a weapon against other machines.
 * So addresses where no member has answered share a token bucket of TRIES_MAX dials, refilled by
 * one a second. Ports below 1024 are dialled only if the configuration allows it
 * (limits.low_ports), and addresses that are not of one machine, such as multicast, are never
 * dialled. The addresses from the user are exempt from all this.
 *
 * A path may drop large packets silently. After two conversations in a row that soon fell silent
 * with bytes in flight, the candidate is dialled with smaller packets. Tests:
 * tests/world/test_dialer.c, and tests/world/test_budget.c for slots that a full seed frees.
 */
#include <math.h>
#include <string.h>

#include "node/broadcast/broadcast.h"
#include "node/discovery/discovery_private.h"
#include "node/orders/admitted.h"
#include "node/orders/verdict.h"
#include "node/rate/rate.h"

#define BACKOFF_MIN_NS (SECOND_NS / 2)
#define BACKOFF_MAX_NS (30 * SECOND_NS)
/* Time between two searches among addresses with no known live member, ± 25 %. */
#define REACH_NS (10 * SECOND_NS)
/* Time between two hang-ups that mix the graph of neighbours, ± 25 %. */
#define SHUFFLE_NS (60 * SECOND_NS)
/* RETRY_LATE counts as this many failed dials in a row: the wait is then BACKOFF_MAX_NS. */
#define LATE_FAILURES 20
/* Longest time between two searches for a candidate to dial. */
#define LOOK_NS (SECOND_NS / 4)
/* Capacity of the token bucket for addresses where no member has answered, in dials. */
#define TRIES_MAX 32
#define TRY_NS    SECOND_NS /* time in which the token bucket allows one more dial */
/* A conversation that is older when it falls silent does not count as a stall. */
#define STALL_NS (60 * SECOND_NS)
/* An address is dialled with smaller packets after this number of stalls, and with the smallest
 * packets after twice this number. */
#define STALLS_MOST   2
#define SEGMENT_SMALL 1024
#define SEGMENT_LEAST 536
#define LOW_PORTS     1024 /* ports with smaller numbers belong to system services */

/* Returns a random time between 0.75 and 1.25 times span_ns. */
static uint64_t about_ns(struct node *node, uint64_t span_ns)
{
    CHECK(span_ns > 0);
    return (uint64_t)((double)span_ns * (0.75 + 0.5 * rng_uniform(&node->rng)));
}

static struct candidate *called(const struct node *node, const struct peer *peer)
{
    CHECK(peer->conn != 0);
    for (uint32_t i = 0; i < node->discovery->dialer.count; i++)
        if (node->discovery->dialer.candidates[i].conn == peer->conn)
            return &node->discovery->dialer.candidates[i];
    return NULL;
}

static uint32_t address_hash(const struct address *address)
{
    uint64_t hash = address->port;
    for (const char *c = address->host; *c; c++)
        hash = rng_mix(hash ^ (uint8_t)*c);
    return (uint32_t)hash;
}

static struct candidate *find(const struct node *node, const struct address *address)
{
    const uint32_t hash = address_hash(address);
    for (uint32_t i = 0; i < node->discovery->dialer.count; i++)
        if (node->discovery->dialer.hashes[i] == hash &&
            address_equal(&node->discovery->dialer.candidates[i].address, address))
            return &node->discovery->dialer.candidates[i];
    return NULL;
}

static void set(struct node *node, struct candidate *candidate, const struct address *address,
                const uint8_t *id, bool is_seed)
{
    const ptrdiff_t origin_index = candidate - node->discovery->dialer.candidates;
    CHECK(origin_index >= 0 && origin_index < node->discovery->dialer.count &&
          candidate->conn == 0);
    *candidate = (struct candidate){
        .address = *address, .is_seed = is_seed, .has_id = id != NULL, .next_ns = node->now_ns};
    if (id)
        memcpy(candidate->id, id, ID_BYTES);
    node->discovery->dialer.hashes[origin_index] = address_hash(address);
    node->discovery->dialer.dial_ns = node->now_ns;
}

/* Returns true if the address may be dialled. An address that the user configured always may be.
 * One from a record may be aimed at a machine outside the swarm. */
static bool may_be_called(const struct node *node, const struct address *address, bool is_seed)
{
    if (!address->host[0] || address->port == 0)
        return false;
    return is_seed || (address_is_one_machine(address) &&
                       (address->port >= LOW_PORTS || node->options.limits.low_ports));
}

void dialer_add(struct node *node, const struct address *address, const uint8_t *id, bool is_seed)
{
    if (!may_be_called(node, address, is_seed))
        return;
    struct candidate *candidate = find(node, address);
    if (!candidate && node->discovery->dialer.count < node->discovery->dialer.max)
        set(node, &node->discovery->dialer.candidates[node->discovery->dialer.count++], address, id,
            is_seed);
    if (candidate && id && !candidate->conn && !candidate->is_self) {
        memcpy(candidate->id, id, ID_BYTES);
        candidate->has_id = true;
    }
}

void dialer_moved(struct node *node, const struct address *from, const struct address *to,
                  const uint8_t id[static ID_BYTES])
{
    struct candidate *candidate = from->host[0] ? find(node, from) : NULL;
    const bool is_its = candidate && candidate->has_id && memcmp(candidate->id, id, ID_BYTES) == 0;
    if (is_its && !candidate->is_seed && !candidate->conn && may_be_called(node, to, false) &&
        !find(node, to))
        set(node, candidate, to, id, false);
    else
        dialer_add(node, to, id, false);
}

/* Returns the number of neighbours and of peers that may become neighbours. Peers that have dialled
 * this node count only once their id is known. Sets *dialled to the number of these that this node
 * dialled. */
static uint32_t calls(const struct node *node, uint32_t *dialled)
{
    uint32_t calls = 0;
    *dialled = 0;
    for (uint32_t i = 0; i < node->options.limits.peers_max; i++) {
        const struct peer *peer = connection_at(node, i);
        const bool under_way = peer->dialled && peer->state != PEER_FREE;
        if (peer->state == PEER_CLOSING ||
            !(under_way || peer->state == PEER_MEETING || peer->state == PEER_OPEN))
            continue;
        calls++;
        *dialled += peer->dialled;
    }
    return calls;
}

static bool is_mesh(const struct node *node)
{
    return membership_live(node) <= MESH_MAX;
}

/* Returns true if the node wants another neighbour. A leaving node also wants one, because its
 * last publication must reach another node. */
static bool wants_more(const struct node *node)
{
    uint32_t dialled;
    const uint32_t open = calls(node, &dialled);
    if (leaving_stage(node) == STAGE_LEFT)
        return false;
    return is_mesh(node) ? open < node->options.limits.peers_max
                         : open < DEGREE || dialled < DEGREE / 2;
}

/* Returns true if this node knows no live member at the candidate's address. */
static bool is_lost(const struct node *node, const struct candidate *candidate)
{
    const struct member *member = candidate->has_id ? membership_find(node, candidate->id) : NULL;
    return !member || !member->known_live;
}

/* Returns true if the candidate's node is expelled, not admitted, or has left, so that it must not
 * be dialled. A seed that has left is dialled until the training of this node has ended. */
static bool is_gone(const struct node *node, const struct candidate *candidate)
{
    if (candidate->has_id &&
        (verdict_reason(node, candidate->id) || !admitted_may_be(node, candidate->id)))
        return true;
    if (!candidate->has_id || (candidate->is_seed && leaving_stage(node) == STAGE_RUNNING))
        return false;
    const struct member *member = membership_find(node, candidate->id);
    return member && member->record.stage == STAGE_LEFT;
}

/* Returns true if this node has a conversation with the node `id` over any connection, even one
 * that is closing. */
static bool is_talked_to(const struct node *node, const uint8_t id[static ID_BYTES])
{
    for (uint32_t i = 0; i < node->options.limits.peers_max; i++) {
        const struct peer *peer = connection_at(node, i);
        const bool is_open = peer->state == PEER_OPEN;
        if ((is_open || peer->state == PEER_CLOSING) && memcmp(peer->id, id, ID_BYTES) == 0)
            return true;
    }
    return false;
}

static bool is_unproven(const struct candidate *candidate)
{
    return !candidate->is_seed && !candidate->is_proven;
}

/* Returns true if the token bucket allows a dial of an address where no member has answered. */
static bool may_try(struct node *node)
{
    struct dialer *dialer = &node->discovery->dialer;
    CHECK(dialer->tries_ns <= node->now_ns && dialer->tries >= 0);
    const double over = (double)(node->now_ns - dialer->tries_ns) / (double)TRY_NS;
    dialer->tries = fmax(dialer->tries - over, 0);
    dialer->tries_ns = node->now_ns;
    return dialer->tries + 1 <= TRIES_MAX;
}

/* Returns a random candidate that may be dialled now; NULL if there is none. lost: true = a
 * candidate with no known live member; false = one with a live member, or a seed; in a small swarm
 * any candidate. */
static struct candidate *due(struct node *node, bool lost)
{
    if (node->discovery->dialer.count == 0)
        return NULL;
    const uint32_t start = rng_below(&node->rng, node->discovery->dialer.count);
    const bool may_try_unproven = may_try(node);
    for (uint32_t i = 0; i < node->discovery->dialer.count; i++) {
        struct candidate *candidate =
            &node->discovery->dialer.candidates[(start + i) % node->discovery->dialer.count];
        if (candidate->is_self || candidate->conn || node->now_ns < candidate->next_ns)
            continue;
        if (is_unproven(candidate) && !may_try_unproven)
            continue;
        if (is_gone(node, candidate) || (candidate->has_id && is_talked_to(node, candidate->id)))
            continue;
        const bool is_wanted = lost == is_lost(node, candidate);
        if (is_wanted || (!lost && (is_mesh(node) || candidate->is_seed)))
            return candidate;
    }
    return NULL;
}

/* Returns the largest packet for a connection to the candidate, in bytes; 0 = default. RFC 4821
 * starts its search at 1024; 536 fits any IPv4 path. */
static uint32_t segment_bytes(const struct candidate *candidate)
{
    return candidate->stalls < STALLS_MOST       ? 0
           : candidate->stalls < 2 * STALLS_MOST ? SEGMENT_SMALL
                                                 : SEGMENT_LEAST;
}

static struct candidate *next_candidate(struct node *node)
{
    struct candidate *candidate = wants_more(node) ? due(node, false) : NULL;
    if (candidate || node->now_ns < node->discovery->dialer.reach_ns ||
        leaving_stage(node) == STAGE_LEFT)
        return candidate;
    node->discovery->dialer.reach_ns = node->now_ns + about_ns(node, REACH_NS);
    return due(node, true);
}

bool dialer_next(struct node *node, struct action *action)
{
    if (node->now_ns < node->discovery->dialer.dial_ns)
        return false;
    struct candidate *candidate = connection_has_room(node) ? next_candidate(node) : NULL;
    if (!candidate) {
        node->discovery->dialer.dial_ns = node->now_ns + LOOK_NS;
        return false;
    }
    CHECK(candidate->conn == 0 && !candidate->is_self);
    const struct peer *peer = connection_dial(node, &candidate->address);
    CHECK(peer && peer->state == PEER_DIALLING);
    rate_on_start(node, peer);
    candidate->conn = peer->conn;
    node->discovery->dialer.tries += is_unproven(candidate);
    *action = (struct action){.kind = ACTION_DIAL,
                              .conn = candidate->conn,
                              .address = candidate->address,
                              .segment_bytes = segment_bytes(candidate)};
    return true;
}

/* Returns a random neighbour that this node dialled (dialled = true) or that dialled this node;
 * NULL if there is none. Sets *count to the number of such neighbours. */
static const struct peer *draw(struct node *node, bool dialled, uint32_t *count)
{
    const struct peer *peer, *chosen = NULL;
    *count = 0;
    for (uint32_t i = 0; (peer = connection_neighbour(node, &i)); i++)
        if (peer->dialled == dialled && rng_below(&node->rng, ++*count) == 0)
            chosen = peer;
    CHECK((chosen != NULL) == (*count > 0));
    return chosen;
}

void dialer_shuffle(struct node *node)
{
    if (node->now_ns < node->discovery->dialer.shuffle_ns)
        return;
    const bool is_first = node->discovery->dialer.shuffle_ns == 0;
    node->discovery->dialer.shuffle_ns = node->now_ns + about_ns(node, SHUFFLE_NS);
    if (is_first || is_mesh(node) || leaving_stage(node) != STAGE_RUNNING ||
        !joining_has_joined(node) || membership_reachable(node) <= connection_neighbours(node) + 1)
        return;
    uint32_t called;
    const struct peer *chosen = draw(node, true, &called);
    if (called >= DEGREE / 2)
        connection_hang_up(node, chosen, BYE_FULL, "this node tries other neighbours");
}

void dialer_make_room(struct node *node)
{
    uint32_t callers;
    if (is_mesh(node) || connection_neighbours(node) <= connection_neighbours_most(node))
        return;
    const struct peer *chosen = draw(node, false, &callers);
    if (chosen)
        connection_hang_up(node, chosen, BYE_FULL,
                           "this node needs the slot to refer other callers");
}

void dialer_on_met(struct node *node, const struct peer *peer)
{
    struct candidate *candidate = called(node, peer);
    if (!candidate)
        return;
    memcpy(candidate->id, peer->id, ID_BYTES);
    candidate->has_id = candidate->is_proven = true;
}

void dialer_on_open(struct node *node, const struct peer *peer)
{
    struct candidate *candidate = called(node, peer);
    CHECK(peer->state == PEER_MEETING);
    if (candidate)
        candidate->failures = 0;
}

void dialer_on_self(struct node *node, const struct peer *peer)
{
    struct candidate *candidate = called(node, peer);
    if (candidate)
        candidate->is_self = true;
}

/* Delays this node's next dial of a peer that will dial again for new session keys. If both sides
 * dialled, one connection would be wasted. */
static void leave_it_to_the_caller(struct node *node, const struct peer *peer)
{
    for (uint32_t i = 0; i < node->discovery->dialer.count; i++) {
        struct candidate *candidate = &node->discovery->dialer.candidates[i];
        if (candidate->has_id && !candidate->conn && memcmp(candidate->id, peer->id, ID_BYTES) == 0)
            candidate->next_ns = node->now_ns + SECOND_NS;
    }
}

void dialer_redial(struct node *node)
{
    for (uint32_t i = 0; i < node->discovery->dialer.count; i++) {
        struct candidate *candidate = &node->discovery->dialer.candidates[i];
        if (!candidate->has_id || candidate->failures < LATE_FAILURES)
            continue;
        candidate->failures = 0;
        candidate->next_ns = node->now_ns;
    }
}

void dialer_call_all(struct node *node)
{
    for (uint32_t i = 0; i < node->discovery->dialer.count; i++) {
        struct candidate *candidate = &node->discovery->dialer.candidates[i];
        candidate->failures = 0;
        candidate->next_ns = node->now_ns;
    }
    node->discovery->dialer.dial_ns = node->now_ns;
}

static void note_stalls(struct node *node, const struct candidate *candidate)
{
    struct note *note = notes_add(
        &node->notes, node->now_ns, NOTE_STALLED, LEVEL_WARNING,
        "went silent twice while bytes were in flight: the path may drop large packets (MTU of a "
        "tunnel, filtered ICMP); this node now dials it with packets of at most %u bytes",
        (unsigned)segment_bytes(candidate));
    (void)address_text(&candidate->address, note->where);
    if (candidate->has_id)
        identity_text(note->who, candidate->id);
}

/* Counts a stall, if the ended conversation was one. On a path that drops large packets, the
 * handshake succeeds and the conversation then falls silent. */
static void count_stall(struct node *node, struct candidate *candidate, const struct peer *peer)
{
    const struct congestion *link = rate_link(node, peer);
    const uint32_t before = segment_bytes(candidate);
    if (!peer->was_open || node->options.limits.dial_ns == 0)
        return;
    if (!peer->was_silent || node->now_ns - peer->born_ns > STALL_NS) {
        /* a packet size that has worked is kept */
        candidate->stalls -= candidate->stalls % STALLS_MOST;
        return;
    }
    if (link->sent == link->arrived || before == SEGMENT_LEAST)
        return;
    candidate->stalls++;
    if (segment_bytes(candidate) != before)
        note_stalls(node, candidate);
}

void dialer_on_closed(struct node *node, const struct peer *peer)
{
    struct candidate *candidate = called(node, peer);
    CHECK((candidate != NULL) == peer->dialled);
    if (!candidate && peer->retry == RETRY_AT_ONCE)
        leave_it_to_the_caller(node, peer);
    if (!candidate)
        return;
    count_stall(node, candidate, peer);
    candidate->conn = 0;
    candidate->certainty = connection_certainty(peer);
    candidate->next_ns = node->discovery->dialer.dial_ns = node->now_ns;
    if (peer->retry == RETRY_AT_ONCE)
        return;
    if (peer->retry == RETRY_LATE && candidate->failures < LATE_FAILURES)
        candidate->failures = LATE_FAILURES;
    double wait = (double)BACKOFF_MIN_NS * pow(1.6, fmin(candidate->failures, LATE_FAILURES));
    candidate->failures++;
    candidate->next_ns += about_ns(node, (uint64_t)fmin(wait, (double)BACKOFF_MAX_NS));
}

struct dialed dialer_dialed(const struct node *node, const struct peer *peer)
{
    const struct candidate *candidate = called(node, peer);
    if (!candidate)
        return (struct dialed){0};
    return (struct dialed){.is_seed = candidate->is_seed,
                           .failures = candidate->failures,
                           .certainty = candidate->certainty,
                           .id = candidate->has_id ? candidate->id : NULL};
}
