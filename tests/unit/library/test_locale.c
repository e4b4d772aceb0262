/* In a program whose locale has a decimal comma, the node reads and writes decimal points. The
 * program's locale is unchanged. */
#include <arpa/inet.h>
#include <ctype.h>
#include <netinet/in.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "support/base/comma_locale.h"
#include "support/library/program.h"

#define STEPS 20

static bool has_comma;
static char text[1 << 18];

static int begin(void **state)
{
    has_comma = comma_locale_set();
    return programs_begin(state);
}

static void need_comma(void)
{
    if (!has_comma)
        skip(); /* the machine has no locale with a decimal comma and cannot make one */
    assert_true(comma_locale_is_set());
}

static unsigned free_port(void)
{
    struct sockaddr_in bound = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t bytes = sizeof bound;
    const int file = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(file, (const struct sockaddr *)&bound, bytes), 0);
    assert_int_equal(getsockname(file, (struct sockaddr *)&bound, &bytes), 0);
    assert_int_equal(close(file), 0);
    return ntohs(bound.sin_port);
}

/* Requests this path from the node's HTTP server, and copies the answer to `text`. */
static void get(unsigned port, const char *path)
{
    char request[128];
    size_t count = 0;
    ssize_t got;
    const struct sockaddr_in to = {.sin_family = AF_INET,
                                   .sin_port = htons((uint16_t)port),
                                   .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    const int file = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(connect(file, (const struct sockaddr *)&to, sizeof to), 0);
    (void)snprintf(request, sizeof request,
                   "GET %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", path);
    assert_int_equal(write(file, request, strlen(request)), strlen(request));
    while ((got = read(file, text + count, sizeof text - 1 - count)) > 0)
        count += (size_t)got;
    text[count] = '\0';
    assert_int_equal(close(file), 0);
    assert_non_null(strstr(text, "200 OK"));
}

/* Checks that no comma is between two digits. The page has blanks in arrays of numbers, and metrics
 * have no commas. */
static void assert_no_decimal_comma(void)
{
    for (const char *at = strchr(text, ','); at; at = strchr(at + 1, ','))
        if (at > text && isdigit((unsigned char)at[-1]) && isdigit((unsigned char)at[1]))
            fail_msg("a comma in a number: %.40s", at - 10);
}

static void a_node_learns_and_goes_on_with_points(void **state)
{
    struct program program;
    char setting[64];
    size_t bytes = sizeof text;
    (void)state;
    need_comma();
    const unsigned port = free_port();
    (void)snprintf(setting, sizeof setting, "node.http=127.0.0.1:%u", port);
    program_init(&program, "comma", 1);
    program.setting = setting;
    program.has_copies = true;
    program_must_open(&program);
    assert_true(comma_locale_is_set());
    assert_int_equal(hearsay_join(program.node, PROGRAM_FOREVER), HEARSAY_OK);
    for (unsigned i = 0; i < STEPS; i++)
        assert_int_equal(hearsay_step(program.node, 32, program_step(&program, i), NULL),
                         HEARSAY_OK);
    assert_int_equal(hearsay_settle(program.node, PROGRAM_FOREVER), HEARSAY_OK);
    assert_int_equal(hearsay_save(program.node, "x", 1), HEARSAY_OK);
    assert_true(comma_locale_is_set());
    assert_int_equal(hearsay_status(program.node, text, &bytes), HEARSAY_OK);
    assert_non_null(strstr(text, "\"interval_s\":1.46"));
    get(port, "/metrics");
    assert_non_null(strstr(text, "hearsay_"));
    assert_no_decimal_comma();
    assert_int_equal(hearsay_close(program.node, PROGRAM_FOREVER), HEARSAY_OK);
    assert_true(comma_locale_is_set());
    assert_int_equal(hearsay_free(program.node), HEARSAY_OK);
    assert_true(comma_locale_is_set());
    program_init(&program, "comma", 1);
    program_must_open(&program);
    assert_int_equal(hearsay_join(program.node, PROGRAM_FOREVER), HEARSAY_OK);
    /* the node continues from its checkpoint */
    assert_true(program_info(&program).swarm_samples > 0);
    assert_int_equal(hearsay_free(program.node), HEARSAY_OK);
}

static void a_refused_call_keeps_the_comma(void **state)
{
    struct program program;
    struct hearsay *node;
    (void)state;
    need_comma();
    assert_int_equal(hearsay_open(NULL, &node), HEARSAY_ARGUMENT);
    assert_true(comma_locale_is_set());
    assert_int_equal(hearsay_join(node, 0), HEARSAY_CLOSED);
    assert_true(comma_locale_is_set());
    assert_int_equal(hearsay_free(node), HEARSAY_OK);
    program_init(&program, "refused", 2);
    program.setting =
        "exchange.interval_s=0,5"; /* refused: settings have a decimal point in every locale */
    assert_int_equal(program_open(&program), HEARSAY_CONFIG);
    assert_non_null(strstr(program_sentence(&program, HEARSAY_CONFIG), "0,5"));
    assert_int_equal(hearsay_free(program.node), HEARSAY_OK);
    assert_true(comma_locale_is_set());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_node_learns_and_goes_on_with_points),
        cmocka_unit_test(a_refused_call_keeps_the_comma),
    };
    return cmocka_run_group_tests(tests, begin, programs_end);
}
