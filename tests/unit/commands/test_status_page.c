/* The page of a node: JSON and back, and for people; and the rates on it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <math.h>

#include "commands/status/status_text.h"
#include "daemon/status_watch.h"

#define SECOND_NS 1000000000ull

static struct status_member members[] = {
    {.id = "6da36a1401c8791d379c54231ea4cd57aa7d867df37ab748cef6462e39d684c4",
     .address = "[2001:db8:ffff:ffff:ffff:ffff:ffff:ffff]:65535",
     .state = "live",
     .is_self = true,
     .trains = true,
     .samples = 77664480,
     .samples_per_second = 472345.5,
     .uplink_bytes_per_s = 1250000,
     .ingress_bytes_per_s = 67000.5,
     .age_s = 0.742,
     .lag_s = NAN},
    {.id = "dfeb65062101dcd0d00bbb6f01c2ca0053426d94a280fe9ebd9abf3df5271cbe",
     .state = "dead",
     .samples = 12,
     .samples_per_second = NAN,
     .uplink_bytes_per_s = NAN,
     .ingress_bytes_per_s = NAN,
     .age_s = 7384,
     .lag_s = 2.5},
};

static struct status_link links[] = {
    {.id = "dfeb65062101dcd0d00bbb6f01c2ca0053426d94a280fe9ebd9abf3df5271cbe",
     .address = "192.0.2.7:50774",
     .open = true,
     .listens = true,
     .open_s = 91.5,
     .rtt_s = 0.0123,
     .queued_bytes = 123456,
     .rate_bytes_per_s = 1250000,
     .is_measured = true,
     .rate_age_s = 1.5,
     .backlog_s = 0.0031,
     .sent_bytes = 408123,
     .received_bytes = 403999,
     .sent_bytes_per_s = 4370,
     .received_bytes_per_s = 1234567},
    {.address = "198.51.100.1:7770",
     .dialled = true,
     .open_s = NAN,
     .rtt_s = NAN,
     .rate_bytes_per_s = NAN,
     .rate_age_s = NAN,
     .backlog_s = NAN,
     .sent_bytes_per_s = NAN,
     .received_bytes_per_s = NAN},
};

static struct status_page whole_page(void)
{
    return (struct status_page){
        .program = "0.1.0",
        .id = "6da36a1401c8791d379c54231ea4cd57aa7d867df37ab748cef6462e39d684c4",
        .swarm = "home",
        .address = "0.0.0.0:7770",
        .incarnation = 1795249231131,
        .uptime_s = 7984.25,
        .stage = "running",
        .healthy = true,
        .trains = true,
        .parameters = 215370,
        .digest = "ed6f8d11bc06fd07",
        .rumors_known = 5120,
        .rumors_published = 1280,
        .rumors_received = 3840,
        .duplicates = 12,
        .waiting = 3,
        .lag_s = 1.5,
        .steps = 40000,
        .samples = 1234567,
        .samples_per_second = 812,
        .loss = 0.3125,
        .share = 0.25,
        .interval_s = 0.516,
        .gain = 1.4142,
        .beta = 0.2121,
        .budget_bytes_per_s = 50000,
        .sent_bytes = 12345678,
        .received_bytes = 999,
        .sent_bytes_per_s = 4500,
        .received_bytes_per_s = 0,
        .log_bytes = 12400000,
        .rss_bytes = 140000000,
        .checkpoint_age_s = NAN,
        .neighbours = 1,
        .members_live = 1,
        .members = members,
        .members_count = 2,
        .links = links,
        .links_count = 2,
    };
}

/* JSON. */

static void assert_same_real(double a, double b)
{
    assert_true(isnan(a) ? isnan(b) : fabs(a - b) <= 1e-8 * fabs(a));
}

static void assert_same_links(const struct status_link *a, const struct status_link *b)
{
    assert_string_equal(a->id, b->id);
    assert_string_equal(a->address, b->address);
    assert_int_equal(a->open, b->open);
    assert_int_equal(a->dialled, b->dialled);
    assert_int_equal(a->listens, b->listens);
    assert_same_real(a->open_s, b->open_s);
    assert_same_real(a->rtt_s, b->rtt_s);
    assert_int_equal(a->queued_bytes, b->queued_bytes);
    assert_same_real(a->rate_bytes_per_s, b->rate_bytes_per_s);
    assert_int_equal(a->is_measured, b->is_measured);
    assert_same_real(a->rate_age_s, b->rate_age_s);
    assert_same_real(a->backlog_s, b->backlog_s);
    assert_int_equal(a->sent_bytes, b->sent_bytes);
    assert_int_equal(a->received_bytes, b->received_bytes);
    assert_same_real(a->sent_bytes_per_s, b->sent_bytes_per_s);
    assert_same_real(a->received_bytes_per_s, b->received_bytes_per_s);
}

static void assert_same_members(const struct status_member *a, const struct status_member *b)
{
    assert_string_equal(a->id, b->id);
    assert_string_equal(a->address, b->address);
    assert_string_equal(a->state, b->state);
    assert_int_equal(a->is_self, b->is_self);
    assert_int_equal(a->trains, b->trains);
    assert_int_equal(a->samples, b->samples);
    assert_same_real(a->samples_per_second, b->samples_per_second);
    assert_same_real(a->uplink_bytes_per_s, b->uplink_bytes_per_s);
    assert_same_real(a->ingress_bytes_per_s, b->ingress_bytes_per_s);
    assert_same_real(a->age_s, b->age_s);
    assert_same_real(a->lag_s, b->lag_s);
}

/* Between the lists and what is a number each byte counts: compared as a whole, reals apart. */
static void assert_same_head(struct status_page a, struct status_page b)
{
    double *const reals_a[] = {&a.uptime_s,
                               &a.lag_s,
                               &a.samples_per_second,
                               &a.loss,
                               &a.share,
                               &a.interval_s,
                               &a.gain,
                               &a.beta,
                               &a.sent_bytes_per_s,
                               &a.received_bytes_per_s,
                               &a.checkpoint_age_s};
    double *const reals_b[] = {&b.uptime_s,
                               &b.lag_s,
                               &b.samples_per_second,
                               &b.loss,
                               &b.share,
                               &b.interval_s,
                               &b.gain,
                               &b.beta,
                               &b.sent_bytes_per_s,
                               &b.received_bytes_per_s,
                               &b.checkpoint_age_s};
    for (size_t i = 0; i < sizeof reals_a / sizeof reals_a[0]; i++)
        assert_same_real(*reals_a[i], *reals_b[i]);
    assert_string_equal(a.program, b.program);
    assert_string_equal(a.id, b.id);
    assert_string_equal(a.swarm, b.swarm);
    assert_string_equal(a.address, b.address);
    assert_string_equal(a.stage, b.stage);
    assert_string_equal(a.digest, b.digest);
    assert_int_equal(a.healthy, b.healthy);
    assert_int_equal(a.trains, b.trains);
    const uint64_t wholes_a[] = {
        a.incarnation,  a.parameters,     a.rumors_known, a.rumors_published, a.rumors_received,
        a.duplicates,   a.waiting,        a.steps,        a.samples,          a.budget_bytes_per_s,
        a.sent_bytes,   a.received_bytes, a.log_bytes,    a.rss_bytes,        a.neighbours,
        a.members_live, a.members_count,  a.links_count};
    const uint64_t wholes_b[] = {
        b.incarnation,  b.parameters,     b.rumors_known, b.rumors_published, b.rumors_received,
        b.duplicates,   b.waiting,        b.steps,        b.samples,          b.budget_bytes_per_s,
        b.sent_bytes,   b.received_bytes, b.log_bytes,    b.rss_bytes,        b.neighbours,
        b.members_live, b.members_count,  b.links_count};
    assert_memory_equal(wholes_a, wholes_b, sizeof wholes_a);
}

static struct status_page decoded(const char *bytes, size_t count)
{
    struct status_page page;
    struct problem problem;
    if (status_page_decode(&page, bytes, count, &problem) != OK)
        fail_msg("%s", problem.text);
    return page;
}

static void what_is_encoded_is_decoded_equal(void **state)
{
    (void)state;
    const struct status_page page = whole_page();
    size_t count;
    char *bytes = status_page_encode(&page, &count);
    struct status_page again = decoded(bytes, count);
    assert_same_head(page, again);
    for (size_t i = 0; i < page.members_count; i++)
        assert_same_members(&page.members[i], &again.members[i]);
    for (size_t i = 0; i < page.links_count; i++)
        assert_same_links(&page.links[i], &again.links[i]);
    status_page_free(&again);
    free(bytes);
}

static void what_is_not_known_is_null_in_json(void **state)
{
    (void)state;
    const struct status_page page = whole_page();
    size_t count;
    char *bytes = status_page_encode(&page, &count);
    assert_int_equal(count, strlen(bytes));
    assert_non_null(strstr(bytes, "\"checkpoint_age_s\":null"));
    assert_non_null(strstr(bytes, "\"id\":null,\"address\":\"198.51.100.1:7770\",\"open\":false"));
    assert_non_null(strstr(bytes, "\"lag_s\":1.5,"));
    assert_non_null(strstr(bytes, "\"incarnation\":1795249231131,"));
    assert_null(strstr(bytes, "nan"));
    assert_null(strchr(bytes, '\n')); /* one line, for whoever reads by lines */
    free(bytes);
}

static void a_page_of_another_version_is_read_as_far_as_it_goes(void **state)
{
    (void)state;
    static const char bytes[] =
        "{\"stage\":\"running\",\"new\":[1],\"loss\":\"high\",\"samples\":5,\"members\":[7,{}]}";
    struct status_page page = decoded(bytes, strlen(bytes));
    assert_string_equal(page.stage, "running");
    assert_int_equal(page.samples, 5);
    assert_true(isnan(page.loss));
    assert_string_equal(page.id, "");
    assert_int_equal(page.members_count, 2);
    assert_int_equal(page.links_count, 0);
    status_page_free(&page);
}

static void what_is_no_page_is_refused(void **state)
{
    (void)state;
    static const char *const TEXTS[] = {
        "", "{", "[]", "{}", "{\"stage\":3}", "hello\n", "{\"stage\":\"running\"} and more"};
    for (size_t i = 0; i < sizeof TEXTS / sizeof TEXTS[0]; i++) {
        struct status_page page;
        struct problem problem;
        assert_int_equal(status_page_decode(&page, TEXTS[i], strlen(TEXTS[i]), &problem),
                         MALFORMED);
        assert_non_null(strstr(problem.text, "not the status of a node"));
    }
}

static void a_name_that_is_no_text_is_not_known(void **state)
{
    (void)state;
    struct status_page page = whole_page();
    size_t count;
    (void)strcpy(page.swarm, "\xff\xfe");
    char *bytes = status_page_encode(&page, &count);
    assert_non_null(strstr(bytes, "\"swarm\":null"));
    free(bytes);
}

/* Text. */

static char *text_of(void (*print)(FILE *out, const struct status_page *page),
                     const struct status_page *page)
{
    char *text = NULL;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);
    print(out, page);
    assert_int_equal(fclose(out), 0);
    return text;
}

static void assert_text(void (*print)(FILE *out, const struct status_page *page),
                        const struct status_page *page, const char *expected)
{
    char *text = text_of(print, page);
    assert_string_equal(text, expected);
    free(text);
}

static void a_node_is_described_in_few_lines(void **state)
{
    (void)state;
    struct status_page page = whole_page();
    assert_text(status_text_node, &page,
                "node 6da36a14 in swarm \"home\", up 2h13m: running\n"
                "  address    listens on 0.0.0.0:7770\n"
                "  training   1,234,567 samples, 812 samples/s, loss 0.3125, share 0.2500\n"
                "  tempo      tells every 516 ms, gain 1.4142, beta 0.2121\n"
                "  model      215,370 parameters, digest ed6f8d11bc06fd07\n"
                "  rumors     5,120 known, 3 waiting, lags by 1.5 s\n"
                "             1,280 told, 3,840 heard, 12 duplicates\n"
                "  sent       12.3 MB in all, now 4.50 kB/s; budget 50.0 kB/s before copies\n"
                "  received   999 B in all, now 0 B/s\n"
                "  memory     140 MB, the log of rumors 12.4 MB; checkpoint: none\n");
    page.address[0] = 0;
    page.trains = false;
    page.lag_s = 0;
    page.checkpoint_age_s = 61;
    char *text = text_of(status_text_node, &page);
    assert_non_null(strstr(text, "does not listen, only dials\n"));
    assert_non_null(strstr(text, "none: it only passes on\n"));
    assert_non_null(strstr(text, "lags behind nobody\n"));
    assert_non_null(strstr(text, "checkpoint: 1m01s ago\n"));
    free(text);
}

static void links_and_members_are_tables(void **state)
{
    (void)state;
    const struct status_page page = whole_page();
    assert_text(status_text_links, &page,
                "LINK TO  ADDRESS                 OPEN    TRIP    CARRIES      SENT  RECEIVED\n"
                "dfeb6506 192.0.2.7:50774        1m31s   12 ms  1.25 MB/s 4.37 kB/s 1.23 MB/s\n"
                "-        198.51.100.1:7770        not       -          -         -         -\n");
    assert_text(
        status_text_members, &page,
        "MEMBER    ADDRESS                   IS     SAMPLES     TRAINS    HEARD      LAG\n"
        "6da36a14  [2001:db8:ffff:ffff:ff..  this    77.7 M    472 k/s   742 ms        -\n"
        "dfeb6506  only dials                dead        12          -    2h03m    2.5 s\n");
}

static void what_was_never_too_much_for_a_link_is_the_least_it_carries(void **state)
{
    (void)state;
    const struct status_page page = whole_page();
    links[0].is_measured = false;
    char *text = text_of(status_text_links, &page);
    links[0].is_measured = true;
    assert_non_null(strstr(text, " >1.25 MB/s "));
    free(text);
}

static void what_a_link_carried_long_ago_is_marked(void **state)
{
    (void)state;
    const struct status_page page = whole_page();
    const struct status_link link = links[0];
    links[0].rate_age_s = 61;
    char *text = text_of(status_text_links, &page);
    assert_non_null(strstr(text, " ~1.25 MB/s "));
    free(text);
    links[0].is_measured = false;
    text = text_of(status_text_links, &page);
    assert_non_null(strstr(text, " ~1.25 MB/s "));
    free(text);
    links[0] = link;
}

static void an_empty_table_says_so(void **state)
{
    (void)state;
    struct status_page page = whole_page();
    page.links_count = 0;
    assert_text(status_text_links, &page, "no connection to any other node\n");
}

static void no_line_is_longer_than_a_terminal(void **state)
{
    (void)state;
    struct status_page page = whole_page();
    memset(page.swarm, 'W', sizeof page.swarm - 1);
    memset(page.address, 'a', sizeof page.address - 1);
    page.samples = page.rumors_known = page.rumors_published = page.rumors_received =
        page.duplicates = page.parameters = 999999999999;
    page.sent_bytes = page.waiting = page.log_bytes = page.rss_bytes = 999999999999;
    page.samples_per_second = page.sent_bytes_per_s = 999499999;
    page.uptime_s = 86400.0 * 999 - 1;
    const struct status_link link = links[0];
    (void)strcpy(links[0].address, members[0].address);
    links[0].open_s = 86400.0 * 99;
    links[0].rate_bytes_per_s = 999499;
    links[0].is_measured = false;
    void (*const parts[])(FILE * out, const struct status_page *page) = {
        status_text_node, status_text_links, status_text_members};
    for (int i = 0; i < 3; i++) {
        char *text = text_of(parts[i], &page);
        for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
            if (strlen(line) > STATUS_COLUMNS)
                fail_msg("%zu columns: %s", strlen(line), line);
        free(text);
    }
    links[0] = link;
}

static void what_a_terminal_would_obey_is_not_shown(void **state)
{
    (void)state;
    struct status_page page = whole_page();
    (void)strcpy(page.swarm, "\033[2J\n\x7f\xc3");
    (void)strcpy(page.stage, "run\033ning");
    char *text = text_of(status_text_node, &page);
    assert_non_null(strstr(text, "\"?[2J???\", up 2h13m: run?ning\n"));
    assert_null(strchr(text, '\033'));
    free(text);
}

static void amounts_have_three_digits_and_a_unit(void **state)
{
    (void)state;
    static const struct {
        double amount;
        const char *unit, *text;
    } CASES[] = {
        {0, "B", "0 B"},         {7, "B", "7 B"},
        {999, "B", "999 B"},     {999.6, "B", "1.00 kB"},
        {1000, "B", "1.00 kB"},  {9994, "B", "9.99 kB"},
        {9996, "B", "10.0 kB"},  {99960, "B/s", "100 kB/s"},
        {1234567, "", "1.23 M"}, {12, "", "12"},
        {0.5, "/s", "0.50 /s"},  {2e15, "B", "2.00 PB"},
        {5e18, "B", "5000 PB"},  {NAN, "B", "-"},
        {INFINITY, "B", "-"},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++)
        assert_string_equal(amount_of(CASES[i].amount, CASES[i].unit).text, CASES[i].text);
}

static void spans_are_short(void **state)
{
    (void)state;
    static const struct {
        double seconds;
        const char *text;
    } CASES[] = {
        {0, "0.00 ms"},     {0.00025, "0.25 ms"}, {0.0123, "12 ms"}, {0.9994, "999 ms"},
        {0.9996, "0.9 s"},  {1, "1.0 s"},         {59.99, "59.9 s"}, {60, "1m00s"},
        {3599.9, "59m59s"}, {3600, "1h00m"},      {86399, "23h59m"}, {86400, "1d00h"},
        {273600, "3d04h"},  {NAN, "-"},           {-1, "-"},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++)
        assert_string_equal(amount_span(CASES[i].seconds).text, CASES[i].text);
}

/* Rates. */

static void rates_are_those_of_the_last_seconds(void **state)
{
    (void)state;
    struct status_track track = {.conn = 1};
    double sent, received;
    status_track_rates(&track, SECOND_NS, 10, 20, &sent, &received);
    assert_true(isnan(sent) && isnan(received)); /* nothing to compare with yet */
    for (uint64_t second = 1; second <= 20; second++)
        status_track_see(&track, second * SECOND_NS, second * 100, second < 16 ? 0 : 5000);
    status_track_rates(&track, 21 * SECOND_NS, 2100, 5000, &sent, &received);
    assert_true(fabs(sent - 100) < 1e-9);
    assert_true(received == 0); /* what came before the oldest is forgotten */
    status_track_rates(&track, 18 * SECOND_NS, 2000, 8000, &sent, &received);
    assert_true(fabs(sent - 200) < 1e-9); /* 400 in the two seconds since second 16 */
    assert_true(fabs(received - 1500) < 1e-9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_encoded_is_decoded_equal),
        cmocka_unit_test(what_is_not_known_is_null_in_json),
        cmocka_unit_test(a_page_of_another_version_is_read_as_far_as_it_goes),
        cmocka_unit_test(what_is_no_page_is_refused),
        cmocka_unit_test(a_name_that_is_no_text_is_not_known),
        cmocka_unit_test(a_node_is_described_in_few_lines),
        cmocka_unit_test(links_and_members_are_tables),
        cmocka_unit_test(what_was_never_too_much_for_a_link_is_the_least_it_carries),
        cmocka_unit_test(what_a_link_carried_long_ago_is_marked),
        cmocka_unit_test(an_empty_table_says_so),
        cmocka_unit_test(no_line_is_longer_than_a_terminal),
        cmocka_unit_test(what_a_terminal_would_obey_is_not_shown),
        cmocka_unit_test(amounts_have_three_digits_and_a_unit),
        cmocka_unit_test(spans_are_short),
        cmocka_unit_test(rates_are_those_of_the_last_seconds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
