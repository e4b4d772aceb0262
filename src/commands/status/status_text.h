/* A page for people: lines of at most 80 columns, aligned, with units one can read. */
#ifndef HEARSAY_COMMANDS_STATUS_STATUS_TEXT_H
#define HEARSAY_COMMANDS_STATUS_STATUS_TEXT_H

#include <stdio.h>

#include "base/amount.h"
#include "commands/status/status_page.h"

#define STATUS_COLUMNS 80

/* The node itself; its neighbours and whom it calls; the members. Each line ends with a line feed,
 * tables begin with their heading. An empty table is one line that says so. */
void status_text_node(FILE *out, const struct status_page *page);
void status_text_links(FILE *out, const struct status_page *page);
void status_text_members(FILE *out, const struct status_page *page);

#endif
