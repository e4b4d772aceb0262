/* Draws one screen of hearsay top.
 *
 *   the node         as hearsay status shows it
 *   loss             a curve since the start of watching
 *   links            as hearsay status shows them
 *   members          each with a bar: its part of all learned samples
 *   changes          latest changes of the members and of the node (changes.h)
 *
 * If a table does not fit, its last line says how many lines are missing. Tests:
 * tests/unit/commands/test_top.c.
 */
#ifndef HEARSAY_COMMANDS_STATUS_TOP_VIEW_H
#define HEARSAY_COMMANDS_STATUS_TOP_VIEW_H

#include <jansson.h>
#include <stdio.h>

#include "commands/status/changes.h"
#include "commands/terminal.h"
#include "plot/timeline.h"

/* State that was collected since hearsay top started. */
struct top_view {
    struct timeline loss; /* training loss of the node over time */
    struct changes changes;
};

/* Adds the loss and the changes of a status page. now_s: seconds since any fixed time. */
void top_view_see(struct top_view *view, json_t *page, double now_s);

/* Draws the screen in at most as many lines and columns as the terminal has. */
void top_view_draw(struct top_view *view, FILE *out, const json_t *page, double now_s,
                   const struct terminal *terminal);

void top_view_free(struct top_view *view);

#endif
