/* Local requests for the status page: the socket in a state folder, the transport behind it, and
 * the client. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <pthread.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/time_units.h"
#include "commands/status/status.h"
#include "daemon/status_server.h"
#include "socket/local_server.h"
#include "socket/transport.h"

#define LARGE   ((size_t)2 << 20) /* more than the system's socket buffers */
#define SMALL   ((size_t)20)
#define WAIT_MS 60000
#define BEGIN   "{\"stage\":\""
#define END     "\"}"

static char dir[CONFIG_PATH_BYTES];
static struct status_endpoint endpoint;
static struct transport *transport;
static size_t answer_bytes;
static int asked;
static bool stops_when_asked;

static char *on_local_client(void *self, size_t *count)
{
    char *bytes = malloc(answer_bytes + 1);
    assert_ptr_equal(self, &endpoint);
    memset(bytes, 'x', answer_bytes);
    if (answer_bytes >= sizeof BEGIN + sizeof END) {
        memcpy(bytes, BEGIN, sizeof BEGIN - 1);
        memcpy(bytes + answer_bytes - (sizeof END - 1), END, sizeof END - 1);
    }
    *count = answer_bytes;
    asked++;
    if (stops_when_asked)
        transport_stop(transport);
    return bytes;
}

static void on_wake(void *self)
{
    (void)self;
    transport_stop(transport);
}

static void on_timer(void *self)
{
    (void)self;
    transport_stop(transport);
}

static void open_here(void)
{
    struct problem problem;
    if (status_endpoint_open(&endpoint, dir, &problem) != OK)
        fail_msg("%s", problem.text);
}

static void answer_here(void)
{
    struct problem problem;
    int made;
    if (status_endpoint_socket(&endpoint, &made, &problem) != OK)
        fail_msg("%s", problem.text);
    transport_serve_local(transport, made);
}

static int start(void **state)
{
    (void)state;
    const struct transport_owner owner = {.self = &endpoint,
                                          .on_local_client = on_local_client,
                                          .on_wake = on_wake,
                                          .on_timer = on_timer};
    (void)strcpy(dir, "/tmp/hearsay-test-XXXXXX");
    assert_non_null(mkdtemp(dir));
    transport = transport_new(&owner);
    transport_set_timer(transport, monotonic_ns() + 60 * SECOND_NS);
    answer_bytes = SMALL;
    asked = 0;
    stops_when_asked = false;
    return 0;
}

static void remove_file(const char *name)
{
    char path[STATUS_PATH_BYTES];
    (void)snprintf(path, sizeof path, "%s/%s", dir, name);
    (void)unlink(path);
}

static int stop(void **state)
{
    (void)state;
    transport_free(transport);
    status_endpoint_close(&endpoint);
    remove_file("lock");
    remove_file(STATUS_SOCKET);
    assert_int_equal(rmdir(dir), 0);
    return 0;
}

/* A request from a separate thread, as from another process. At its end the thread wakes the
 * transport. */
struct question {
    pthread_t thread;
    enum error error;
    json_t *page;
    struct problem problem;
};

static void *ask(void *argument)
{
    struct question *question = argument;
    question->error = status_ask(dir, WAIT_MS, &question->page, &question->problem);
    transport_wake(transport);
    return NULL;
}

static void ask_once(struct question *question)
{
    assert_int_equal(pthread_create(&question->thread, NULL, ask, question), 0);
    transport_run(transport);
    assert_int_equal(pthread_join(question->thread, NULL), 0);
}

/* Sends a request, and checks that an answer of this size arrives. */
static void ask_for(size_t bytes)
{
    struct question question = {0};
    answer_bytes = bytes;
    ask_once(&question);
    if (question.error != OK)
        fail_msg("%s", question.problem.text);
    const char *stage = json_string_value(json_object_get(question.page, "stage"));
    assert_int_equal(strlen(stage), bytes - strlen(BEGIN END));
    assert_int_equal(strspn(stage, "x"), strlen(stage));
    json_decref(question.page);
}

static void a_request_is_answered(void **state)
{
    (void)state;
    open_here();
    answer_here();
    for (int i = 1; i <= 3; i++) {
        ask_for(SMALL);
        assert_int_equal(asked, i);
    }
}

static void a_long_answer_comes_whole(void **state)
{
    (void)state;
    open_here();
    answer_here();
    ask_for(LARGE);
}

static int connect_and_say_nothing(void)
{
    struct status_place place;
    const int silent = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(silent >= 0 && status_place_open(&place, dir));
    assert_int_equal(connect(silent, (const struct sockaddr *)&place.address, sizeof place.address),
                     0);
    status_place_close(&place);
    return silent;
}

static void others_wait_for_those_who_do_not_read_and_are_answered(void **state)
{
    (void)state;
    int silent[LOCAL_CLIENTS_MAX];
    open_here();
    answer_here();
    answer_bytes = LARGE;
    for (int i = 0; i < LOCAL_CLIENTS_MAX; i++)
        silent[i] = connect_and_say_nothing();
    ask_for(LARGE); /* the silent clients time out, not this request */
    assert_int_equal(asked, LOCAL_CLIENTS_MAX + 1);
    for (int i = 0; i < LOCAL_CLIENTS_MAX; i++)
        (void)close(silent[i]);
}

static void an_end_while_somebody_is_answered_leaves_nothing_behind(void **state)
{
    (void)state;
    open_here();
    answer_here();
    answer_bytes = LARGE;
    const int silent = connect_and_say_nothing();
    stops_when_asked = true;
    transport_run(transport);
    assert_int_equal(asked, 1);
    (void)close(silent);
}

static void the_socket_is_for_its_owner_alone(void **state)
{
    (void)state;
    struct status_place place;
    struct stat about;
    open_here();
    answer_here();
    assert_true(status_place_open(&place, dir));
    assert_int_equal(stat(place.address.sun_path, &about), 0);
    assert_int_equal(about.st_mode & 07777, 0600);
    status_place_close(&place);
}

static void a_folder_has_one_node(void **state)
{
    (void)state;
    struct status_endpoint second = {0};
    struct problem problem;
    assert_false(status_endpoint_is_taken(dir));
    open_here();
    assert_true(status_endpoint_is_taken(dir));
    assert_int_equal(status_endpoint_open(&second, dir, &problem), MISMATCH);
    assert_non_null(strstr(problem.text, "another node uses this state_dir"));
    assert_non_null(strstr(problem.text, dir));
    assert_true(status_endpoint_is_taken(dir)); /* a refused open does not release the socket */
    status_endpoint_close(&endpoint);
    assert_false(status_endpoint_is_taken(dir));
    assert_int_equal(status_endpoint_open(&second, dir, &problem), OK);
    status_endpoint_close(&second);
}

static void the_socket_of_the_dead_is_replaced(void **state)
{
    (void)state;
    struct problem problem;
    int dead;
    open_here();
    assert_int_equal(status_endpoint_socket(&endpoint, &dead, &problem), OK);
    assert_int_equal(close(dead), 0);
    answer_here();
    ask_for(SMALL);
}

static void assert_no_answer(enum error expected, const char *sentence)
{
    json_t *page;
    struct problem problem;
    assert_int_equal(status_ask(dir, 50, &page, &problem), expected);
    if (!strstr(problem.text, sentence))
        fail_msg("%s", problem.text);
}

static void no_answer_is_explained(void **state)
{
    (void)state;
    struct problem problem;
    int made;
    assert_no_answer(MISSING, "no node runs with the state_dir");
    open_here();
    assert_no_answer(FAILED, "it is starting or ending");
    assert_int_equal(status_endpoint_socket(&endpoint, &made, &problem), OK);
    assert_no_answer(FAILED, "it is starting or ending");
    transport_serve_local(transport, made);
    /* the transport does not run, so no answer comes */
    assert_no_answer(FAILED, "has not answered within 0.05 s");
    status_endpoint_shut(&endpoint);
    assert_no_answer(FAILED, "it is starting or ending");
    status_endpoint_close(&endpoint);
    assert_no_answer(MISSING, "no node runs with the state_dir");
}

static void rejects_an_answer_that_is_no_page(void **state)
{
    (void)state;
    open_here();
    answer_here();
    for (size_t bytes = 0; bytes < 2; bytes++) { /* an empty answer, and the answer "x" */
        struct question question = {0};
        answer_bytes = bytes;
        ask_once(&question);
        assert_int_equal(question.error, bytes ? MALFORMED : FAILED);
        assert_non_null(strstr(question.problem.text,
                               bytes ? "not the status of a node" : "ended instead of answering"));
    }
}

static void a_long_path_has_a_door_too(void **state)
{
    (void)state;
    char above[CONFIG_PATH_BYTES], name[201];
    memset(name, 'd', 200);
    name[200] = 0;
    (void)strcpy(above, dir);
    (void)strcat(strcat(dir, "/"), name);
    assert_int_equal(mkdir(dir, 0700), 0);
    open_here();
    answer_here();
    ask_for(SMALL);
    status_endpoint_close(&endpoint);
    remove_file("lock");
    assert_int_equal(rmdir(dir), 0);
    (void)strcpy(dir, above);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, start, stop)
    const struct CMUnitTest tests[] = {
        TEST(a_request_is_answered),
        TEST(a_long_answer_comes_whole),
        TEST(others_wait_for_those_who_do_not_read_and_are_answered),
        TEST(an_end_while_somebody_is_answered_leaves_nothing_behind),
        TEST(the_socket_is_for_its_owner_alone),
        TEST(a_folder_has_one_node),
        TEST(the_socket_of_the_dead_is_replaced),
        TEST(no_answer_is_explained),
        TEST(rejects_an_answer_that_is_no_page),
        TEST(a_long_path_has_a_door_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
