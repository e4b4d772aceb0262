/* A node's HTTP server, called over real sockets: what it serves, to which clients, and how it
 * treats clients that misbehave. The test has one thread, and runs the server in it until an answer
 * arrives. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "web/web_server.h"

#define ANSWER_BYTES (256 * 1024)
#define LARGE_BYTES  (16 * 1024 * 1024)
#define SLOW_CLIENTS 100
#define REQUEST_S    10
#define ANSWER_S     60

static struct web_server *server;
static bool is_well;
static int made;      /* number of texts made so far */
static bool is_large; /* texts are larger than the socket buffers */
static char answer[ANSWER_BYTES];

static char *make(void *self, enum web_text what, size_t *count)
{
    static const char *const TEXTS[] = {[WEB_STORY] = "{\"snapshot\":1}",
                                        [WEB_STATUS] = "{\"status\":1}",
                                        [WEB_METRICS] = "up 1\n"};
    (void)self;
    char *text = is_large ? calloc(1, LARGE_BYTES) : strdup(TEXTS[what]);
    made++;
    assert_non_null(text);
    *count = is_large ? LARGE_BYTES : strlen(text);
    return text;
}

static bool is_ready(void *self)
{
    (void)self;
    return is_well;
}

static void open_with(const char *token)
{
    const struct web_owner owner = {.make = make, .is_ready = is_ready};
    const struct address listen = {.host = "127.0.0.1"};
    struct problem problem;
    is_well = true;
    is_large = false;
    assert_int_equal(web_server_open(&server, &listen, token, &owner, &problem), OK);
}

static int stop(void **state)
{
    (void)state;
    web_server_close(server);
    server = NULL;
    return 0;
}

static int dial(void)
{
    const struct sockaddr_in to = {.sin_family = AF_INET,
                                   .sin_port = htons((uint16_t)web_server_port(server)),
                                   .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    const int file = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(file >= 0 && connect(file, (const struct sockaddr *)&to, sizeof to) == 0);
    return file;
}

/* Runs the server as an event loop would, until `file` is readable or closed. */
static void turn_until(int file)
{
    struct pollfd files[] = {{.fd = file, .events = POLLIN},
                             {.fd = web_server_file(server), .events = POLLIN}};
    bool is_due = true;
    do {
        assert_true(poll(files, 2, is_due ? 0 : -1) >= 0);
        is_due = (is_due || files[1].revents) && web_server_run(server);
    } while (!files[0].revents);
}

/* Reads until these words have arrived or the connection ends. Returns the text. */
static const char *read_until(int file, const char *words)
{
    size_t used = 0;
    answer[0] = '\0';
    while (!strstr(answer, words)) {
        turn_until(file);
        const ssize_t got = read(file, answer + used, sizeof answer - 1 - used);
        if (got <= 0) /* closed, or reset because the server had unread bytes */
            break;
        used += (size_t)got;
        answer[used] = '\0';
    }
    return answer;
}

static void send_request(int file, const char *text)
{
    assert_int_equal(write(file, text, strlen(text)), strlen(text));
}

/* Sends one request that asks to close the connection. Returns the complete answer. */
static const char *ask(const char *line, const char *headers)
{
    char request[512];
    const int file = dial();
    (void)snprintf(request, sizeof request, "%s HTTP/1.1\r\nConnection: close\r\n%s\r\n", line,
                   headers);
    send_request(file, request);
    (void)read_until(file, "nothing has these words");
    (void)close(file);
    return answer;
}

#define HERE "Host: localhost:9464\r\n"

static void assert_code(const char *said, int code)
{
    char begin[32];
    (void)snprintf(begin, sizeof begin, "HTTP/1.1 %d ", code);
    if (strncmp(said, begin, strlen(begin)) != 0)
        fail_msg("not %d: %.200s", code, said);
}

static void assert_says(const char *said, int code, const char *words)
{
    assert_code(said, code);
    if (!strstr(said, words))
        fail_msg("\"%s\" is not in: %.600s", words, said);
}

static void pages_and_texts_are_served_with_their_types(void **state)
{
    (void)state;
    open_with(NULL);
    assert_says(ask("GET /", HERE), 200, "<!DOCTYPE html>");
    assert_says(answer, 200, "Content-Type: text/html");
    assert_says(answer, 200, "X-Content-Type-Options: nosniff");
    assert_says(ask("GET /snapshot.json", HERE), 200, "{\"snapshot\":1}");
    assert_says(ask("GET /status.json", HERE), 200, "{\"status\":1}");
    assert_says(ask("GET /metrics", HERE), 200, "up 1\n");
    assert_says(answer, 200, "text/plain; version=0.0.4");
    assert_says(ask("GET /other", HERE), 404, "/metrics");
}

static void a_text_is_made_once_until_it_is_old(void **state)
{
    (void)state;
    open_with(NULL);
    made = 0;
    for (int i = 0; i < 3; i++)
        assert_says(ask("GET /snapshot.json", HERE), 200, "{\"snapshot\":1}");
    assert_int_equal(made, 1);
    assert_says(ask("GET /metrics", HERE), 200, "up 1\n");
    assert_int_equal(made, 2);
    web_server_renew(server);
    assert_says(ask("GET /snapshot.json", HERE), 200, "{\"snapshot\":1}");
    assert_says(answer, 200, "Content-Type: application/json");
    assert_int_equal(made, 3);
}

static void health_is_for_everybody(void **state)
{
    (void)state;
    open_with("a token of sixteen and more");
    assert_says(ask("GET /livez", "Host: pod\r\n"), 200, "ok\n");
    assert_says(ask("GET /readyz", "Host: pod\r\n"), 200, "ok\n");
    is_well = false;
    web_server_renew(server);
    assert_says(ask("GET /readyz", "Host: pod\r\n"), 503, "not ready\n");
    assert_says(ask("GET /livez", "Host: pod\r\n"), 200, "ok\n");
}

static void without_a_token_it_is_asked_under_a_name_of_this_machine(void **state)
{
    (void)state;
    open_with(NULL);
    assert_code(ask("GET /metrics", "Host: 127.0.0.1\r\n"), 200);
    assert_code(ask("GET /metrics", "Host: [::1]:9464\r\n"), 200);
    assert_says(ask("GET /metrics", "Host: evil.example.org\r\n"), 403, "node.http_token");
    assert_code(ask("GET /metrics", "Host: localhost.evil.example.org\r\n"), 403);
    assert_code(ask("GET /snapshot.json", "Host: evil.example.org:80\r\n"), 403);
}

static void a_token_is_wanted_for_all_but_health(void **state)
{
    static const char *const PATHS[] = {"/", "/snapshot.json", "/status.json", "/metrics",
                                        "/events"};
    char line[64];
    (void)state;
    open_with("0123456789abcdef");
    for (size_t i = 0; i < sizeof PATHS / sizeof PATHS[0]; i++) {
        (void)snprintf(line, sizeof line, "GET %s", PATHS[i]);
        assert_says(ask(line, HERE), 401, "WWW-Authenticate: Bearer");
    }
    assert_code(ask("GET /metrics", HERE "Authorization: Bearer 0123456789abcdef\r\n"), 200);
    assert_code(ask("GET /metrics", HERE "Authorization: Bearer 0123456789abcde\r\n"), 401);
    assert_code(ask("GET /metrics", HERE "Authorization: Basic 0123456789abcdef\r\n"), 401);
    assert_code(ask("GET /metrics?token=0123456789abcdef", "Host: elsewhere\r\n"), 200);
    assert_code(ask("GET /metrics?token=0123456789abcdeF", HERE), 401);
    assert_code(ask("GET /metrics?token", HERE), 401);
}

static void nothing_can_be_changed(void **state)
{
    (void)state;
    open_with(NULL);
    assert_says(ask("POST /metrics", HERE "Content-Length: 0\r\n"), 405, "Allow: GET, HEAD");
    assert_code(ask("DELETE /", HERE), 405);
    assert_code(ask("HEAD /metrics", HERE), 200);
    assert_null(strstr(answer, "up 1"));
}

static void nonsense_is_refused_and_others_are_served(void **state)
{
    char line[20000];
    (void)state;
    open_with(NULL);
    memset(line, 'a', sizeof line);
    memcpy(line, "GET /", 5);
    const int file = dial();
    assert_true(write(file, line, sizeof line) > 0);
    (void)read_until(file, "\r\n\r\n");
    assert_true(strncmp(answer, "HTTP/1.1 4", 10) == 0 || answer[0] == '\0');
    (void)close(file);
    const int other = dial();
    send_request(other, "\x16\x03\x01\x02 nonsense\r\n\r\n");
    assert_int_equal(shutdown(other, SHUT_WR), 0);
    (void)read_until(other, "\r\n\r\n");
    (void)close(other);
    assert_code(ask("GET /livez", HERE), 200);
}

static char *copy(const char *text)
{
    char *copied = strdup(text);
    assert_non_null(copied);
    return copied;
}

static int watch(void)
{
    const int file = dial();
    send_request(file, "GET /events HTTP/1.1\r\n" HERE "\r\n");
    assert_says(read_until(file, "retry: "), 200, "text/event-stream");
    return file;
}

static void watchers_are_sent_events_as_they_come(void **state)
{
    (void)state;
    open_with(NULL);
    assert_false(web_server_is_watched(server));
    const int one = watch(), two = watch();
    assert_true(web_server_is_watched(server));
    web_server_send(server, copy("{\"n\":1}"));
    assert_non_null(strstr(read_until(one, "\n\n"), "data: {\"n\":1}\n\n"));
    assert_non_null(strstr(read_until(two, "\n\n"), "data: {\"n\":1}\n\n"));
    web_server_send(server, copy("{\"n\":2}"));
    assert_non_null(strstr(read_until(one, "\n\n"), "data: {\"n\":2}\n\n"));
    (void)close(one);
    web_server_send(server, copy("{\"n\":3}"));
    assert_non_null(strstr(read_until(two, "\"n\":3}\n\n"), "data: {\"n\":3}\n\n"));
    (void)close(two);
}

static void a_slow_client_misses_events_and_others_get_them(void **state)
{
    (void)state;
    const size_t large = 16 * 1024 * 1024; /* more than the socket buffers */
    open_with(NULL);
    const int deaf = watch();
    char *much = malloc(large);
    assert_non_null(much);
    memset(much, 'x', large - 1);
    much[large - 1] = '\0';
    web_server_send(server, much);
    const int other = watch();
    for (int i = 0; i < 100; i++)
        web_server_send(server, copy("{}"));
    assert_non_null(strstr(read_until(other, "data: {}\n\n"), "data: {}\n\n"));
    (void)close(other);
    (void)close(deaf);
}

static void more_watchers_than_there_is_room_for_are_told_so(void **state)
{
    int files[WEB_WATCHERS_MAX];
    (void)state;
    open_with(NULL);
    for (int i = 0; i < WEB_WATCHERS_MAX; i++)
        files[i] = watch();
    assert_says(ask("GET /events", HERE), 503, "too many");
    assert_code(ask("GET /livez", HERE), 200);
    for (int i = 0; i < WEB_WATCHERS_MAX; i++)
        (void)close(files[i]);
    do { /* the server notices closed watchers when it sends to them */
        web_server_send(server, copy("{}"));
        assert_code(ask("GET /livez", HERE), 200);
    } while (web_server_is_watched(server));
    (void)close(watch());
}

static void slow_clients_keep_no_client_of_their_address_out(void **state)
{
    int files[SLOW_CLIENTS];
    (void)state;
    open_with(NULL);
    const int watcher = watch();
    for (int i = 0; i < SLOW_CLIENTS; i++) {
        files[i] = dial();
        send_request(files[i], "GET /metrics HTTP/1.1\r\n" HERE);
        (void)web_server_run(server);
    }
    for (int i = 0; i < 10; i++)
        assert_says(ask("GET /metrics", HERE), 200, "up 1");
    web_server_send(server, copy("{\"n\":1}"));
    assert_non_null(strstr(read_until(watcher, "\"n\":1}\n\n"), "data: {\"n\":1}\n\n"));
    for (int i = 0; i < SLOW_CLIENTS; i++)
        (void)close(files[i]);
    (void)close(watcher);
}

/* Lets a second pass for the server. */
static void pass_second(void)
{
    web_server_renew(server);
    (void)web_server_run(server);
}

/* Reads all bytes that have arrived. Returns true if the server has ended the connection. */
static bool is_cut_off(int file)
{
    char some[4096];
    ssize_t got;
    do
        got = recv(file, some, sizeof some, MSG_DONTWAIT);
    while (got > 0);
    return got == 0 || errno == ECONNRESET;
}

static void a_request_must_arrive_within_its_deadline(void **state)
{
    (void)state;
    open_with(NULL);
    const int file = dial();
    send_request(file, "GET /metrics HTTP/1.1\r\n" HERE);
    (void)web_server_run(server); /* accepts the connection */
    for (int i = 0; i < REQUEST_S; i++) {
        send_request(file, "X-Slow: yes\r\n");
        pass_second();
        assert_false(is_cut_off(file));
    }
    pass_second();
    assert_true(is_cut_off(file));
    (void)close(file);
}

static void each_request_of_a_connection_has_its_own_deadline(void **state)
{
    (void)state;
    open_with(NULL);
    const int file = dial();
    for (int i = 0; i < 3 * REQUEST_S; i++) {
        send_request(file, "GET /metrics HTTP/1.1\r\n" HERE "\r\n");
        assert_says(read_until(file, "up 1\n"), 200, "up 1");
        pass_second();
    }
    assert_false(is_cut_off(file));
    (void)close(file);
}

static void an_answer_must_be_read_within_its_deadline(void **state)
{
    (void)state;
    open_with(NULL);
    is_large = true;
    const int file = dial();
    send_request(file, "GET /status.json HTTP/1.1\r\n" HERE "\r\n");
    turn_until(file);
    for (int i = 0; i < ANSWER_S; i++)
        pass_second();
    assert_int_equal(recv(file, answer, 1, MSG_DONTWAIT), 1);
    pass_second();
    assert_true(is_cut_off(file));
    (void)close(file);
}

static void watchers_stay_for_hours(void **state)
{
    (void)state;
    open_with(NULL);
    const int file = watch();
    for (int i = 0; i < 10000; i++)
        pass_second();
    web_server_send(server, copy("{\"n\":1}"));
    assert_non_null(strstr(read_until(file, "\"n\":1}\n\n"), "data: {\"n\":1}\n\n"));
    (void)close(file);
}

static void it_ends_with_watchers_and_half_requests(void **state)
{
    (void)state;
    open_with(NULL);
    (void)watch();
    send_request(dial(), "GET /met");
    assert_code(ask("GET /livez", HERE), 200);
}

static void a_taken_port_is_said(void **state)
{
    struct web_server *second = NULL;
    struct problem problem;
    const struct web_owner owner = {.make = make, .is_ready = is_ready};
    (void)state;
    open_with(NULL);
    const struct address taken = {.host = "127.0.0.1", .port = (uint16_t)web_server_port(server)};
    assert_int_equal(web_server_open(&second, &taken, NULL, &owner, &problem), FAILED);
    assert_non_null(strstr(problem.text, "cannot listen at node.http = 127.0.0.1:"));
    assert_null(second);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(pages_and_texts_are_served_with_their_types, stop),
        cmocka_unit_test_teardown(a_text_is_made_once_until_it_is_old, stop),
        cmocka_unit_test_teardown(health_is_for_everybody, stop),
        cmocka_unit_test_teardown(without_a_token_it_is_asked_under_a_name_of_this_machine, stop),
        cmocka_unit_test_teardown(a_token_is_wanted_for_all_but_health, stop),
        cmocka_unit_test_teardown(nothing_can_be_changed, stop),
        cmocka_unit_test_teardown(nonsense_is_refused_and_others_are_served, stop),
        cmocka_unit_test_teardown(watchers_are_sent_events_as_they_come, stop),
        cmocka_unit_test_teardown(a_slow_client_misses_events_and_others_get_them, stop),
        cmocka_unit_test_teardown(more_watchers_than_there_is_room_for_are_told_so, stop),
        cmocka_unit_test_teardown(slow_clients_keep_no_client_of_their_address_out, stop),
        cmocka_unit_test_teardown(a_request_must_arrive_within_its_deadline, stop),
        cmocka_unit_test_teardown(each_request_of_a_connection_has_its_own_deadline, stop),
        cmocka_unit_test_teardown(an_answer_must_be_read_within_its_deadline, stop),
        cmocka_unit_test_teardown(watchers_stay_for_hours, stop),
        cmocka_unit_test_teardown(it_ends_with_watchers_and_half_requests, stop),
        cmocka_unit_test_teardown(a_taken_port_is_said, stop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
