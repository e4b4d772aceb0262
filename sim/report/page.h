/* The frame of report pages: one file without scripts, whose policy allows no fetch. */
#ifndef HEARSAY_SIM_REPORT_PAGE_H
#define HEARSAY_SIM_REPORT_PAGE_H

#include <stdio.h>

/* Up to the heading. Texts are escaped. */
void page_begin(FILE *out, const char *title, const char *heading);
void page_end(FILE *out);

/* `before` is HTML, text is escaped; nothing where text is "". */
void page_paragraph(FILE *out, const char *before, const char *text);

/* A drawing by gnuplot, with its heading and its caption, which are HTML. */
void page_plot(FILE *out, const char *name, const char *title, const char *svg,
               const char *caption);

#endif
