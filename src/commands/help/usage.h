/* Parses a command's --help text for shell completion and manual pages, so that these match it.
 *
 *   hearsay export [options] DIR: a saved model …          a form and its purpose
 *   (blank)
 *   Models with the layers of GPT-2 …                      paragraphs
 *   (blank)
 *     --state DIR|FILE   a node's state folder …           options: name, value, help
 *   (blank)
 *   Exit codes: 0 done, 1 failed, 2 wrong usage.           exit codes
 *
 * Tests: tests/unit/commands/test_usage.c, and for all commands by tests/process/test_help.sh.
 */
#ifndef HEARSAY_COMMANDS_HELP_USAGE_H
#define HEARSAY_COMMANDS_HELP_USAGE_H

#include <stdbool.h>
#include <stddef.h>

#define USAGE_FORMS_MAX      4
#define USAGE_OPTIONS_MAX    32
#define USAGE_PARAGRAPHS_MAX 12
#define USAGE_TEXT_BYTES     1200
#define USAGE_NAME_BYTES     32

struct usage_form {
    char line[128];  /* form of the command, such as "hearsay export [options] DIR" */
    char about[192]; /* purpose of the form, such as "a saved model as …" */
};

struct usage_option {
    char name[USAGE_NAME_BYTES]; /* name of the option, such as "--state" */
    /* Name of the option's value, such as "DIR|FILE"; "" = no value. */
    char value[USAGE_NAME_BYTES];
    char help[512]; /* description of the option, in one line */
};

struct usage {
    struct usage_form form[USAGE_FORMS_MAX];
    size_t forms;
    struct usage_option option[USAGE_OPTIONS_MAX];
    size_t options;
    /* Each paragraph as one line. Lines of an example, which begin with blanks, stay separate. */
    char paragraph[USAGE_PARAGRAPHS_MAX][USAGE_TEXT_BYTES];
    size_t paragraphs;
    char exit_codes[USAGE_TEXT_BYTES]; /* exit codes, such as "0 done, …"; "" = none given */
};

/* Parses a help text. A text that exceeds the limits is a bug in the program (CHECK). */
void usage_parse(struct usage *usage, const char *help);

/* Returns the option of this name; NULL if there is none. */
const struct usage_option *usage_find(const struct usage *usage, const char *name);

#endif
