/* The display of a running swarm. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "commands/swarm/swarm_view.h"

#define NODES 3

static struct swarm_node nodes[SWARM_NODES_MAX];
static struct swarm_view view;
static const struct swarm_goal goal = {.target = 0.88};

static int begin(void **state)
{
    (void)state;
    view = (struct swarm_view){0};
    memset(nodes, 0, sizeof nodes);
    for (int i = 0; i < SWARM_NODES_MAX; i++)
        nodes[i] = (struct swarm_node){.pid = 1,
                                       .address = "127.0.0.1:1",
                                       .steps = 10,
                                       .samples = 1000,
                                       .samples_per_second = 250,
                                       .loss = 0.5,
                                       .neighbours = 2,
                                       .bytes_sent = 2200000,
                                       .bytes_received = 1500};
    return 0;
}

static void evaluate(int count, uint64_t correct)
{
    for (int i = 0; i < count; i++) {
        nodes[i].tested = 100;
        nodes[i].correct = correct;
        nodes[i].evaluations++;
    }
}

/* Returns the displayed text. The caller frees it. */
static char *shown(struct terminal screen, int count, double seconds)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);
    assert_non_null(out);
    swarm_view_show(&view, out, &screen, nodes, count, &goal, seconds);
    assert_int_equal(fclose(out), 0);
    return text;
}

static void holds(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("not \"%s\" in:\n%s", part, text);
}

static int count_of(const char *text, const char *part)
{
    int count = 0;
    for (const char *at = text; (at = strstr(at, part)); at++)
        count++;
    return count;
}

/* Returns the columns of the widest line, without escape sequences. */
static int widest(const char *text)
{
    int most = 0, columns = 0;
    for (; *text; text++) {
        if (*text == '\033') {
            text += strcspn(text, "mKJAH");
        } else if (*text == '\n') {
            most = columns > most ? columns : most;
            columns = 0;
        } else if ((*text & 0xc0) != 0x80 && *text != '\r') {
            columns++;
        }
    }
    return most;
}

static void without_a_terminal_it_is_a_plain_line(void **state)
{
    (void)state;
    evaluate(NODES, 85);
    char *text = shown((struct terminal){0}, NODES, 25);
    assert_string_equal(text,
                        "   25 s  accuracy 85.00 %  loss 0.500  750 samples/s  3000 samples  sent "
                        "6.6 MB  rumors published 0, received 0  limit 1 % used\n");
    free(text);
}

static void shows_unknown_values_as_a_dash(void **state)
{
    (void)state;
    for (int i = 0; i < NODES; i++)
        nodes[i] = (struct swarm_node){.pid = 1, .loss = NAN, .samples_per_second = NAN};
    char *text = shown((struct terminal){0}, NODES, 1);
    holds(text, "accuracy -  loss -  - samples/s");
    free(text);
    text = shown((struct terminal){.rows = 24, .columns = 80}, NODES, 2);
    holds(text, "   1  starting      -  ..........       0         -       -       0 B      0");
    free(text);
}

static void a_terminal_has_bars_a_curve_and_a_line_for_each_node(void **state)
{
    (void)state;
    const struct terminal screen = {.rows = 24, .columns = 80, .is_utf8 = true, .has_color = true};
    evaluate(NODES, 44);
    free(shown(screen, NODES, 4));
    evaluate(NODES, 66);
    nodes[2].pid = 0;
    nodes[1].steps = 0;
    char *text = shown(screen, NODES, 8);
    holds(text, "█████░░░░░░░░░░\033[m  66.00 % of 88 %"); /* 66 / 88 of the bar's 40 columns */
    holds(text, "40 % │");
    holds(text, "⣀"); /* the curve has dots */
    holds(text, "   1  training    250  \033[32m███▎░░░░░░\033[m    1000   66.00 %   0.500    2.2 "
                "MB      2");
    holds(text, "accuracy                               loss");
    holds(text, "│\033[36m");
    holds(text, "   2  joining ");
    holds(text, "   3  ended ");
    holds(text, "now: node 3: ended");
    holds(text, "now: node 2: joining");
    free(text);
}

static void sixty_columns_have_what_fits_whole(void **state)
{
    (void)state;
    evaluate(NODES, 44);
    char *text = shown((struct terminal){.rows = 24, .columns = 60}, NODES, 8);
    holds(text, "node  state     per s  samples             accuracy    loss\033[K\n");
    holds(text, "   1  training    250  ###.......    1000   44.00 %   0.500\033[K\n");
    holds(text, "accuracy                     loss");
    free(text);
}

static void it_is_drawn_over_itself(void **state)
{
    (void)state;
    const struct terminal screen = {.rows = 24, .columns = 80};
    char *text = shown(screen, NODES, 1);
    const int lines = count_of(text, "\n");
    /* each line clears the remainder of the old one */
    assert_int_equal(count_of(text, "\033[K\n"), lines);
    assert_null(strstr(text, "\033[2J"));
    free(text);
    char up[16];
    (void)snprintf(up, sizeof up, "\r\033[%dA", lines);
    text = shown(screen, NODES, 2);
    assert_ptr_equal(strstr(text, up), text);
    free(text);
    text = shown((struct terminal){.rows = 24, .columns = 60}, NODES, 3);
    holds(text, "\033[2J"); /* the narrower terminal has wrapped the old lines */
    free(text);
}

static void it_fits_every_terminal(void **state)
{
    (void)state;
    evaluate(SWARM_NODES_MAX, 50);
    int seconds = 0;
    for (int columns = 40; columns <= 250; columns += 7) {
        for (int rows = 10; rows <= 60; rows++) {
            char *text =
                shown((struct terminal){rows, columns, true, true}, SWARM_NODES_MAX, ++seconds);
            if (widest(text) >= columns || count_of(text, "\n") >= rows)
                fail_msg("%d lines of %d columns, where there are %d and %d:\n%s",
                         count_of(text, "\n"), widest(text), rows, columns, text);
            free(text);
        }
    }
    char *text = shown((struct terminal){16, 80, false, false}, SWARM_NODES_MAX, ++seconds);
    holds(text, "and 24 more");
    free(text);
}

static void a_terminal_without_utf8_gets_ascii(void **state)
{
    (void)state;
    evaluate(NODES, 44);
    free(shown((struct terminal){24, 80, false, false}, NODES, 4));
    evaluate(NODES, 66);
    char *text = shown((struct terminal){24, 80, false, false}, NODES, 8);
    for (const char *at = text; *at; at++)
        assert_true(*at > 0);
    holds(text, "##########..........");
    free(text);
}

static void without_colours_it_is_drawn_as_well(void **state)
{
    (void)state;
    evaluate(NODES, 44);
    char *text = shown((struct terminal){.rows = 24, .columns = 80}, NODES, 4);
    assert_null(strstr(text, "\033[3")); /* no colours */
    assert_null(strstr(text, "\033[m"));
    holds(text, "accuracy  ####################....................  44.00 % of 88 %");
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(without_a_terminal_it_is_a_plain_line, begin),
        cmocka_unit_test_setup(shows_unknown_values_as_a_dash, begin),
        cmocka_unit_test_setup(a_terminal_has_bars_a_curve_and_a_line_for_each_node, begin),
        cmocka_unit_test_setup(sixty_columns_have_what_fits_whole, begin),
        cmocka_unit_test_setup(it_is_drawn_over_itself, begin),
        cmocka_unit_test_setup(it_fits_every_terminal, begin),
        cmocka_unit_test_setup(a_terminal_without_utf8_gets_ascii, begin),
        cmocka_unit_test_setup(without_colours_it_is_drawn_as_well, begin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
