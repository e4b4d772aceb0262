#include "support/sim/rekey_story.h"

#include "node/expulsion_api.h"

const uint8_t FIRST[KEY_BYTES] = {0x5A, 1, 2, 3}; /* the key in usual_options */
const uint8_t SECOND[KEY_BYTES] = {0x5B, 4, 5, 6}, THIRD[KEY_BYTES] = {0x5C, 7, 8, 9};

void order_key(uint32_t i, const uint8_t *before, const uint8_t *key, uint64_t both_ms)
{
    struct order order = {.kind = ORDER_REKEY,
                          .reason = "a laptop was stolen",
                          .until_ms = world_wall_ms(&world) + both_ms};
    swarm_key_hash(order.subject, key);
    swarm_key_hash(order.before, before);
    order_expulsion(i, order);
}

void rekey(uint32_t i, const uint8_t *before, const uint8_t *key, uint64_t both_ms)
{
    order_key(i, before, key, both_ms);
    assert_int_equal(world_swarm_key(&world, i, key), OK);
}

struct node_swarm_key key_of(uint32_t i)
{
    struct node_swarm_key key;
    node_swarm_key(world.nodes[i].node, &key);
    return key;
}

bool has_key(uint32_t i, const uint8_t *key)
{
    uint8_t hash[HASH_BYTES];
    swarm_key_hash(hash, key);
    return memcmp(key_of(i).hash, hash, HASH_BYTES) == 0 && key_of(i).missing == 0;
}

void must_all_have(const uint8_t *key, uint32_t older)
{
    for (uint32_t i = 0; i < world.nodes_count; i++) {
        if (!world_is_running(&world, i))
            continue;
        assert_true(has_key(i, key));
        assert_int_equal(key_of(i).older, older);
    }
}
