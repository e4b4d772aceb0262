#include "commands/help/manual.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "commands/config_options.h"
#include "commands/help/exit_codes.h"
#include "commands/help/roff.h"
#include "commands/help/usage.h"
#include "config/config_allowed.h"

#define CONFIG_PAGE "node.conf"

static const char usage_text[] =
    "hearsay manual [options] [COMMAND]: a page for man\n"
    "\n"
    "Of a command, of the file of a node's keys (node.conf), or without a name of all. They are\n"
    "installed with the program (man hearsay, man hearsay-node, man hearsay-node.conf); where\n"
    "they are not:\n"
    "\n"
    "  hearsay manual eval | man -l -\n"
    "\n"
    "  --all DIR          write all pages into this folder, which is there\n"
    "  --help             print this\n"
    "\n"
    "Exit codes: 0 printed, 1 a page cannot be written, 2 wrong usage.\n";

static void print_see_also(FILE *out, const char *name)
{
    roff_heading(out, "SEE ALSO");
    if (name[0])
        (void)fputs(".BR hearsay (1),\n", out);
    (void)fputs(".BR hearsay\\-node (1),\n", out);
    (void)fputs(".BR hearsay\\-node.conf (5)\n", out);
}

static void print_paragraph(FILE *out, const char *text, bool is_first)
{
    if (text[0] == 0)
        return;
    if (text[0] == ' ') {
        roff_example(out, text);
        return;
    }
    if (!is_first)
        (void)fputs(".PP\n", out);
    roff_text(out, text);
}

static void print_command(FILE *out, const struct command *command, const struct usage *usage)
{
    char name[COMMAND_TITLE_BYTES];
    (void)snprintf(name, sizeof name, "hearsay-%s", command->name);
    roff_title(out, name, 1);
    roff_heading(out, "NAME");
    char line[2 * COMMAND_TITLE_BYTES + USAGE_TEXT_BYTES];
    (void)snprintf(line, sizeof line, "%s - %s", name, command->summary);
    roff_text(out, line);
    roff_heading(out, "SYNOPSIS");
    for (size_t i = 0; i < usage->forms; i++)
        roff_item(out, usage->form[i].line, "", usage->form[i].about);
    roff_heading(out, "DESCRIPTION");
    if (usage->paragraphs == 0)
        roff_text(out, usage->form[0].about);
    for (size_t i = 0; i < usage->paragraphs; i++)
        print_paragraph(out, usage->paragraph[i], i == 0);
    if (usage->options > 0)
        roff_heading(out, "OPTIONS");
    for (size_t i = 0; i < usage->options; i++)
        roff_item(out, usage->option[i].name, usage->option[i].value, usage->option[i].help);
    if (usage->exit_codes[0]) {
        roff_heading(out, "EXIT STATUS");
        roff_text(out, usage->exit_codes);
    }
    print_see_also(out, command->name);
}

static void print_overview(FILE *out, const struct command_table *table)
{
    char name[COMMAND_TITLE_BYTES];
    roff_title(out, "hearsay", 1);
    roff_heading(out, "NAME");
    roff_text(out, "hearsay - trains one model on many machines by encrypted gossip");
    roff_heading(out, "SYNOPSIS");
    (void)fputs(".B hearsay\n.I COMMAND\n[options]\n", out);
    roff_heading(out, "DESCRIPTION");
    roff_text(out,
              "Each machine runs one node: it keeps a full copy of the model, trains on its own "
              "data, gossips its progress to the others in compressed and encrypted form, and "
              "never waits for anybody. At the end all nodes hold the same model, bit for bit.");
    roff_heading(out, "COMMANDS");
    for (size_t i = 0; i < table->count; i++) {
        (void)snprintf(name, sizeof name, "%s", table->command[i].name);
        roff_item(out, name, "", table->command[i].summary);
    }
    roff_item(out, "help", "COMMAND", "what a command can do; exit-codes: how they end");
    (void)fputs(".PP\nEach has a page of its own, such as\n.BR hearsay\\-node (1).\n", out);
    roff_heading(out, "EXIT STATUS");
    for (size_t i = 0; exit_code_at(i); i++)
        roff_item(out, exit_code_at(i)->code, "", exit_code_at(i)->meaning);
    print_see_also(out, "");
}

static void print_key(FILE *out, const struct config_key *key)
{
    char name[USAGE_NAME_BYTES], text[USAGE_TEXT_BYTES];
    (void)snprintf(name, sizeof name, "%s", key->name);
    (void)snprintf(text, sizeof text, "%s%s", key->help,
                   key->shared == CONFIG_SAME ? " The same on all nodes of a swarm." : "");
    roff_item(out, name, "", text);
    (void)fputs(".br\n", out);
    (void)snprintf(text, sizeof text, "Default: %s; allowed: %s.",
                   key->initial[0] ? key->initial : "empty", config_allowed_of(key).text);
    roff_text(out, text);
}

static void print_config(FILE *out)
{
    char heading[COMMAND_TITLE_BYTES];
    roff_title(out, "hearsay-node.conf", 5);
    roff_heading(out, "NAME");
    roff_text(out, "hearsay-node.conf - the configuration of a node");
    roff_heading(out, "DESCRIPTION");
    roff_text(out,
              "Sections in brackets, and in them lines NAME = VALUE; a line that begins with # is "
              "a comment. Every key has a default, so any line may be left out. Sizes may be "
              "written with K, M or G, powers of 1024. A node is given the file with --config, "
              "and single keys, which win, with --set SECTION.NAME=VALUE. What it comes to: "
              "hearsay node --config FILE --print-config.");
    for (size_t i = 0; i < config_key_count(); i++) {
        const struct config_key *key = config_key_at(i);
        if (i == 0 || strcmp(config_key_at(i - 1)->section, key->section) != 0) {
            (void)snprintf(heading, sizeof heading, "[%s]", key->section);
            roff_heading(out, heading);
        }
        print_key(out, key);
    }
    roff_heading(out, "SEE ALSO");
    (void)fputs(".BR hearsay (1),\n.BR hearsay\\-node (1)\n", out);
}

/* Prints the man page of a command. NULL: the overview, hearsay(1). */
static void print_page(FILE *out, const struct command_table *table, const struct command *command)
{
    if (!command) {
        print_overview(out, table);
        return;
    }
    struct usage *usage = memory_new(1, sizeof *usage);
    char *help = command_help(command);
    usage_parse(usage, help);
    print_command(out, command, usage);
    free(usage);
    free(help);
}

static FILE *open_page(const char *dir, const char *name)
{
    char path[4096];
    (void)snprintf(path, sizeof path, "%s/%s", dir, name);
    return fopen(path, "we");
}

static bool close_page(FILE *out)
{
    const bool is_written = fflush(out) == 0 && !ferror(out);
    return fclose(out) == 0 && is_written;
}

/* Writes man page number i: 0 is the overview, 1 to count are the commands, the last one describes
 * the configuration. */
static bool write_page(const char *dir, const struct command_table *table, size_t i)
{
    char name[COMMAND_TITLE_BYTES];
    const struct command *command = i > 0 && i <= table->count ? &table->command[i - 1] : NULL;
    if (i > table->count)
        (void)snprintf(name, sizeof name, "hearsay-%s.5", CONFIG_PAGE);
    else
        (void)snprintf(name, sizeof name, "hearsay%s%s.1", command ? "-" : "",
                       command ? command->name : "");
    FILE *out = open_page(dir, name);
    if (!out)
        return false;
    if (i > table->count)
        print_config(out);
    else
        print_page(out, table, command);
    return close_page(out);
}

static int write_all(const char *dir, const struct command_table *table)
{
    struct problem problem;
    for (size_t i = 0; i <= table->count + 1; i++)
        if (!write_page(dir, table, i)) {
            (void)problem_set(&problem, FAILED, "cannot write a page into %.300s: %s", dir,
                              strerror(errno));
            return config_options_complain(&problem, 1);
        }
    return 0;
}

static int print_one(const struct command_table *table, const char *name)
{
    struct problem problem;
    const struct command *command = name ? command_find(table, name) : NULL;
    if (name && strcmp(name, CONFIG_PAGE) == 0) {
        print_config(stdout);
    } else if (name && !command) {
        (void)problem_set(&problem, MALFORMED,
                          "no page of \"%.80s\": name a command (hearsay --help), or node.conf",
                          name);
        return config_options_complain(&problem, 2);
    } else {
        print_page(stdout, table, command);
    }
    return 0;
}

int manual_run(const struct command_table *table, int argc, char **argv)
{
    static const struct option known[] = {{"all", required_argument, NULL, 'a'},
                                          {"help", no_argument, NULL, 'h'},
                                          {NULL, 0, NULL, 0}};
    struct problem problem;
    const char *dir = NULL;
    int option;
    while ((option = getopt_long(argc, argv, "h", known, NULL)) != -1) {
        if (option == 'h') {
            (void)fputs(usage_text, stdout);
            return 0;
        }
        if (option != 'a') {
            (void)problem_set(&problem, MALFORMED, "see: %s --help", argv[0]);
            return config_options_complain(&problem, 2);
        }
        dir = optarg;
    }
    if (argc - optind > (dir ? 0 : 1)) {
        (void)problem_set(&problem, MALFORMED, "one COMMAND, or --all; see: %s --help", argv[0]);
        return config_options_complain(&problem, 2);
    }
    return dir ? write_all(dir, table) : print_one(table, optind < argc ? argv[optind] : NULL);
}
