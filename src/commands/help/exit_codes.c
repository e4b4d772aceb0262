#include "commands/help/exit_codes.h"

#include <string.h>

#define COLUMNS 96
#define INDENT  14

static const struct exit_code CODES[] = {
    {"0", "done, or the tested condition holds"},
    {"1", "failed, or the tested condition does not hold; standard error has the reason"},
    {"2", "wrong usage or configuration; change the command"},
    {"3", "node: no peer accepted it; status: the node answers but is not ready"},
    {"4", "node: the operator, a proof or votes expelled it"},
    {"5", "node: no member admits it"},
    {"6", "node: another process runs with its identity key"},
    {"128 + N", "signal N ended it, such as 130 after Ctrl+C; 134: a defect, which it prints"},
};

const struct exit_code *exit_code_at(size_t i)
{
    return i < sizeof CODES / sizeof *CODES ? &CODES[i] : NULL;
}

/* Prints text in lines of limited length, with all lines except the first indented. */
static void print_folded(FILE *out, const char *text)
{
    size_t at = INDENT;
    while (*text) {
        const size_t word = strcspn(text, " \n");
        if (at > INDENT && at + 1 + word > COLUMNS) {
            (void)fprintf(out, "\n%*s", INDENT, "");
            at = INDENT;
        } else if (at > INDENT) {
            (void)fputc(' ', out);
            at++;
        }
        (void)fprintf(out, "%.*s", (int)word, text);
        at += word;
        text += word + strspn(text + word, " \n");
    }
    (void)fputc('\n', out);
}

void exit_codes_print(FILE *out, const struct command_table *table)
{
    (void)fputs("The exit codes of all commands:\n\n", out);
    for (size_t i = 0; exit_code_at(i); i++)
        (void)fprintf(out, "  %-10s%s\n", exit_code_at(i)->code, exit_code_at(i)->meaning);
    (void)fputs("\nThe exit codes of each command:\n\n", out);
    for (size_t i = 0; i < table->count; i++) {
        (void)fprintf(out, "  %-*s", INDENT - 2, table->command[i]->name);
        print_folded(out, table->command[i]->exit_codes);
    }
}
