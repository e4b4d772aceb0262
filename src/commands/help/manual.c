#include "commands/help/manual.h"

#include <errno.h>
#include <string.h>

#include "base/memory.h"
#include "commands/help/exit_codes.h"
#include "commands/help/roff.h"
#include "config/config_allowed.h"

#define CONFIG_PAGE "node.conf"
#define TEXT_BYTES  1200

static void print_see_also(FILE *out, const char *name)
{
    roff_heading(out, "SEE ALSO");
    if (name[0])
        (void)fputs(".BR hearsay (1),\n", out);
    (void)fputs(".BR hearsay\\-node (1),\n", out);
    (void)fputs(".BR hearsay\\-node.conf (5)\n", out);
}

/* Prints paragraphs. Paragraphs that begin with a blank are examples, whose lines are kept. */
static void print_paragraphs(FILE *out, const char *text, bool is_first)
{
    while (*text) {
        const char *end = strstr(text, "\n\n");
        const size_t bytes = end ? (size_t)(end - text) : strlen(text);
        char paragraph[TEXT_BYTES];
        CHECK(bytes + 1 < sizeof paragraph);
        (void)snprintf(paragraph, sizeof paragraph, "%.*s\n", (int)bytes, text);
        if (text[0] != ' ' && !is_first)
            (void)fputs(".PP\n", out);
        (text[0] == ' ' ? roff_example : roff_text)(out, paragraph);
        is_first = false;
        text += bytes + (end ? 2 : 0);
    }
}

static void print_command(FILE *out, const struct command *command)
{
    const struct command_option *option;
    char name[COMMAND_TITLE_BYTES];
    (void)snprintf(name, sizeof name, "hearsay-%s", command->name);
    roff_title(out, name, 1);
    roff_heading(out, "NAME");
    char line[TEXT_BYTES];
    (void)snprintf(line, sizeof line, "%s - %s", name, command->summary);
    roff_text(out, line);
    roff_heading(out, "SYNOPSIS");
    for (size_t i = 0; i < COMMAND_FORMS_MAX && command->forms[i].line; i++)
        roff_item(out, command->forms[i].line, "", command->forms[i].about);
    roff_heading(out, "DESCRIPTION");
    if (command->about)
        print_paragraphs(out, command->about, true);
    if (command->notes)
        print_paragraphs(out, command->notes, !command->about);
    if (!command->about && !command->notes)
        roff_text(out, command->forms[0].about);
    roff_heading(out, "OPTIONS");
    for (size_t i = 0; (option = command_option_at(command, i)); i++)
        roff_item(out, option->name, option->value ? option->value : "", option->help);
    roff_heading(out, "EXIT STATUS");
    roff_text(out, command->exit_codes);
    print_see_also(out, command->name);
}

static void print_overview(FILE *out, const struct command_table *table)
{
    roff_title(out, "hearsay", 1);
    roff_heading(out, "NAME");
    roff_text(out, "hearsay - trains one model on many machines by encrypted gossip");
    roff_heading(out, "SYNOPSIS");
    (void)fputs(".B hearsay\n.I COMMAND\n[options]\n", out);
    roff_heading(out, "DESCRIPTION");
    roff_text(
        out,
        "Each machine runs one node: it keeps a full copy of the model, trains on its own "
        "data, gossips its progress to other nodes in compressed and encrypted form, and never "
        "waits for another node. At the end all nodes hold the same model, bit for bit.");
    roff_heading(out, "COMMANDS");
    for (size_t i = 0; i < table->count; i++)
        roff_item(out, table->command[i]->name, "", table->command[i]->summary);
    roff_item(out, "help", "COMMAND", "help on a command; exit-codes: meaning of the exit codes");
    (void)fputs(".PP\nEach has a page of its own, such as\n.BR hearsay\\-node (1).\n", out);
    roff_heading(out, "EXIT STATUS");
    for (size_t i = 0; exit_code_at(i); i++)
        roff_item(out, exit_code_at(i)->code, "", exit_code_at(i)->meaning);
    print_see_also(out, "");
}

static void print_key(FILE *out, const struct config_key *key)
{
    char text[TEXT_BYTES];
    (void)snprintf(text, sizeof text, "%s%s", key->help,
                   key->shared == CONFIG_SAME ? " Must be equal on all nodes of a swarm." : "");
    roff_item(out, key->name, "", text);
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
              "written with K, M or G, powers of 1024. A node reads the file with --config. Single "
              "keys with --set SECTION.NAME=VALUE override it. To print the result: hearsay node "
              "--config FILE --print-config.");
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

/* command: NULL = the overview, hearsay(1). */
static void print_page(FILE *out, const struct command_table *table, const struct command *command)
{
    if (command)
        print_command(out, command);
    else
        print_overview(out, table);
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
    const struct command *command = i > 0 && i <= table->count ? table->command[i - 1] : NULL;
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
            return command_complain(&problem, 1);
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
        (void)problem_set(
            &problem, MALFORMED,
            "there is no page \"%.80s\": name a command (hearsay --help), or node.conf", name);
        return command_complain(&problem, 2);
    } else {
        print_page(stdout, table, command);
    }
    return 0;
}

struct options {
    const char *dir;  /* folder for all pages; NULL = print one */
    const char *name; /* name of the command or page; NULL = the overview */
};

static enum error finish(void *self, int count, char **words, struct problem *problem)
{
    struct options *options = self;
    if (count > (options->dir ? 0 : 1))
        return problem_set(problem, MALFORMED,
                           "give one COMMAND, or --all; see: hearsay manual --help");
    options->name = words[0];
    return OK;
}

static int run(const struct command_table *all, int argc, char **argv)
{
    struct options options = {0};
    const int code = command_read(&manual_command, &options, argc, argv);
    if (code != COMMAND_RUNS)
        return code;
    return options.dir ? write_all(options.dir, all) : print_one(all, options.name);
}

const struct command manual_command = {
    .name = "manual",
    .summary = "a page for man, of a command or of the configuration",
    .forms = {{"hearsay manual [options] [COMMAND]", "a page for man"}},
    .about = "Prints the page of a command, of the configuration (node.conf), or an overview. The "
             "pages\nare installed with the program (man hearsay, man hearsay-node, man "
             "hearsay-node.conf). To\nread one without installing it:\n"
             "\n"
             "  hearsay manual eval | man -l -",
    .options = (const struct command_option[]){{"--all", "DIR",
                                                "write all pages into this existing folder",
                                                .member = offsetof(struct options, dir)},
                                               {0}},
    .column = 21,
    .exit_codes = "0 printed, 1 a page cannot be written, 2 wrong usage.",
    .takes_operands = true,
    .finish = finish,
    .run_on_all = run,
};
