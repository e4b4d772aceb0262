/* Escaping of text from files for each kind of output.
 *
 *   a name, a sentence ─► clean ─► CSV | terminal, JSON
 *
 * Clean: valid UTF-8 without control characters; every byte that is not becomes '?'.
 * Held by tests/unit/sim/test_report.c with names that try.
 */
#ifndef HEARSAY_SIM_REPORT_ESCAPE_H
#define HEARSAY_SIM_REPORT_ESCAPE_H

#include <stddef.h>
#include <stdio.h>

/* Cut to what fits bytes with its terminator, between two characters. */
void escape_clean(char *out, size_t bytes, const char *text);

/* How many characters a clean text shows. */
size_t escape_width(const char *clean);

/* One field, in quotes where needed (RFC 4180). What a spreadsheet would take for a formula gets a
 * quote. */
void escape_csv(FILE *out, const char *text);

#endif
