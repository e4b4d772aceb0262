/* Completions of a command line. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "commands/help/completion.h"

static const struct command draw = {
    .name = "draw",
    .summary = "draws",
    .forms = {{"hearsay draw [options] FILE", "draws"}},
    .options =
        (const struct command_option[]){
            {"--kind", "NAME", "dots, lines or both (default dots)", .member = 0},
            {"--any", "NAME", "one, two, or whatever\nthere is", .member = 0},
            {"--set", "SECTION.KEY=VALUE", "a key", .member = 0},
            {"--out", "DIR", "where", .member = 0},
            {"--count", "N", "how many, or all", .member = 0},
            {0}},
};
static const struct command say = {
    .name = "say",
    .summary = "says",
    .forms = {{"hearsay say yes|no", "says"}},
    .options = (const struct command_option[]){{0}},
};
static const struct command *const commands[] = {&draw, &say};
static const struct command_table table = {commands, 2};

/* Returns the words that are offered after `words`, which ends with NULL. A blank follows each
 * word. */
static const char *offered(const char *const *words)
{
    static char lines[65536], all[8192];
    int count = 0;
    while (words[count])
        count++;
    lines[0] = 0;
    FILE *out = fmemopen(lines, sizeof lines, "w");
    assert_non_null(out);
    completion_answer(out, &table, count, words);
    assert_int_equal(fclose(out), 0);
    all[0] = 0;
    for (char *line = strtok(lines, "\n"); line; line = strtok(NULL, "\n")) {
        char *tab = strchr(line, '\t');
        assert_non_null(tab);
        if (line[0] != ':') /* keeps the tab of ":files" and the text behind it */
            *tab = 0;
        (void)strcat(strcat(all, line), " ");
    }
    return all;
}

#define OFFERED(...) offered((const char *const[]){__VA_ARGS__, NULL})

static void commands_come_first(void **state)
{
    (void)state;
    assert_string_equal(OFFERED(""), "draw say help --help --version ");
    assert_string_equal(OFFERED("d"), "draw ");
    assert_string_equal(OFFERED("help", "s"), "say ");
    assert_string_equal(OFFERED("help", "ex"), "exit-codes ");
    assert_string_equal(OFFERED("nonsense", ""), "");
}

static void options_come_after_a_dash(void **state)
{
    (void)state;
    assert_string_equal(OFFERED("draw", "--"), "--kind --any --set --out --count --help ");
    assert_string_equal(OFFERED("draw", "--k"), "--kind ");
    assert_string_equal(OFFERED("draw", "--help", "--o"), "--out ");
}

static void values_are_what_the_help_lists(void **state)
{
    (void)state;
    assert_string_equal(OFFERED("draw", "--kind", ""), "dots lines both ");
    assert_string_equal(OFFERED("draw", "--kind=l"), "--kind=lines ");
    assert_string_equal(OFFERED("draw", "--any", ""), "one two ");
    assert_string_equal(OFFERED("draw", "--count", ""), "");
    assert_string_equal(OFFERED("say", ""), "yes no ");
}

static void files_are_left_to_the_shell(void **state)
{
    (void)state;
    assert_string_equal(OFFERED("draw", ""), ":files\t ");
    assert_string_equal(OFFERED("draw", "--out", "x"), ":files\t ");
    assert_string_equal(OFFERED("draw", "--out=x"), ":files\t--out= ");
    assert_string_equal(OFFERED("draw", "--set", "data.x=a"), ":files\tdata.x= ");
    assert_string_equal(OFFERED("draw", "--set=node.log=a"), ":files\t--set=node.log= ");
}

static void keys_and_their_values_come_from_the_table(void **state)
{
    (void)state;
    assert_string_equal(OFFERED("draw", "--set", "train.ba"), "train.batch= train.batch_bytes= ");
    assert_string_equal(OFFERED("draw", "--set=train.nest"), "--set=train.nesterov= ");
    assert_string_equal(OFFERED("draw", "--set", "train.nesterov="),
                        "train.nesterov=yes train.nesterov=no ");
    assert_string_equal(OFFERED("draw", "--set", "node.listen=n"), "node.listen=none ");
    assert_string_equal(OFFERED("draw", "--set", "data.context="), "data.context=64 ");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(commands_come_first),
        cmocka_unit_test(options_come_after_a_dash),
        cmocka_unit_test(values_are_what_the_help_lists),
        cmocka_unit_test(files_are_left_to_the_shell),
        cmocka_unit_test(keys_and_their_values_come_from_the_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
