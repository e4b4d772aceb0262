/* Escaping of text from files for each kind of output.
 *
 *   a name, a sentence ─► clean ─► CSV | terminal, JSON
 *
 * Clean text is valid UTF-8 without control characters; any other byte becomes '?'. Tests:
 * tests/unit/sim/test_report.c with hostile names.
 */
#ifndef HEARSAY_SIM_REPORT_ESCAPE_H
#define HEARSAY_SIM_REPORT_ESCAPE_H

#include <stddef.h>
#include <stdio.h>

/* Copies the text as clean text. If the copy does not fit in `bytes` with its terminator, cuts it
 * between two characters. */
void escape_clean(char *out, size_t bytes, const char *text);

/* Returns the number of characters of a clean text. */
size_t escape_width(const char *clean);

/* Writes one field as clean text, quoted as in RFC 4180, also if it has a semicolon. A field that a
 * spreadsheet would take for a formula gets an apostrophe. */
void escape_csv(FILE *out, const char *text);

#endif
