/* Reading series of points from files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <unistd.h>

#include "commands/plot/series.h"

static struct series_set set;
static struct problem problem;
static char path[] = "/tmp/test_series_XXXXXX";

static int begin(void **state)
{
    (void)state;
    set = (struct series_set){.what = "loss", .files = 1};
    (void)strcpy(path, "/tmp/test_series_XXXXXX");
    const int file = mkstemp(path);
    assert_true(file >= 0);
    return close(file);
}

static int end(void **state)
{
    (void)state;
    series_free(&set);
    return unlink(path);
}

static enum error read_text(const char *text)
{
    FILE *file = fopen(path, "we");
    assert_non_null(file);
    (void)fputs(text, file);
    assert_int_equal(fclose(file), 0);
    return series_read(&set, path, "me", &problem);
}

static void is_series(size_t k, const char *name, size_t count, const double *x, const double *y)
{
    assert_true(k < set.count);
    assert_string_equal(set.item[k].name, name);
    assert_int_equal(set.item[k].count, count);
    for (size_t i = 0; i < count; i++) {
        assert_true(set.item[k].x[i] == x[i]);
        assert_true(set.item[k].y[i] == y[i]);
    }
}

static void says(enum error wanted, enum error error, const char *words)
{
    assert_int_equal(error, wanted);
    if (!strstr(problem.text, words))
        fail_msg("not \"%s\" in: %s", words, problem.text);
}

static const char node_log[] =
    "{\"t\":0.5,\"note\":\"started\",\"level\":\"info\",\"text\":\"\"}\n"
    "{\"t\":1,\"note\":\"status\",\"samples\":100,\"bytes_sent\":10,\"loss\":2.5,\"share\":0.5}\n"
    "{\"t\":2,\"note\":\"status\",\"samples\":200,\"bytes_sent\":30,\"loss\":2.25,\"share\":0.25}\n"
    "{\"t\":2.5,\"note\":\"evaluated\",\"tested\":10,\"accuracy\":0.75,\"loss\":1.5}\n"
    "{\"t\":3,\"note\":\"status\",\"samples\":300,\"bytes_sent\":50,\"loss\":null}\n";

static void a_log_has_the_loss_of_training(void **state)
{
    (void)state;
    assert_int_equal(read_text(node_log), OK);
    is_series(0, "me", 2, (double[]){1, 2}, (double[]){2.5, 2.25});
}

static void a_log_has_what_was_evaluated(void **state)
{
    (void)state;
    set.what = "accuracy";
    set.by = BY_SAMPLES;
    assert_int_equal(read_text(node_log), OK);
    is_series(0, "me", 1, (double[]){200}, (double[]){0.75});
    series_free(&set);
    set.what = "test-loss";
    set.by = BY_BYTES;
    assert_int_equal(read_text(node_log), OK);
    is_series(0, "me", 1, (double[]){30}, (double[]){1.5});
}

static void a_node_that_was_started_again_is_counted_on(void **state)
{
    (void)state;
    char twice[2 * sizeof node_log];
    (void)snprintf(twice, sizeof twice, "%s%s", node_log, node_log);
    set.what = "share";
    set.by = BY_SAMPLES;
    assert_int_equal(read_text(twice), OK);
    is_series(0, "me", 4, (double[]){100, 200, 400, 500}, (double[]){0.5, 0.25, 0.5, 0.25});
}

static void half_a_line_is_left_out(void **state)
{
    (void)state;
    char torn[sizeof node_log];
    (void)snprintf(torn, sizeof torn, "%.*s", (int)(strstr(node_log, "2.25") - node_log), node_log);
    assert_int_equal(read_text(torn), OK);
    is_series(0, "me", 1, (double[]){1}, (double[]){2.5});
}

static void a_missing_series_is_reported_with_the_available_ones(void **state)
{
    (void)state;
    set.what = "acuracy";
    says(MISSING, read_text(node_log),
         "has no \"acuracy\" by time; it has: samples, bytes_sent, loss, share, tested, accuracy, "
         "test_loss; choose with --what");
}

static void hyphens_and_underscores_in_names_are_equal(void **state)
{
    (void)state;
    static const char *const ASKED[] = {"lag-s_max", "lag_s-max", "lag-s-max", "lag_s_max"};
    for (size_t i = 0; i < sizeof ASKED / sizeof *ASKED; i++) {
        set.what = ASKED[i];
        assert_int_equal(read_text("at_s,lag-s_max\n1,2\n"), OK);
        is_series(0, "me", 1, (double[]){1}, (double[]){2});
        series_free(&set);
    }
    set.what = "lag+s_max";
    says(MISSING, read_text("at_s,lag-s_max\n1,2\n"), "has no \"lag+s_max\"");
}

static void a_heading_names_columns(void **state)
{
    (void)state;
    assert_int_equal(read_text("at_s,accuracy,loss\n0,,2\n2,0.5,1\n1,0.25,1.5\n3,0.5,\n4,0"), OK);
    is_series(0, "me", 3, (double[]){0, 1, 2}, (double[]){2, 1.5, 1});
}

static void a_column_of_names_makes_curves(void **state)
{
    (void)state;
    set.what = "lag_s";
    assert_int_equal(read_text("at_s,node,lag_s\r\n0,\"a, \"\"1\"\"\",1\r\n0,b,2\r\n1,b,3\r\n"),
                     OK);
    assert_int_equal(set.count, 2);
    is_series(0, "a, \"1\"", 1, (double[]){0}, (double[]){1});
    is_series(1, "b", 2, (double[]){0, 1}, (double[]){2, 3});
}

static void a_play_has_points(void **state)
{
    (void)state;
    set.by = BY_BYTES;
    assert_int_equal(read_text("{\n \"points\": [\n{\"at_s\": 1, \"loss\": 2, \"sent_bytes\": 7},"
                               "{\"at_s\": 2, \"loss\": null, \"sent_bytes\": 8}]}"),
                     OK);
    is_series(0, "me", 1, (double[]){7}, (double[]){2});
}

static void rejects_a_file_that_is_no_series(void **state)
{
    (void)state;
    says(MALFORMED, read_text("hello\n"), "unknown format; name a log of a node");
    says(MALFORMED, read_text("{\"a\": 1}\n"), "unknown format; name a log of a node");
    says(MALFORMED, read_text("{\n"), "unknown format; name a log of a node");
    says(MISSING, read_text(""), "is empty");
    says(MISSING, read_text("at_s,accuracy\n0,1\n"), "it has: at_s, accuracy");
    says(FAILED, series_read(&set, "/", "me", &problem), "cannot read /");
    says(MISSING, series_read(&set, "/nothing/here", "me", &problem), "cannot open /nothing/here");
}

static void a_heading_alone_is_refused(void **state)
{
    (void)state;
    says(MISSING, read_text("at_s,loss\n"), "has a heading but no complete line below it");
    says(MISSING, read_text("at_s,loss\n1"), "has a heading but no complete line below it");
    says(OK, read_text("at_s,loss\n1,2\n"), "");
    says(MISSING, read_text("at_s,loss\n"), "has a heading but no complete line below it");
}

static void skips_values_that_no_axis_can_show(void **state)
{
    (void)state;
    assert_int_equal(read_text("at_s,loss\n1,1e308\n2,-1e308\n3,5e-324\n1e300,1\n4,1e38\n"
                               "5,-1e-38\n6,0\n7,inf\n8,nan\n"),
                     OK);
    is_series(0, "me", 3, (double[]){4, 5, 6}, (double[]){1e38, -1e-38, 0});
}

static void too_many_curves_are_refused(void **state)
{
    (void)state;
    char text[4096] = "at_s,node,loss\n";
    for (int i = 0; i <= SERIES_MAX; i++)
        (void)snprintf(text + strlen(text), sizeof text - strlen(text), "0,n%d,1\n", i);
    says(TOO_BIG, read_text(text), "more than 64 curves");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_log_has_the_loss_of_training),
        TEST(a_log_has_what_was_evaluated),
        TEST(a_node_that_was_started_again_is_counted_on),
        TEST(half_a_line_is_left_out),
        TEST(a_missing_series_is_reported_with_the_available_ones),
        TEST(hyphens_and_underscores_in_names_are_equal),
        TEST(a_heading_names_columns),
        TEST(a_column_of_names_makes_curves),
        TEST(a_play_has_points),
        TEST(rejects_a_file_that_is_no_series),
        TEST(a_heading_alone_is_refused),
        TEST(skips_values_that_no_axis_can_show),
        TEST(too_many_curves_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
