/* The snapshot of a running node for its page (page/page_snapshot.h), from its status JSON and its
 * trail. Each node shows the whole swarm as far as known: its own links and all records.
 *
 *   status JSON ─┬─► whole: the trail and all events so far
 *   trail ───────┴─► update: the last row, and events since then
 *
 * Held by tests/unit/web/test_node_snapshot.c.
 */
#ifndef HEARSAY_WEB_NODE_SNAPSHOT_H
#define HEARSAY_WEB_NODE_SNAPSHOT_H

#include <jansson.h>

#include "web/trail.h"

#define HAPPENED_MAX        64
#define HAPPENED_TEXT_BYTES 448

/* Latest events for people, in a ring. */
struct happened {
    uint32_t count; /* events so far; number n is at n % HAPPENED_MAX */
    struct {
        double at_s;       /* seconds since the start of the process */
        const char *level; /* "info", "warning", "error" */
        char text[HAPPENED_TEXT_BYTES];
    } event[HAPPENED_MAX];
};
void happened_add(struct happened *happened, double at_s, const char *level, const char *text);

/* Returns the whole snapshot. page: status JSON of status_watch.h. */
json_t *node_snapshot_whole(const json_t *page, const struct trail *trail,
                            const struct happened *happened);
/* Returns an update. has_moment: a row was completed since the last update. from: number of the
 * first new event. */
json_t *node_snapshot_update(const json_t *page, const struct trail *trail, bool has_moment,
                             const struct happened *happened, uint32_t from);

#endif
