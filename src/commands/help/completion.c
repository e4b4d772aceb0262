#include "commands/help/completion.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "commands/help/completion_script.h"
#include "commands/help/exit_codes.h"
#include "config/config_key.h"

#define WORD_BYTES 128

struct asked {
    FILE *out;
    const char *typed;       /* beginning of the word to complete */
    char before[WORD_BYTES]; /* text in front of each candidate, such as "--set=" */
};

static void offer(const struct asked *asked, const char *word, const char *help)
{
    char whole[2 * WORD_BYTES];
    (void)snprintf(whole, sizeof whole, "%s%s", asked->before, word);
    if (strncmp(whole, asked->typed, strlen(asked->typed)) != 0)
        return;
    (void)fprintf(asked->out, "%s\t", whole);
    for (; *help; help++)
        (void)fputc(*help == '\n' ? ' ' : *help, asked->out);
    (void)fputc('\n', asked->out);
}

static void offer_files(const struct asked *asked)
{
    (void)fprintf(asked->out, ":files\t%s\n", asked->before);
}

/* words: a list such as "a|b|c". */
static void offer_words(const struct asked *asked, const char *words)
{
    while (*words) {
        char word[WORD_BYTES];
        const size_t bytes = strcspn(words, "|");
        (void)snprintf(word, sizeof word, "%.*s", (int)bytes, words);
        offer(asked, word, "");
        words += bytes + (words[bytes] == '|');
    }
}

/* Offers values of a configuration key, after its "=" was typed. */
static void offer_value(struct asked *asked, const struct config_key *key)
{
    const size_t used = strlen(asked->before);
    (void)snprintf(asked->before + used, sizeof asked->before - used, "%s.%s=", key->section,
                   key->name);
    if (key->type == CONFIG_PATH || config_key_lists_files(key))
        offer_files(asked);
    else if (key->type == CONFIG_BOOL)
        offer_words(asked, "yes|no");
    else if (key->words && key->words[0])
        offer_words(asked, key->words);
    else
        offer(asked, key->initial, "the default");
}

/* Offers completions of a --set argument, "SECTION.KEY=VALUE". */
static void offer_setting(struct asked *asked)
{
    char word[WORD_BYTES];
    const char *typed = asked->typed + strlen(asked->before);
    for (size_t i = 0; i < config_key_count(); i++) {
        const struct config_key *key = config_key_at(i);
        const int bytes = snprintf(word, sizeof word, "%s.%s=", key->section, key->name);
        if (strncmp(typed, word, (size_t)bytes) == 0) {
            offer_value(asked, key);
            return;
        }
    }
    for (size_t i = 0; i < config_key_count(); i++) {
        const struct config_key *key = config_key_at(i);
        (void)snprintf(word, sizeof word, "%s.%s=", key->section, key->name);
        offer(asked, word, key->help);
    }
}

static bool is_in_word(char c)
{
    return islower((unsigned char)c) || isdigit((unsigned char)c) || c == '-' || c == '_';
}

/* Offers the words that an option's help lists at its beginning: "idx, npy or xor (default …)". */
static void offer_listed(const struct asked *asked, const char *help)
{
    bool is_list = false;
    for (;;) {
        char word[WORD_BYTES];
        size_t bytes = 0;
        while (is_in_word(help[bytes]))
            bytes++;
        (void)snprintf(word, sizeof word, "%.*s", (int)bytes, help);
        help += bytes;
        const bool goes_on = strncmp(help, ", ", 2) == 0 || strncmp(help, " or ", 4) == 0;
        if (bytes == 0 || strcmp(word, "or") == 0 || (!goes_on && !is_list))
            return; /* the help text does not begin with a list of words */
        offer(asked, word, "");
        if (!goes_on)
            return;
        is_list = true;
        help += help[0] == ',' ? 2 : 4;
    }
}

static bool has(const char *text, const char *part)
{
    return strstr(text, part) != NULL;
}

static void offer_value_of(struct asked *asked, const struct command_option *option)
{
    if (has(option->value, "KEY=VALUE"))
        offer_setting(asked);
    else if (has(option->value, "FILE") || has(option->value, "DIR"))
        offer_files(asked);
    else
        offer_listed(asked, option->help);
}

/* Offers the operands that the command's usage lines name: words, or files. */
static void offer_arguments(const struct asked *asked, const struct command *command)
{
    bool has_files = false;
    for (size_t i = 0; i < COMMAND_FORMS_MAX && command->forms[i].line; i++) {
        const char *line = command->forms[i].line;
        const char *word = strrchr(line, ' ');
        has_files = has_files || has(line, "FILE") || has(line, "DIR") || has(line, "SCENARIO");
        if (word && has(word, "|") && islower((unsigned char)word[1]))
            offer_words(asked, word + 1);
    }
    if (has_files)
        offer_files(asked);
}

static void offer_options(const struct asked *asked, const struct command *command)
{
    for (size_t i = 0; command_option_at(command, i); i++)
        offer(asked, command_option_at(command, i)->name, command_option_at(command, i)->help);
}

static void offer_commands(const struct asked *asked, const struct command_table *table)
{
    for (size_t i = 0; i < table->count; i++)
        offer(asked, table->command[i]->name, table->command[i]->summary);
}

/* Offers completions of the current word. last: the word before it. */
static void answer_for(struct asked *asked, const struct command *command, const char *last)
{
    const struct command_option *option = command_option_find(command, last);
    const char *equals = strchr(asked->typed, '=');
    if (option && option->value) {
        offer_value_of(asked, option);
    } else if (strncmp(asked->typed, "--", 2) == 0 && equals) {
        char name[WORD_BYTES];
        (void)snprintf(name, sizeof name, "%.*s", (int)(equals - asked->typed), asked->typed);
        (void)snprintf(asked->before, sizeof asked->before, "%.*s",
                       (int)(equals - asked->typed) + 1, asked->typed);
        option = command_option_find(command, name);
        if (option && option->value)
            offer_value_of(asked, option);
    } else if (asked->typed[0] == '-') {
        offer_options(asked, command);
    } else {
        offer_arguments(asked, command);
    }
}

void completion_answer(FILE *out, const struct command_table *table, int count,
                       const char *const *words)
{
    struct asked asked = {.out = out, .typed = count > 0 ? words[count - 1] : ""};
    if (count <= 1 || (count == 2 && strcmp(words[0], "help") == 0)) {
        offer_commands(&asked, table);
        if (count == 2)
            offer(&asked, EXIT_CODES_TOPIC, "meaning of the exit codes");
        if (count <= 1) {
            offer(&asked, "help", "help on a command");
            offer(&asked, "--help", "all commands");
            offer(&asked, "--version", "version, and usable computing devices");
        }
        return;
    }
    const struct command *command = command_find(table, words[0]);
    if (command)
        answer_for(&asked, command, words[count - 2]);
}

static enum error finish(void *script, int count, char **words, struct problem *problem)
{
    *(const char **)script = count == 1 ? completion_script(words[0]) : NULL;
    return *(const char **)script
               ? OK
               : problem_set(problem, MALFORMED,
                             "name a shell: bash, zsh or fish; see: hearsay completion --help");
}

static int run(const struct command_table *all, int argc, char **argv)
{
    const char *script;
    if (argc > 1 && strcmp(argv[1], COMPLETION_ASK) == 0) {
        completion_answer(stdout, all, argc - 2, (const char *const *)argv + 2);
        return 0;
    }
    const int code = command_read(&completion_command, &script, argc, argv);
    if (code != COMMAND_RUNS)
        return code;
    (void)fputs(script, stdout);
    return 0;
}

const struct command completion_command = {
    .name = "completion",
    .summary = "print a completion script for bash, zsh or fish",
    .forms = {{"hearsay completion bash|zsh|fish", "print a completion script for a shell"}},
    .about = "cmake --install puts the script where shells look for it. To try it:\n"
             "\n"
             "  source <(hearsay completion bash)\n"
             "  source <(hearsay completion zsh)\n"
             "  hearsay completion fish | source",
    .options = (const struct command_option[]){{0}},
    .column = 21,
    .notes = "The script completes commands, options, configuration keys after --set, and files. "
             "It\nasks the program for them.",
    .exit_codes = "0 printed, 2 wrong usage.",
    .takes_operands = true,
    .finish = finish,
    .run_on_all = run,
};
