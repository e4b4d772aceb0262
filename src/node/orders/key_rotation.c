#include "node/orders/key_rotation.h"

#include <string.h>

#include "base/amount.h"
#include "node/orders/admitted.h"
#include "node/orders/orders.h"
#include "node/orders/verdict.h"
#include "wire/message.h"

struct key_rotation {
    struct swarm_key keys[SWARM_KEYS_MAX]; /* swarm keys that are accepted, newest first */
    uint32_t count;                        /* number of accepted keys, at least 1 */
    uint32_t latest;  /* number of the last order that introduces a key; 0 = no order */
    uint32_t changes; /* changes of the accepted keys since the start */
    uint64_t wall_ms; /* wall clock at wall_ns, in ms since 1970; 0 = unknown */
    uint64_t wall_ns; /* monotonic time when the wall clock was read */
};

size_t key_rotation_arena_bytes(void)
{
    return sizeof(struct key_rotation) + 64;
}

void key_rotation_free(struct node *node)
{
    secret_wipe(node->key_rotation, sizeof *node->key_rotation);
}

static bool is_rekey(const struct node *node, uint32_t number)
{
    return orders_at(node, number)->kind == ORDER_REKEY;
}

uint32_t swarm_key_age(const struct order *orders, uint32_t count,
                       const uint8_t key[static KEY_BYTES], uint32_t otherwise)
{
    uint8_t hash[HASH_BYTES];
    CHECK(count <= ORDERS_MAX);
    swarm_key_hash(hash, key);
    for (uint32_t i = count; i > 0; i--)
        if (orders[i - 1].kind == ORDER_REKEY &&
            memcmp(orders[i - 1].subject, hash, HASH_BYTES) == 0)
            return i;
    for (uint32_t i = 0; i < count; i++)
        if (orders[i].kind == ORDER_REKEY && memcmp(orders[i].before, hash, HASH_BYTES) == 0)
            return i;
    return otherwise;
}

uint64_t swarm_key_until_ms(const struct order *orders, uint32_t count, uint32_t age)
{
    uint64_t until = UINT64_MAX;
    CHECK(age <= count);
    for (uint32_t i = age; i < count; i++)
        if (orders[i].kind == ORDER_REKEY)
            until = u64_min(orders[i].until_ms, until);
    return until;
}

static uint32_t age_of(const struct node *node, const uint8_t key[static KEY_BYTES],
                       uint32_t otherwise)
{
    return swarm_key_age(orders_all(node), orders_count(node), key, otherwise);
}

/* Returns true if order number key->order introduces this key. */
static bool is_brought(const struct node *node, const struct swarm_key *key)
{
    uint8_t hash[HASH_BYTES];
    swarm_key_hash(hash, key->key);
    CHECK(key->order <= orders_count(node));
    return key->order > 0 && is_rekey(node, key->order) &&
           memcmp(orders_at(node, key->order)->subject, hash, HASH_BYTES) == 0;
}

static uint64_t until_ms(const struct node *node, uint32_t order)
{
    return swarm_key_until_ms(orders_all(node), orders_count(node), order);
}

static bool is_over(const struct node *node, uint32_t order)
{
    const struct key_rotation *key_rotation = node->key_rotation;
    CHECK(node->now_ns >= key_rotation->wall_ns);
    return key_rotation->wall_ms > 0 &&
           key_rotation->wall_ms + (node->now_ns - key_rotation->wall_ns) / MS_NS >=
               until_ms(node, order);
}

/* Inserts a key behind all keys that are at least as new, and drops the oldest key if there is no
 * space. Ignores a key that is among the newer ones. */
static void insert(struct key_rotation *key_rotation, const struct swarm_key *key)
{
    uint32_t at = 0;
    while (at < key_rotation->count && key_rotation->keys[at].order >= key->order) {
        if (memcmp(key_rotation->keys[at].key, key->key, KEY_BYTES) == 0)
            return;
        at++;
    }
    if (at == SWARM_KEYS_MAX)
        return;
    const uint32_t stay =
        key_rotation->count < SWARM_KEYS_MAX ? key_rotation->count : SWARM_KEYS_MAX - 1;
    memmove(&key_rotation->keys[at + 1], &key_rotation->keys[at], (stay - at) * sizeof *key);
    key_rotation->keys[at] = *key;
    key_rotation->count = stay + 1;
}

/* Finds out the age of all keys again and sorts the keys by age. Drops expired keys, but never the
 * newest key. */
static void review(struct node *node)
{
    struct key_rotation *key_rotation = node->key_rotation;
    struct key_rotation before = *key_rotation;
    memset(key_rotation->keys, 0, sizeof key_rotation->keys);
    key_rotation->count = 0;
    for (uint32_t i = 0; i < before.count; i++) {
        struct swarm_key key = before.keys[i];
        key.order = age_of(node, key.key, key.order);
        insert(key_rotation, &key);
        secret_wipe(&key, sizeof key);
    }
    while (key_rotation->count > 1 &&
           is_over(node, key_rotation->keys[key_rotation->count - 1].order))
        secret_wipe(&key_rotation->keys[--key_rotation->count], sizeof *key_rotation->keys);
    CHECK(key_rotation->count > 0 && key_rotation->count <= SWARM_KEYS_MAX);
    if (memcmp(before.keys, key_rotation->keys, sizeof before.keys) != 0) {
        key_rotation->changes++;
        connection_set_keys(node, key_rotation->keys, key_rotation->count);
    }
    secret_wipe(&before, sizeof before);
}

static bool is_missing(const struct node *node)
{
    return node->key_rotation->keys[0].order < node->key_rotation->latest;
}

struct key_rotation *key_rotation_new(struct node *node)
{
    const struct node_options *options = &node->options;
    struct key_rotation *key_rotation = arena_alloc(node->keys, 1, sizeof *key_rotation);
    struct swarm_key key = {.order = orders_count(node)};
    CHECK(options->kept.swarm_keys.bytes % KEY_BYTES == 0);
    node->key_rotation = key_rotation;
    key_rotation->wall_ms = options->wall_ms;
    key_rotation->wall_ns = node->now_ns;
    for (uint32_t number = orders_count(node); number > 0 && key_rotation->latest == 0; number--)
        key_rotation->latest = is_rekey(node, number) ? number : 0;
    memcpy(key.key, options->swarm_key, KEY_BYTES);
    for (size_t at = 0;; at += KEY_BYTES) {
        key.order = age_of(node, key.key, orders_count(node));
        insert(key_rotation, &key);
        if (at == options->kept.swarm_keys.bytes)
            break;
        memcpy(key.key, options->kept.swarm_keys.at + at, KEY_BYTES);
    }
    secret_wipe(&key, sizeof key);
    connection_set_keys(node, key_rotation->keys, key_rotation->count);
    review(node);
    return key_rotation;
}

static void say(struct node *node, const struct peer *peer, const uint8_t *key)
{
    (void)connection_say(node, peer,
                         &(struct message){.kind = SWARM_KEY,
                                           .number = node->key_rotation->latest,
                                           .bulk = {key, key ? KEY_BYTES : 0}});
}

/* Returns the key that order `latest` introduces; NULL if this node lacks the key. */
static const struct swarm_key *latest_key(const struct node *node)
{
    for (uint32_t i = 0; i < node->key_rotation->count; i++)
        if (node->key_rotation->keys[i].order == node->key_rotation->latest &&
            is_brought(node, &node->key_rotation->keys[i]))
            return &node->key_rotation->keys[i];
    return NULL;
}

/* Sends the newest swarm key to a neighbour. Conversations with expelled members and strangers are
 * closed, but a secret deserves a second check. */
static void give(struct node *node, const struct peer *peer)
{
    const struct swarm_key *key = latest_key(node);
    CHECK(peer->state == PEER_OPEN);
    if (key && !verdict_reason(node, peer->id) && admitted_may_be(node, peer->id))
        say(node, peer, key->key);
}

void key_rotation_ask(struct node *node, const struct peer *peer)
{
    if (is_missing(node) && peer->state == PEER_OPEN)
        say(node, peer, NULL);
}

void key_rotation_ask_one(struct node *node)
{
    const struct peer *peer = is_missing(node) ? connection_random(node) : NULL;
    if (peer)
        key_rotation_ask(node, peer);
}

/* Sends the newest key to neighbours that used an older one, and adds a note. */
static void on_learned(struct node *node)
{
    const struct key_rotation *key_rotation = node->key_rotation;
    const struct peer *peer;
    CHECK(!is_missing(node));
    for (uint32_t i = 0; (peer = connection_neighbour(node, &i)); i++)
        if (peer->key_order < key_rotation->latest)
            give(node, peer);
    if (key_rotation->count > 1)
        (void)notes_add(&node->notes, node->now_ns, NOTE_REKEY, LEVEL_INFO,
                        "this node has the new swarm key (order %u); older keys are valid until %s",
                        (unsigned)key_rotation->latest,
                        amount_moment(until_ms(node, key_rotation->keys[1].order)).text);
    else
        (void)notes_add(&node->notes, node->now_ns, NOTE_REKEY, LEVEL_INFO,
                        "this node has the new swarm key (order %u); no other key is valid",
                        (unsigned)key_rotation->latest);
}

static void learn(struct node *node, const uint8_t key[static KEY_BYTES])
{
    struct swarm_key learned = {.order = node->key_rotation->latest};
    CHECK(is_missing(node));
    memcpy(learned.key, key, KEY_BYTES);
    insert(node->key_rotation, &learned);
    secret_wipe(&learned, sizeof learned);
    node->key_rotation->changes++;
    connection_set_keys(node, node->key_rotation->keys, node->key_rotation->count);
    review(node);
    on_learned(node);
}

void key_rotation_on_orders(struct node *node, const struct peer *from, uint32_t before)
{
    struct key_rotation *key_rotation = node->key_rotation;
    const uint32_t latest = key_rotation->latest;
    CHECK(before <= orders_count(node));
    for (uint32_t number = before + 1; number <= orders_count(node); number++) {
        if (!is_rekey(node, number))
            continue;
        key_rotation->latest = number;
        (void)notes_add(&node->notes, node->now_ns, NOTE_REKEY, LEVEL_INFO,
                        "the swarm gets a new key (order %u): %s", (unsigned)number,
                        orders_at(node, number)->reason);
    }
    if (key_rotation->latest == latest)
        return;
    review(node);
    if (!is_missing(node))
        on_learned(node); /* the owner had provided the key before the order arrived */
    else if (from)
        key_rotation_ask(node, from);
}

static bool is_key_of(const struct node *node, uint64_t order, const uint8_t key[static KEY_BYTES])
{
    uint8_t hash[HASH_BYTES];
    CHECK(order > 0 && order <= orders_count(node));
    swarm_key_hash(hash, key);
    return is_rekey(node, (uint32_t)order) &&
           memcmp(orders_at(node, (uint32_t)order)->subject, hash, HASH_BYTES) == 0;
}

void key_rotation_on_message(struct node *node, const struct peer *from, uint64_t order,
                             const struct bytes *key)
{
    if (!orders_have_operator(node))
        return;
    const bool is_known = order > 0 && order <= orders_count(node), asks = key->count == 0;
    if (order == 0 || order > ORDERS_MAX || !(asks || key->count == KEY_BYTES) ||
        (is_known && !asks && !is_key_of(node, order, key->at)))
        connection_hang_up(node, from, BYE_BROKEN, "sent a swarm key without an order");
    else if (order == node->key_rotation->latest && asks)
        give(node, from);
    else if (order == node->key_rotation->latest && is_missing(node))
        learn(node, key->at);
}

void key_rotation_consider(struct node *node)
{
    struct key_rotation *key_rotation = node->key_rotation;
    if (key_rotation->count == 1 ||
        !is_over(node, key_rotation->keys[key_rotation->count - 1].order))
        return;
    review(node);
    (void)notes_add(&node->notes, node->now_ns, NOTE_REKEY, LEVEL_INFO,
                    "an old swarm key has expired");
}

void node_on_clock(struct node *node, uint64_t now_ns, uint64_t wall_ms)
{
    CHECK(now_ns >= node->now_ns);
    node->now_ns = now_ns;
    node->key_rotation->wall_ms = wall_ms;
    node->key_rotation->wall_ns = now_ns;
}

enum error node_on_swarm_key(struct node *node, uint64_t now_ns,
                             const uint8_t key[static KEY_BYTES], struct problem *problem)
{
    CHECK(now_ns >= node->now_ns);
    node->now_ns = now_ns;
    const uint32_t latest = node->key_rotation->latest;
    if (latest == 0 || !is_key_of(node, latest, key))
        return problem_set(problem, MISMATCH, "it is not the key of the operator's latest order");
    if (is_missing(node))
        learn(node, key);
    return OK;
}

size_t node_swarm_keys(const struct node *node, uint8_t *out)
{
    const struct key_rotation *key_rotation = node->key_rotation;
    if (!is_brought(node, &key_rotation->keys[0]))
        return 0;
    for (uint32_t i = 0; i < key_rotation->count; i++)
        memcpy(out + (size_t)i * KEY_BYTES, key_rotation->keys[i].key, KEY_BYTES);
    return (size_t)key_rotation->count * KEY_BYTES;
}

uint32_t node_swarm_keys_changes(const struct node *node)
{
    return node->key_rotation->changes;
}

void node_swarm_key(const struct node *node, struct node_swarm_key *out)
{
    const struct key_rotation *key_rotation = node->key_rotation;
    const struct swarm_key *newest = &key_rotation->keys[0];
    CHECK(key_rotation->count > 0);
    *out = (struct node_swarm_key){
        .order = is_brought(node, newest) ? newest->order : 0,
        .missing = is_missing(node) ? key_rotation->latest : 0,
        .older = key_rotation->count - 1,
        .until_ms = key_rotation->count > 1 ? until_ms(node, key_rotation->keys[1].order) : 0};
    swarm_key_hash(out->hash, newest->key);
}
