/* Text as man(7) takes it. */
#ifndef HEARSAY_COMMANDS_HELP_ROFF_H
#define HEARSAY_COMMANDS_HELP_ROFF_H

#include <stdio.h>

/* ".TH", with the name of the page as man shows it, and its section. */
void roff_title(FILE *out, const char *name, int section);

/* ".SH NAME" and the like; a blank in it is kept. */
void roff_heading(FILE *out, const char *heading);

/* A line of text, in which nothing means anything to roff; lines stay lines. */
void roff_text(FILE *out, const char *text);

/* ".TP", a term and the name of its value in their fonts, and what it is. */
void roff_item(FILE *out, const char *term, const char *value, const char *text);

/* Lines that are to stay as they are. */
void roff_example(FILE *out, const char *lines);

#endif
