/* Characters of UTF-8 text (RFC 3629). Tests: tests/unit/plot/test_chart_svg.c and
 * test_chart_text.c. */
#ifndef HEARSAY_PLOT_UTF8_H
#define HEARSAY_PLOT_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Returns the bytes of the first character; 0 if it is invalid UTF-8. The text is not empty. */
size_t utf8_length(const char *text);

/* Returns the number of characters; each byte of invalid UTF-8 counts as one. */
size_t utf8_columns(const char *text);

/* Returns false if the first character is invalid UTF-8, a control character (C0, DEL, C1), U+FFFE
 * or U+FFFF. The text is not empty. */
bool utf8_is_printable(const char *text);

/* Writes a question mark for each character that is not printable, so a text cannot control a
 * terminal. */
void utf8_print(FILE *out, const char *text);

#endif
