/* Writes text in man(7) format. */
#ifndef HEARSAY_COMMANDS_HELP_ROFF_H
#define HEARSAY_COMMANDS_HELP_ROFF_H

#include <stdio.h>

/* Writes ".TH" with the name of the page and its section. */
void roff_title(FILE *out, const char *name, int section);

/* Writes ".SH" and a heading, which may have several words. */
void roff_heading(FILE *out, const char *heading);

/* Writes text with all roff markup escaped. roff fills the lines. */
void roff_text(FILE *out, const char *text);

/* Writes ".TP": a term in bold, the name of its value in italics, and a description. */
void roff_item(FILE *out, const char *term, const char *value, const char *text);

/* Writes lines that are shown unchanged. */
void roff_example(FILE *out, const char *lines);

#endif
