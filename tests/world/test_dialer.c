/* The dialer of a node while a member lies about addresses. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "node/membership/membership.h"
#include "support/sim/puppet.h"

#define INVENTED 60 /* number of invented members */
#define MANY     240
#define AT_ONCE  30 /* records in one message */

static struct puppet puppet;

static int liar_meets(const struct node_options *options)
{
    begin_world(1);
    start_swarm(2, options);
    run(3 * SECOND_NS);
    puppet_init(&puppet, 0, 77);
    puppet_meet(&puppet);
    puppet_hello(&puppet);
    return 0;
}

static int liar_begins(void **state)
{
    (void)state;
    struct node_options options = usual_options();
    options.limits.members_max = 2 * INVENTED;
    return liar_meets(&options);
}

static int liar_begins_among_strangers(void **state)
{
    (void)state;
    struct node_options options = usual_options();
    options.limits.members_max = 2 * MANY;
    begin_world(1);
    (void)add(&options);
    options.advertise = world_address(1);
    (void)add(&options);
    start_all();
    run(3 * SECOND_NS);
    puppet_init(&puppet, 0, 77);
    puppet_meet(&puppet);
    puppet_hello(&puppet);
    return 0;
}

static int liar_begins_where_low_ports_are_dialled(void **state)
{
    (void)state;
    struct node_options options = usual_options();
    options.limits.low_ports = true;
    return liar_meets(&options);
}

static int liar_ends(void **state)
{
    (void)state;
    puppet_free(&puppet);
    world_free(&world);
    return 0;
}

/* Makes a self-signed record of an invented member with this address. */
static void invent(uint32_t i, const char *host, uint16_t port, uint8_t out[static RECORD_BYTES])
{
    const uint8_t seed[SEED_BYTES] = {(uint8_t)i, (uint8_t)(i >> 8), 0x55};
    struct identity identity;
    identity_from_seed(&identity, seed);
    struct record record = {.incarnation = 1, .stamp = 1, .renew_ms = RENEW_MS_MAX, .trains = true};
    memcpy(record.id, identity.id, ID_BYTES);
    record.address.port = port;
    (void)snprintf(record.address.host, sizeof record.address.host, "%s", host);
    record_create(&record, &identity, puppet.context, out);
}

static void say_invented(const char *host, uint16_t port, uint32_t count)
{
    uint8_t records[AT_ONCE * RECORD_BYTES];
    for (uint32_t i = 0; i < count; i += AT_ONCE) {
        const uint32_t some = count - i < AT_ONCE ? count - i : AT_ONCE;
        for (uint32_t k = 0; k < some; k++)
            invent(1 + i + k, host, (uint16_t)(port ? port : 20000 + i + k),
                   records + k * RECORD_BYTES);
        puppet_say_bulk(&puppet, MEMBER_UPDATE, records, some * RECORD_BYTES);
    }
}

/* The invented members have sixty ports of one foreign machine. Without a limit node 0 would dial
 * each port about ten times in a minute. */
static void invented_addresses_do_not_flood_a_machine(void **state)
{
    (void)state;
    const uint32_t before = world.nodes[0].dials;
    say_invented("192.0.2.7", 0, INVENTED);
    run(60 * SECOND_NS);
    /* the two nodes and the invented members; the silent liar counts as dead */
    assert_int_equal(stats_of(0).members_live, 2 + INVENTED);
    assert_in_range(world.nodes[0].dials - before, INVENTED, 32 + 60 + 1);
}

/* Invented members do not use up the dials to members that have answered before. Node 1 dials no
 * node. Node 0 knows node 1 from a record that the liar forwards. */
static void members_that_have_answered_are_still_called(void **state)
{
    (void)state;
    puppet_say_bulk(&puppet, MEMBER_UPDATE,
                    membership_members(world.nodes[1].node)->members[0].bytes, RECORD_BYTES);
    run(2 * SECOND_NS);
    assert_int_equal(stats_of(1).neighbours, 1);
    say_invented("192.0.2.7", 0, MANY);
    run(30 * SECOND_NS);
    world_kill(&world, 1, false);
    run(20 * SECOND_NS);
    assert_int_equal(stats_of(0).neighbours, 0);
    world_start(&world, 1);
    run(30 * SECOND_NS);
    assert_int_equal(stats_of(1).neighbours, 1);
}

static void a_port_of_the_system_is_not_called(void **state)
{
    (void)state;
    const uint32_t before = world.nodes[0].dials;
    say_invented("192.0.2.7", 22, 1);
    run(5 * SECOND_NS);
    assert_int_equal(world.nodes[0].dials, before);
}

static void a_port_of_the_system_is_called_if_allowed(void **state)
{
    (void)state;
    const uint32_t before = world.nodes[0].dials;
    say_invented("192.0.2.7", 443, 1);
    run(5 * SECOND_NS);
    assert_in_range(world.nodes[0].dials - before, 1, 10);
}

static void an_address_of_many_machines_is_not_called(void **state)
{
    (void)state;
    const uint32_t before = world.nodes[0].dials;
    say_invented("239.255.255.250", 1900, 1);
    run(5 * SECOND_NS);
    assert_int_equal(world.nodes[0].dials, before);
}

/* Starts two nodes, one of which has dialled the other. */
static int pair_begins(void **state)
{
    (void)state;
    struct node_options options = usual_options();
    options.limits.dial_ns = 30 * SECOND_NS;
    begin_world(1);
    start_swarm(2, &options);
    run(3 * SECOND_NS);
    assert_int_equal(neighbours(0), 1);
    return 0;
}

static int pair_ends(void **state)
{
    (void)state;
    world_free(&world);
    return 0;
}

static uint32_t noted(enum note_kind kind)
{
    return world.nodes[0].notes[kind] + world.nodes[1].notes[kind];
}

/* Runs until both nodes have `count` neighbours. */
static void until_neighbours(uint32_t count)
{
    for (int i = 0; neighbours(0) != count || neighbours(1) != count; i++) {
        assert_true(i < 600);
        run(SECOND_NS / 10);
    }
}

/* Waits for span_ns, then stops all bytes between the nodes until both end the connection. Heals
 * the cut and waits until they are neighbours again. */
static void fall_silent_after(uint64_t span_ns)
{
    until_neighbours(1);
    run(span_ns);
    cut(0, 1);
    until_neighbours(0);
    heal_cut(0, 1);
    until_neighbours(1);
}

static bool says_stalled(uint32_t i, const char *words)
{
    return strstr(world.nodes[i].last[NOTE_STALLED].text, words) != NULL;
}

/* Either node may dial. Each node counts only its own dials. */
static void repeated_silent_ends_are_noted_once_for_each_packet_size(void **state)
{
    (void)state;
    fall_silent_after(SECOND_NS);
    assert_int_equal(noted(NOTE_STALLED), 0);
    fall_silent_after(SECOND_NS);
    fall_silent_after(SECOND_NS);
    assert_in_range(noted(NOTE_STALLED), 1, 2);
    assert_true(says_stalled(0, "packets of at most 1024 bytes") ||
                says_stalled(1, "packets of at most 1024 bytes"));
    for (int i = 0; i < 9; i++)
        fall_silent_after(SECOND_NS);
    assert_true(says_stalled(0, "packets of at most 536 bytes") ||
                says_stalled(1, "packets of at most 536 bytes"));
    assert_true(world.nodes[0].notes[NOTE_STALLED] <= 2);
    assert_true(world.nodes[1].notes[NOTE_STALLED] <= 2);
}

static void silence_after_a_long_connection_is_not_blamed_on_packet_size(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++)
        fall_silent_after(90 * SECOND_NS);
    fall_silent_after(SECOND_NS);
    assert_int_equal(noted(NOTE_STALLED), 0);
}

static void a_killed_node_is_not_blamed_on_packet_size(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) {
        until_neighbours(1);
        world_kill(&world, 1, false);
        run(SECOND_NS);
        world_start(&world, 1);
    }
    until_neighbours(1);
    assert_int_equal(noted(NOTE_STALLED), 0);
}

#define LIAR(name) cmocka_unit_test_setup_teardown(name, liar_begins, liar_ends)

int main(void)
{
    const struct CMUnitTest tests[] = {
        LIAR(invented_addresses_do_not_flood_a_machine),
        cmocka_unit_test_setup_teardown(members_that_have_answered_are_still_called,
                                        liar_begins_among_strangers, liar_ends),
        LIAR(a_port_of_the_system_is_not_called),
        cmocka_unit_test_setup_teardown(a_port_of_the_system_is_called_if_allowed,
                                        liar_begins_where_low_ports_are_dialled, liar_ends),
        LIAR(an_address_of_many_machines_is_not_called),
        cmocka_unit_test_setup_teardown(repeated_silent_ends_are_noted_once_for_each_packet_size,
                                        pair_begins, pair_ends),
        cmocka_unit_test_setup_teardown(
            silence_after_a_long_connection_is_not_blamed_on_packet_size, pair_begins, pair_ends),
        cmocka_unit_test_setup_teardown(a_killed_node_is_not_blamed_on_packet_size, pair_begins,
                                        pair_ends),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
