/* Notifications to a service manager, received on a real socket. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/time_units.h"
#include "daemon/sd_notify.h"

/* The service manager's socket. */
struct manager {
    int socket;
    char folder[32];
    char name[64]; /* the socket's address, in the form of NOTIFY_SOCKET */
    char heard[512];
};

static struct manager manager;

static void listen_at(const char *name)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    const size_t bytes = strlen(name);
    assert_true(bytes < sizeof at.sun_path);
    memcpy(at.sun_path, name, bytes + 1);
    const bool abstract = name[0] == '@';
    if (abstract)
        at.sun_path[0] = '\0';
    const size_t used = offsetof(struct sockaddr_un, sun_path) + bytes + (abstract ? 0 : 1);
    manager.socket = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    assert_true(manager.socket >= 0);
    assert_int_equal(bind(manager.socket, (struct sockaddr *)&at, (socklen_t)used), 0);
    assert_int_equal(setenv("NOTIFY_SOCKET", name, 1), 0);
}

static int start(void **state)
{
    (void)state;
    memset(&manager, 0, sizeof manager);
    manager.socket = -1;
    (void)snprintf(manager.folder, sizeof manager.folder, "/tmp/hearsay-notify-XXXXXX");
    if (!mkdtemp(manager.folder))
        return -1;
    (void)snprintf(manager.name, sizeof manager.name, "%s/socket", manager.folder);
    return unsetenv("NOTIFY_SOCKET") | unsetenv("WATCHDOG_USEC") | unsetenv("WATCHDOG_PID");
}

static int stop(void **state)
{
    (void)state;
    if (manager.socket >= 0)
        (void)close(manager.socket);
    (void)unlink(manager.name);
    return rmdir(manager.folder);
}

/* Returns the next datagram, or "" if there is none. */
static const char *heard(void)
{
    const ssize_t got = recv(manager.socket, manager.heard, sizeof manager.heard - 1, 0);
    manager.heard[got > 0 ? got : 0] = '\0';
    return manager.heard;
}

static void says_ready_once(const char *name)
{
    struct sd_notify sd_notify;
    listen_at(name);
    sd_notify_open(&sd_notify);
    assert_int_equal(sd_notify_wake_ns(&sd_notify), 0);
    assert_string_equal(heard(), "");
    sd_notify_on_time(&sd_notify, 5 * SECOND_NS);
    assert_string_equal(heard(), "READY=1");
    assert_int_equal(sd_notify_wake_ns(&sd_notify), UINT64_MAX);
    sd_notify_on_time(&sd_notify, 1000 * SECOND_NS);
    assert_string_equal(heard(), "");
    sd_notify_close(&sd_notify);
}

static void a_running_node_notifies_readiness_once(void **state)
{
    (void)state;
    says_ready_once(manager.name);
}

static void an_abstract_address_is_reached(void **state)
{
    (void)state;
    char name[64];
    (void)snprintf(name, sizeof name, "@hearsay-notify-%d", (int)getpid());
    says_ready_once(name);
}

static void with_no_address_nobody_is_told(void **state)
{
    (void)state;
    const struct node_stats stats = {.steps = 1};
    const struct reach reach = {0};
    struct sd_notify sd_notify;
    assert_int_equal(setenv("WATCHDOG_USEC", "1000000", 1), 0);
    sd_notify_open(&sd_notify);
    assert_int_equal(sd_notify.socket, -1);
    assert_int_equal(sd_notify_wake_ns(&sd_notify), UINT64_MAX);
    sd_notify_on_time(&sd_notify, SECOND_NS);
    sd_notify_status(&sd_notify, 0, &stats, 1, &reach);
    sd_notify_stopping(&sd_notify);
    assert_false(sd_notify.complained);
    sd_notify_close(&sd_notify);
    assert_int_equal(setenv("NOTIFY_SOCKET", "", 1), 0);
    sd_notify_open(&sd_notify);
    assert_int_equal(sd_notify_wake_ns(&sd_notify), UINT64_MAX);
    assert_false(sd_notify.complained);
    sd_notify_close(&sd_notify);
}

static void a_sign_of_life_comes_twice_in_the_time_allowed(void **state)
{
    (void)state;
    struct sd_notify sd_notify;
    listen_at(manager.name);
    assert_int_equal(setenv("WATCHDOG_USEC", "30000000", 1), 0);
    sd_notify_open(&sd_notify);
    sd_notify_on_time(&sd_notify, 100 * SECOND_NS);
    assert_string_equal(heard(), "READY=1");
    assert_int_equal(sd_notify_wake_ns(&sd_notify), 115 * SECOND_NS);
    sd_notify_on_time(&sd_notify, 115 * SECOND_NS - 1);
    assert_string_equal(heard(), "");
    sd_notify_on_time(&sd_notify, 115 * SECOND_NS);
    assert_string_equal(heard(), "WATCHDOG=1");
    assert_string_equal(heard(), "");
    sd_notify_on_time(&sd_notify, 200 * SECOND_NS);
    assert_string_equal(heard(), "WATCHDOG=1");
    assert_int_equal(sd_notify_wake_ns(&sd_notify), 215 * SECOND_NS);
    sd_notify_close(&sd_notify);
}

static void only_whom_the_watchdog_means_answers_it(void **state)
{
    (void)state;
    static const struct {
        const char *usec;
        int pid_offset;
        uint64_t watchdog_ns;
    } cases[] = {
        {"3000000", 0, 1500000000},
        {"3000000", 1, 0},
        {"0", 0, 0},
        {"soon", 0, 0},
        {"-5", 0, 0},
        {"99999999999999999999", 0, 0},
        {"3000000s", 0, 0},
        {" 3000000", 0, 0},
        {"", 0, 0},
        {"18446744073709551615", 0, 0},
    };
    struct sd_notify sd_notify;
    listen_at(manager.name);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char pid[16];
        (void)snprintf(pid, sizeof pid, "%d", (int)getpid() + cases[i].pid_offset);
        assert_int_equal(setenv("WATCHDOG_USEC", cases[i].usec, 1), 0);
        assert_int_equal(setenv("WATCHDOG_PID", pid, 1), 0);
        sd_notify_open(&sd_notify);
        assert_int_equal(sd_notify.watchdog_ns, cases[i].watchdog_ns);
        sd_notify_close(&sd_notify);
    }
}

static void the_status_is_one_line_for_a_person(void **state)
{
    (void)state;
    struct node_stats stats = {
        .trains = true, .neighbours = 3, .members_live = 5, .rumors_received = 17};
    const struct reach reach = {.peers = 1, .why = "192.0.2.1:7770 refused"};
    struct sd_notify sd_notify;
    listen_at(manager.name);
    sd_notify_open(&sd_notify);
    sd_notify_status(&sd_notify, 0, &stats, 0, &reach);
    assert_string_equal(
        heard(), "STATUS=not training yet, neighbours 3, members 5, published 0, received 17");
    stats.steps = 40;
    stats.samples_per_second = 812.4;
    stats.rumors_published = 9;
    sd_notify_status(&sd_notify, 0, &stats, 0.31234, &reach);
    assert_string_equal(heard(), "STATUS=812 samples/s, loss 0.3123, neighbours 3, members 5, "
                                 "published 9, received 17");
    stats.neighbours = 0;
    sd_notify_status(&sd_notify, REACH_ALONE_NS, &stats, 0.31234, &reach);
    assert_string_equal(heard(), "STATUS=alone: no neighbour; 812 samples/s, "
                                 "loss 0.3123, neighbours 0, members 5, published 9, received 17");
    stats.trains = false;
    sd_notify_status(&sd_notify, 0, &stats, 0.31234, &reach);
    assert_string_equal(heard(),
                        "STATUS=only relaying, neighbours 0, members 5, published 9, received 17");
    sd_notify_close(&sd_notify);
}

static void a_leaving_node_notifies_stopping(void **state)
{
    (void)state;
    const struct node_stats stats = {.phase = NODE_LEAVING, .steps = 1};
    const struct reach reach = {0};
    struct sd_notify sd_notify;
    listen_at(manager.name);
    sd_notify_open(&sd_notify);
    sd_notify_stopping(&sd_notify);
    assert_int_equal(strncmp(heard(), "STOPPING=1\nSTATUS=", 18), 0);
    sd_notify_status(&sd_notify, 0, &stats, 1, &reach);
    assert_string_equal(heard(), ""); /* no later status replaces it */
    sd_notify_close(&sd_notify);
}

static void ready_is_said_again_until_it_is_heard(void **state)
{
    (void)state;
    struct sd_notify sd_notify;
    assert_int_equal(setenv("NOTIFY_SOCKET", manager.name, 1), 0);
    sd_notify_open(&sd_notify);
    sd_notify_on_time(&sd_notify, SECOND_NS);
    assert_true(sd_notify.complained);
    assert_int_equal(sd_notify_wake_ns(&sd_notify), 2 * SECOND_NS);
    listen_at(manager.name);
    sd_notify_on_time(&sd_notify, 2 * SECOND_NS);
    assert_string_equal(heard(), "READY=1");
    sd_notify_close(&sd_notify);
}

static void a_manager_that_does_not_read_blocks_no_node(void **state)
{
    (void)state;
    const struct node_stats stats = {.steps = 1};
    const struct reach reach = {0};
    struct sd_notify sd_notify;
    listen_at(manager.name);
    sd_notify_open(&sd_notify);
    for (int i = 0; i < 100000 && !sd_notify.complained; i++)
        sd_notify_status(&sd_notify, 0, &stats, 1, &reach);
    assert_true(sd_notify.complained);
    while (heard()[0])
        ;
    sd_notify_stopping(&sd_notify);
    assert_int_equal(strncmp(heard(), "STOPPING=1", 10), 0);
    sd_notify_close(&sd_notify);
}

static void reports_and_ignores_an_invalid_notify_address(void **state)
{
    (void)state;
    char path[256];
    memset(path, 'a', sizeof path - 1);
    path[0] = '/';
    path[sizeof path - 1] = '\0';
    const char *const names[] = {"vsock:2:1234", "relative", "/", "@", path};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        struct sd_notify sd_notify;
        assert_int_equal(setenv("NOTIFY_SOCKET", names[i], 1), 0);
        sd_notify_open(&sd_notify);
        assert_int_equal(sd_notify.socket, -1);
        assert_true(sd_notify.complained);
        assert_int_equal(sd_notify_wake_ns(&sd_notify), UINT64_MAX);
        sd_notify_close(&sd_notify);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_running_node_notifies_readiness_once, start, stop),
        cmocka_unit_test_setup_teardown(an_abstract_address_is_reached, start, stop),
        cmocka_unit_test_setup_teardown(with_no_address_nobody_is_told, start, stop),
        cmocka_unit_test_setup_teardown(a_sign_of_life_comes_twice_in_the_time_allowed, start,
                                        stop),
        cmocka_unit_test_setup_teardown(only_whom_the_watchdog_means_answers_it, start, stop),
        cmocka_unit_test_setup_teardown(the_status_is_one_line_for_a_person, start, stop),
        cmocka_unit_test_setup_teardown(a_leaving_node_notifies_stopping, start, stop),
        cmocka_unit_test_setup_teardown(ready_is_said_again_until_it_is_heard, start, stop),
        cmocka_unit_test_setup_teardown(a_manager_that_does_not_read_blocks_no_node, start, stop),
        cmocka_unit_test_setup_teardown(reports_and_ignores_an_invalid_notify_address, start, stop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
