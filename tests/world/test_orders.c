/* The operator's orders: which orders nodes accept and forward, and that a disobedient member
 * (puppet.h) has no effect. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/digest.h"
#include "node/expulsion_api.h"
#include "support/sim/expulsion_story.h"
#include "support/sim/puppet.h"

static void an_order_is_accepted_once_and_only_in_sequence(void **state)
{
    (void)state;
    uint8_t bytes[ORDER_BYTES_MAX];
    start_four(usual_options());
    struct order order = order_of(2, world.nodes[3].identity.id);
    assert_int_equal(world_order(&world, 0, bytes, sign(&order, bytes)), MISMATCH);
    order.number = 1;
    assert_int_equal(world_order(&world, 0, bytes, sign(&order, bytes) - 1), MALFORMED);
    bytes[60] ^= 1;
    assert_int_equal(world_order(&world, 0, bytes, ORDER_HEAD_BYTES + SIGNATURE_BYTES), FORGED);
    run(SECOND_NS);
    assert_false(world.nodes[3].finished);
    const size_t count = sign(&order, bytes);
    assert_int_equal(world_order(&world, 0, bytes, count), OK);
    assert_int_equal(world_order(&world, 0, bytes, count), OK); /* has no effect */
    order = order_of(1, world.nodes[2].identity.id);
    assert_int_equal(world_order(&world, 0, bytes, sign(&order, bytes)), MISMATCH);
    run(2 * SECOND_NS);
    assert_true(world.nodes[3].finished);
    assert_int_equal(node_orders_count(world.nodes[1].node), 1);
}

static void a_node_without_an_operator_obeys_no_order(void **state)
{
    (void)state;
    uint8_t bytes[ORDER_BYTES_MAX];
    const struct node_options options = usual_options();
    start_swarm(2, &options);
    run(3 * SECOND_NS);
    const struct order order = order_of(1, world.nodes[1].identity.id);
    assert_int_equal(world_order(&world, 0, bytes, sign(&order, bytes)), MISMATCH);
    run(3 * SECOND_NS);
    must_agree(5 * SECOND_NS);
    assert_int_equal(stats_of(0).neighbours, 1);
}

static struct puppet puppet;

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

static int puppet_story_ends(void **state)
{
    puppet_free(&puppet);
    return world_ends(state);
}

static void say_rumor(uint32_t seq)
{
    uint8_t rumor[RUMOR_MAX];
    puppet_say_bulk(&puppet, RUMOR, rumor, puppet_rumor(&puppet, seq, 5, rumor));
}

static void say_orders(uint32_t number, const struct order *order)
{
    uint8_t bytes[ORDER_BYTES_MAX];
    const size_t count = order ? sign(order, bytes) : 0;
    puppet_say(&puppet,
               &(struct message){.kind = ORDERS, .number = number, .bulk = {bytes, count}});
}

static void a_disobedient_member_is_disconnected_and_stays_out(void **state)
{
    (void)state;
    start_three_and_a_puppet();
    const uint64_t digest = stats_of(0).digest;
    for (uint32_t seq = 0; seq < 3; seq++)
        say_rumor(seq);
    run(SECOND_NS);
    assert_int_equal(stats_of(2).digest, digest_add(digest, digest_of_entry(5, 3000)));
    order_expulsion(1, order_of(0, puppet.identity.id));
    run(SECOND_NS);
    assert_true(puppet.closed);
    assert_int_equal(puppet.heard[ORDERS] > 0, 1);
    assert_int_equal(puppet.bye_reason, BYE_EXPELLED);
    assert_string_equal(puppet.bye, REASON);
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(stats_of(i).digest, digest);
    puppet_meet(&puppet);
    puppet_hello(&puppet);
    run(SECOND_NS);
    assert_true(puppet.closed);
    assert_int_equal(puppet.bye_reason, BYE_EXPELLED);
    /* The order proves to the expelled puppet that its expulsion is valid. */
    assert_int_equal(puppet.heard[ORDERS], 1);
    assert_int_equal(stats_of(0).members_live, 3);
    assert_one_version();
}

/* The puppet, a neighbour of the villain, forwards the villain's rumors after the order. */
static void forwarded_rumors_of_an_expelled_member_are_ignored(void **state)
{
    (void)state;
    uint8_t rumor[RUMOR_MAX], record[RECORD_BYTES];
    start_three_and_a_puppet();
    const uint64_t digest = stats_of(0).digest;
    const uint8_t seed[SEED_BYTES] = {200};
    struct puppet villain = puppet;
    identity_from_seed(&villain.identity, seed);
    order_expulsion(1, order_of(0, villain.identity.id));
    run(SECOND_NS);
    for (uint32_t seq = 0; seq < 2; seq++)
        puppet_say_bulk(&puppet, RUMOR, rumor, puppet_rumor(&villain, seq, 5, rumor));
    const struct record said = puppet_record(&villain);
    record_create(&said, &villain.identity, puppet.context, record);
    puppet_say_bulk(&puppet, MEMBER_UPDATE, record, sizeof record);
    run(SECOND_NS);
    assert_false(puppet.closed);
    assert_int_equal(stats_of(0).digest, digest);
    assert_int_equal(stats_of(0).members_live, 4);
    assert_int_equal(known_of_id(0, villain.identity.id), 0);
}

static void a_request_is_answered_with_the_following_orders(void **state)
{
    (void)state;
    static const uint8_t nobody[ID_BYTES] = {1}, somebody[ID_BYTES] = {2};
    start_three_and_a_puppet();
    order_expulsion(1, order_of(0, nobody));
    run(SECOND_NS);
    order_expulsion(2, order_of(0, somebody));
    run(SECOND_NS);
    const uint32_t heard = puppet.heard[ORDERS];
    say_orders(1, NULL);
    assert_int_equal(puppet.heard[ORDERS], heard + 1);
    assert_int_equal(puppet.last[ORDERS].number, 2);
    assert_int_equal(puppet.last[ORDERS].bulk.count, ORDER_HEAD_BYTES + SIGNATURE_BYTES);
    say_orders(3, NULL); /* the puppet claims to know three orders */
    assert_int_equal(puppet.heard[ORDERS], heard + 2);
    assert_int_equal(puppet.last[ORDERS].bulk.count, 0);
    const struct order third = order_of(3, nobody);
    say_orders(3, &third);
    run(SECOND_NS);
    assert_int_equal(node_orders_count(world.nodes[2].node), 3);
    assert_false(puppet.closed);
}

static void later_orders_are_requested(void **state)
{
    (void)state;
    static const uint8_t nobody[ID_BYTES] = {1};
    start_three_and_a_puppet();
    const struct order second = order_of(2, nobody);
    const uint32_t heard = puppet.heard[ORDERS];
    say_orders(2, &second);
    assert_int_equal(puppet.heard[ORDERS], heard + 1);
    assert_int_equal(puppet.last[ORDERS].number, 0);
    assert_int_equal(node_orders_count(world.nodes[0].node), 0);
    assert_false(puppet.closed);
}

static void two_orders_of_one_number_are_noted(void **state)
{
    (void)state;
    static const uint8_t nobody[ID_BYTES] = {1}, somebody[ID_BYTES] = {2};
    start_three_and_a_puppet();
    order_expulsion(0, order_of(0, nobody));
    const struct order other = order_of(1, somebody);
    const uint32_t notes = world.nodes[0].notes[NOTE_EXPELLED];
    say_orders(1, &other);
    assert_int_equal(world.nodes[0].notes[NOTE_EXPELLED], notes + 1);
    assert_memory_equal(node_order(world.nodes[0].node, 1)->subject, nobody, ID_BYTES);
    assert_false(puppet.closed);
}

static void must_be_cut_off(void)
{
    run(SECOND_NS);
    assert_true(puppet.closed);
    assert_int_equal(puppet.bye_reason, BYE_BROKEN);
    assert_string_equal(puppet.bye, "sent an invalid order");
    assert_int_equal(node_orders_count(world.nodes[0].node), 0);
}

static void a_forged_order_ends_the_connection(void **state)
{
    (void)state;
    uint8_t bytes[ORDER_BYTES_MAX];
    start_three_and_a_puppet();
    const struct order order = order_of(1, world.nodes[1].identity.id);
    const size_t count = sign(&order, bytes);
    bytes[count - 1] ^= 1;
    puppet_say(&puppet, &(struct message){.kind = ORDERS, .number = 1, .bulk = {bytes, count}});
    must_be_cut_off();
}

static void an_order_of_another_operator_ends_the_connection(void **state)
{
    (void)state;
    start_three_and_a_puppet();
    const uint8_t seed[SEED_BYTES] = {0x0C};
    operator_key_from_seed(&operator_key, seed);
    const struct order order = order_of(1, world.nodes[1].identity.id);
    say_orders(1, &order);
    must_be_cut_off();
}

static void an_impossible_order_number_ends_the_connection(void **state)
{
    (void)state;
    start_three_and_a_puppet();
    say_orders(ORDERS_MAX + 1, NULL);
    must_be_cut_off();
}

#define PUPPETS(name) cmocka_unit_test_setup_teardown(name, expulsion_begins, puppet_story_ends)

int main(void)
{
    const struct CMUnitTest tests[] = {
        EXPULSION(an_order_is_accepted_once_and_only_in_sequence),
        EXPULSION(a_node_without_an_operator_obeys_no_order),
        PUPPETS(a_disobedient_member_is_disconnected_and_stays_out),
        PUPPETS(forwarded_rumors_of_an_expelled_member_are_ignored),
        PUPPETS(a_request_is_answered_with_the_following_orders),
        PUPPETS(later_orders_are_requested),
        PUPPETS(two_orders_of_one_number_are_noted),
        PUPPETS(a_forged_order_ends_the_connection),
        PUPPETS(an_order_of_another_operator_ends_the_connection),
        PUPPETS(an_impossible_order_number_ends_the_connection),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
