/* The transport with real sockets on the loopback. Callbacks of each test make its next steps. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/error.h"
#include "base/time_units.h"
#include "socket/transport.h"

#define CALLER      1                /* number of the end that dialled */
#define CALLED      2                /* number of the end that accepted */
#define PATIENCE_NS (60 * SECOND_NS) /* time after which a test that hangs fails */
#define LARGE       (4 * 1024 * 1024)

static struct transport *transport;
static uint8_t *large;

/* A test's callbacks; NULL = must not be called. */
static struct story {
    uint64_t accept_as; /* number for an accepted connection; 0 = refuse it */
    void (*on_connected)(uint64_t conn);
    void (*on_bytes)(uint64_t conn, const uint8_t *bytes, size_t count);
    void (*on_sent)(uint64_t conn);
    void (*on_timer)(void);
    void (*on_wake)(void);
    void (*on_signal)(int number);

    uint32_t accepted, connected, sent, timers, wakes;
    size_t received[3]; /* bytes received, by number of the end */
    bool closed[3];
    char why[3][128];
    uint32_t closes_wanted; /* number of closes after which the transport ends */
    struct address from;
} story;

static uint64_t on_accept(void *self, const struct address *from)
{
    assert_ptr_equal(self, &story);
    story.accepted++;
    story.from = *from;
    return story.accept_as;
}

static void on_connected(void *self, uint64_t conn)
{
    (void)self;
    story.connected++;
    if (!story.on_connected)
        fail_msg("connected, against expectation");
    story.on_connected(conn);
}

static void on_bytes(void *self, uint64_t conn, const uint8_t *bytes, size_t count)
{
    (void)self;
    assert_true(count > 0);
    story.received[conn] += count;
    story.on_bytes(conn, bytes, count);
}

static void on_sent(void *self, uint64_t conn)
{
    (void)self;
    story.sent++;
    if (story.on_sent)
        story.on_sent(conn);
}

static void on_closed(void *self, uint64_t conn, const char *why)
{
    (void)self;
    assert_true(conn == CALLER || conn == CALLED);
    assert_false(story.closed[conn]); /* a close is reported only once */
    story.closed[conn] = true;
    (void)snprintf(story.why[conn], sizeof story.why[conn], "%s", why);
    if (--story.closes_wanted == 0)
        transport_stop(transport);
}

static void on_timer(void *self)
{
    (void)self;
    story.timers++;
    if (!story.on_timer)
        fail_msg("nothing happened for a minute");
    story.on_timer();
}

static void on_wake(void *self)
{
    (void)self;
    story.wakes++;
    story.on_wake();
}

static void on_signal(void *self, int number)
{
    (void)self;
    story.on_signal(number);
}

static int start(void **state)
{
    (void)state;
    const struct transport_owner owner = {
        .self = &story,
        .on_accept = on_accept,
        .on_connected = on_connected,
        .on_bytes = on_bytes,
        .on_sent = on_sent,
        .on_closed = on_closed,
        .on_timer = on_timer,
        .on_wake = on_wake,
        .on_signal = on_signal,
    };
    story = (struct story){.accept_as = CALLED};
    transport = transport_new(&owner);
    transport_set_timer(transport, monotonic_ns() + PATIENCE_NS);
    return 0;
}

static int stop(void **state)
{
    (void)state;
    transport_free(transport);
    free(large);
    large = NULL;
    return 0;
}

static struct address listen_on(const char *host)
{
    struct address address = {.port = 0};
    struct problem problem;
    (void)snprintf(address.host, sizeof address.host, "%s", host);
    uint16_t port = 0;
    if (transport_listen(transport, &address, &port, &problem) != OK)
        fail_msg("%s", problem.text);
    assert_int_not_equal(port, 0);
    address.port = port;
    return address;
}

static void say_hello(uint64_t conn)
{
    assert_int_equal(conn, CALLER);
    transport_send(transport, CALLER, (const uint8_t *)"hello", 5);
}

static void answer(uint64_t conn, const uint8_t *bytes, size_t count)
{
    if (conn == CALLED && story.received[CALLED] == 5) {
        assert_memory_equal(bytes + count - 1, "o", 1);
        transport_send(transport, CALLED, (const uint8_t *)"welcome", 7);
    } else if (conn == CALLER && story.received[CALLER] == 7) {
        transport_hang_up(transport, CALLER);
    }
}

static void two_ends_talk_both_ways_and_hang_up(void **state)
{
    (void)state;
    const struct address address = listen_on("127.0.0.1");
    story.on_connected = say_hello;
    story.on_bytes = answer;
    story.closes_wanted = 2;
    transport_dial(transport, CALLER, &address, 0);
    assert_int_equal(story.connected, 0); /* no callback before transport_dial returns */
    transport_run(transport);
    assert_int_equal(story.accepted, 1);
    assert_int_equal(story.connected, 1);
    assert_int_equal(story.sent, 2);
    assert_int_equal(story.received[CALLED], 5);
    assert_int_equal(story.received[CALLER], 7);
    assert_string_equal(story.from.host, "127.0.0.1");
    assert_string_equal(story.why[CALLER], ""); /* a normal end has no reason */
    assert_string_equal(story.why[CALLED], "");
}

static void names_are_resolved(void **state)
{
    (void)state;
    struct address address = listen_on("127.0.0.1");
    (void)snprintf(address.host, sizeof address.host, "localhost");
    story.on_connected = say_hello; /* the name may also resolve to ::1, which fails */
    story.on_bytes = answer;
    story.closes_wanted = 2;
    transport_dial(transport, CALLER, &address, 0);
    transport_run(transport);
    assert_int_equal(story.received[CALLER], 7);
}

static void send_large(uint64_t conn)
{
    transport_send(transport, conn, large, LARGE);
}

static void check_large(uint64_t conn, const uint8_t *bytes, size_t count)
{
    const size_t from = story.received[conn] - count;
    assert_true(story.received[conn] <= LARGE);
    assert_memory_equal(bytes, large + from, count);
    if (story.received[conn] == LARGE)
        transport_hang_up(transport, conn);
}

static void much_is_sent_whole_and_in_order(void **state)
{
    (void)state;
    const struct address address = listen_on("127.0.0.1");
    large = malloc(LARGE);
    for (size_t i = 0; i < LARGE; i++)
        large[i] = (uint8_t)(i * 2654435761u >> 13);
    story.on_connected = send_large;
    story.on_bytes = check_large;
    story.closes_wanted = 2;
    transport_dial(transport, CALLER, &address, 0);
    transport_run(transport);
    assert_int_equal(story.received[CALLED], LARGE);
    assert_int_equal(story.sent, 1);
}

static void hang_up_at_once(uint64_t conn)
{
    transport_send(transport, conn, large, LARGE);
    transport_hang_up(transport, conn);
    transport_hang_up(transport, conn);
    transport_send(transport, conn, large, LARGE); /* sending has no effect after hanging up */
}

static void ignore_bytes(uint64_t conn, const uint8_t *bytes, size_t count)
{
    (void)conn;
    (void)bytes;
    (void)count;
}

static void hanging_up_twice_in_the_middle_of_a_send_is_one_end(void **state)
{
    (void)state;
    const struct address address = listen_on("127.0.0.1");
    large = calloc(1, LARGE);
    story.on_connected = hang_up_at_once;
    story.on_bytes = ignore_bytes;
    story.closes_wanted = 2;
    transport_dial(transport, CALLER, &address, 0);
    transport_run(transport);
    assert_true(story.closed[CALLER] && story.closed[CALLED]);
    assert_int_equal(story.sent, 0);
}

static void wait_for_the_end(uint64_t conn)
{
    (void)conn;
}

static void a_refused_caller_receives_the_goodbye(void **state)
{
    (void)state;
    const struct address address = listen_on("127.0.0.1");
    story.accept_as = 0;
    story.on_connected = wait_for_the_end;
    story.closes_wanted = 1;
    transport_dial(transport, CALLER, &address, 0);
    transport_run(transport);
    assert_int_equal(story.accepted, 1);
    assert_true(story.closed[CALLER]);
}

/* Returns the address of a port that was just closed. */
static struct address nobody_there(void)
{
    const struct address address = listen_on("127.0.0.1");
    transport_free(transport);
    void *unused = NULL;
    (void)start(&unused);
    return address;
}

static void a_refused_call_says_so(void **state)
{
    (void)state;
    const struct address address = nobody_there();
    story.closes_wanted = 1;
    transport_dial(transport, CALLER, &address, 0);
    transport_run(transport);
    assert_string_equal(story.why[CALLER], "connection refused");
}

static void a_name_that_nobody_knows_says_so(void **state)
{
    (void)state;
    const struct address address = {.host = "no-such-host.invalid", .port = 7770};
    story.closes_wanted = 1;
    transport_dial(transport, CALLER, &address, 0);
    transport_run(transport);
    assert_non_null(strstr(story.why[CALLER], "name cannot be resolved"));
}

/* address_parse accepts these names, so another node could make this node dial them. */
static void names_that_are_no_names_end_like_any_other(void **state)
{
    (void)state;
    static const char *const NAMES[] = {
        "-",    ".", "..",
        "a..b", "%", "::%nowhere",
        "::::", "_", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"};
    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++) {
        struct address address = {.port = 1};
        (void)snprintf(address.host, sizeof address.host, "%s", NAMES[i]);
        story.closed[CALLER] = false;
        story.closes_wanted = 1;
        transport_dial(transport, CALLER, &address, 0);
        assert_false(story.closed[CALLER]);
        transport_run(transport);
        assert_true(story.closed[CALLER]);
        assert_true(story.why[CALLER][0]);
    }
}

static void a_call_can_be_given_up_while_its_name_is_looked_up(void **state)
{
    (void)state;
    const struct address address = {.host = "localhost", .port = 1};
    story.closes_wanted = 1;
    transport_dial(transport, CALLER, &address, 0);
    transport_hang_up(transport, CALLER);
    transport_run(transport);
    assert_true(story.closed[CALLER]);
}

static void assert_cannot_listen(const struct address *address, const char *what,
                                 const char *remedy)
{
    struct problem problem = {""};
    uint16_t port = 77;
    assert_int_equal(transport_listen(transport, address, &port, &problem), FAILED);
    assert_int_equal(port, 77);
    assert_non_null(strstr(problem.text, what));
    assert_non_null(strstr(problem.text, remedy));
}

static void a_port_in_use_is_named_with_its_remedy(void **state)
{
    (void)state;
    const struct address address = listen_on("127.0.0.1");
    struct transport *first = transport;
    void *unused = NULL;
    (void)start(&unused);
    char text[ADDRESS_TEXT_BYTES];
    assert_cannot_listen(&address, address_text(&address, text), "choose another node.listen port");
    transport_free(first);
}

static void an_address_that_is_not_ours_is_named(void **state)
{
    (void)state;
    const struct address address = {.host = "192.0.2.1", .port = 0};
    assert_cannot_listen(&address, "192.0.2.1", "this machine has no such address");
}

static void a_name_cannot_be_listened_on(void **state)
{
    (void)state;
    const struct address address = {.host = "localhost", .port = 0};
    assert_cannot_listen(&address, "localhost", "takes a numeric address, not a name");
}

static void both_families_are_listened_to_on_any(void **state)
{
    (void)state;
    struct address address = listen_on("::");
    (void)snprintf(address.host, sizeof address.host, "127.0.0.1");
    story.on_connected = say_hello;
    story.on_bytes = answer;
    story.closes_wanted = 2;
    transport_dial(transport, CALLER, &address, 0);
    transport_run(transport);
    assert_string_equal(story.from.host, "127.0.0.1"); /* not the IPv6 form ::ffff:127.0.0.1 */
}

static void stop_running(void)
{
    transport_stop(transport);
}

static void a_timer_in_the_past_fires_at_once(void **state)
{
    (void)state;
    story.on_timer = stop_running;
    transport_set_timer(transport, 1);
    transport_run(transport);
    assert_int_equal(story.timers, 1);
}

static void a_timer_never_fires_too_early(void **state)
{
    (void)state;
    const uint64_t at_ns = monotonic_ns() + 5000000;
    story.on_timer = stop_running;
    transport_set_timer(transport, at_ns);
    transport_run(transport);
    assert_true(monotonic_ns() >= at_ns);
}

static void a_wake_reaches_the_owner(void **state)
{
    (void)state;
    story.on_wake = stop_running;
    transport_wake(transport);
    transport_wake(transport);
    assert_int_equal(story.wakes, 0);
    transport_run(transport);
    assert_int_equal(story.wakes, 1); /* several wakes before the callback are one */
}

static int signal_seen;

static void see_signal(int number)
{
    signal_seen = number;
    transport_stop(transport);
}

static void signals_come_as_callbacks(void **state)
{
    (void)state;
    static const int SIGNALS[] = {SIGTERM, SIGINT};
    story.on_signal = see_signal;
    for (int i = 0; i < 2; i++) {
        assert_int_equal(raise(SIGNALS[i]), 0);
        transport_run(transport);
        assert_int_equal(signal_seen, SIGNALS[i]);
    }
}

static void stop_when_connected(uint64_t conn)
{
    transport_send(transport, conn, large, LARGE);
    transport_stop(transport);
}

static void an_end_in_the_middle_leaves_nothing_behind(void **state)
{
    (void)state;
    const struct address address = listen_on("127.0.0.1");
    large = calloc(1, LARGE);
    story.on_connected = stop_when_connected;
    story.on_bytes = ignore_bytes;
    transport_dial(transport, CALLER, &address, 0);
    transport_run(transport);
    transport_free(transport);
    /* no callback after transport_free */
    assert_false(story.closed[CALLER] || story.closed[CALLED]);
    void *unused = NULL;
    (void)start(&unused);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, start, stop)
    const struct CMUnitTest tests[] = {
        TEST(two_ends_talk_both_ways_and_hang_up),
        TEST(names_are_resolved),
        TEST(much_is_sent_whole_and_in_order),
        TEST(hanging_up_twice_in_the_middle_of_a_send_is_one_end),
        TEST(a_refused_caller_receives_the_goodbye),
        TEST(a_refused_call_says_so),
        TEST(a_name_that_nobody_knows_says_so),
        TEST(names_that_are_no_names_end_like_any_other),
        TEST(a_call_can_be_given_up_while_its_name_is_looked_up),
        TEST(a_port_in_use_is_named_with_its_remedy),
        TEST(an_address_that_is_not_ours_is_named),
        TEST(a_name_cannot_be_listened_on),
        TEST(both_families_are_listened_to_on_any),
        TEST(a_timer_in_the_past_fires_at_once),
        TEST(a_timer_never_fires_too_early),
        TEST(a_wake_reaches_the_owner),
        TEST(signals_come_as_callbacks),
        TEST(an_end_in_the_middle_leaves_nothing_behind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
