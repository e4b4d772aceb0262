#include "commands/help/usage.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"

#define EXIT_CODES "Exit codes"
#define DEEP       8 /* an option's help goes on in lines with at least this many blanks in front */

/* Appends text to out, after a blank unless out is empty or ends with a line feed. */
static void append(char *out, size_t room, const char *text, size_t bytes)
{
    const size_t used = strlen(out), blank = used > 0 && out[used - 1] != '\n';
    CHECK(used + blank + bytes + 1 < room); /* leaves space for a line feed */
    if (blank)
        out[used] = ' ';
    memcpy(out + used + blank, text, bytes);
    out[used + blank + bytes] = 0;
}

static size_t blanks_of(const char *line)
{
    return strspn(line, " ");
}

static void add_form(struct usage *usage, const char *line, size_t bytes)
{
    const char *colon = memmem(line, bytes, ": ", 2);
    CHECK(usage->forms < USAGE_FORMS_MAX && colon);
    struct usage_form *form = &usage->form[usage->forms++];
    append(form->line, sizeof form->line, line, (size_t)(colon - line));
    append(form->about, sizeof form->about, colon + 2, (size_t)(line + bytes - colon) - 2);
}

/* Parses an option's line, "  --state DIR|FILE   a node's …". After one blank, a word is the name
 * of the option's value; all other text is its help. */
static void add_option(struct usage *usage, const char *line, size_t bytes)
{
    const char *const end = line + bytes;
    CHECK(usage->options < USAGE_OPTIONS_MAX);
    struct usage_option *option = &usage->option[usage->options++];
    const size_t name = strcspn(line, " \n");
    append(option->name, sizeof option->name, line, name);
    line += name;
    if (line + 1 < end && line[1] != ' ') {
        const size_t value = strcspn(line + 1, " \n");
        append(option->value, sizeof option->value, line + 1, value);
        line += 1 + value;
    }
    if (line < end) {
        line += blanks_of(line);
        append(option->help, sizeof option->help, line, (size_t)(end - line));
    }
}

static void add_text(struct usage *usage, const char *line, size_t bytes, bool begins)
{
    if (begins)
        usage->paragraphs++;
    CHECK(usage->paragraphs > 0 && usage->paragraphs <= USAGE_PARAGRAPHS_MAX);
    char *paragraph = usage->paragraph[usage->paragraphs - 1];
    append(paragraph, USAGE_TEXT_BYTES, line, bytes);
    if (line[0] == ' ')
        (void)strcat(paragraph, "\n"); /* keeps the lines of an example separate */
}

/* Moves the text on exit codes from its paragraph to exit_codes. */
static void cut_exit_codes(struct usage *usage)
{
    for (size_t i = 0; i < usage->paragraphs; i++) {
        char *at = strstr(usage->paragraph[i], EXIT_CODES);
        if (!at)
            continue;
        const char *codes = at + strlen(EXIT_CODES);
        codes += codes[0] == ':' ? 2 : 0;
        codes += codes[0] == ',' ? 2 : 0;
        (void)snprintf(usage->exit_codes, sizeof usage->exit_codes, "%s", codes);
        while (at > usage->paragraph[i] && at[-1] == ' ')
            at--;
        *at = 0;
    }
}

/* Part of the help text to which the preceding lines belong. */
enum part { FORMS, OPTIONS, TEXT };

static enum part take_line(struct usage *usage, enum part part, bool after_blank, const char *line,
                           size_t bytes)
{
    const size_t blanks = blanks_of(line);
    if (part == FORMS && !after_blank && strncmp(line, "hearsay ", 8) == 0) {
        add_form(usage, line, bytes);
        return FORMS;
    }
    if (part == FORMS && !after_blank) {
        struct usage_form *form = &usage->form[usage->forms - 1];
        append(form->about, sizeof form->about, line, bytes);
        return FORMS;
    }
    if (blanks == 2 && strncmp(line + 2, "--", 2) == 0) {
        add_option(usage, line + 2, bytes - 2);
        return OPTIONS;
    }
    if (part == OPTIONS && !after_blank && blanks >= DEEP) {
        struct usage_option *option = &usage->option[usage->options - 1];
        append(option->help, sizeof option->help, line + blanks, bytes - blanks);
        return OPTIONS;
    }
    add_text(usage, line, bytes, part != TEXT || after_blank);
    return TEXT;
}

void usage_parse(struct usage *usage, const char *help)
{
    enum part part = FORMS;
    bool after_blank = false;
    *usage = (struct usage){.forms = 0};
    while (*help) {
        const size_t bytes = strcspn(help, "\n");
        if (bytes > 0)
            part = take_line(usage, part, after_blank, help, bytes);
        after_blank = bytes == 0;
        help += bytes + (help[bytes] == '\n');
    }
    cut_exit_codes(usage);
}

const struct usage_option *usage_find(const struct usage *usage, const char *name)
{
    for (size_t i = 0; i < usage->options; i++)
        if (strcmp(usage->option[i].name, name) == 0)
            return &usage->option[i];
    return NULL;
}
