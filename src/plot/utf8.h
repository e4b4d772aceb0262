/* Characters of UTF-8 text (RFC 3629). Held by tests/unit/plot/test_chart_svg.c. */
#ifndef HEARSAY_PLOT_UTF8_H
#define HEARSAY_PLOT_UTF8_H

#include <stddef.h>

/* Returns the bytes of the first character of a text that is not empty; 0 if it is invalid. */
size_t utf8_length(const char *text);

/* Returns the number of characters; an invalid byte counts as one. */
size_t utf8_columns(const char *text);

#endif
