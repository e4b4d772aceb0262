/* The snapshot of a running node for its page (page/page_snapshot.h), from its status JSON and its
 * trail (trail.h). It shows the whole swarm as far as the node knows it: its own links, and the
 * records that all members publish about themselves.
 *
 *   status JSON ─┬─► whole: all rows of the trail and all stored events
 *   trail ───────┴─► update: the newest row, and events since the last update
 *
 * Tests: tests/unit/web/test_node_snapshot.c.
 */
#ifndef HEARSAY_WEB_NODE_SNAPSHOT_H
#define HEARSAY_WEB_NODE_SNAPSHOT_H

#include <jansson.h>

#include "web/trail.h"

#define HAPPENED_MAX        64
#define HAPPENED_TEXT_BYTES 448

/* Ring buffer of the newest notes for people. */
struct happened {
    uint32_t count; /* notes so far; number n, from 0, is at index n % HAPPENED_MAX */
    struct {
        double at_s;       /* seconds since the start of the node */
        const char *level; /* "info", "warning", "error" */
        char text[HAPPENED_TEXT_BYTES];
    } event[HAPPENED_MAX];
};
void happened_add(struct happened *happened, double at_s, const char *level, const char *text);

/* page: status JSON of daemon/status_watch.h. */
json_t *node_snapshot_whole(const json_t *page, const struct trail *trail,
                            const struct happened *happened);
/* For clients that already have the snapshot. has_moment: the trail has completed a row since the
 * last update. from: number of the first event that the clients lack. */
json_t *node_snapshot_update(const json_t *page, const struct trail *trail, bool has_moment,
                             const struct happened *happened, uint32_t from);

#endif
