/* A command's table of options. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <getopt.h>

#include "config/command.h"

#define ARGUMENTS_MAX 8

struct options {
    const char *file;
    bool all;
    uint32_t few;
    uint64_t many;
    double real;
    const char *key; /* key and word of the last --size */
    const char *size;
    int operands;
};

static struct options options;
static struct problem problem;
static bool is_help;

static enum error set_size(void *self, const struct command_option *option, const char *word,
                           struct problem *why)
{
    struct options *given = self;
    given->key = option->key;
    given->size = word;
    return word[0] ? OK : problem_set(why, MALFORMED, "no size");
}

static enum error finish(void *self, int count, char **words, struct problem *why)
{
    struct options *given = self;
    given->operands = count;
    return count < 3 ? OK : problem_set(why, TOO_BIG, "\"%s\" is too much", words[2]);
}

static const struct command_option OPTIONS[] = {
    {"--file", "FILE", "a file", .member = offsetof(struct options, file)},
    {"--all", NULL, "everything,\nin two lines", .member = offsetof(struct options, all)},
    {"--few", "N", "some", COMMAND_WHOLE(struct options, few, 1, 1000000)},
    {"--many", "N", "more", COMMAND_WHOLE(struct options, many, 0, UINT64_MAX)},
    {"--real", "X", "a number", COMMAND_REAL(struct options, real, 0, 100)},
    {"--size", "WIDTHxHEIGHT", "its size", .set = set_size, .key = "picture.size"},
    {0}};

static const struct command draw = {
    .name = "draw",
    .forms = {{"hearsay draw FILE", "draws"}, {"hearsay draw --all", "draws\neverything"}},
    .about = "About it.",
    .options = OPTIONS,
    .column = 16,
    .notes = "A note.",
    .exit_codes = "0 drawn,\n1 not.",
    .takes_operands = true,
    .finish = finish,
};
static const struct command plain = {.name = "plain",
                                     .forms = {{"hearsay plain", "is plain"}},
                                     .options = OPTIONS,
                                     .column = 16,
                                     .exit_codes = "0 always."};
static const struct command configured = {
    .options = (const struct command_option[]){
        {"--config", "FILE", "", .member = offsetof(struct options, file)}, {0}}};

/* Parses the arguments, which end with NULL. The words are static, because `options` points to
 * them. */
static enum error parse(const struct command *command, const char *const *given)
{
    static char words[ARGUMENTS_MAX][256];
    char *argv[ARGUMENTS_MAX + 1] = {words[0]};
    int argc = 1;
    (void)strcpy(words[0], "hearsay draw");
    for (; given[argc - 1]; argc++) {
        (void)snprintf(words[argc], sizeof words[argc], "%s", given[argc - 1]);
        argv[argc] = words[argc];
    }
    opterr = 0;
    options = (struct options){0};
    problem.text[0] = 0;
    return command_parse(command, &options, argc, argv, &is_help, &problem);
}

#define PARSE(command, ...) parse(command, (const char *const[]){__VA_ARGS__, NULL})

static void options_set_the_members_of_the_struct(void **state)
{
    (void)state;
    assert_int_equal(PARSE(&draw, "--file", "a", "--few=7", "x", "--file=b", "--all"), OK);
    assert_string_equal(options.file, "b");
    assert_true(options.all);
    assert_int_equal(options.few, 7);
    assert_int_equal(options.operands, 1);
    assert_false(is_help);
    assert_int_equal(PARSE(&draw, "--size", "3x4", "--", "--all"), OK);
    assert_string_equal(options.key, "picture.size");
    assert_string_equal(options.size, "3x4");
    assert_false(options.all);
    assert_int_equal(options.operands, 1);
    assert_int_equal(PARSE(&draw, "--fi", "abbreviated"), OK);
    assert_string_equal(options.file, "abbreviated");
}

static void numbers_are_within_their_bounds(void **state)
{
    (void)state;
    static const struct {
        const char *word;
        uint64_t value;
    } GOOD[] = {{"0", 0}, {"4e5", 400000}, {"18446744073709551615", UINT64_MAX}, {"+7", 7}};
    static const char *const BAD[] = {
        "", "-1", "-1e3", "x", "3x", "1.5", "18446744073709551616", "1e300", "nan", "inf"};
    for (size_t i = 0; i < sizeof GOOD / sizeof *GOOD; i++) {
        assert_int_equal(PARSE(&draw, "--many", GOOD[i].word), OK);
        assert_true(options.many == GOOD[i].value);
    }
    for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++)
        assert_int_equal(PARSE(&draw, "--many", BAD[i]), MALFORMED);
    assert_int_equal(PARSE(&draw, "--few", "1000000"), OK);
    assert_int_equal(options.few, 1000000);
    assert_int_equal(PARSE(&draw, "--few", "1000001"), MALFORMED);
    assert_string_equal(problem.text, "--few 1000001: write a whole number from 1 to 1000000");
    assert_int_equal(PARSE(&draw, "--few", "0"), MALFORMED);
    assert_int_equal(PARSE(&draw, "--real", "99.5"), OK);
    assert_true(options.real == 99.5);
    assert_int_equal(PARSE(&draw, "--real", "100.5"), MALFORMED);
    assert_string_equal(problem.text, "--real 100.5: write a number from 0 to 100");
    assert_int_equal(PARSE(&draw, "--real", "nan"), MALFORMED);
    assert_int_equal(PARSE(&draw, "--real", "-1"), MALFORMED);
    assert_int_equal(PARSE(&draw, "--real", ""), MALFORMED);
}

static void rejects_wrong_usage(void **state)
{
    (void)state;
    static const char *const BAD[] = {"--no-such", "-x", "--f", "--file", "--all=yes"};
    for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++) {
        assert_int_equal(PARSE(&draw, BAD[i]), MALFORMED);
        assert_string_equal(problem.text, "see: hearsay draw --help");
    }
    assert_int_equal(PARSE(&draw, "--flie=a"), MALFORMED);
    assert_string_equal(problem.text, "did you mean --file? see: hearsay draw --help");
    assert_int_equal(PARSE(&draw, "--size="), MALFORMED);
    assert_string_equal(problem.text, "no size");
    assert_int_equal(PARSE(&draw, "a", "b", "c"), TOO_BIG);
    assert_int_equal(PARSE(&plain, "here"), MALFORMED);
    assert_string_equal(problem.text,
                        "hearsay draw takes no argument \"here\"; see: hearsay draw --help");
    assert_int_equal(PARSE(&configured, "here"), MALFORMED);
    assert_string_equal(
        problem.text,
        "hearsay draw takes no argument \"here\"; name a configuration file with --config");
}

static void help_ends_the_parsing(void **state)
{
    (void)state;
    assert_int_equal(PARSE(&draw, "--file=a", "--help", "--no-such"), OK);
    assert_true(is_help);
    assert_int_equal(PARSE(&plain, "here", "-h"), OK);
    assert_true(is_help);
    assert_int_equal(PARSE(&draw, "--no-such", "--help"), MALFORMED);
    assert_false(is_help);
}

static const char *help_of(const struct command *command)
{
    static char text[4096];
    FILE *out = fmemopen(text, sizeof text, "w");
    assert_non_null(out);
    command_help(command, out);
    assert_int_equal(fclose(out), 0);
    return text;
}

static void help_lists_the_table(void **state)
{
    (void)state;
    assert_string_equal(help_of(&draw), "hearsay draw FILE: draws\n"
                                        "hearsay draw --all: draws\n"
                                        "everything\n"
                                        "\n"
                                        "About it.\n"
                                        "\n"
                                        "  --file FILE   a file\n"
                                        "  --all         everything,\n"
                                        "                in two lines\n"
                                        "  --few N       some\n"
                                        "  --many N      more\n"
                                        "  --real X      a number\n"
                                        "  --size WIDTHxHEIGHT\n"
                                        "                its size\n"
                                        "  --help        print this help\n"
                                        "\n"
                                        "A note.\n"
                                        "Exit codes: 0 drawn,\n"
                                        "1 not.\n");
    assert_non_null(strstr(help_of(&plain), "hearsay plain: is plain\n\n  --file FILE"));
    assert_non_null(
        strstr(help_of(&plain), "  --help        print this help\n\nExit codes: 0 always.\n"));
}

static void options_and_commands_are_found(void **state)
{
    (void)state;
    static const struct command *const COMMANDS[] = {&draw, &plain};
    const struct command_table table = {COMMANDS, 2};
    assert_ptr_equal(command_find(&table, "plain"), &plain);
    assert_null(command_find(&table, "dra"));
    assert_ptr_equal(command_option_find(&draw, "--few"), &OPTIONS[2]);
    assert_string_equal(command_option_find(&draw, "--help")->help, "print this help");
    assert_null(command_option_find(&draw, "--f"));
    assert_string_equal(command_option_at(&draw, 6)->name, "--help");
    assert_null(command_option_at(&draw, 7));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(options_set_the_members_of_the_struct),
        cmocka_unit_test(numbers_are_within_their_bounds),
        cmocka_unit_test(rejects_wrong_usage),
        cmocka_unit_test(help_ends_the_parsing),
        cmocka_unit_test(help_lists_the_table),
        cmocka_unit_test(options_and_commands_are_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
