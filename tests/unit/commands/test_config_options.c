/* The options that several commands share. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <getopt.h>

#include "commands/config_options.h"
#include "commands/status/status.h"

#define ARGUMENTS_MAX 8

static struct config_options options;
static struct problem problem;
static bool is_help;

/* Parses the options a, b and c of hearsay status. The words are static, because `options` points
 * to them. */
static enum error parse(const char *a, const char *b, const char *c)
{
    static char words[ARGUMENTS_MAX][256];
    char *argv[ARGUMENTS_MAX] = {words[0]};
    const char *const given[] = {a, b, c};
    int argc = 1;
    (void)strcpy(words[0], "hearsay status");
    for (int i = 0; i < 3 && given[i]; i++, argc++) {
        (void)snprintf(words[argc], sizeof words[argc], "%s", given[i]);
        argv[argc] = words[argc];
    }
    opterr = 0;
    options = (struct config_options){0};
    return command_parse(&status_command, &options, argc, argv, &is_help, &problem);
}

static const char *folder(const char *a, const char *b, const char *c)
{
    static struct config config;
    if (parse(a, b, c) != OK || config_options_read(&config, &options, &problem) != OK)
        fail_msg("%s", problem.text);
    return config.node.state_dir;
}

static void the_state_folder_is_named_or_the_usual_one(void **state)
{
    (void)state;
    assert_string_equal(folder(NULL, NULL, NULL), "state");
    assert_false(options.json);
    assert_string_equal(folder("--state", "/srv/one", "--json"), "/srv/one");
    assert_true(options.json);
    assert_string_equal(folder("--set", "node.state_dir=/srv/two", NULL), "/srv/two");
}

static void a_configuration_names_the_state_folder(void **state)
{
    (void)state;
    char path[] = "/tmp/hearsay-test-XXXXXX";
    char given[64];
    struct config config;
    const int file = mkstemp(path);
    assert_true(file >= 0);
    FILE *out = fdopen(file, "w");
    (void)fprintf(out, "[node]\nstate_dir = /srv/two\n");
    assert_int_equal(fclose(out), 0);
    (void)snprintf(given, sizeof given, "--config=%s", path);
    assert_string_equal(folder(given, NULL, NULL), "/srv/two");
    assert_string_equal(folder(given, "--set=node.state_dir=three", NULL), "three");
    assert_int_equal(remove(path), 0);
    assert_int_equal(parse(given, NULL, NULL), OK);
    assert_int_equal(config_options_read(&config, &options, &problem), MISSING);
}

static void rejects_impossible_options(void **state)
{
    (void)state;
    static const char *const GIVEN[][2] = {{"--state=a", "--state=b"},
                                           {"--state=a", "--config=b"},
                                           {"--config=b", "--state=a"},
                                           {"--state=a", "--set=train.batch=1"}};
    for (size_t i = 0; i < sizeof GIVEN / sizeof GIVEN[0]; i++) {
        assert_int_equal(parse(GIVEN[i][0], GIVEN[i][1], NULL), MALFORMED);
        assert_non_null(strstr(problem.text, "give either --state once, or --config and --set"));
    }
    assert_int_equal(parse("here", NULL, NULL), MALFORMED);
    assert_non_null(strstr(problem.text, "hearsay status takes no argument \"here\""));
    assert_int_equal(parse("--no-such", NULL, NULL), MALFORMED);
    assert_non_null(strstr(problem.text, "see: hearsay status --help"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_state_folder_is_named_or_the_usual_one),
        cmocka_unit_test(a_configuration_names_the_state_folder),
        cmocka_unit_test(rejects_impossible_options),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
