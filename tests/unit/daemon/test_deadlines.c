/* The deadlines of a dial: one for lookup and connection, then one for the handshake. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/time_units.h"
#include "config/setup.h"
#include "node/node.h"

#define START_NS     (100 * SECOND_NS)
#define DIAL_NS      (30 * SECOND_NS)
#define HANDSHAKE_NS (5 * SECOND_NS)

static struct config config;
static struct identity identity;
static struct node_options options;
static struct arena arena;
static struct node *node;
static uint64_t dialled; /* number of the dialled connection; 0 = none */
static bool has_hung_up; /* the node has requested the connection's end */
static char said[400];   /* text of the last note */

static void begin(uint64_t dial_ns)
{
    const uint8_t seed[SEED_BYTES] = {7}, swarm_key[KEY_BYTES] = {8};
    secret_start();
    identity_from_seed(&identity, seed);
    config_defaults(&config);
    options = setup_plain_options(&config, 215370);
    options.identity = &identity;
    options.swarm_key = swarm_key;
    options.keys.entropy = seed;
    options.model = "dense 10";
    options.incarnation = 1795249231131;
    options.block_entries = 1024;
    options.listen_port = 7770;
    options.seed = 1;
    options.seeds[0] = (struct address){.host = "a.example", .port = 7770};
    options.seeds_count = 1;
    options.limits.dial_ns = dial_ns;
    options.limits.handshake_ns = HANDSHAKE_NS;
    arena_init(&arena, node_arena_bytes(&options));
    node = node_new(&arena, &options, START_NS);
    dialled = 0;
    has_hung_up = false;
    said[0] = '\0';
}

static int end(void **state)
{
    (void)state;
    node_free(node);
    arena_release(&arena);
    return 0;
}

static void perform(void)
{
    struct action action;
    while (node_next(node, &action)) {
        if (action.kind == ACTION_DIAL && dialled == 0)
            dialled = action.conn;
        if (action.kind == ACTION_HANGUP && action.conn == dialled)
            has_hung_up = true;
        if (action.kind == ACTION_NOTE)
            (void)snprintf(said, sizeof said, "%s", action.note.text);
    }
}

/* Lets time pass in steps of 50 ms, as the node's timers do. */
static void run_until(uint64_t from_ns, uint64_t to_ns)
{
    for (uint64_t now_ns = from_ns; now_ns <= to_ns; now_ns += 50 * MS_NS) {
        node_on_time(node, now_ns);
        perform();
    }
}

/* Ends the connection, and checks that the node's note has these words. */
static void assert_reason(uint64_t now_ns, const char *words)
{
    assert_true(has_hung_up);
    node_on_closed(node, now_ns, dialled, "");
    perform();
    if (!strstr(said, words))
        fail_msg("\"%s\" is not in \"%s\"", words, said);
}

static void a_dial_has_its_own_deadline(void **state)
{
    (void)state;
    begin(DIAL_NS);
    run_until(START_NS, START_NS + DIAL_NS - 100 * MS_NS);
    assert_true(dialled != 0);
    assert_false(has_hung_up);
    run_until(START_NS + DIAL_NS, START_NS + DIAL_NS + SECOND_NS);
    assert_reason(START_NS + DIAL_NS + SECOND_NS, "the connection attempt timed out");
}

static void a_handshake_has_its_whole_time_after_a_slow_connection(void **state)
{
    const uint64_t connected_ns = START_NS + 20 * SECOND_NS;
    (void)state;
    begin(DIAL_NS);
    run_until(START_NS, connected_ns);
    node_on_connected(node, connected_ns, dialled);
    perform();
    run_until(connected_ns, connected_ns + HANDSHAKE_NS - 100 * MS_NS);
    assert_false(has_hung_up);
    run_until(connected_ns + HANDSHAKE_NS, connected_ns + HANDSHAKE_NS + 3 * SECOND_NS);
    assert_reason(connected_ns + HANDSHAKE_NS + 3 * SECOND_NS, "the handshake timed out");
}

static void a_reason_of_the_transport_becomes_the_nodes(void **state)
{
    (void)state;
    begin(DIAL_NS);
    run_until(START_NS, START_NS + SECOND_NS);
    node_on_closed(node, START_NS + SECOND_NS, dialled,
                   "looking up its name took longer than 15 s");
    perform();
    assert_non_null(strstr(said, "cannot be reached: looking up its name took longer than 15 s"));
}

static void without_a_deadline_of_its_own_a_dial_has_that_of_the_handshake(void **state)
{
    (void)state;
    begin(0);
    run_until(START_NS, START_NS + 3 * SECOND_NS);
    node_on_connected(node, START_NS + 3 * SECOND_NS, dialled);
    run_until(START_NS + 3 * SECOND_NS, START_NS + HANDSHAKE_NS - 100 * MS_NS);
    assert_false(has_hung_up);
    run_until(START_NS + HANDSHAKE_NS, START_NS + HANDSHAKE_NS + 3 * SECOND_NS);
    assert_true(has_hung_up);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(a_dial_has_its_own_deadline, end),
        cmocka_unit_test_teardown(a_handshake_has_its_whole_time_after_a_slow_connection, end),
        cmocka_unit_test_teardown(a_reason_of_the_transport_becomes_the_nodes, end),
        cmocka_unit_test_teardown(without_a_deadline_of_its_own_a_dial_has_that_of_the_handshake,
                                  end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
