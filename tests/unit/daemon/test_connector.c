/* A dial tries all addresses of a name, alternating between IPv4 and IPv6, and reports failures.
 * The test replaces the lookup. Addresses that do not answer are sockets with a full queue. */
#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "socket/connector.h"

#define ADDRESSES_MAX 20
#define LONG_MS       600000 /* longer than any test */

static const struct connector_times PATIENT = {LONG_MS, LONG_MS, LONG_MS};
static const struct connector_times STAGGERED = {LONG_MS, LONG_MS, 1};

/* The addresses to which every name resolves. */
static struct {
    const char *host[ADDRESSES_MAX];
    int count;
    bool hangs;   /* lookups hang until the test releases them */
    bool is_held; /* a lookup is hanging now */
    pthread_mutex_t mutex;
    pthread_cond_t moved;
} name = {.mutex = PTHREAD_MUTEX_INITIALIZER, .moved = PTHREAD_COND_INITIALIZER};

static uint16_t port;
static int sockets[ADDRESSES_MAX], sockets_count;
static uv_loop_t loop;

/* Result of the dial. */
static struct {
    int ends;
    bool is_connected;
    int segment_bytes; /* segment size of the connection, as the system reports it */
    char reached[64], tried[CONNECTOR_WHY_BYTES], why[CONNECTOR_WHY_BYTES];
} outcome;

/* Replaces the system's function. libuv calls it on another thread. */
int getaddrinfo(const char *host, const char *service, const struct addrinfo *hints,
                struct addrinfo **found)
{
    struct addrinfo **last = found;
    (void)hints;
    (void)host;
    (void)pthread_mutex_lock(&name.mutex);
    name.is_held = name.hangs;
    while (name.hangs)
        (void)pthread_cond_wait(&name.moved, &name.mutex);
    (void)pthread_mutex_unlock(&name.mutex);
    *found = NULL;
    for (int i = 0; i < name.count; i++) {
        struct addrinfo *one = calloc(1, sizeof *one + sizeof(struct sockaddr_in6));
        one->ai_addr = (struct sockaddr *)(one + 1);
        one->ai_family = strchr(name.host[i], ':') ? AF_INET6 : AF_INET;
        if (one->ai_family == AF_INET6)
            (void)uv_ip6_addr(name.host[i], atoi(service), (struct sockaddr_in6 *)one->ai_addr);
        else
            (void)uv_ip4_addr(name.host[i], atoi(service), (struct sockaddr_in *)one->ai_addr);
        *last = one;
        last = &one->ai_next;
    }
    return name.count > 0 ? 0 : EAI_NONAME;
}

void freeaddrinfo(struct addrinfo *found)
{
    while (found) {
        struct addrinfo *next = found->ai_next;
        free(found);
        found = next;
    }
}

static void release(void)
{
    (void)pthread_mutex_lock(&name.mutex);
    name.hangs = false;
    (void)pthread_cond_broadcast(&name.moved);
    (void)pthread_mutex_unlock(&name.mutex);
}

static uint32_t segment_bytes;

static int begin(void **state)
{
    (void)state;
    name.count = 0;
    name.hangs = name.is_held = false;
    port = 0;
    segment_bytes = 0;
    sockets_count = 0;
    memset(&outcome, 0, sizeof outcome);
    return uv_loop_init(&loop);
}

static int finish(void **state)
{
    (void)state;
    release();
    for (int i = 0; i < sockets_count; i++)
        (void)close(sockets[i]);
    (void)uv_run(&loop, UV_RUN_DEFAULT);
    return uv_loop_close(&loop); /* fails if a handle is left in the loop */
}

static struct sockaddr_in at(const char *host)
{
    struct sockaddr_in address;
    assert_int_equal(uv_ip4_addr(host, port, &address), 0);
    return address;
}

static void listen_at(const char *host, int backlog)
{
    struct sockaddr_in address = at(host);
    socklen_t bytes = sizeof address;
    const int file = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(file, (const struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(listen(file, backlog), 0);
    assert_int_equal(getsockname(file, (struct sockaddr *)&address, &bytes), 0);
    port = ntohs(address.sin_port);
    sockets[sockets_count++] = file;
    name.host[name.count++] = host;
}

/* Listens on `host` with a full queue, so that no connection is answered. */
static void swallow_at(const char *host)
{
    listen_at(host, 0);
    const struct sockaddr_in address = at(host);
    const int file = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(connect(file, (const struct sockaddr *)&address, sizeof address), 0);
    sockets[sockets_count++] = file;
}

static void on_closed(uv_handle_t *handle)
{
    free(handle);
}

static void on_connected(void *self, uv_tcp_t *tcp, const struct connector_result *result)
{
    struct sockaddr_storage to;
    int bytes = sizeof to;
    assert_ptr_equal(self, &outcome);
    assert_int_equal(uv_tcp_getpeername(tcp, (struct sockaddr *)&to, &bytes), 0);
    const struct address address = address_of_socket((const struct sockaddr *)&to);
    (void)snprintf(outcome.reached, sizeof outcome.reached, "%s", address.host);
    (void)snprintf(outcome.tried, sizeof outcome.tried, "%s", result->tried);
    assert_true(result->connect_ns > 0);
    uv_os_fd_t file;
    socklen_t length = sizeof outcome.segment_bytes;
    assert_int_equal(uv_fileno((uv_handle_t *)tcp, &file), 0);
    assert_int_equal(getsockopt(file, IPPROTO_TCP, TCP_MAXSEG, &outcome.segment_bytes, &length), 0);
    outcome.is_connected = true;
    outcome.ends++;
    uv_close((uv_handle_t *)tcp, on_closed);
}

static void on_failed(void *self, const char *why)
{
    assert_ptr_equal(self, &outcome);
    (void)snprintf(outcome.why, sizeof outcome.why, "%s", why);
    outcome.ends++;
}

static struct connector *dial(const char *host, const struct connector_times *times)
{
    const struct connector_owner owner = {
        .self = &outcome, .on_connected = on_connected, .on_failed = on_failed};
    struct address address = {.port = port};
    (void)snprintf(address.host, sizeof address.host, "%s", host);
    struct connector *begun = connector_begin(&loop, &address, segment_bytes, times, &owner);
    assert_int_equal(outcome.ends, 0); /* no callback before connector_begin returns */
    return begun;
}

static void run_until_the_end(void)
{
    while (outcome.ends == 0)
        (void)uv_run(&loop, UV_RUN_ONCE);
    assert_int_equal(outcome.ends, 1);
}

static void must_reach(const char *host, const char *tried)
{
    run_until_the_end();
    assert_true(outcome.is_connected);
    assert_string_equal(outcome.reached, host);
    assert_string_equal(outcome.tried, tried);
}

static void must_fail(const char *why)
{
    run_until_the_end();
    assert_false(outcome.is_connected);
    assert_string_equal(outcome.why, why);
}

static void an_address_that_swallows_packets_costs_one_step(void **state)
{
    (void)state;
    swallow_at("127.0.0.2");
    swallow_at("127.0.0.3");
    listen_at("127.0.0.4", 8);
    (void)dial("a.example", &STAGGERED);
    must_reach("127.0.0.4", "127.0.0.2: no answer; 127.0.0.3: no answer");
}

static void a_refused_address_is_followed_at_once(void **state)
{
    (void)state;
    listen_at("127.0.0.2", 8);
    name.host[0] = "127.0.0.9"; /* this address refuses connections */
    name.host[name.count++] = "127.0.0.2";
    (void)dial("a.example", &PATIENT);
    must_reach("127.0.0.2", "127.0.0.9: connection refused");
}

static void the_first_address_wins_where_it_answers(void **state)
{
    (void)state;
    listen_at("127.0.0.2", 8);
    listen_at("127.0.0.3", 8);
    (void)dial("a.example", &PATIENT);
    must_reach("127.0.0.2", "");
}

static void an_address_of_a_family_that_is_not_there_is_skipped(void **state)
{
    (void)state;
    listen_at("127.0.0.2", 8);
    name.host[0] = "fe80::1"; /* a link-local address without a zone fails at once */
    name.host[name.count++] = "127.0.0.2";
    (void)dial("a.example", &PATIENT);
    run_until_the_end();
    assert_string_equal(outcome.reached, "127.0.0.2");
    assert_non_null(strstr(outcome.tried, "fe80::1: "));
}

static void a_failure_names_the_error_of_each_address(void **state)
{
    (void)state;
    listen_at("127.0.0.2", 8);
    assert_int_equal(close(sockets[--sockets_count]), 0);
    name.host[name.count++] = "127.0.0.3";
    (void)dial("a.example", &PATIENT);
    must_fail("127.0.0.2: connection refused; 127.0.0.3: connection refused");
}

static void one_address_needs_no_name_in_its_reason(void **state)
{
    (void)state;
    listen_at("127.0.0.2", 8);
    assert_int_equal(close(sockets[--sockets_count]), 0);
    (void)dial("a.example", &PATIENT);
    must_fail("connection refused");
}

static void packets_are_small_where_that_is_asked_for(void **state)
{
    (void)state;
    listen_at("127.0.0.2", 8);
    segment_bytes = 536;
    (void)dial("a.example", &PATIENT);
    must_reach("127.0.0.2", "");
    assert_in_range(outcome.segment_bytes, 1, 536);
}

static void packets_are_as_large_as_the_system_takes_otherwise(void **state)
{
    (void)state;
    listen_at("127.0.0.2", 8);
    (void)dial("a.example", &PATIENT);
    must_reach("127.0.0.2", "");
    assert_true(outcome.segment_bytes > 1460);
}

static void silence_ends_the_connection(void **state)
{
    static const struct connector_times times = {LONG_MS, 20, LONG_MS};
    (void)state;
    swallow_at("127.0.0.2");
    (void)dial("a.example", &times);
    must_fail("no answer within 0.02 s");
}

static void silence_of_several_addresses_names_them(void **state)
{
    static const struct connector_times times = {LONG_MS, 20, 1};
    (void)state;
    swallow_at("127.0.0.2");
    swallow_at("127.0.0.3");
    (void)dial("a.example", &times);
    must_fail("127.0.0.2: no answer; 127.0.0.3: no answer");
}

static void a_lookup_has_its_own_deadline(void **state)
{
    static const struct connector_times times = {20, LONG_MS, LONG_MS};
    (void)state;
    name.hangs = true;
    (void)dial("a.example", &times);
    must_fail("looking up its name took longer than 0.02 s");
}

static void a_lookup_takes_nothing_from_the_connection(void **state)
{
    static const struct connector_times times = {LONG_MS, LONG_MS, LONG_MS};
    bool is_held = false;
    (void)state;
    listen_at("127.0.0.2", 8);
    name.hangs = true;
    (void)dial("a.example", &times);
    while (!is_held) {
        (void)uv_run(&loop, UV_RUN_NOWAIT);
        (void)pthread_mutex_lock(&name.mutex);
        is_held = name.is_held;
        (void)pthread_mutex_unlock(&name.mutex);
    }
    release();
    must_reach("127.0.0.2", "");
}

static void a_name_without_addresses_says_so(void **state)
{
    (void)state;
    (void)dial("a.example", &PATIENT);
    must_fail("its name cannot be resolved (unknown node or service)");
}

static void a_name_that_libuv_refuses_is_no_end_of_the_program(void **state)
{
    (void)state;
    (void)dial("\xff\xfe.example", &PATIENT);
    run_until_the_end();
    assert_non_null(strstr(outcome.why, "its name cannot be resolved ("));
}

static void a_dial_is_given_up_while_its_name_is_looked_up(void **state)
{
    (void)state;
    name.hangs = true;
    struct connector *begun = dial("a.example", &PATIENT);
    connector_cancel(begun);
    assert_int_equal(outcome.ends, 0);
    must_fail("");
}

static void a_dial_is_given_up_while_it_connects(void **state)
{
    (void)state;
    swallow_at("127.0.0.2");
    struct connector *begun = dial("a.example", &PATIENT);
    for (int i = 0; i < 3; i++)
        (void)uv_run(&loop, UV_RUN_NOWAIT);
    connector_cancel(begun);
    must_fail("");
}

/* Checks the order in which found addresses are tried. A string has a digit per address: '4' for
 * IPv4, '6' for IPv6. Addresses of one family keep their order. */
static void assert_order(const char *found, const char *expected)
{
    struct addrinfo list[ADDRESSES_MAX] = {0};
    const struct addrinfo *order[CONNECTOR_ADDRESSES_MAX];
    char text[2 * CONNECTOR_ADDRESSES_MAX + 1] = "";
    const size_t count = strlen(found);
    int seen[2] = {0};
    for (size_t i = 0; i < count; i++) {
        list[i].ai_family = found[i] == '6' ? AF_INET6 : AF_INET;
        list[i].ai_protocol = seen[found[i] == '6']++; /* index of the address in its family */
        list[i].ai_next = i + 1 < count ? &list[i + 1] : NULL;
    }
    const int ordered = connector_order(count > 0 ? list : NULL, order, CONNECTOR_ADDRESSES_MAX);
    seen[0] = seen[1] = 0;
    for (int i = 0; i < ordered; i++) {
        const bool is_six = order[i]->ai_family == AF_INET6;
        assert_int_equal(order[i]->ai_protocol, seen[is_six]++);
        (void)strcat(text, is_six ? "6" : "4");
    }
    assert_string_equal(text, expected);
}

static void families_take_turns(void **state)
{
    (void)state;
    assert_order("", "");
    assert_order("4", "4");
    assert_order("6644", "6464");
    assert_order("4466", "4646");
    assert_order("6664", "6466");
    assert_order("4666", "4666");
    assert_order("44", "44");
    assert_order("66666666666666666664", "6466666666666666");
}

int main(void)
{
#define DIALS(test) cmocka_unit_test_setup_teardown(test, begin, finish)
    const struct CMUnitTest tests[] = {
        DIALS(an_address_that_swallows_packets_costs_one_step),
        DIALS(a_refused_address_is_followed_at_once),
        DIALS(the_first_address_wins_where_it_answers),
        DIALS(an_address_of_a_family_that_is_not_there_is_skipped),
        DIALS(a_failure_names_the_error_of_each_address),
        DIALS(one_address_needs_no_name_in_its_reason),
        DIALS(packets_are_small_where_that_is_asked_for),
        DIALS(packets_are_as_large_as_the_system_takes_otherwise),
        DIALS(silence_ends_the_connection),
        DIALS(silence_of_several_addresses_names_them),
        DIALS(a_lookup_has_its_own_deadline),
        DIALS(a_lookup_takes_nothing_from_the_connection),
        DIALS(a_name_without_addresses_says_so),
        DIALS(a_name_that_libuv_refuses_is_no_end_of_the_program),
        DIALS(a_dial_is_given_up_while_its_name_is_looked_up),
        DIALS(a_dial_is_given_up_while_it_connects),
        cmocka_unit_test(families_take_turns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
