#include "commands/help/roff.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#define LINE_COLUMNS 72

/* Writes text with backslashes and hyphens escaped, so that roff prints hyphens that can be copied.
 * Returns the number of characters written. */
static size_t write_escaped(FILE *out, const char *text, size_t bytes)
{
    size_t columns = bytes;
    for (size_t i = 0; i < bytes; i++) {
        const bool is_special = text[i] == '\\' || text[i] == '-';
        if (is_special)
            (void)fputc('\\', out);
        (void)fputc(text[i] == '\\' ? 'e' : text[i], out);
        columns += is_special;
    }
    return columns;
}

void roff_title(FILE *out, const char *name, int section)
{
    (void)fputs(".TH ", out);
    for (; *name; name++)
        (void)fprintf(out, "%s%c", *name == '-' ? "\\" : "", toupper((unsigned char)*name));
    (void)fprintf(out, " %d \"%s\" \"hearsay %s\" \"hearsay\"\n", section, HEARSAY_DATE,
                  HEARSAY_VERSION);
}

void roff_heading(FILE *out, const char *heading)
{
    (void)fprintf(out, ".SH %s\n", heading);
}

static bool ends_sentence(const char *word, size_t bytes)
{
    return strchr(".?!", word[bytes - 1]) != NULL;
}

/* Writes text in short lines, which roff joins to paragraphs. */
void roff_text(FILE *out, const char *text)
{
    size_t at = 0;
    while (*(text += strspn(text, " \n"))) {
        const size_t bytes = strcspn(text, " \n");
        if (at > 0)
            (void)fputc(at + bytes > LINE_COLUMNS ? '\n' : ' ', out);
        at = at + bytes > LINE_COLUMNS ? 0 : at;
        if (at == 0 && (text[0] == '.' || text[0] == '\''))
            (void)fputs("\\&", out);
        at += 1 + write_escaped(out, text, bytes);
        /* A sentence begins on a new line, as is usual in man pages. */
        if (ends_sentence(text, bytes)) {
            (void)fputc('\n', out);
            at = 0;
        }
        text += bytes;
    }
    if (at > 0)
        (void)fputc('\n', out);
}

void roff_item(FILE *out, const char *term, const char *value, const char *text)
{
    (void)fputs(".TP\n\\fB", out);
    (void)write_escaped(out, term, strlen(term));
    (void)fputs("\\fR", out);
    if (value[0]) {
        (void)fputs(" \\fI", out);
        (void)write_escaped(out, value, strlen(value));
        (void)fputs("\\fR", out);
    }
    (void)fputc('\n', out);
    roff_text(out, text);
}

void roff_example(FILE *out, const char *lines)
{
    (void)fputs(".PP\n.nf\n", out);
    (void)write_escaped(out, lines, strlen(lines));
    (void)fputs(".fi\n", out);
}
