/* A command of the program and its options, as one table.
 *
 *   struct command ─┬─ argv ─► command_read ─► the command's struct, or a message and an exit code
 *                   ├─► command_help: --help
 *                   └─► completions and man pages (commands/help)
 *
 * Each command has --help and -h. Tests: tests/unit/config/test_command.c.
 */
#ifndef HEARSAY_CONFIG_COMMAND_H
#define HEARSAY_CONFIG_COMMAND_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"

#define COMMAND_TITLE_BYTES 32
#define COMMAND_FORMS_MAX   2
#define COMMAND_OPTIONS_MAX 32
#define COMMAND_RUNS        (-1) /* result of command_read: the command may run */

struct command_table;

struct command_option {
    const char *name;  /* name with its dashes, such as "--state" */
    const char *value; /* shown for the value, such as "DIR|FILE"; NULL = a flag */
    const char *help;  /* a line feed begins a new line in --help */
    size_t member;     /* offset in the command's struct */
    /* Sets the member. The word belongs to argv. NULL: stores the word (const char *), or true
     * (bool) for a flag. */
    enum error (*set)(void *member, const struct command_option *option, const char *word,
                      struct problem *problem);
    uint64_t low, high; /* bounds of a number */
    size_t bytes;       /* size of a whole number: 4 or 8 */
    const char *key;    /* configuration key that the option sets, such as "data.dir" */
};

/* Initialize an option whose value is a double (COMMAND_REAL) or a whole number of 4 or 8 bytes. */
#define COMMAND_REAL(type, name, lowest, highest)                                                  \
    .member = offsetof(type, name), .set = command_set_real, .low = (lowest), .high = (highest)
#define COMMAND_WHOLE(type, name, lowest, highest)                                                 \
    .member = offsetof(type, name), .bytes = sizeof((type *)NULL)->name, .set = command_set_whole, \
    .low = (lowest), .high = (highest)

/* Checks at compile time that `name` is the first member of a command's struct. Options that
 * several commands share are stored by their offset in this member. */
#define COMMAND_BEGINS_WITH(type, name)                                                            \
    _Static_assert(offsetof(type, name) == 0, "shared options are set by offset")

struct command_form {
    const char *line; /* such as "hearsay export [options] DIR" */
    const char *about;
};

struct command {
    const char *name;
    const char *summary;
    struct command_form forms[COMMAND_FORMS_MAX];
    const char *about;                    /* paragraphs before the options; NULL = none */
    const struct command_option *options; /* own options; the last entry has no name */
    int column;                           /* column of the options' descriptions in --help */
    const char *notes;                    /* paragraphs after the options; NULL = none */
    const char *exit_codes;               /* such as "0 done, 1 failed." */
    bool takes_operands;
    /* Checks the options that were given, and takes the operands, which belong to argv. NULL = all
     * options are valid together. */
    enum error (*finish)(void *self, int count, char **operands, struct problem *problem);
    /* Runs the command. argv[0] is "hearsay COMMAND", for messages. Returns the exit code. NULL =
     * run_on_all runs the command, or it is a command of hearsay-sim. */
    int (*run)(int argc, char **argv);
    /* Used instead of `run` for a command that describes all commands, such as completions;
     * `run` is then NULL. Returns the exit code. */
    int (*run_on_all)(const struct command_table *all, int argc, char **argv);
};

struct command_table {
    const struct command *const *command; /* [count] */
    size_t count;
};

const struct command *command_find(const struct command_table *table, const char *name);

/* Returns option i; the last option is --help. Returns NULL after it. */
const struct command_option *command_option_at(const struct command *command, size_t i);

/* Returns NULL if no option has this name, which includes its dashes. */
const struct command_option *command_option_find(const struct command *command, const char *name);

/* Sets the options in the command's struct `self`. Sets *is_help and stops at --help. MALFORMED:
 * wrong usage. */
enum error command_parse(const struct command *command, void *self, int argc, char **argv,
                         bool *is_help, struct problem *problem) MUST_USE;

/* Parses, then prints the help if requested, or the problem. Returns COMMAND_RUNS, or the exit code
 * with which the command ends. */
int command_read(const struct command *command, void *self, int argc, char **argv) MUST_USE;

/* Prints the problem to standard error and returns `code`. */
int command_complain(const struct problem *problem, int code);

/* Flushes standard output at the end of a program. Returns the exit code, `code`. If the output
 * could not be written, prints a message and turns 0 into 1. */
int command_end(int code);

void command_help(const struct command *command, FILE *out);

/* Return MALFORMED unless the word is a number within the bounds of the option. */
enum error command_set_whole(void *member, const struct command_option *option, const char *word,
                             struct problem *problem);
enum error command_set_real(void *member, const struct command_option *option, const char *word,
                            struct problem *problem);

#endif
