/* The story of a running node for its page (page/story.h): the page of status, and its trail. Any
 * node tells of the whole swarm, as far as it knows it: its own links, everybody's records.
 *
 *   page of status ─┬─► whole: all trail so far, all that happened
 *   trail ────────┴─► update: the last moment, what happened since
 *
 * Held by tests/unit/web/test_node_story.c.
 */
#ifndef HEARSAY_WEB_NODE_STORY_H
#define HEARSAY_WEB_NODE_STORY_H

#include <jansson.h>

#include "web/trail.h"

#define HAPPENED_MAX        64
#define HAPPENED_TEXT_BYTES 448

/* What happened lately, for a person; a ring that forgets the oldest. */
struct happened {
    uint32_t count; /* so far: number n is at n % HAPPENED_MAX */
    struct {
        double at_s;       /* since the start of the process */
        const char *level; /* "info", "warning", "error" */
        char text[HAPPENED_TEXT_BYTES];
    } event[HAPPENED_MAX];
};
void happened_add(struct happened *happened, double at_s, const char *level, const char *text);

/* page: as status_watch.h writes it. */
json_t *node_story_whole(const json_t *page, const struct trail *trail,
                         const struct happened *happened);
/* has_moment: one became whole since the last update. from: the first of what happened since. */
json_t *node_story_update(const json_t *page, const struct trail *trail, bool has_moment,
                          const struct happened *happened, uint32_t from);

#endif
