/* Swarm keys in messages: to whom one is given, and what is no key (puppet.h). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "support/sim/puppet.h"
#include "support/sim/rekey_story.h"

/* It has the first key. */
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

static void a_neighbour_is_given_the_key_and_may_ask_again(void **state)
{
    (void)state;
    start_three_and_a_puppet();
    say_key(1, NULL, 0); /* nothing is ordered */
    assert_int_equal(puppet.heard[SWARM_KEY], 0);
    rekey(1, FIRST, SECOND, HOUR_MS);
    run(SECOND_NS);
    assert_int_equal(puppet.heard[SWARM_KEY], 1);
    assert_int_equal(puppet.last[SWARM_KEY].number, 1);
    assert_int_equal(puppet.last[SWARM_KEY].bulk.count, KEY_BYTES);
    say_key(1, NULL, 0);
    assert_int_equal(puppet.heard[SWARM_KEY], 2);
    say_key(2, NULL, 0); /* which is not known here */
    run(SECOND_NS);
    assert_int_equal(puppet.heard[SWARM_KEY], 2);
    assert_false(puppet.closed);
}

static void who_is_put_out_is_given_none(void **state)
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

/* Whoever has the old key, and is not admitted, hears the orders and gets no key by them. */
static void who_is_not_admitted_is_given_none(void **state)
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
    assert_string_equal(puppet.bye, "sent a swarm key that was not ordered");
}

static void a_key_that_was_not_ordered_ends_the_conversation(void **state)
{
    (void)state;
    start_three_and_a_puppet();
    order_key(0, FIRST, SECOND, HOUR_MS);
    say_key(1, THIRD, KEY_BYTES);
    must_be_cut_off();
    assert_true(key_of(0).missing == 1 && key_of(0).older == 0);
}

static void a_key_of_impossible_size_ends_the_conversation(void **state)
{
    (void)state;
    const uint8_t long_one[KEY_BYTES + 1] = {SECOND[0]};
    start_three_and_a_puppet();
    order_key(0, FIRST, SECOND, HOUR_MS);
    say_key(1, long_one, sizeof long_one);
    must_be_cut_off();
}

static void a_key_of_no_order_ends_the_conversation(void **state)
{
    (void)state;
    start_three_and_a_puppet();
    say_key(ORDERS_MAX + 1, NULL, 0);
    must_be_cut_off();
}

static void who_brings_the_order_is_asked_for_the_key_at_once(void **state)
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

static void a_key_whose_order_is_not_known_yet_is_passed_over(void **state)
{
    (void)state;
    start_three_and_a_puppet();
    say_key(1, SECOND, KEY_BYTES);
    run(SECOND_NS);
    assert_false(puppet.closed);
    assert_true(has_key(0, FIRST));
    order_key(1, FIRST, SECOND, HOUR_MS);
    run(SECOND_NS);
    assert_true(puppet.heard[SWARM_KEY] > 0); /* it is asked for it */
    assert_int_equal(puppet.last[SWARM_KEY].bulk.count, 0);
    say_key(1, SECOND, KEY_BYTES);
    run(SECOND_NS);
    must_all_have(SECOND, 1);
}

#define PUPPETS(name) cmocka_unit_test_setup_teardown(name, expulsion_begins, puppet_story_ends)

int main(void)
{
    const struct CMUnitTest tests[] = {
        PUPPETS(a_neighbour_is_given_the_key_and_may_ask_again),
        PUPPETS(who_is_put_out_is_given_none),
        PUPPETS(who_is_not_admitted_is_given_none),
        PUPPETS(a_key_that_was_not_ordered_ends_the_conversation),
        PUPPETS(a_key_of_impossible_size_ends_the_conversation),
        PUPPETS(a_key_of_no_order_ends_the_conversation),
        PUPPETS(who_brings_the_order_is_asked_for_the_key_at_once),
        PUPPETS(a_key_whose_order_is_not_known_yet_is_passed_over),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
