/* Parsing the help of a command. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "commands/help/usage.h"

static struct usage usage;

static void forms_options_and_paragraphs_are_told_apart(void **state)
{
    (void)state;
    usage_parse(&usage, "hearsay x [options] FILE: does this\n"
                        "hearsay x --all: does that, as long as\n"
                        "it takes\n"
                        "\n"
                        "FILE is a file\n"
                        "of some kind.\n"
                        "\n"
                        "  --set SECTION.KEY=VALUE sets it\n"
                        "  --long NAME\n"
                        "                     a or b (default a):\n"
                        "                     in two lines\n"
                        "  --all              everything\n"
                        "\n"
                        "  an example\n"
                        "  of two lines\n"
                        "\n"
                        "The end. Exit codes: 0 done,\n"
                        "1 failed.\n");
    assert_int_equal(usage.forms, 2);
    assert_string_equal(usage.form[0].line, "hearsay x [options] FILE");
    assert_string_equal(usage.form[0].about, "does this");
    assert_string_equal(usage.form[1].about, "does that, as long as it takes");
    assert_int_equal(usage.options, 3);
    assert_string_equal(usage.option[0].value, "SECTION.KEY=VALUE");
    assert_string_equal(usage.option[0].help, "sets it");
    assert_string_equal(usage.option[1].help, "a or b (default a): in two lines");
    assert_string_equal(usage.option[2].value, "");
    assert_int_equal(usage.paragraphs, 3);
    assert_string_equal(usage.paragraph[0], "FILE is a file of some kind.");
    assert_string_equal(usage.paragraph[1], "  an example\n  of two lines\n");
    assert_string_equal(usage.paragraph[2], "The end.");
    assert_string_equal(usage.exit_codes, "0 done, 1 failed.");
}

static void an_option_is_found_by_its_name(void **state)
{
    (void)state;
    usage_parse(&usage, "hearsay x: y\n\n  --a FILE   b\n");
    assert_string_equal(usage_find(&usage, "--a")->help, "b");
    assert_null(usage_find(&usage, "--b"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(forms_options_and_paragraphs_are_told_apart),
        cmocka_unit_test(an_option_is_found_by_its_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
