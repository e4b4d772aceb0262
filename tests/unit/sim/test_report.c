/* The report of an outcome: tables, files, plots, a page.
 *
 *   test_report --write DIR NODES: write the folder of a long outcome, for
 * tests/process/test_page.py
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <jansson.h>
#include <sys/stat.h>

#include "support/sim/report_folder.h"

static void the_terminal_shows_verdict_nodes_links_and_faults(void **state)
{
    (void)state;
    story_short(&outcome);
    const char *text = printed();
    assert_holds(text, "Two desks behind slow uplinks, and a box that is not.\n");
    assert_holds(text, "strategy      gossip, seed 7, 4 virtual seconds, 3 nodes\n");
    assert_holds(text, "accuracy      89.12 %, loss 0.3105, on 10000 test samples\n");
    assert_holds(text, "best          89.12 % of 10000 test samples at 4 s, after 1.0 MB\n");
    assert_holds(text, "published     400.0 kB in 4000 rumors\n");
    assert_holds(text, "sent          1.0 MB in all, 4.0 % of it control traffic\n");
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

/* Evaluations before the end use evaluate_samples test samples, or all if there are fewer or
 * evaluate_samples is 0. */
static void the_best_accuracy_shows_its_test_samples(void **state)
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

static void the_terminal_shows_groups_of_many_nodes(void **state)
{
    (void)state;
    story_long(&outcome, 41);
    outcome.nodes[3].samples = 47000;
    outcome.nodes[4].samples = 49000;
    const char *text = printed();
    assert_holds(text, "desk    minimum    47000 ");
    assert_holds(text, "        median     48000 ");
    assert_holds(text, "        maximum    49000 ");
    assert_lacks(text, "\ndesk/3 ");
    assert_fits_a_terminal(text);
}

static void faults_are_shown_with_their_nodes(void **state)
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

static void missing_values_are_not_shown_as_zero(void **state)
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

static void the_series_have_a_line_per_moment_and_empty_fields(void **state)
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

static void the_summary_has_results_and_settings(void **state)
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

/* Returns the JSON snapshot in report.html. The caller releases it. */
static json_t *story_of_page(void)
{
    static const char BEGIN[] = "<script type=\"application/json\" id=\"snapshot\">";
    const char *text = text_of("report.html"), *begin = strstr(text, BEGIN);
    assert_non_null(begin);
    begin += sizeof BEGIN - 1;
    const char *end = strstr(begin, "</script>");
    assert_non_null(end);
    json_t *story = json_loadb(begin, (size_t)(end - begin), 0, NULL);
    assert_non_null(story);
    return story;
}

static json_t *figure_of(const json_t *story, const char *name)
{
    const json_t *figures = json_object_get(story, "figures");
    for (size_t i = 0; i < json_array_size(figures); i++)
        if (strcmp(json_string_value(json_object_get(json_array_get(figures, i), "name")), name) ==
            0)
            return json_array_get(figures, i);
    return NULL;
}

static const json_t *series_of(const json_t *figure, size_t i)
{
    return json_array_get(json_object_get(figure, "series"), i);
}

static double value_at(const json_t *series, size_t point, size_t i)
{
    const json_t *points = json_object_get(series, "points");
    return json_number_value(json_array_get(json_array_get(points, point), i));
}

static void the_page_has_exactly_the_measured_figures(void **state)
{
    (void)state;
    static const char *const TOLD[] = {"accuracy", "loss",  "bytes",  "up",
                                       "lag",      "share", "traffic"};
    story_short(&outcome);
    write_folder();
    json_t *story = story_of_page();
    for (size_t i = 0; i < sizeof TOLD / sizeof TOLD[0]; i++)
        if (!figure_of(story, TOLD[i]))
            fail_msg("there is no figure %s", TOLD[i]);
    assert_null(figure_of(story, "down"));
    const json_t *accuracy = figure_of(story, "accuracy");
    assert_true(value_at(series_of(accuracy, 0), 0, 1) == 10);
    const json_t *expected = series_of(accuracy, 1);
    assert_text_at(expected, "name", "accuracy >= 0.80 by 3 s");
    assert_true(value_at(expected, 1, 0) == 3 && value_at(expected, 1, 1) == 80);
    assert_text_at(series_of(figure_of(story, "lag"), 1), "name", "desk/2");
    assert_true(value_at(series_of(figure_of(story, "traffic"), 0), 0, 1) == 250);
    assert_true(value_at(series_of(figure_of(story, "bytes"), 0), 2, 0) == 0.75);
    const json_t *mark = json_array_get(json_object_get(story, "marks"), 0);
    assert_text_at(mark, "text", "crash desk/2");
    assert_true(real_at(mark, "to_s") == 3);
    json_decref(story);
}

/* Writes the texts of all cells, verdicts and facts, one a line. */
static void collect(const json_t *value, FILE *out)
{
    const char *key;
    json_t *each;
    size_t i;
    if (json_is_string(value))
        (void)fprintf(out, "%s\n", json_string_value(value));
    json_array_foreach(value, i, each) collect(each, out);
    json_object_foreach((json_t *)(uintptr_t)value, key, each) collect(each, out);
}

static void the_page_has_everything_that_the_terminal_shows(void **state)
{
    (void)state;
    char *text = NULL;
    size_t bytes;
    story_short(&outcome);
    outcome.command = "hearsay sim three.conf --set 'desk.up=1 Mbit/s'";
    write_folder();
    json_t *story = story_of_page();
    FILE *out = open_memstream(&text, &bytes);
    assert_non_null(out);
    collect(story, out);
    assert_int_equal(fclose(out), 0);
    assert_holds(text, "met\naccuracy >= 0.80 by 3 s: 0.8500 at 3 s, after 750.0 kB\n");
    assert_holds(text, "missed\ncopies <= 1.01: 1.050\n");
    assert_holds(text, "busiest link\ndesk/2 up, 95.0 % of 1.0 Mbit/s\n");
    assert_holds(text, "desk/2\n1200\n");
    assert_holds(text, "desk\nbox\n400.0 kB\n");
    assert_holds(text, "crash desk/2\n2\n3\n");
    assert_holds(text, "figures from\nmade by hand, for looking at\n");
    assert_holds(text, "hearsay sim three.conf --set 'desk.up=1 Mbit/s'\n");
    assert_holds(text, "The busiest link is 95 % used: faster lines");
    assert_holds(text, "all nodes had one version 1.50 s after training ended");
    const json_t *nodes = json_object_get(json_object_get(story, "swarm"), "nodes");
    assert_int_equal(json_array_size(nodes), 3);
    assert_true(real_at(json_array_get(nodes, 1), "share") == 0.375);
    free(text);
    json_decref(story);
}

static void other_strategies_share_the_main_figure(void **state)
{
    (void)state;
    struct scenario *other = calloc(1, sizeof *other);
    assert_non_null(other);
    story_short(&outcome);
    *other = story_scenario;
    other->strategy = STRATEGY_SINGLE;
    struct report_beside beside = {.scenarios = other, .count = 1};
    outcome_init(&beside.outcomes[0], other);
    outcome_add(&beside.outcomes[0], 4)->accuracy = 0.25;
    assert_int_equal(report_write(folder, &outcome, &beside, &problem), OK);
    json_t *story = story_of_page();
    const json_t *series = series_of(figure_of(story, "accuracy"), 1);
    assert_text_at(series, "name", "single");
    assert_true(value_at(series, 0, 0) == 4 && value_at(series, 0, 1) == 25);
    json_decref(story);
    outcome_free(&beside.outcomes[0]);
    free(other);
}

/* The name tries to escape from HTML, CSV and JSON. */
static void a_hostile_name_is_escaped(void **state)
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
    assert_holds(text_of("nodes.csv"), "\"';system('id>x');'<b>\"\"`id>y`?\"");
    assert_holds(text_of("nodes.csv"), "\n0,\"'=1+1\",400");
    json_t *root = json_loads(text_of("summary.json"), 0, NULL);
    assert_non_null(root);
    assert_text_at(json_array_get(json_object_get(root, "nodes"), 2), "name",
                   "';system('id>x');'<b>\"`id>y`?");
    json_decref(root);
    assert_lacks(text_of("report.html"), "<script>alert(1)");
    assert_lacks(text_of("report.html"), "<b>\"");
    root = story_of_page();
    assert_text_at(json_array_get(json_object_get(root, "marks"), 0), "text",
                   "crash desk/2, ';system('id>x');'<b>\"`id>y`?/1");
    json_decref(root);
    assert_lacks(printed(), "\x1b");
}

static void escapes_keep_text_of_any_language(void **state)
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

static void a_folder_that_cannot_be_created_is_refused_with_its_name(void **state)
{
    (void)state;
    char below[512];
    bool made;
    story_short(&outcome);
    (void)snprintf(below, sizeof below, "%s/none/below", folder);
    assert_int_equal(report_ready(folder, &made, &problem), OK);
    assert_false(made);
    assert_int_equal(report_ready(below, &made, &problem), FAILED);
    assert_holds(problem.text, "/none/below: No such file or directory; choose another");
    assert_int_equal(report_write(below, &outcome, NULL, &problem), FAILED);
    assert_holds(problem.text, "/none/below: No such file or directory");
    (void)snprintf(below, sizeof below, "%s/file", folder);
    FILE *file = fopen(below, "we");
    assert_non_null(file);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(report_write(below, &outcome, NULL, &problem), FAILED);
    assert_holds(problem.text, "/file: a file of this name exists");
    assert_int_equal(report_ready(below, &made, &problem), FAILED);
    assert_holds(problem.text, "/file: a file of this name exists");
}

static void a_full_disk_is_reported(void **state)
{
    (void)state;
    static const char *const NAMES[] = {"series.csv", "summary.json", "report.html"};
    story_short(&outcome);
    for (size_t i = 0; i < sizeof NAMES / sizeof NAMES[0]; i++) {
        assert_int_equal(symlink("/dev/full", in_folder(NAMES[i])), 0);
        assert_int_equal(report_write(folder, &outcome, NULL, &problem), FAILED);
        assert_holds(problem.text, NAMES[i]);
        assert_holds(problem.text, "No space left on device");
        assert_int_equal(unlink(in_folder(NAMES[i])), 0);
    }
}

static void many_nodes_are_shown_as_bands_of_groups(void **state)
{
    (void)state;
    story_long(&outcome, 64);
    write_folder();
    json_t *story = story_of_page();
    const json_t *lag = figure_of(story, "lag");
    assert_int_equal(json_array_size(json_object_get(lag, "series")), story_scenario.groups_count);
    const json_t *points = json_object_get(series_of(lag, 0), "points");
    assert_int_equal(json_array_size(json_array_get(points, 1)), 4);
    assert_true(value_at(series_of(lag, 0), 1, 2) <= value_at(series_of(lag, 0), 1, 1));
    assert_true(value_at(series_of(lag, 0), 1, 1) <= value_at(series_of(lag, 0), 1, 3));
    json_decref(story);
    outcome_free(&outcome);
    story_long(&outcome, 65);
    write_folder();
    story = story_of_page();
    assert_null(figure_of(story, "lag"));
    json_decref(story);
    assert_holds(text_of("report.html"), "they are kept only for up to 64 nodes");
    assert_string_equal(text_of("nodes.csv"),
                        "at_s,node,samples_per_s,share,lag_s,behind,up_use,down_use\n");
}

static int write_for_looking(const char *dir, const char *nodes)
{
    story_long(&outcome, (uint32_t)strtoul(nodes, NULL, 10));
    report_print(stdout, &outcome);
    const enum error error = report_write(dir, &outcome, NULL, &problem);
    if (error != OK)
        (void)fprintf(stderr, "%s\n", problem.text);
    outcome_free(&outcome);
    return error == OK ? 0 : 1;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_folder, remove_folder)

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        TEST(the_terminal_shows_verdict_nodes_links_and_faults),
        TEST(the_best_accuracy_shows_its_test_samples),
        TEST(the_terminal_shows_groups_of_many_nodes),
        TEST(faults_are_shown_with_their_nodes),
        TEST(missing_values_are_not_shown_as_zero),
        TEST(long_names_and_sentences_do_not_widen_the_terminal),
        TEST(the_series_have_a_line_per_moment_and_empty_fields),
        TEST(the_summary_has_results_and_settings),
        TEST(the_page_has_exactly_the_measured_figures),
        TEST(the_page_has_everything_that_the_terminal_shows),
        TEST(a_hostile_name_is_escaped),
        TEST(escapes_keep_text_of_any_language),
        TEST(a_folder_that_cannot_be_created_is_refused_with_its_name),
        TEST(a_full_disk_is_reported),
        TEST(other_strategies_share_the_main_figure),
        TEST(many_nodes_are_shown_as_bands_of_groups),
    };
    if (argc == 4 && strcmp(argv[1], "--write") == 0)
        return write_for_looking(argv[2], argv[3]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
