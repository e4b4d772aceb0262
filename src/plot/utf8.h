/* Text as RFC 3629 writes it. Held by tests/unit/plot/test_chart_svg.c. */
#ifndef HEARSAY_PLOT_UTF8_H
#define HEARSAY_PLOT_UTF8_H

#include <stddef.h>

/* Bytes of the character at the beginning of a text that is not empty; 0: there is none. */
size_t utf8_length(const char *text);

/* Characters of a text; a byte that is none counts as one. */
size_t utf8_columns(const char *text);

#endif
