/* The status page as Prometheus metrics. promtool checks the format
 * (tests/process/test_metrics.sh). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <jansson.h>
#include <stdio.h>

#include "web/metrics.h"

static const char PAGE[] =
    "{'program':'0.1.0','id':'00112233445566','healthy':true,'steps':42,'loss':null,"
    "'digest':'abcd0123456789ef','last_step_age_s':2.5,'alone_s':null,"
    "'evaluation':{'accuracy':0.875,'loss':0.5},'spent':{'steps_s':1.5,'exchange_s':0.25},"
    "'step_seconds':[{'up_to_s':0.001,'steps':3},{'up_to_s':0.01,'steps':40},"
    "{'up_to_s':null,'steps':42}],"
    "'members':[{'id':'00112233445566','state':'live','base_share':0.75,'lag_s':0,'samples':7},"
    "{'id':'8899aabbccddee','state':'dead','base_share':0.25,'lag_s':null,'samples':9},"
    "{'id':'8899aabb000000','state':'dead','base_share':0.125,'lag_s':0,'samples':5}],"
    "'links':[{'id':'8899aabbccddee','rtt_s':0.04,'sent_bytes':1},"
    "{'id':null,'rtt_s':0.05,'sent_bytes':2},"
    "{'id':'8899aabbccddee','rtt_s':0.06,'sent_bytes':3}]}";

static char *text;

static int begin(void **state)
{
    char page[sizeof PAGE];
    size_t count;
    (void)state;
    for (size_t i = 0; i < sizeof PAGE; i++)
        page[i] = (char)(PAGE[i] == '\'' ? '"' : PAGE[i]);
    json_t *object = json_loads(page, 0, NULL);
    assert_non_null(object);
    text = metrics_text(object, 1000, &count);
    assert_int_equal(count, strlen(text));
    json_decref(object);
    return 0;
}

static int end(void **state)
{
    (void)state;
    free(text);
    return 0;
}

static void assert_line(const char *line)
{
    char whole[256];
    (void)snprintf(whole, sizeof whole, "\n%s\n", line);
    if (!strstr(text, whole))
        fail_msg("there is no line %s in:\n%s", line, text);
}

static void numbers_have_their_help_and_type(void **state)
{
    (void)state;
    assert_line("# HELP hearsay_steps_total Local steps of this node.");
    assert_line("# TYPE hearsay_steps_total counter");
    assert_line("hearsay_steps_total 42");
    assert_line("hearsay_ready 1");
    assert_line("hearsay_evaluation_accuracy 0.875");
    assert_line("hearsay_exchange_time_seconds_total 0.25");
    assert_line("hearsay_build_info{version=\"0.1.0\",node=\"00112233\"} 1");
}

static void leaves_out_unknown_values(void **state)
{
    (void)state;
    assert_null(strstr(text, "hearsay_loss"));
    assert_null(strstr(text, "hearsay_alone_seconds"));
    assert_null(strstr(text, "hearsay_member_lag_seconds{node=\"8899aabb\"}"));
    assert_null(strstr(text, "nan"));
}

static void step_times_are_a_histogram(void **state)
{
    (void)state;
    assert_line("# TYPE hearsay_step_seconds histogram");
    assert_line("hearsay_step_seconds_bucket{le=\"0.001\"} 3");
    assert_line("hearsay_step_seconds_bucket{le=\"+Inf\"} 42");
    assert_line("hearsay_step_seconds_sum 1.5");
    assert_line("hearsay_step_seconds_count 42");
}

static void moments_are_of_the_clock_on_the_wall(void **state)
{
    (void)state;
    assert_line("hearsay_last_step_timestamp_seconds 997.500");
    assert_line("hearsay_time_seconds 1000.000");
}

static void a_digest_is_a_number_that_can_be_compared(void **state)
{
    (void)state;
    assert_line("hearsay_version_digest 1250999896559"); /* 0x0123456789ef */
}

static void members_are_counted_by_state_and_named_by_id(void **state)
{
    (void)state;
    assert_line("hearsay_members{state=\"live\"} 1");
    assert_line("hearsay_members{state=\"dead\"} 2");
    assert_line("hearsay_members{state=\"out\"} 0");
    assert_line("hearsay_member_share{node=\"8899aabb\"} 0.25");
    /* absent, because its short id is that of another member */
    assert_null(strstr(text, "0.125"));
}

static void a_neighbour_is_one_series_whatever_conversations_it_has(void **state)
{
    (void)state;
    assert_line("hearsay_neighbour_round_trip_seconds{peer=\"8899aabb\"} 0.04");
    assert_null(strstr(text, "0.06"));
    assert_null(strstr(text, "0.05")); /* absent, because the peer's id is not known yet */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(numbers_have_their_help_and_type, begin, end),
        cmocka_unit_test_setup_teardown(leaves_out_unknown_values, begin, end),
        cmocka_unit_test_setup_teardown(step_times_are_a_histogram, begin, end),
        cmocka_unit_test_setup_teardown(moments_are_of_the_clock_on_the_wall, begin, end),
        cmocka_unit_test_setup_teardown(a_digest_is_a_number_that_can_be_compared, begin, end),
        cmocka_unit_test_setup_teardown(members_are_counted_by_state_and_named_by_id, begin, end),
        cmocka_unit_test_setup_teardown(a_neighbour_is_one_series_whatever_conversations_it_has,
                                        begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
