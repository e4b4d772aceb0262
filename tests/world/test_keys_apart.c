/* A node's keys are in separate memory, and no copy of them is anywhere else. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "crypto/locked_memory.h"
#include "node/connection/connection.h"
#include "support/sim/rekey_story.h"

#define NODES 4

static struct locked_memory memory[NODES];

/* Starts nodes that have memory for keys and know each other. */
static void start_nodes(void)
{
    const struct node_options options = obedient(usual_options());
    add_swarm(NODES, &options);
    for (uint32_t i = 0; i < NODES; i++) {
        locked_memory_init(&memory[i], node_keys_bytes(options.limits.peers_max));
        world.nodes[i].options.keys.memory = &memory[i].arena;
    }
    start_all();
    run(5 * SECOND_NS);
}

static int nodes_end(void **state)
{
    const int code = world_ends(state);
    for (uint32_t i = 0; i < NODES; i++)
        locked_memory_free(&memory[i]);
    return code;
}

static bool is_among_keys(uint32_t i, const void *bytes, size_t count)
{
    return memmem(memory[i].arena.start, memory[i].arena.used_bytes, bytes, count) != NULL;
}

static bool is_elsewhere(uint32_t i, const void *bytes, size_t count)
{
    const struct arena *arena = &world.nodes[i].arena;
    return memmem(arena->start, arena->used_bytes, bytes, count) != NULL;
}

static void must_be_kept(uint32_t i, const void *bytes, size_t count)
{
    assert_true(is_among_keys(i, bytes, count));
    assert_false(is_elsewhere(i, bytes, count));
}

/* Checks that a swarm key and both keys derived from it are only in node i's key memory. */
static void must_be_kept_of(uint32_t i, const uint8_t swarm_key[static KEY_BYTES])
{
    uint8_t key[KEY_BYTES];
    must_be_kept(i, swarm_key, KEY_BYTES);
    secret_blake2b(key, KEY_BYTES, "hearsay gate", 12, swarm_key, KEY_BYTES);
    must_be_kept(i, key, KEY_BYTES);
    secret_blake2b(key, KEY_BYTES, "hearsay psk", 11, swarm_key, KEY_BYTES);
    must_be_kept(i, key, KEY_BYTES);
}

static void must_keep_all(uint32_t i)
{
    const struct world_node *at = &world.nodes[i];
    const struct peer *peer;
    uint32_t sessions = 0;
    must_be_kept(i, at->options.keys.entropy, SEED_BYTES);
    assert_false(is_elsewhere(i, at->identity.seed, SEED_BYTES));
    assert_false(is_elsewhere(i, at->identity.sign_secret, SEED_BYTES));
    assert_false(is_elsewhere(i, at->identity.noise_secret, DH_BYTES));
    assert_true(is_elsewhere(i, at->identity.id, ID_BYTES)); /* the id is public */
    for (uint32_t slot = 0; (peer = connection_neighbour(at->node, &slot)); slot++, sessions++) {
        must_be_kept(i, peer->keys->session.send_key, KEY_BYTES);
        must_be_kept(i, peer->keys->session.receive_key, KEY_BYTES);
    }
    assert_int_equal(sessions, NODES - 1);
    assert_true(memory[i].arena.used_bytes <= node_keys_bytes(at->options.limits.peers_max));
}

static void session_and_swarm_keys_are_in_key_memory_only(void **state)
{
    (void)state;
    start_nodes();
    for (uint32_t i = 0; i < NODES; i++) {
        must_keep_all(i);
        must_be_kept_of(i, FIRST);
    }
}

static void a_new_swarm_key_is_in_key_memory_only(void **state)
{
    (void)state;
    start_nodes();
    rekey(0, FIRST, SECOND, HOUR_MS);
    run(SECOND_NS / 2);
    must_all_have(SECOND, 1);
    for (uint32_t i = 0; i < NODES; i++)
        must_be_kept_of(i, SECOND);
}

static void a_stopped_node_leaves_no_keys(void **state)
{
    (void)state;
    start_nodes();
    uint32_t slot = 0;
    const struct session session = connection_neighbour(world.nodes[1].node, &slot)->keys->session;
    world_kill(&world, 1, false);
    assert_false(is_among_keys(1, FIRST, KEY_BYTES));
    assert_false(is_among_keys(1, world.nodes[1].options.keys.entropy, SEED_BYTES));
    assert_false(is_among_keys(1, session.send_key, KEY_BYTES));
    assert_false(is_among_keys(1, session.receive_key, KEY_BYTES));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(session_and_swarm_keys_are_in_key_memory_only, world_begins,
                                        nodes_end),
        cmocka_unit_test_setup_teardown(a_new_swarm_key_is_in_key_memory_only, world_begins,
                                        nodes_end),
        cmocka_unit_test_setup_teardown(a_stopped_node_leaves_no_keys, world_begins, nodes_end),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
