/* A snapshot for the page, as JSON. The simulator writes one after a run. A node sends one to each
 * client, and then an update every second.
 *
 *   { "program", "kind", "title", "about",
 *     "badge":    { "is_good", "text" }            whether all copies are equal
 *     "limit":    the present bottleneck, a sentence
 *     "verdicts": [ { "state": "met" | "missed" | "open" | "first", "text" } ]
 *     "facts":    [ [ name, value ] ]
 *     "spent":    [ [ name, part of the learner's time ] ]
 *     "swarm":    { "nodes": [ … ], "links": [ … ] }
 *     "figures":  [ { "name", "title", "about", "x", "y", "is_log_x", "from_zero", "series" } ]
 *                 "series": [ { "name", "style", "points": [ [ x, y ] or [ x, y, low, high ] ] } ]
 *     "marks":    [ { "from_s", "to_s", "text" } ]            faults, over the time
 *     "tables":   [ { "title", "note", "texts", "heads", "rows" } ]
 *     "happened": [ { "at_s", "level", "text" } ]
 *     "command", "settings" }
 *
 * All fields except program, kind, title and about are optional. In an update a figure has only new
 * points and "happened" only new events; every other field replaces its old value. Unknown values
 * are null. Tests: tests/unit/page/test_page_snapshot.c and tests/process/test_web_page.py.
 */
#ifndef HEARSAY_PAGE_PAGE_SNAPSHOT_H
#define HEARSAY_PAGE_PAGE_SNAPSHOT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

/* kind: "node", "play" or "comparison". Like all functions below, copies its texts and replaces
 * invalid UTF-8 in them. Exceptions are kinds, states, levels, styles and all texts of a figure,
 * which must be valid UTF-8. */
json_t *page_snapshot_new(const char *kind, const char *title, const char *about);

void page_snapshot_text(json_t *snapshot, const char *key, const char *text);
void page_snapshot_fact(json_t *snapshot, const char *name, const char *value);
void page_snapshot_badge(json_t *snapshot, bool is_good, const char *text);
void page_snapshot_verdict(json_t *snapshot, const char *state, const char *text);
void page_snapshot_spent(json_t *snapshot, const char *name, double part);
void page_snapshot_mark(json_t *snapshot, double from_s, double to_s, const char *text);
void page_snapshot_happened(json_t *snapshot, double at_s, const char *level, const char *text);

/* A node in the drawing of the swarm. state: "live", "lost", "dead", "left" or "out". share: the
 * node's part of the swarm's progress, 0 .. 1; NAN = unknown. */
struct page_snapshot_node {
    const char *name;
    const char *state;
    double share;
    bool is_self, dials_only;
};
void page_snapshot_node(json_t *snapshot, const struct page_snapshot_node *node);

/* A link between two nodes in the drawing of the swarm. from, to: indices of the nodes, in the
 * order in which they were added. Unknown numbers are NAN. */
struct page_snapshot_link {
    uint32_t from, to;
    double rate_bytes_per_s; /* bytes per second that the link can carry */
    double use;              /* used part of rate_bytes_per_s, 0 .. 1 */
    double trip_s;           /* round-trip time */
};
void page_snapshot_link(json_t *snapshot, const struct page_snapshot_link *link);

/* name: its element in the page has the id "figure-NAME". x, y: labels of the axes, with units. */
struct page_snapshot_figure {
    const char *name, *title, *about, *x, *y;
    bool is_log_x;
    bool from_zero; /* the vertical axis starts at 0 */
};
json_t *page_snapshot_figure(json_t *snapshot, const struct page_snapshot_figure *figure);

/* style: "line", "points" (connected), "dashed", "thin" or "bold". */
json_t *page_snapshot_series(json_t *figure, const char *name, const char *style);
void page_snapshot_point(json_t *series, double x, double y);
/* y: mean of several values; low, high: their minimum and maximum. */
void page_snapshot_point_between(json_t *series, double x, double y, double low, double high);

/* heads: column titles, terminated by NULL. texts: number of leading columns that contain text; the
 * other columns contain numbers. */
json_t *page_snapshot_table(json_t *snapshot, const char *title, const char *note,
                            const char *const *heads, uint32_t texts);
/* Cells are added row by row. */
void page_snapshot_cell(json_t *table, const char *text);

#endif
