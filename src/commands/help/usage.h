/* The help of a command, taken apart: for the completion of shells and for manual pages, which so
 * say what --help says.
 *
 *   hearsay export [options] DIR: a saved model …          a form, and what it is about
 *   (blank)
 *   Models with the layers of GPT-2 …                      paragraphs
 *   (blank)
 *     --state DIR|FILE   a node's state folder …           options: name, value, help
 *   (blank)
 *   Exit codes: 0 done, 1 failed, 2 wrong usage.           exit codes
 *
 * Held by tests/unit/commands/test_usage.c, and for all commands by tests/process/test_help.sh.
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
    char line[128];  /* "hearsay export [options] DIR" */
    char about[192]; /* "a saved model as …" */
};

struct usage_option {
    char name[USAGE_NAME_BYTES];  /* "--state" */
    char value[USAGE_NAME_BYTES]; /* "DIR|FILE"; "": it has none */
    char help[512];               /* what it is, in one line */
};

struct usage {
    struct usage_form form[USAGE_FORMS_MAX];
    size_t forms;
    struct usage_option option[USAGE_OPTIONS_MAX];
    size_t options;
    char paragraph[USAGE_PARAGRAPHS_MAX][USAGE_TEXT_BYTES]; /* each in one line, or lines as they
                                                               are where they begin with blanks */
    size_t paragraphs;
    char exit_codes[USAGE_TEXT_BYTES]; /* "0 done, …"; "": nothing is said */
};

/* Help texts are ours: one that does not fit is a mistake. */
void usage_parse(struct usage *usage, const char *help);

/* NULL: it has no such option. */
const struct usage_option *usage_find(const struct usage *usage, const char *name);

#endif
