#include "commands/help/command.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"

const struct command *command_find(const struct command_table *table, const char *name)
{
    for (size_t i = 0; i < table->count; i++)
        if (strcmp(table->command[i].name, name) == 0)
            return &table->command[i];
    return NULL;
}

/* Captures the help that a command prints to stdout, by redirecting stdout as glibc's manual allows
 * ("Standard Streams"). So terminal, completion and manual pages share one text. */
char *command_help(const struct command *command)
{
    char title[COMMAND_TITLE_BYTES], option[] = "--help", *argv[] = {title, option, NULL};
    char *text = NULL;
    size_t bytes = 0;
    FILE *const usual = stdout, *const out = open_memstream(&text, &bytes);
    if (!out)
        memory_missing(BUFSIZ);
    (void)snprintf(title, sizeof title, "hearsay %s", command->name);
    optind = 0; /* restarts glibc's getopt */
    stdout = out;
    const int code = command->run(2, argv);
    stdout = usual;
    CHECK(fclose(out) == 0 && code == 0);
    return text;
}
