/* A swarm changes its key while it trains. No node is disconnected. A node that returns in time
 * gets the new key, but a late or expelled node does not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "node/expulsion_api.h"
#include "support/sim/puppet.h"
#include "support/sim/rekey_story.h"

static uint32_t last_note_has(uint32_t i, enum note_kind kind, const char *text)
{
    return strstr(world.nodes[i].last[kind].text, text) != NULL;
}

static void a_training_swarm_changes_its_key(void **state)
{
    (void)state;
    start_four(usual_options());
    rekey(1, FIRST, SECOND, HOUR_MS);
    run(SECOND_NS);
    must_all_have(SECOND, 1);
    assert_int_equal(key_of(3).order, 1);
    assert_int_equal(key_of(3).until_ms, node_order(world.nodes[3].node, 1)->until_ms);
    for (uint32_t i = 0; i < 4; i++) {
        assert_int_equal(world.nodes[i].notes[NOTE_NEIGHBOUR_LOST], 0);
        assert_int_equal(neighbours(i), 3);
    }
    const uint64_t published = rumors_published();
    run(5 * SECOND_NS);
    assert_true(rumors_published() > published);
    must_agree(5 * SECOND_NS);
}

static void after_expiry_connections_stay_and_only_the_new_key_is_accepted(void **state)
{
    (void)state;
    struct node_options options = obedient(usual_options());
    start_four(usual_options());
    rekey(0, FIRST, SECOND, 5000);
    run(4 * SECOND_NS);
    must_all_have(SECOND, 1);
    run(2 * SECOND_NS);
    must_all_have(SECOND, 0);
    assert_true(last_note_has(2, NOTE_REKEY, "an old swarm key has expired"));
    assert_int_equal(neighbours(0), 3);
    const uint32_t late = add(&options);
    options.swarm_key = SECOND;
    const uint32_t newcomer = add(&options);
    world_introduce(&world, late, 0);
    world_introduce(&world, newcomer, 0);
    world_start(&world, late);
    world_start(&world, newcomer);
    run(10 * SECOND_NS);
    assert_int_equal(neighbours(late), 0);
    assert_int_equal(node_orders_count(world.nodes[late].node), 0);
    assert_true(last_note_has(late, NOTE_DIAL_FAILED, "copy the newest"));
    assert_true(last_note_has(0, NOTE_REFUSED, "did not prove the swarm key"));
    assert_int_equal(neighbours(newcomer), 4);
    assert_int_equal(key_of(newcomer).older, 0);
}

/* Without the new key, invented identities can do nothing, so proofs against them have no use. */
static void a_rekey_clears_proofs_against_outsiders(void **state)
{
    (void)state;
    static struct puppet puppet;
    struct node_proof proof;
    start_four(usual_options());
    puppet_init(&puppet, 0, 77);
    puppet_meet(&puppet);
    puppet_hello(&puppet);
    puppet_prove_itself(&puppet);
    run(2 * SECOND_NS);
    for (uint32_t i = 0; i < 4; i++) {
        assert_true(node_proof(world.nodes[i].node, 0, &proof));
        assert_memory_equal(proof.id, puppet.identity.id, ID_BYTES);
    }
    puppet_free(&puppet);
    rekey(0, FIRST, SECOND, HOUR_MS);
    run(2 * SECOND_NS);
    must_all_have(SECOND, 1);
    for (uint32_t i = 0; i < 4; i++)
        assert_false(node_proof(world.nodes[i].node, 0, &proof));
    must_agree(5 * SECOND_NS);
}

static void an_absent_node_returns_in_time_with_the_old_key(void **state)
{
    (void)state;
    start_four(usual_options());
    world_kill(&world, 3, false);
    run(SECOND_NS);
    rekey(0, FIRST, SECOND, HOUR_MS);
    run(5 * SECOND_NS);
    world_start(&world, 3);
    run(5 * SECOND_NS);
    must_all_have(SECOND, 1);
    assert_int_equal(neighbours(3), 3);
    must_agree(5 * SECOND_NS);
}

/* Node 3's disk has the new key, but its configuration still names the old key file. */
static void a_restarted_node_finds_the_new_key(void **state)
{
    (void)state;
    start_four(usual_options());
    rekey(0, FIRST, SECOND, 5000);
    run(SECOND_NS);
    world_kill(&world, 3, false);
    run(10 * SECOND_NS);
    world_start(&world, 3);
    assert_true(has_key(3, SECOND));
    assert_int_equal(key_of(3).older, 0);
    run(5 * SECOND_NS);
    assert_int_equal(neighbours(3), 3);
    must_agree(5 * SECOND_NS);
}

static void a_late_node_enters_with_the_new_file(void **state)
{
    (void)state;
    start_four(usual_options());
    world_kill(&world, 3, false);
    rekey(0, FIRST, SECOND, 5000);
    run(10 * SECOND_NS);
    world_start(&world, 3);
    run(10 * SECOND_NS);
    assert_int_equal(neighbours(3), 0);
    assert_true(has_key(3, FIRST));
    world_kill(&world, 3, false);
    world.nodes[3].options.swarm_key = SECOND;
    world_start(&world, 3);
    run(5 * SECOND_NS);
    assert_int_equal(neighbours(3), 3);
    must_all_have(SECOND, 0);
    assert_int_equal(key_of(3).order, 1);
    must_agree(5 * SECOND_NS);
}

/* Node 3 knows the first order and missed the second one. It gets a file with the third key. */
static void a_file_newer_than_all_known_orders_is_used_first(void **state)
{
    (void)state;
    start_four(usual_options());
    rekey(0, FIRST, SECOND, 2000);
    run(5 * SECOND_NS);
    world_kill(&world, 3, false);
    rekey(0, SECOND, THIRD, 2000);
    run(5 * SECOND_NS);
    world.nodes[3].options.swarm_key = THIRD;
    world_start(&world, 3);
    assert_true(has_key(3, THIRD));
    assert_int_equal(key_of(3).order, 0); /* node 3 does not know the order for its key */
    run(5 * SECOND_NS);
    assert_int_equal(neighbours(3), 3);
    must_all_have(THIRD, 0);
    assert_int_equal(key_of(3).order, 2);
}

/* Node 3 was expelled while it was absent. On its return it receives the expulsion and the key's
 * order at once. */
static void an_expelled_node_gets_no_new_key(void **state)
{
    (void)state;
    start_four(usual_options());
    world_kill(&world, 3, false);
    expel(0, 3);
    rekey(0, FIRST, SECOND, HOUR_MS);
    run(2 * SECOND_NS);
    world_start(&world, 3);
    run(5 * SECOND_NS);
    assert_true(world.nodes[3].finished);
    assert_int_equal(world.nodes[3].sim_disk.orders_count, 2);
    assert_int_equal(world.nodes[3].sim_disk.swarm_keys_bytes, 0);
    must_all_have(SECOND, 1);
    must_be_out(3);
}

static void a_second_rekey_overtakes_the_first(void **state)
{
    (void)state;
    start_four(usual_options());
    world_kill(&world, 2, false);
    run(SECOND_NS);
    rekey(0, FIRST, SECOND, HOUR_MS);
    run(SECOND_NS);
    world_kill(&world, 3, false);
    rekey(1, SECOND, THIRD, HOUR_MS);
    run(SECOND_NS);
    must_all_have(THIRD, 2);
    world_start(&world, 2); /* knows only the first key */
    world_start(&world, 3); /* knows the first two keys */
    run(8 * SECOND_NS);
    assert_int_equal(neighbours(2), 3);
    assert_int_equal(neighbours(3), 3);
    assert_true(has_key(2, THIRD) && has_key(3, THIRD));
    must_agree(5 * SECOND_NS);
}

static void a_later_order_may_end_all_older_keys_at_once(void **state)
{
    (void)state;
    start_four(usual_options());
    rekey(0, FIRST, SECOND, HOUR_MS);
    run(SECOND_NS);
    must_all_have(SECOND, 1);
    rekey(0, SECOND, THIRD, 0);
    run(SECOND_NS);
    must_all_have(THIRD, 0);
    for (uint32_t i = 0; i < 4; i++)
        assert_int_equal(neighbours(i), 3);
    world_kill(&world, 3, false);
    world_start(&world, 3);
    run(5 * SECOND_NS);
    assert_int_equal(neighbours(3), 3);
}

static void each_older_key_has_its_own_time(void **state)
{
    (void)state;
    start_four(usual_options());
    rekey(0, FIRST, SECOND, 3000);
    run(SECOND_NS);
    rekey(0, SECOND, THIRD, HOUR_MS);
    run(SECOND_NS);
    must_all_have(THIRD, 2);
    run(2 * SECOND_NS);
    must_all_have(THIRD, 1);
}

/* Node 3 dials no other node. On its return, other nodes dial it with the old key. */
static void a_node_that_only_listens_is_called_with_the_old_key(void **state)
{
    (void)state;
    start_four(usual_options());
    world_kill(&world, 3, false);
    world.nodes[3].options.seeds_count = 0;
    rekey(0, FIRST, SECOND, HOUR_MS);
    run(2 * SECOND_NS);
    world_start(&world, 3);
    run(30 * SECOND_NS);
    assert_true(has_key(3, SECOND));
    assert_int_equal(neighbours(3), 3);
}

static void a_rekey_order_has_no_member_as_subject(void **state)
{
    (void)state;
    uint8_t key[KEY_BYTES] = {0};
    start_four(usual_options());
    admit_nodes(0, (const uint32_t[]){0, 1, 2, 3}, 4);
    struct order order = {
        .kind = ORDER_REKEY, .reason = "the hash is somebody's id", .until_ms = 1};
    memcpy(order.subject, world.nodes[3].identity.id, ID_BYTES);
    swarm_key_hash(order.before, key);
    order_expulsion(0, order);
    run(2 * SECOND_NS);
    assert_int_equal(neighbours(3), 3);
    assert_int_equal(world.nodes[0].notes[NOTE_EXPELLED], 0);
}

/* The machine with the new key was lost. Nodes keep the old key. */
static void a_lost_new_key_disconnects_no_node(void **state)
{
    (void)state;
    start_four(usual_options());
    order_key(0, FIRST, SECOND, 2000);
    run(5 * SECOND_NS);
    for (uint32_t i = 0; i < 4; i++) {
        assert_int_equal(key_of(i).missing, 1);
        assert_int_equal(key_of(i).older, 0);
    }
    world_kill(&world, 3, false);
    world_start(&world, 3);
    run(5 * SECOND_NS);
    assert_int_equal(neighbours(3), 3);
    assert_int_equal(world_swarm_key(&world, 0, SECOND), OK);
    run(SECOND_NS);
    must_all_have(SECOND, 0);
    rekey(2, SECOND, THIRD, 0);
    run(SECOND_NS);
    must_all_have(THIRD, 0);
    must_agree(5 * SECOND_NS);
}

/* Node 0's clock is two hours ahead, so it gives up the old key at once. Other nodes still accept
 * that key. */
static void a_wrong_clock_keeps_no_node_from_the_key(void **state)
{
    (void)state;
    struct node_options options = obedient(usual_options());
    add_swarm(4, &options);
    world.nodes[0].clock_ms = 2 * HOUR_MS;
    world_introduce(&world, 3, 1);
    start_all();
    run(5 * SECOND_NS);
    world_kill(&world, 3, false);
    rekey(0, FIRST, SECOND, HOUR_MS);
    run(SECOND_NS);
    assert_true(has_key(0, SECOND));
    assert_int_equal(key_of(0).older, 0);
    assert_int_equal(key_of(1).older, 1);
    world_start(&world, 3);
    run(5 * SECOND_NS);
    assert_true(has_key(3, SECOND));
    assert_int_equal(neighbours(3), 3);
    node_on_clock(world.nodes[1].node, world_now_ns(&world), world_wall_ms(&world) + 2 * HOUR_MS);
    run(SECOND_NS);
    assert_int_equal(key_of(1).older, 0);
    assert_int_equal(key_of(2).older, 1);
}

static void refuses_an_unordered_key_from_the_owner(void **state)
{
    (void)state;
    start_four(usual_options());
    assert_int_equal(world_swarm_key(&world, 0, SECOND), MISMATCH);
    rekey(0, FIRST, SECOND, HOUR_MS);
    assert_int_equal(world_swarm_key(&world, 0, THIRD), MISMATCH);
    assert_int_equal(world_swarm_key(&world, 0, SECOND), OK); /* node 0 already has this key */
    assert_true(has_key(0, SECOND));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        EXPULSION(a_training_swarm_changes_its_key),
        EXPULSION(after_expiry_connections_stay_and_only_the_new_key_is_accepted),
        EXPULSION(a_rekey_clears_proofs_against_outsiders),
        EXPULSION(an_absent_node_returns_in_time_with_the_old_key),
        EXPULSION(a_restarted_node_finds_the_new_key),
        EXPULSION(a_late_node_enters_with_the_new_file),
        EXPULSION(a_file_newer_than_all_known_orders_is_used_first),
        EXPULSION(an_expelled_node_gets_no_new_key),
        EXPULSION(a_second_rekey_overtakes_the_first),
        EXPULSION(a_later_order_may_end_all_older_keys_at_once),
        EXPULSION(each_older_key_has_its_own_time),
        EXPULSION(a_node_that_only_listens_is_called_with_the_old_key),
        EXPULSION(a_rekey_order_has_no_member_as_subject),
        EXPULSION(a_lost_new_key_disconnects_no_node),
        EXPULSION(a_wrong_clock_keeps_no_node_from_the_key),
        EXPULSION(refuses_an_unordered_key_from_the_owner),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
