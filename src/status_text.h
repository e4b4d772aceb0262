/* A page for people: lines of at most 80 columns, aligned, with units one can read. */
#ifndef HEARSAY_STATUS_TEXT_H
#define HEARSAY_STATUS_TEXT_H

#include <stdio.h>

#include "status_page.h"

#define STATUS_COLUMNS 80

/* The node itself; its neighbours and whom it calls; the members. Each line ends with a line feed,
 * tables begin with their heading. An empty table is one line that says so. */
void status_text_node(FILE *out, const struct status_page *page);
void status_text_links(FILE *out, const struct status_page *page);
void status_text_members(FILE *out, const struct status_page *page);

/* Numbers with three digits and a unit: "1.23 MB", "45.6 kB/s", "812"; "-" when not known. */
struct status_amount {
    char text[24];
};
struct status_amount status_amount(double amount, const char *unit);

/* "0.25 ms", "850 ms", "12.3 s", "5m03s", "2h13m", "3d04h"; "-" when not known. */
struct status_amount status_span(double seconds);

#endif
