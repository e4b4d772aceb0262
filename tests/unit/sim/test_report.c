/* The report of an outcome: tables, files, plots, a page.
 *
 *   test_report --write DIR NODES: write the folder of a long outcome, for
 * tests/process/test_page.sh
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <jansson.h>
#include <sys/stat.h>

#include "support/sim/report_folder.h"

static void a_terminal_is_told_verdict_nodes_links_and_faults(void **state)
{
    (void)state;
    story_short(&outcome);
    const char *text = printed();
    assert_holds(text, "Two desks behind slow uplinks, and a box that is not.\n");
    assert_holds(text, "strategy      gossip, seed 7, 4 virtual seconds, 3 nodes\n");
    assert_holds(text, "accuracy      89.12 %, loss 0.3105, on 10000 test samples\n");
    assert_holds(text, "best          89.12 % of 10000 test samples at 4 s, after 1.0 MB\n");
    assert_holds(text, "published     400.0 kB in 4000 rumors\n");
    assert_holds(text, "sent          1.0 MB in all, 4.0 % of it control\n");
    assert_holds(text, "busiest link  desk/2 up, 95.0 % of 1.0 Mbit/s\n");
    assert_holds(text, "one version   1.50 s after training ended\n");
    assert_holds(text, "copies        1.050 received per rumor, in the second half\n");
    assert_holds(text, "control       320 B/s per node, in the second half\n");
    assert_holds(text, "desk/1     1600     50.0  250.0 kB  1.5 MB    1.05    75    1.0\n");
    assert_holds(text, "desk/2     1200     37.5  250.0 kB  1.5 MB    1.05    90    1.5\n");
    assert_holds(text, "box/1       400     12.5  250.0 kB  1.5 MB    1.05     -    0.5\n");
    assert_holds(text, "desk  box   400.0 kB  1.0 Mbit/s     80        45       3\n");
    assert_holds(text, "box   desk  900.0 kB    no limit      -        40       0\n");
    assert_holds(text, "crash desk/2       2     3\n");
    assert_holds(text, "met      accuracy >= 0.80 by 3 s: 0.8500 at 3 s, after 750.0 kB\n");
    assert_holds(text, "NOT MET  copies <= 1.01: 1.050\n");
    assert_fits_a_terminal(text);
}

/* Between, it is measured on some of the test samples; on all where there are no more. */
static void the_best_says_on_how_many_test_samples(void **state)
{
    (void)state;
    static const struct {
        uint32_t some;
        const char *best;
    } cases[] = {{2000, "95.00 % of 2000 test samples at 3 s"},
                 {10001, "95.00 % of 10000 test samples at 3 s"},
                 {0, "95.00 % of 10000 test samples at 3 s"}};
    story_short(&outcome);
    outcome.moments[3].accuracy = 0.95;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        story_scenario.evaluate_samples = cases[i].some;
        assert_holds(printed(), cases[i].best);
    }
}

static void a_terminal_is_told_groups_when_there_are_many_nodes(void **state)
{
    (void)state;
    story_long(&outcome, 41);
    outcome.nodes[3].samples = 47000;
    outcome.nodes[4].samples = 49000;
    const char *text = printed();
    assert_holds(text, "desk    least     47000 ");
    assert_holds(text, "        median    48000 ");
    assert_holds(text, "        most      49000 ");
    assert_lacks(text, "\ndesk/3 ");
    assert_fits_a_terminal(text);
}

static void faults_are_named_with_whom_they_befall(void **state)
{
    (void)state;
    story_short(&outcome);
    struct fault *faults = story_scenario.faults;
    story_fault(FAULT_PARTITION, 1, 2, 0);
    node_set_add(&faults[1].a, 1);
    node_set_add(&faults[1].b, 2);
    story_fault(FAULT_PARTITION, 1, 2, 0);
    node_set_add(&faults[2].b, 2);
    faults[2].one_way = true;
    story_fault(FAULT_RESET, 1, 1, 0);
    node_set_add(&faults[3].a, 1);
    node_set_add(&faults[3].a, 2);
    faults[3].any = true;
    const char *text = printed();
    assert_holds(text, "\ncrash desk/2                   2     3\n");
    assert_holds(text, "\npartition desk | box/1         1     2\n");
    assert_holds(text, "\npartition desk/1 > box/1       1     2\n");
    assert_holds(text, "\nreset one of all               1     -\n");
}

static void what_a_strategy_without_links_does_not_have_is_not_shown_as_zero(void **state)
{
    (void)state;
    story_begin(4);
    story_group("desk", 2, 0);
    story_scenario.strategy = STRATEGY_IDEAL;
    outcome_init(&outcome, &story_scenario);
    story_moment(&outcome, 4, 0.5, 0, 0, 0);
    outcome.nodes[0].samples = 1600;
    const char *text = printed();
    assert_holds(text, "links         none: the ideal cluster has a free network\n");
    assert_holds(text, "node    samples\ndesk/1     1600\ndesk/2        -\n");
    assert_lacks(text, "0 B");
    assert_lacks(text, "one version");
    assert_lacks(text, "trace");
    outcome.nodes[0].samples = 0;
    assert_lacks(printed(), "desk/");
}

static void long_names_and_sentences_do_not_widen_the_terminal(void **state)
{
    (void)state;
    story_begin(4);
    story_group("a-name-as-long-as-names-may-be-", 3, 125000);
    story_expect(METRIC_ACCURACY, true, 0.8, 3,
                 "an expectation written with so many blanks that it takes all of its 96 bytes, "
                 "and no less, ok");
    memset(story_scenario.about, 'x', sizeof story_scenario.about - 1);
    for (size_t i = 9; i < sizeof story_scenario.about - 1; i += 10)
        story_scenario.about[i] = ' ';
    outcome_init(&outcome, &story_scenario);
    story_moment(&outcome, 1, 0.5, 1000, 123456789, 5);
    struct node_moment *nodes = outcome_nodes(&outcome);
    for (uint32_t i = 0; i < 3; i++) {
        nodes[i].lag_s = 1234.5f;
        story_total(&outcome.nodes[i], 123456789012, 1);
        outcome.nodes[i].up_use = outcome.nodes[i].down_use = 1;
    }
    story_end(&outcome);
    const char *text = printed();
    assert_holds(text, "~");
    assert_fits_a_terminal(text);
}

static void the_series_hold_a_line_per_moment_and_nothing_where_nothing_was_measured(void **state)
{
    (void)state;
    story_short(&outcome);
    write_folder();
    const char *text = text_of("series.csv");
    assert_holds(text,
                 "at_s,accuracy,loss,samples,rumors,rumor_bytes_published,sent_bytes,control_bytes,"
                 "rumor_bytes_per_s,control_bytes_per_s,behind,in_flight_bytes,running,"
                 "members,share_median,share_max,lag_s_median,lag_s_max,up_use_median,"
                 "up_use_max,down_use_median,down_use_max,distance\n"
                 "0,0.1,0.9,0,0,0,0,0,,,0,0,3,3,0.375,0.5,0.5,1.5,0.75,0.95,,,\n"
                 "1,,,900,1000,100000,250000,10000,240000,10000,0,0,3,3,0.375,0.5,0.5,1.5,"
                 "0.75,0.95,,,\n");
    assert_holds(text, "\n3,0.85,0.15,2700,3000,300000,750000,30000,240000,10000,0,0,3,3,0.125,"
                       "0.5,0.25,0.5,0.75,0.75,,,\n");
    text = text_of("nodes.csv");
    assert_holds(text, "at_s,node,samples_per_s,share,lag_s,behind,up_use,down_use\n"
                       "0,desk/1,400,0.5,0.25,2,0.75,\n");
    assert_holds(text, "\n3,desk/2,,,,,,\n3,box/1,100,0.125,0.5,4,,\n");
    assert_string_equal(text_of("use.csv"), "link,use,rate_bytes_per_s\n"
                                            "desk/2 up,0.95,125000\n"
                                            "desk > box,0.8,125000\n"
                                            "desk/1 up,0.75,125000\n");
}

static double real_at(const json_t *root, const char *key)
{
    const json_t *value = json_object_get(root, key);
    assert_true(json_is_number(value));
    return json_number_value(value);
}

static void assert_text_at(const json_t *root, const char *key, const char *wanted)
{
    assert_true(json_is_string(json_object_get(root, key)));
    assert_string_equal(json_string_value(json_object_get(root, key)), wanted);
}

static void check_summary(const json_t *root)
{
    assert_text_at(root, "name", "three");
    assert_text_at(root, "command", "hearsay sim three.conf --seed 7");
    assert_text_at(root, "trace", "0123456789abcdef");
    assert_true(real_at(root, "accuracy") == 0.8912);
    assert_true(real_at(root, "sent_bytes") == 1000000);
    assert_true(json_is_false(json_object_get(root, "met")));
    const json_t *expectations = json_object_get(root, "expectations");
    assert_int_equal(json_array_size(expectations), 2);
    assert_true(json_is_true(json_object_get(json_array_get(expectations, 0), "met")));
    assert_true(real_at(json_array_get(expectations, 0), "found") == 0.85);
    assert_true(json_is_false(json_object_get(json_array_get(expectations, 1), "met")));
    const json_t *nodes = json_object_get(root, "nodes");
    assert_int_equal(json_array_size(nodes), 3);
    assert_text_at(json_array_get(nodes, 1), "name", "desk/2");
    assert_true(real_at(json_array_get(nodes, 1), "samples") == 1200);
    assert_true(json_is_null(json_object_get(json_array_get(nodes, 2), "up_use")));
    const json_t *links = json_object_get(root, "links");
    assert_int_equal(json_array_size(links), 2);
    assert_true(json_is_null(json_object_get(json_array_get(links, 1), "use")));
}

static void check_settings(const json_t *settings)
{
    assert_text_at(json_object_get(settings, "scenario"), "strategy", "gossip");
    assert_true(real_at(json_object_get(settings, "scenario"), "seconds") == 4);
    assert_true(real_at(json_object_get(settings, "scenario"), "settle_s") == 10);
    const json_t *desk = json_array_get(json_object_get(settings, "nodes"), 0);
    assert_text_at(desk, "name", "desk");
    assert_true(real_at(json_array_get(json_object_get(desk, "up"), 0), "bytes_per_s") == 125000);
    const json_t *fault = json_array_get(json_object_get(settings, "faults"), 0);
    assert_text_at(fault, "fault", "crash desk/2");
    assert_true(real_at(fault, "to_s") == 3);
    assert_non_null(json_object_get(json_object_get(settings, "exchange"), "beta"));
    assert_null(json_object_get(settings, "node"));
}

static void the_summary_holds_what_was_found_and_how_it_was_set(void **state)
{
    (void)state;
    story_short(&outcome);
    write_folder();
    json_t *root = json_loads(text_of("summary.json"), 0, NULL);
    assert_non_null(root);
    check_summary(root);
    check_settings(json_object_get(root, "settings"));
    json_decref(root);
}

static uint32_t big_endian(const uint8_t *at)
{
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

/* An all-white picture of this size takes less than 8 kB. */
static void assert_is_picture(const char *name)
{
    uint8_t head[24];
    struct stat found;
    assert_int_equal(stat(in_folder(name), &found), 0);
    assert_in_range(found.st_size, 10000, 2000000);
    FILE *in = fopen(in_folder(name), "re");
    assert_non_null(in);
    assert_int_equal(fread(head, 1, sizeof head, in), sizeof head);
    assert_int_equal(fclose(in), 0);
    assert_memory_equal(head, "\x89PNG\r\n\x1a\n", 8);
    assert_int_equal(big_endian(head + 16), 1290);
    assert_int_equal(big_endian(head + 20), 600);
}

static void every_plot_of_what_was_measured_is_drawn_and_no_other(void **state)
{
    (void)state;
    story_short(&outcome);
    FILE *earlier = fopen(in_folder("down.png"), "we");
    assert_non_null(earlier);
    assert_int_equal(fclose(earlier), 0);
    write_folder();
    static const char *const DRAWN[] = {"accuracy", "bytes", "use",    "up",
                                        "lag",      "share", "traffic"};
    for (size_t i = 0; i < sizeof DRAWN / sizeof DRAWN[0]; i++) {
        char name[32];
        (void)snprintf(name, sizeof name, "%s.png", DRAWN[i]);
        assert_is_picture(name);
        (void)snprintf(name, sizeof name, "%s.svg", DRAWN[i]);
        assert_holds(text_of(name), "</svg>");
    }
    assert_false(exists("down.png"));
    assert_false(exists("down.svg"));
    assert_holds(text_of("accuracy.svg"), "crash desk/2");
    assert_holds(text_of("accuracy.svg"), "accuracy >= 0.80 by 3 s");
}

static void the_page_holds_everything_that_the_terminal_is_told(void **state)
{
    (void)state;
    story_short(&outcome);
    outcome.command = "hearsay sim three.conf --set 'desk.up=1 Mbit/s'";
    write_folder();
    const char *text = text_of("report.html");
    assert_holds(text, "default-src 'none'; style-src 'unsafe-inline'; img-src data:");
    assert_holds(text, "<li class=\"met\"><b>met</b> accuracy &gt;= 0.80 by 3 s: 0.8500 at 3 s, "
                       "after 750.0 kB</li>");
    assert_holds(text, "<li class=\"missed\"><b>NOT MET</b> copies &lt;= 1.01: 1.050</li>");
    assert_holds(text, "<dt>busiest link</dt><dd>desk/2 up, 95.0 % of 1.0 Mbit/s</dd>");
    assert_holds(text, "<td>desk/2</td><td class=\"figure\">1200</td>");
    assert_holds(text, "<td>desk</td><td>box</td><td class=\"figure\">400.0 kB</td>");
    assert_holds(text, "<td>crash desk/2</td>");
    assert_holds(text, "made by hand, for looking at");
    assert_holds(text, "--set &#39;desk.up=1 Mbit/s&#39;");
    assert_holds(text, "<div class=\"plot\" id=\"plot-traffic\">\n<svg");
    assert_lacks(text, "plot-down");
    assert_lacks(text, "<script");
    assert_lacks(text, "<?xml");
}

/* Tries to leave a string of gnuplot, of HTML, of CSV, of JSON. */
static void a_hostile_name_is_only_a_name(void **state)
{
    (void)state;
    static const char NAME[] = "';system('id>x');'<b>\"`id>y`\xff";
    story_short(&outcome);
    (void)snprintf(story_scenario.groups[1].name, SCENARIO_NAME_BYTES, "%s", NAME);
    (void)snprintf(story_scenario.regions[1], SCENARIO_NAME_BYTES, "%s", NAME);
    (void)snprintf(story_scenario.about, 256, "</title><script>alert(1)</script>\x1b[2J");
    (void)snprintf(outcome.nodes[2].name, sizeof outcome.nodes[2].name, "%s", NAME);
    (void)snprintf(outcome.nodes[0].name, sizeof outcome.nodes[0].name, "=1+1");
    node_set_add(&story_scenario.faults[0].a, 2);
    write_folder();
    assert_false(exists("x"));
    assert_false(exists("y"));
    assert_holds(text_of("plot.gp"), "'crash desk/2, ’;system(’id>x’);’<b>\"`id>y`?/1'");
    assert_holds(text_of("nodes.csv"), "\"';system('id>x');'<b>\"\"`id>y`?\"");
    assert_holds(text_of("nodes.csv"), "\n0,\"'=1+1\",400");
    json_t *root = json_loads(text_of("summary.json"), 0, NULL);
    assert_non_null(root);
    assert_text_at(json_array_get(json_object_get(root, "nodes"), 2), "name",
                   "';system('id>x');'<b>\"`id>y`?");
    json_decref(root);
    assert_lacks(text_of("report.html"), "<script");
    assert_lacks(text_of("report.html"), "<b>\"");
    assert_lacks(text_of("lag.svg"), "<b>");
    assert_lacks(printed(), "\x1b");
}

static void escapes_leave_text_of_any_language_as_it_is(void **state)
{
    (void)state;
    char out[64];
    escape_clean(out, sizeof out, "Zürich 東京 \xf0\x9f\x90\x9d");
    assert_string_equal(out, "Zürich 東京 \xf0\x9f\x90\x9d");
    assert_int_equal(escape_width(out), 11);
    escape_clean(out, sizeof out, "a\xc3(\xe2\x82z\xed\xa0\x80\xc0\xaf\xf5\x80\xc2\x9b\x7f\n.");
    assert_string_equal(out, "a?(??z???????"
                             "??"
                             "?"
                             "?.");
    escape_clean(out, 4, "abü");
    assert_string_equal(out, "ab");
}

static void a_folder_that_cannot_be_made_is_refused_with_its_name(void **state)
{
    (void)state;
    char below[512];
    bool made;
    story_short(&outcome);
    (void)snprintf(below, sizeof below, "%s/none/below", folder);
    assert_int_equal(report_ready(below, &made, &problem), FAILED);
    assert_holds(problem.text, "/none/below: No such file or directory; choose another");
    assert_int_equal(report_write(below, &outcome, &problem), FAILED);
    assert_holds(problem.text, "/none/below: No such file or directory");
    (void)snprintf(below, sizeof below, "%s/file", folder);
    FILE *file = fopen(below, "we");
    assert_non_null(file);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(report_write(below, &outcome, &problem), FAILED);
    assert_holds(problem.text, "/file: a file of this name is in the way");
    assert_int_equal(report_ready(below, &made, &problem), FAILED);
    assert_holds(problem.text, "/file: a file of this name is in the way");
}

static void a_full_disk_is_not_passed_over(void **state)
{
    (void)state;
    static const char *const NAMES[] = {"series.csv", "summary.json", "plot.gp", "report.html"};
    story_short(&outcome);
    for (size_t i = 0; i < sizeof NAMES / sizeof NAMES[0]; i++) {
        assert_int_equal(symlink("/dev/full", in_folder(NAMES[i])), 0);
        assert_int_equal(report_write(folder, &outcome, &problem), FAILED);
        assert_holds(problem.text, NAMES[i]);
        assert_holds(problem.text, "No space left on device");
        assert_int_equal(unlink(in_folder(NAMES[i])), 0);
    }
}

static void a_folder_in_the_way_of_a_plot_is_told(void **state)
{
    (void)state;
    story_short(&outcome);
    assert_int_equal(mkdir(in_folder("accuracy.png"), 0700), 0);
    char below[600];
    (void)snprintf(below, sizeof below, "%s/keep", in_folder("accuracy.png"));
    FILE *file = fopen(below, "we");
    assert_non_null(file);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(report_write(folder, &outcome, &problem), FAILED);
    assert_holds(problem.text, "gnuplot");
    assert_int_equal(unlink(below), 0);
    assert_int_equal(rmdir(in_folder("accuracy.png")), 0);
}

/* What gnuplot would find is a program of our own, or none. */
static void with_gnuplot(const char *script)
{
    FILE *program = fopen(in_folder("gnuplot"), "we");
    assert_non_null(program);
    assert_true(fputs(script, program) >= 0);
    assert_int_equal(fclose(program), 0);
    assert_int_equal(chmod(path, 0700), 0);
}

static void a_missing_or_failing_gnuplot_is_named_with_what_it_said(void **state)
{
    (void)state;
    char search[4096];
    bool made;
    (void)snprintf(search, sizeof search, "%s", getenv("PATH"));
    story_short(&outcome);
    assert_int_equal(report_ready(folder, &made, &problem), OK);
    assert_false(made);
    assert_int_equal(report_ready(in_folder("new"), &made, &problem), OK);
    assert_true(made);
    assert_int_equal(rmdir(in_folder("new")), 0);
    assert_int_equal(setenv("PATH", folder, 1), 0);
    assert_int_equal(report_ready(folder, &made, &problem), MISSING);
    assert_holds(problem.text, "apt-get install gnuplot-nox");
    assert_int_equal(report_write(folder, &outcome, &problem), FAILED);
    assert_holds(problem.text, "gnuplot does not start");
    with_gnuplot("#!/bin/sh\necho 'at first' >&2\necho '  line 3: no such colour' >&2\nexit 1\n");
    assert_int_equal(report_write(folder, &outcome, &problem), FAILED);
    assert_holds(problem.text, "plot.gp: line 3: no such colour");
    with_gnuplot("#!/bin/sh\nexit 0\n");
    assert_int_equal(report_write(folder, &outcome, &problem), FAILED);
    assert_holds(problem.text, "accuracy.png unfinished");
    with_gnuplot("#!/bin/sh\nprintf 'a picture cut off' >accuracy.png\n");
    assert_int_equal(report_write(folder, &outcome, &problem), FAILED);
    assert_holds(problem.text, "accuracy.png unfinished");
    assert_int_equal(setenv("PATH", search, 1), 0);
}

static void sixty_four_nodes_are_drawn_and_with_more_the_page_says_why_not(void **state)
{
    (void)state;
    story_long(&outcome, 64);
    write_folder();
    assert_is_picture("lag.png");
    assert_holds(text_of("lag.svg"), "median of all");
    outcome_free(&outcome);
    story_long(&outcome, 65);
    write_folder();
    assert_false(exists("lag.png"));
    assert_holds(text_of("report.html"), "they are kept for up to 64 nodes");
    assert_string_equal(text_of("nodes.csv"),
                        "at_s,node,samples_per_s,share,lag_s,behind,up_use,down_use\n");
}

static int write_for_looking(const char *dir, const char *nodes)
{
    story_long(&outcome, (uint32_t)strtoul(nodes, NULL, 10));
    report_print(stdout, &outcome);
    const enum error error = report_write(dir, &outcome, &problem);
    if (error != OK)
        (void)fprintf(stderr, "%s\n", problem.text);
    outcome_free(&outcome);
    return error == OK ? 0 : 1;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_folder, remove_folder)

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        TEST(a_terminal_is_told_verdict_nodes_links_and_faults),
        TEST(the_best_says_on_how_many_test_samples),
        TEST(a_terminal_is_told_groups_when_there_are_many_nodes),
        TEST(faults_are_named_with_whom_they_befall),
        TEST(what_a_strategy_without_links_does_not_have_is_not_shown_as_zero),
        TEST(long_names_and_sentences_do_not_widen_the_terminal),
        TEST(the_series_hold_a_line_per_moment_and_nothing_where_nothing_was_measured),
        TEST(the_summary_holds_what_was_found_and_how_it_was_set),
        TEST(every_plot_of_what_was_measured_is_drawn_and_no_other),
        TEST(the_page_holds_everything_that_the_terminal_is_told),
        TEST(a_hostile_name_is_only_a_name),
        TEST(escapes_leave_text_of_any_language_as_it_is),
        TEST(a_folder_that_cannot_be_made_is_refused_with_its_name),
        TEST(a_full_disk_is_not_passed_over),
        TEST(a_folder_in_the_way_of_a_plot_is_told),
        TEST(a_missing_or_failing_gnuplot_is_named_with_what_it_said),
        TEST(sixty_four_nodes_are_drawn_and_with_more_the_page_says_why_not),
    };
    if (argc == 4 && strcmp(argv[1], "--write") == 0)
        return write_for_looking(argv[2], argv[3]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
