#include "node/orders/admitted.h"

#include <stdlib.h>
#include <string.h>

#include "frame/bytes.h"
#include "node/orders/orders.h"
#include "wire/message.h"

/* Maximum number of remembered strangers (incarnations of ids that are not admitted). */
#define STRANGERS_MAX 256

struct stranger {
    struct node_stranger shown; /* the result of node_stranger */
    uint64_t tag;               /* tag of the stranger's origin */
};

struct admitted {
    bool has_list;                             /* the configuration has a member list */
    uint8_t listed[NODE_LISTED_MAX][ID_BYTES]; /* ids on the member list, sorted */
    uint32_t listed_count;
    uint64_t list_hash;              /* hash of the ids in `listed`; never 0 if has_list */
    uint64_t theirs[NODE_PEERS_MAX]; /* [slot] admitted_hash that the neighbour last sent */
    struct stranger strangers[STRANGERS_MAX]; /* ring of the strangers met last */
    /* Index of the next stranger in `strangers`, modulo STRANGERS_MAX; below STRANGERS_MAX, also
     * their number. */
    uint32_t strangers_met;
};

size_t admitted_arena_bytes(void)
{
    return sizeof(struct admitted) + 64;
}

struct admitted *admitted_new(struct arena *arena)
{
    return arena_alloc(arena, 1, sizeof(struct admitted));
}

static int by_id(const void *a, const void *b)
{
    return memcmp(a, b, ID_BYTES);
}

void admitted_set_list(struct node *node, const uint8_t *ids, uint32_t count)
{
    struct admitted *admitted = node->admitted;
    uint8_t hash[8];
    CHECK(count <= NODE_LISTED_MAX);
    if (count > 0)
        memcpy(admitted->listed, ids, count * sizeof *admitted->listed);
    qsort(admitted->listed, count, sizeof *admitted->listed, by_id);
    admitted->listed_count = count;
    secret_blake2b(hash, sizeof hash, admitted->listed[0], count * ID_BYTES, NULL, 0);
    admitted->list_hash = bytes_get(hash, 8) | 1;
    admitted->has_list = true;
    admitted->strangers_met = 0;
}

void admitted_on_orders(struct node *node)
{
    node->admitted->strangers_met = 0;
}

enum admission node_admission(const struct node *node, const uint8_t id[static ID_BYTES])
{
    const struct admitted *admitted = node->admitted;
    if (orders_admit(node)) {
        const struct order *order = orders_about(node, id);
        return order && order->kind == ORDER_ADMIT ? ADMISSION_ORDER : ADMISSION_NONE;
    }
    if (!admitted->has_list)
        return ADMISSION_KEY;
    return bsearch(id, admitted->listed, admitted->listed_count, ID_BYTES, by_id) ? ADMISSION_LIST
                                                                                  : ADMISSION_NONE;
}

bool admitted_may_be(const struct node *node, const uint8_t id[static ID_BYTES])
{
    return node_admission(node, id) != ADMISSION_NONE ||
           memcmp(id, node->options.identity->id, ID_BYTES) == 0;
}

bool admitted_may_vote(const struct node *node, const uint8_t id[static ID_BYTES])
{
    const enum admission admission = node_admission(node, id);
    return (admission == ADMISSION_LIST || admission == ADMISSION_ORDER) &&
           !orders_expelling(node, id);
}

static uint32_t count_listed(const struct node *node)
{
    const struct admitted *admitted = node->admitted;
    uint32_t voters = 0;
    for (uint32_t i = 0; i < admitted->listed_count; i++)
        voters += (i == 0 || by_id(admitted->listed[i], admitted->listed[i - 1]) != 0) &&
                  admitted_may_vote(node, admitted->listed[i]);
    return voters;
}

uint32_t admitted_voters(const struct node *node)
{
    uint32_t voters = 0;
    if (!orders_admit(node))
        return node->admitted->has_list ? count_listed(node) : 0;
    for (uint32_t number = 1; number <= orders_count(node); number++) {
        const struct order *order = orders_at(node, number);
        voters += order->kind == ORDER_ADMIT && orders_about(node, order->subject) == order;
    }
    return voters;
}

uint64_t admitted_voters_hash(const struct node *node)
{
    return admitted_hash(node) + rng_mix(orders_count(node));
}

const char *admitted_refusal(const struct node *node)
{
    CHECK(orders_admit(node) || node->admitted->has_list);
    return orders_admit(node) ? "not admitted by this swarm's operator"
                              : "not on this swarm's list of members";
}

/* Nodes that know equally many orders have the same members, so the number of orders is hashed. */
uint64_t admitted_hash(const struct node *node)
{
    return orders_admit(node) ? rng_mix(orders_count(node)) : node->admitted->list_hash;
}

void admitted_say(struct node *node, const struct peer *peer)
{
    CHECK(peer->state == PEER_OPEN);
    const struct message listed = {.kind = LISTED, .hash = admitted_hash(node)};
    if (listed.hash != 0)
        (void)connection_say(node, peer, &listed);
}

void admitted_say_one(struct node *node)
{
    const struct peer *peer = admitted_hash(node) ? connection_random(node) : NULL;
    if (peer)
        admitted_say(node, peer);
}

bool admitted_on_hash(struct node *node, const struct peer *peer, uint64_t hash)
{
    uint64_t *theirs = &node->admitted->theirs[connection_slot(node, peer)];
    CHECK(peer->state == PEER_OPEN);
    const bool is_same = hash == admitted_hash(node) && hash != *theirs;
    *theirs = hash;
    return is_same;
}

void admitted_on_end(struct node *node, const struct peer *peer)
{
    node->admitted->theirs[connection_slot(node, peer)] = 0;
}

bool admitted_is_same(const struct node *node, const struct peer *peer)
{
    return node->admitted->theirs[connection_slot(node, peer)] == admitted_hash(node);
}

bool admitted_takes(const struct node *node, const struct peer *from,
                    const uint8_t id[static ID_BYTES])
{
    return admitted_may_be(node, id) || admitted_is_same(node, from);
}

uint32_t node_strangers(const struct node *node)
{
    const uint32_t met = node->admitted->strangers_met;
    return u32_min(met, STRANGERS_MAX);
}

void node_stranger(const struct node *node, uint32_t i, struct node_stranger *out)
{
    CHECK(i < node_strangers(node));
    *out = node->admitted->strangers[i].shown;
}

static struct stranger *find(const struct node *node, uint64_t tag)
{
    for (uint32_t i = 0; i < node_strangers(node); i++)
        if (node->admitted->strangers[i].tag == tag)
            return &node->admitted->strangers[i];
    return NULL;
}

bool admitted_on_stranger(struct node *node, const uint8_t id[static ID_BYTES],
                          uint64_t incarnation, uint64_t tag)
{
    struct admitted *admitted = node->admitted;
    struct stranger *stranger = find(node, tag);
    CHECK(!admitted_may_be(node, id));
    const bool is_first = !stranger;
    if (is_first) {
        stranger = &admitted->strangers[admitted->strangers_met % STRANGERS_MAX];
        admitted->strangers_met++;
        if (admitted->strangers_met == 2 * STRANGERS_MAX)
            /* the count must not overflow; the ring is full with either number */
            admitted->strangers_met = STRANGERS_MAX;
        *stranger = (struct stranger){.shown.incarnation = incarnation, .tag = tag};
        memcpy(stranger->shown.id, id, ID_BYTES);
    }
    stranger->shown.heard_ns = node->now_ns;
    return is_first;
}

bool admitted_is_strangers(const struct node *node, uint64_t tag)
{
    return find(node, tag) != NULL;
}
