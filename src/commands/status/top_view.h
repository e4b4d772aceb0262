/* One screen of hearsay top.
 *
 *   the node         as hearsay status shows it
 *   loss             a curve since somebody watches
 *   links            as hearsay status shows them
 *   members          each with a bar: its part of all samples that were learned
 *   what was new     who joined, left, fell silent or came back
 *
 * What does not fit is counted. Held by tests/unit/commands/test_top.c.
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
    struct timeline loss; /* of the node */
    struct changes changes;
};

/* Takes a snapshot that arrived at at_s seconds of the watcher's time. */
void top_view_see(struct top_view *view, json_t *page, double now_s);

/* In at most as many lines as the terminal has rows, each at most as wide as it. */
void top_view_draw(struct top_view *view, FILE *out, const json_t *page, double now_s,
                   const struct terminal *terminal);

void top_view_free(struct top_view *view);

#endif
