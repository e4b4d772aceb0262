/* The status page as text for people. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <math.h>

#include "commands/status/status.h"

static const char WHOLE[] =
    "{'stage':'running','healthy':true,'peers_configured':2,'alone_s':null,'alone_reason':null,"
    "'program':'0.1.0','id':'6da36a1401c8791d379c54231ea4cd57aa7d867df37ab748cef6462e39d684c4',"
    "'swarm':'home','address':'0.0.0.0:7770','incarnation':1795249231131,'uptime_s':7984.25,"
    "'trains':true,'parameters':215370,'checkpoint_age_s':null,'rss_bytes':140000000,"
    "'digest':'ed6f8d11bc06fd07','rumors_known':5120,'rumors_published':1280,"
    "'rumors_received':3840,'duplicates':12,'waiting':3,'lag_s':1.5,'steps':40000,"
    "'samples':1234567,'samples_per_second':812,'share':0.25,'interval_s':0.516,'gain':1.4142,"
    "'beta':0.2121,'withheld':0.75,'budget_bytes_per_s':50000,'sent_bytes':12345678,"
    "'received_bytes':999,'log_bytes':12400000,'neighbours':1,'members_live':1,'sent_bytes_per_s':"
    "4500,"
    "'received_bytes_per_s':0,'loss':0.3125,'members':["
    "{'id':'6da36a1401c8791d379c54231ea4cd57aa7d867df37ab748cef6462e39d684c4',"
    "'address':'[2001:db8:ffff:ffff:ffff:ffff:ffff:ffff]:65535','trains':true,'samples':77664480,"
    "'samples_per_second':472345.5,'uplink_bytes_per_s':1250000,'ingress_bytes_per_s':67000.5,"
    "'age_s':0.742,'lag_s':null,'state':'live','is_self':true},"
    "{'id':'dfeb65062101dcd0d00bbb6f01c2ca0053426d94a280fe9ebd9abf3df5271cbe','address':null,"
    "'trains':false,'samples':12,'samples_per_second':null,'uplink_bytes_per_s':null,"
    "'ingress_bytes_per_s':null,'age_s':7384,'lag_s':2.5,'state':'dead','is_self':false}],"
    "'links':[{'id':'dfeb65062101dcd0d00bbb6f01c2ca0053426d94a280fe9ebd9abf3df5271cbe',"
    "'address':'192.0.2.7:50774','open':true,'dialled':false,'listens':true,'open_s':91.5,"
    "'rtt_s':0.0123,'queued_bytes':123456,'rate_bytes_per_s':1250000,'is_measured':true,"
    "'rate_age_s':1.5,'backlog_s':0.0031,'sent_bytes':408123,'received_bytes':403999,"
    "'sent_bytes_per_s':4370,'received_bytes_per_s':1234567},"
    "{'id':null,'address':'198.51.100.1:7770','open':false,'dialled':true,'listens':false,"
    "'open_s':null,'rtt_s':null,'queued_bytes':0,'rate_bytes_per_s':null,'is_measured':false,"
    "'rate_age_s':null,'backlog_s':null,'sent_bytes':0,'received_bytes':0,"
    "'sent_bytes_per_s':null,'received_bytes_per_s':null}]}";

/* Parses JSON in which ' replaces ". The caller frees it. */
static json_t *json_of(const char *text)
{
    char bytes[8192];
    assert_true(strlen(text) < sizeof bytes);
    (void)strcpy(bytes, text);
    for (char *at = bytes; (at = strchr(at, '\''));)
        *at = '"';
    json_t *page = json_loads(bytes, 0, NULL);
    assert_non_null(page);
    return page;
}

static void set(json_t *object, const char *key, json_t *value)
{
    assert_non_null(json_object_get(object, key));
    assert_int_equal(json_object_set_new(object, key, value), 0);
}

static json_t *link_of(const json_t *page)
{
    return json_array_get(json_object_get(page, "links"), 0);
}

static char *text_of(void (*print)(FILE *out, const json_t *page), const json_t *page)
{
    char *text = NULL;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);
    print(out, page);
    assert_int_equal(fclose(out), 0);
    return text;
}

static void assert_text(void (*print)(FILE *out, const json_t *page), const json_t *page,
                        const char *expected)
{
    char *text = text_of(print, page);
    assert_string_equal(text, expected);
    free(text);
}

static void assert_says(void (*print)(FILE *out, const json_t *page), const json_t *page,
                        const char *expected)
{
    char *text = text_of(print, page);
    if (!strstr(text, expected))
        fail_msg("not in it: %s\n%s", expected, text);
    free(text);
}

static void a_page_of_another_version_is_shown_as_far_as_it_goes(void **state)
{
    (void)state;
    json_t *page = json_of("{'stage':'running','new':[1],'loss':'high','trains':true,'samples':5,"
                           "'members':[7,{}],'links':[{}]}");
    assert_says(status_print_node, page, "node  in swarm \"\", up -: running\n");
    assert_says(status_print_node, page, "  training   5 samples, - samples/s, loss -, share -\n");
    assert_says(status_print_links, page,
                "-        -                        not       -          -         -         -\n");
    assert_says(
        status_print_members, page,
        "-        only dials               -              -          -        -        -\n");
    json_decref(page);
}

static void shows_expelled_members_with_the_reason(void **state)
{
    (void)state;
    json_t *page = json_of(
        "{'stage':'running','operator':{'orders':[{'number':1,'id':'dfeb65062101dcd0','reason':"
        "'sixty-four characters at most, of which some are not shown here.'}],'origins':[]}}");
    assert_says(
        status_print_node, page,
        "  expelled   dfeb6506: sixty-four characters at most, of which some are not sh..\n");
    json_decref(page);
}

static void shows_equivocating_members_and_whether_their_rumors_stay(void **state)
{
    (void)state;
    json_t *page =
        json_of("{'stage':'running','proofs':[{'id':'dfeb65062101dcd0','is_suspended':false},"
                "{'id':'0123456789abcdef','is_suspended':true}]}");
    assert_says(status_print_node, page,
                "  expelled   dfeb6506: signed two rumors under one number\n");
    assert_says(status_print_node, page,
                "  expelled   01234567: signed two rumors under one number, too old to retract\n");
    json_decref(page);
}

static void lines_about_harm_and_saturation_are_folded(void **state)
{
    (void)state;
    json_t *page =
        json_of("{'stage':'running','saturated':1234567,'saturated_tensor':"
                "'transformer.layers.11.attention.projection.weight.of.a.long.name','harms':["
                "{'id':'dfeb65062101dcd0','harms':true,'agreement':-0.47,'typical_agreement':0.31,"
                "'length':1.4,'votes':3,'votes_needed':17,'suspended':true},"
                "{'id':'0123456789abcdef','votes':1,'votes_needed':3}]}");
    assert_says(
        status_print_node, page,
        "  harms      dfeb6506: agreement -0.47 (typical 0.31), publications 1.4 times\n"
        "             the median length; 3 of 17 votes; suspended: its rumors are too\n"
        "             long\n"
        "  harms      01234567: no harm seen here, but other members voted; 1 of 3 votes\n");
    assert_says(status_print_node, page,
                "  saturated  1234567 weights, first in\n"
                "             transformer.layers.11.attention.projection.weight.of.a.long.n..:\n"
                "             the rest of each is withheld\n");
    json_decref(page);
}

static void a_node_is_described_in_few_lines(void **state)
{
    (void)state;
    json_t *page = json_of(WHOLE);
    assert_text(status_print_node, page,
                "node 6da36a14 in swarm \"home\", up 2h13m: running\n"
                "  address    listens on 0.0.0.0:7770\n"
                "  training   1,234,567 samples, 812 samples/s, loss 0.3125, share 0.2500\n"
                "  exchange   publishes every 516 ms, gain 1.4142, beta 0.2121, withheld 0.7500\n"
                "  model      215,370 parameters, digest ed6f8d11bc06fd07\n"
                "  rumors     5,120 known, 3 waiting, lag 1.5 s\n"
                "             1,280 published, 3,840 received, 12 duplicates\n"
                "  sent       12.3 MB in total, now 4.50 kB/s; publish budget 50.0 kB/s\n"
                "  received   999 B in total, now 0 B/s\n"
                "  memory     140 MB, rumor log 12.4 MB; checkpoint none\n");
    set(page, "address", json_null());
    set(page, "trains", json_false());
    set(page, "lag_s", json_real(0));
    set(page, "checkpoint_age_s", json_real(61));
    assert_says(status_print_node, page, "  address    only dials\n");
    assert_says(status_print_node, page,
                "  training   off after 1,234,567 samples: this node relays only\n");
    set(page, "samples", json_integer(0));
    assert_says(status_print_node, page, "  training   off: this node relays only\n");
    assert_says(status_print_node, page, "3 waiting, no lag\n");
    assert_says(status_print_node, page, "checkpoint 1m01s old\n");
    json_decref(page);
}

static void the_gpu_has_a_line_with_its_memory_and_its_part_of_the_peak(void **state)
{
    (void)state;
    json_t *page = json_of("{'stage':'running','device':{'is_hung':false,'memory_free_bytes':"
                           "61200000000,'memory_bytes':85000000000,'model_flops_per_s':"
                           "2.97e14,'peak_part':0.3003}}");
    json_t *device = json_object_get(page, "device");
    assert_says(status_print_node, page,
                "\n  GPU        61.2 GB of 85.0 GB free; model 297 TFLOP/s, 30 % of the peak\n");
    set(device, "peak_part", json_null());
    assert_says(status_print_node, page, " free; model 297 TFLOP/s\n");
    set(device, "model_flops_per_s", json_null());
    assert_says(status_print_node, page, "  GPU        61.2 GB of 85.0 GB free\n");
    set(device, "model_flops_per_s", json_real(1));
    set(device, "peak_part", json_real(1));
    set(device, "is_hung", json_true());
    assert_says(status_print_node, page, " free; it does not answer\n");
    set(device, "memory_bytes", json_null());
    char *text = text_of(status_print_node, page);
    assert_null(strstr(text, "GPU"));
    free(text);
    json_decref(page);
}

static void a_node_that_is_alone_says_so_first_and_why(void **state)
{
    (void)state;
    json_t *page = json_of(WHOLE);
    set(page, "alone_s", json_real(34.5));
    set(page, "alone_reason",
        json_string("192.0.2.7:7770 cannot become a neighbour: other model: theirs has 12,730 "
                    "parameters, ours 15,910 (try 4)"));
    assert_says(status_print_node, page,
                ": running\n"
                "  alone:     no neighbour for 34.5 s:\n"
                "             192.0.2.7:7770 cannot become a neighbour: other model: theirs has\n"
                "             12,730 parameters, ours 15,910 (try 4)\n"
                "  address ");
    json_decref(page);
}

static void links_and_members_are_tables(void **state)
{
    (void)state;
    json_t *page = json_of(WHOLE);
    assert_text(status_print_links, page,
                "LINK TO  ADDRESS                 OPEN     RTT   CAPACITY      SENT  RECEIVED\n"
                "dfeb6506 192.0.2.7:50774        1m31s   12 ms  1.25 MB/s 4.37 kB/s 1.23 MB/s\n"
                "-        198.51.100.1:7770        not       -          -         -         -\n");
    assert_text(
        status_print_members, page,
        "MEMBER   ADDRESS                  STATE    SAMPLES  SAMPLES/S     SEEN      LAG\n"
        "6da36a14 [2001:db8:ffff:ffff:ff.. this      77.7 M    472 k/s   742 ms        -\n"
        "dfeb6506 only dials               dead          12          -    2h03m    2.5 s\n");
    json_decref(page);
}

static void an_untested_rate_is_shown_as_a_lower_bound(void **state)
{
    (void)state;
    json_t *page = json_of(WHOLE);
    set(link_of(page), "is_measured", json_false());
    assert_says(status_print_links, page, " >1.25 MB/s ");
    json_decref(page);
}

static void marks_a_rate_that_was_tested_long_ago(void **state)
{
    (void)state;
    json_t *page = json_of(WHOLE);
    set(link_of(page), "rate_age_s", json_real(61));
    assert_says(status_print_links, page, " ~1.25 MB/s ");
    set(link_of(page), "is_measured", json_false());
    assert_says(status_print_links, page, " ~1.25 MB/s ");
    json_decref(page);
}

static void an_empty_table_says_so(void **state)
{
    (void)state;
    json_t *page = json_of(WHOLE);
    set(page, "links", json_array());
    assert_text(status_print_links, page, "no connection to any other node\n");
    json_decref(page);
}

static void no_line_is_longer_than_a_terminal(void **state)
{
    (void)state;
    static const char *const NUMBERS[] = {
        "samples",    "rumors_known", "rumors_published", "rumors_received", "duplicates",
        "parameters", "sent_bytes",   "waiting",          "log_bytes",       "rss_bytes"};
    char wide[400];
    json_t *page = json_of(WHOLE);
    json_t *link = link_of(page);
    memset(wide, 'W', sizeof wide - 1);
    wide[sizeof wide - 1] = '\0';
    set(page, "swarm", json_string(wide));
    set(page, "address", json_string(wide));
    set(page, "alone_reason", json_string(wide));
    for (size_t i = 0; i < sizeof NUMBERS / sizeof NUMBERS[0]; i++)
        set(page, NUMBERS[i], json_integer(999999999999));
    set(page, "samples_per_second", json_real(999499999));
    set(page, "sent_bytes_per_s", json_real(999499999));
    set(page, "uptime_s", json_real(86400.0 * 999 - 1));
    set(link, "address", json_string(wide));
    set(link, "open_s", json_real(86400.0 * 99));
    set(link, "rate_bytes_per_s", json_real(999499));
    set(link, "is_measured", json_false());
    void (*const parts[])(FILE * out, const json_t *page) = {status_print_node, status_print_links,
                                                             status_print_members};
    for (int i = 0; i < 3; i++) {
        char *text = text_of(parts[i], page);
        for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
            if (strlen(line) > STATUS_COLUMNS)
                fail_msg("%zu columns: %s", strlen(line), line);
        free(text);
    }
    json_decref(page);
}

static void strips_terminal_control_characters(void **state)
{
    (void)state;
    json_t *page = json_of(WHOLE);
    set(page, "swarm", json_string("\033[2J\n\x7f\xc3\xbc"));
    set(page, "stage", json_string("run\033ning"));
    set(page, "alone_reason", json_string("a\033[2Jb"));
    char *text = text_of(status_print_node, page);
    assert_non_null(strstr(text, "\"?[2J????\", up 2h13m: run?ning\n"));
    assert_null(strchr(text, '\033'));
    free(text);
    json_decref(page);
}

static void members_are_shown_by_what_they_gave(void **state)
{
    (void)state;
    json_t *page = json_of(
        "{'members':[{'id':'6da36a1401c8791d379c54231ea4cd57aa7d867df37ab748cef6462e39d684c4',"
        "'name':'ward 3, the old machine','state':'live','is_self':true,'admitted_by':'list',"
        "'known_s':7384,'age_s':0.7,'base_rumors':1210,'base_samples':77664480,"
        "'rumor_bytes':12345678,'base_share':0.254},"
        "{'id':'dfeb65062101dcd0d00bbb6f01c2ca0053426d94a280fe9ebd9abf3df5271cbe','name':null,"
        "'state':'dead','is_self':false,'admitted_by':'order 256','known_s':90}]}");
    char *text = NULL;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);
    assert_non_null(out);
    status_print_contributions(out, page);
    assert_int_equal(fclose(out), 0);
    assert_string_equal(
        text, "NAME         MEMBER   STATE BY           MET   SEEN RUMORS SAMPLES   BYTES SHARE\n"
              "ward 3, th.. 6da36a14 this  list       2h03m 700 ms 1.21 k  77.7 M 12.3 MB  25 %\n"
              "-            dfeb6506 dead  order 256  1m30s      -      -       -       -     -\n");
    free(text);
    json_decref(page);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(members_are_shown_by_what_they_gave),
        cmocka_unit_test(a_page_of_another_version_is_shown_as_far_as_it_goes),
        cmocka_unit_test(the_gpu_has_a_line_with_its_memory_and_its_part_of_the_peak),
        cmocka_unit_test(shows_expelled_members_with_the_reason),
        cmocka_unit_test(shows_equivocating_members_and_whether_their_rumors_stay),
        cmocka_unit_test(lines_about_harm_and_saturation_are_folded),
        cmocka_unit_test(a_node_is_described_in_few_lines),
        cmocka_unit_test(a_node_that_is_alone_says_so_first_and_why),
        cmocka_unit_test(links_and_members_are_tables),
        cmocka_unit_test(an_untested_rate_is_shown_as_a_lower_bound),
        cmocka_unit_test(marks_a_rate_that_was_tested_long_ago),
        cmocka_unit_test(an_empty_table_says_so),
        cmocka_unit_test(no_line_is_longer_than_a_terminal),
        cmocka_unit_test(strips_terminal_control_characters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
