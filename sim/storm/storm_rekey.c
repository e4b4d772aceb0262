#include "storm/storm_rekey.h"

#include <string.h>

#include "base/error.h"

void storm_rekey_order(struct storm_rekey *rekey, struct storm_expulsion *orders,
                       struct world *world, bool is_last)
{
    struct order order = {
        .kind = ORDER_REKEY, .reason = "a storm wants it so", .until_ms = UINT64_MAX};
    struct node_swarm_key before;
    const uint32_t i = storm_expulsion_whom_to_ask(orders, world);
    CHECK(rekey->is_drawn);
    if (i == world->nodes_count)
        return;
    const uint8_t key[KEY_BYTES] = {0x72, (uint8_t)(orders->given + 1)};
    node_swarm_key(world->nodes[i].node, &before);
    memcpy(order.before, before.hash, HASH_BYTES);
    swarm_key_hash(order.subject, key);
    memcpy(rekey->key, key, KEY_BYTES);
    storm_expulsion_give(orders, world, i, &order);
    if (!world_is_running(world, i)) /* the node died while it passed on the order */
        return;
    CHECK(world_swarm_key(world, i, key) == OK);
    if (is_last)
        rekey->last = orders->given;
}

bool storm_rekey_is_done(const struct storm_rekey *rekey, const struct world *world)
{
    for (uint32_t i = 0; i < world->nodes_count && rekey->last > 0; i++) {
        struct node_swarm_key key;
        if (!world_is_running(world, i))
            continue;
        node_swarm_key(world->nodes[i].node, &key);
        if (key.order != rekey->last)
            return false;
    }
    return true;
}

bool storm_rekey_is_kept_from(const struct storm_rekey *rekey, const struct world *world,
                              uint32_t villain)
{
    const struct sim_disk *disk = &world->nodes[villain].sim_disk;
    for (size_t at = 0; at < disk->swarm_keys_bytes && rekey->last > 0; at += KEY_BYTES)
        if (memcmp(disk->swarm_keys + at, rekey->key, KEY_BYTES) == 0)
            return false;
    return true;
}
