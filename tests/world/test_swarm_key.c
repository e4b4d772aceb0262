/* Messages with swarm keys: which peers receive one, and which keys are invalid (puppet.h). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "support/sim/puppet.h"
#include "support/sim/rekey_story.h"

static struct puppet puppet;

static int puppet_story_ends(void **state)
{
    puppet_free(&puppet);
    return world_ends(state);
}

static void start_three_and_a_puppet(void)
{
    const struct node_options options = obedient(usual_options());
    start_swarm(3, &options);
    run(5 * SECOND_NS);
    world_rest(&world);
    world.check.outsiders_publish = true;
    run(3 * SECOND_NS);
    puppet_init(&puppet, 0, 77);
    puppet_meet(&puppet);
    puppet_hello(&puppet);
}

static void say_key(uint64_t order, const uint8_t *key, size_t bytes)
{
    puppet_say(&puppet,
               &(struct message){.kind = SWARM_KEY, .number = order, .bulk = {key, bytes}});
}

static void a_neighbour_receives_the_key_and_may_ask_again(void **state)
{
    (void)state;
    start_three_and_a_puppet();
    say_key(1, NULL, 0); /* no new key was ordered */
    assert_int_equal(puppet.heard[SWARM_KEY], 0);
    rekey(1, FIRST, SECOND, HOUR_MS);
    run(SECOND_NS);
    assert_int_equal(puppet.heard[SWARM_KEY], 1);
    assert_int_equal(puppet.last[SWARM_KEY].number, 1);
    assert_int_equal(puppet.last[SWARM_KEY].bulk.count, KEY_BYTES);
    say_key(1, NULL, 0);
    assert_int_equal(puppet.heard[SWARM_KEY], 2);
    say_key(2, NULL, 0); /* order 2 does not exist */
    run(SECOND_NS);
    assert_int_equal(puppet.heard[SWARM_KEY], 2);
    assert_false(puppet.closed);
}

static void an_expelled_node_receives_no_key(void **state)
{
    (void)state;
    start_three_and_a_puppet();
    expel_id(1, puppet.identity.id);
    rekey(1, FIRST, SECOND, HOUR_MS);
    run(SECOND_NS);
    assert_true(puppet.closed);
    assert_int_equal(puppet.heard[SWARM_KEY], 0);
    puppet_meet(&puppet);
    puppet_hello(&puppet);
    run(SECOND_NS);
    assert_true(puppet.closed);
    assert_int_equal(puppet.bye_reason, BYE_EXPELLED);
    assert_int_equal(puppet.heard[ORDERS], 1);
    assert_int_equal(puppet.heard[SWARM_KEY], 0);
    must_all_have(SECOND, 1);
}

static void a_node_that_is_not_admitted_receives_no_key(void **state)
{
    (void)state;
    start_three_and_a_puppet();
    admit_nodes(0, (const uint32_t[]){0, 1, 2}, 3);
    rekey(0, FIRST, SECOND, HOUR_MS);
    run(SECOND_NS);
    assert_true(puppet.closed);
    puppet_meet(&puppet);
    puppet_hello(&puppet);
    run(SECOND_NS);
    assert_true(puppet.closed);
    assert_int_equal(puppet.bye_reason, BYE_NOT_ADMITTED);
    assert_int_equal(puppet.heard[SWARM_KEY], 0);
    must_all_have(SECOND, 1);
}

static void must_be_cut_off(void)
{
    run(SECOND_NS);
    assert_true(puppet.closed);
    assert_int_equal(puppet.bye_reason, BYE_BROKEN);
    assert_string_equal(puppet.bye, "sent a swarm key without an order");
}

static void an_unordered_key_ends_the_connection(void **state)
{
    (void)state;
    start_three_and_a_puppet();
    order_key(0, FIRST, SECOND, HOUR_MS);
    say_key(1, THIRD, KEY_BYTES);
    must_be_cut_off();
    assert_true(key_of(0).missing == 1 && key_of(0).older == 0);
}

static void a_key_of_impossible_size_ends_the_connection(void **state)
{
    (void)state;
    const uint8_t long_one[KEY_BYTES + 1] = {SECOND[0]};
    start_three_and_a_puppet();
    order_key(0, FIRST, SECOND, HOUR_MS);
    say_key(1, long_one, sizeof long_one);
    must_be_cut_off();
}

static void a_key_without_an_order_number_ends_the_connection(void **state)
{
    (void)state;
    start_three_and_a_puppet();
    say_key(ORDERS_MAX + 1, NULL, 0);
    must_be_cut_off();
}

static void the_sender_of_the_order_is_asked_for_the_key_at_once(void **state)
{
    (void)state;
    uint8_t bytes[ORDER_BYTES_MAX];
    start_three_and_a_puppet();
    struct order order = {.number = 1, .kind = ORDER_REKEY, .reason = "why", .until_ms = 1};
    swarm_key_hash(order.subject, SECOND);
    swarm_key_hash(order.before, FIRST);
    const size_t count = sign(&order, bytes);
    puppet_say(&puppet, &(struct message){.kind = ORDERS, .number = 1, .bulk = {bytes, count}});
    assert_int_equal(puppet.heard[SWARM_KEY], 1);
    assert_int_equal(puppet.last[SWARM_KEY].bulk.count, 0);
    say_key(1, SECOND, KEY_BYTES);
    run(SECOND_NS);
    must_all_have(SECOND, 0);
}

static void ignores_a_key_of_an_unknown_order(void **state)
{
    (void)state;
    start_three_and_a_puppet();
    say_key(1, SECOND, KEY_BYTES);
    run(SECOND_NS);
    assert_false(puppet.closed);
    assert_true(has_key(0, FIRST));
    order_key(1, FIRST, SECOND, HOUR_MS);
    run(SECOND_NS);
    assert_true(puppet.heard[SWARM_KEY] > 0);
    assert_int_equal(puppet.last[SWARM_KEY].bulk.count, 0);
    say_key(1, SECOND, KEY_BYTES);
    run(SECOND_NS);
    must_all_have(SECOND, 1);
}

#define PUPPETS(name) cmocka_unit_test_setup_teardown(name, expulsion_begins, puppet_story_ends)

int main(void)
{
    const struct CMUnitTest tests[] = {
        PUPPETS(a_neighbour_receives_the_key_and_may_ask_again),
        PUPPETS(an_expelled_node_receives_no_key),
        PUPPETS(a_node_that_is_not_admitted_receives_no_key),
        PUPPETS(an_unordered_key_ends_the_connection),
        PUPPETS(a_key_of_impossible_size_ends_the_connection),
        PUPPETS(a_key_without_an_order_number_ends_the_connection),
        PUPPETS(the_sender_of_the_order_is_asked_for_the_key_at_once),
        PUPPETS(ignores_a_key_of_an_unknown_order),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
