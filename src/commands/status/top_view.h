/* One screen of hearsay top.
 *
 *   the node         as hearsay status shows it
 *   loss             a curve since the start of watching
 *   links            as hearsay status shows them
 *   members          each with a bar: its part of all learned samples
 *   changes          members that joined, left, fell silent or returned
 *
 * Lines that do not fit are counted instead. Held by tests/unit/commands/test_top.c.
 */
#ifndef HEARSAY_COMMANDS_STATUS_TOP_VIEW_H
#define HEARSAY_COMMANDS_STATUS_TOP_VIEW_H

#include <jansson.h>
#include <stdio.h>

#include "commands/status/changes.h"
#include "commands/terminal.h"
#include "plot/timeline.h"

/* State since the start of watching. */
struct top_view {
    struct timeline loss; /* loss of the node over time */
    struct changes changes;
};

/* Takes a snapshot that arrived at at_s seconds of the watcher's time. */
void top_view_see(struct top_view *view, json_t *page, double now_s);

/* Draws the screen in at most as many lines and columns as the terminal has. */
void top_view_draw(struct top_view *view, FILE *out, const json_t *page, double now_s,
                   const struct terminal *terminal);

void top_view_free(struct top_view *view);

#endif
