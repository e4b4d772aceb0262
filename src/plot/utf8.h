/* Characters of UTF-8 text (RFC 3629). Tests: tests/unit/plot/test_chart_svg.c. */
#ifndef HEARSAY_PLOT_UTF8_H
#define HEARSAY_PLOT_UTF8_H

#include <stddef.h>

/* Returns the bytes of the first character; 0 if it is invalid UTF-8. The text is not empty. */
size_t utf8_length(const char *text);

/* Returns the number of characters; each byte of invalid UTF-8 counts as one. */
size_t utf8_columns(const char *text);

#endif
