/* Admission control for unauthenticated connections: a node accepts only a few at once, spends
 * little on them, and still accepts peers with the swarm key. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "support/sim/puppet.h"

#define PEERS   32
#define PLACES  16 /* maximum number of unauthenticated connections */
#define PER_NET 8  /* maximum number of unauthenticated connections from one network */
#define MUTE    20

/* A caller without the swarm key, in its own network, that sends arbitrary bytes to node 0. */
struct stranger {
    uint32_t party;
    uint32_t calls;
    uint32_t let_in;
    uint32_t shut_out;
    bool calls_again; /* dials again as soon as node 0 closes the connection */
    const uint8_t *says;
    size_t says_bytes;
    size_t bytes_received;
};

static void stranger_calls(struct stranger *stranger)
{
    const uint64_t call = ++stranger->calls;
    wire_dial(&world.wire, stranger->party, call << 32 | call % WIRE_SLOTS, 0);
}

static void stranger_on_connected(void *self, uint64_t conn)
{
    struct stranger *stranger = self;
    stranger->let_in++;
    if (stranger->says_bytes > 0)
        wire_send(&world.wire, stranger->party, conn, stranger->says, stranger->says_bytes);
}

static void stranger_on_bytes(void *self, uint64_t conn, const uint8_t *bytes, size_t count)
{
    struct stranger *stranger = self;
    (void)conn;
    (void)bytes;
    stranger->bytes_received += count;
}

static void stranger_on_sent(void *self, uint64_t conn)
{
    (void)self;
    (void)conn;
}

static void stranger_on_closed(void *self, uint64_t conn)
{
    struct stranger *stranger = self;
    (void)conn;
    stranger->shut_out++;
    if (stranger->calls_again)
        stranger_calls(stranger);
}

static void stranger_enter(struct stranger *stranger)
{
    const struct outsider outsider = {.self = stranger,
                                      .on_connected = stranger_on_connected,
                                      .on_bytes = stranger_on_bytes,
                                      .on_sent = stranger_on_sent,
                                      .on_closed = stranger_on_closed};
    *stranger = (struct stranger){.party = world_enter(&world, &outsider)};
    assert_int_not_equal(stranger->party, WIRE_NOBODY);
}

static void stranger_tries(struct stranger *stranger)
{
    stranger_calls(stranger);
    run(MS_NS);
}

static uint32_t inside(const struct stranger *strangers, uint32_t count)
{
    uint32_t inside = 0;
    for (uint32_t i = 0; i < count; i++)
        inside += strangers[i].let_in - strangers[i].shut_out;
    return inside;
}

static int endpoint_is_there(void **state)
{
    (void)state;
    struct node_options options = usual_options();
    options.limits.peers_max = PEERS;
    /* Has no effect: half of peers_max is smaller, and it also limits unauthenticated connections.
     */
    options.limits.half_open_max = 64;
    options.limits.half_open_per_net_max = PER_NET;
    begin_world(1);
    start_swarm(2, &options);
    run(5 * SECOND_NS);
    return 0;
}

static void callers_from_few_addresses_displace_each_other(void **state)
{
    (void)state;
    struct stranger strangers[2];
    stranger_enter(&strangers[0]);
    stranger_enter(&strangers[1]);
    stranger_tries(&strangers[1]);
    for (int i = 0; i < 20; i++)
        stranger_tries(&strangers[0]);
    run(100 * MS_NS);
    assert_int_equal(strangers[0].let_in, 20);
    assert_int_equal(inside(&strangers[0], 1), PER_NET);
    assert_int_equal(inside(&strangers[1], 1), 1);
}

static void the_most_crowded_network_makes_way(void **state)
{
    (void)state;
    struct stranger strangers[7];
    for (int i = 0; i < 7; i++)
        stranger_enter(&strangers[i]);
    for (int i = 0; i < 12; i++)
        stranger_tries(&strangers[1 + i % 6]);
    /* The network of strangers[0] then has the most connections. So the node closes two of its
     * connections, although those from other networks are older. */
    for (int i = 0; i < 6; i++)
        stranger_tries(&strangers[0]);
    run(100 * MS_NS);
    assert_int_equal(inside(strangers, 7), PLACES);
    assert_int_equal(inside(&strangers[0], 1), PLACES - 12);
    assert_int_equal(inside(&strangers[1], 6), 12);
}

static void a_silent_caller_is_closed_after_two_seconds(void **state)
{
    (void)state;
    struct stranger stranger;
    stranger_enter(&stranger);
    stranger_tries(&stranger);
    run(1900 * MS_NS);
    assert_int_equal(stranger.shut_out, 0);
    run(500 * MS_NS);
    assert_int_equal(stranger.shut_out, 1);
    assert_int_equal(world.nodes[0].notes[NOTE_REFUSED], 1);
}

/* Strangers in four networks open 20 connections, and reopen each connection that node 0 closes. */
static void a_holder_of_the_key_gets_in_past_silent_callers(void **state)
{
    (void)state;
    struct stranger strangers[4];
    for (int i = 0; i < 4; i++) {
        stranger_enter(&strangers[i]);
        strangers[i].calls_again = true;
    }
    for (int i = 0; i < MUTE; i++)
        stranger_tries(&strangers[i % 4]);
    struct puppet puppet;
    puppet_init(&puppet, 0, 77);
    for (int i = 0; i < 10; i++) {
        puppet_meet(&puppet);
        puppet_hello(&puppet);
        assert_int_equal(stats_of(0).neighbours, 2);
        puppet_say(&puppet, &(struct message){.kind = BYE, .reason = BYE_LEAVING});
        run(SECOND_NS);
        assert_true(puppet.closed);
    }
    assert_true(strangers[0].shut_out > 10);
    puppet_free(&puppet);
}

static void callers_of_one_host_cause_one_note(void **state)
{
    (void)state;
    static const uint8_t garbage[] = "\0\20GET / HTTP/1.1\r\n\r\n";
    const uint32_t before = world.nodes[0].notes[NOTE_REFUSED];
    struct stranger stranger;
    stranger_enter(&stranger);
    stranger.says = garbage;
    stranger.says_bytes = sizeof garbage - 1;
    for (int i = 0; i < 1000; i++)
        stranger_tries(&stranger);
    run(SECOND_NS);
    assert_int_equal(stranger.let_in, 1000);
    assert_int_equal(world.nodes[0].notes[NOTE_REFUSED] - before, 1);
    assert_int_equal(stranger.bytes_received, 0);
    stranger.says_bytes = 0;
    stranger_tries(&stranger);
    run(8 * SECOND_NS);
    assert_int_equal(world.nodes[0].notes[NOTE_REFUSED] - before, 2); /* silence is a new reason */
    assert_int_equal(stats_of(0).neighbours, 1);
}

#define AT_THE_DOOR(name) cmocka_unit_test_setup_teardown(name, endpoint_is_there, world_ends)

int main(void)
{
    const struct CMUnitTest tests[] = {
        AT_THE_DOOR(callers_from_few_addresses_displace_each_other),
        AT_THE_DOOR(the_most_crowded_network_makes_way),
        AT_THE_DOOR(a_silent_caller_is_closed_after_two_seconds),
        AT_THE_DOOR(a_holder_of_the_key_gets_in_past_silent_callers),
        AT_THE_DOOR(callers_of_one_host_cause_one_note),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
