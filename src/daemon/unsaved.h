/* Retries failed writes to the disk until they succeed. Reports the first failure and the success.
 * Held by tests/process/test_disk.sh.
 */
#ifndef HEARSAY_DAEMON_UNSAVED_H
#define HEARSAY_DAEMON_UNSAVED_H

#include "daemon/event_log.h"

struct unsaved {
    bool has_failed;   /* the last attempt failed */
    uint64_t again_ns; /* earliest time of the next attempt */
};

static inline bool unsaved_may_try(const struct unsaved *unsaved, uint64_t now_ns)
{
    return now_ns >= unsaved->again_ns;
}

/* Records the outcome of an attempt. what: name of the file. Returns true if the disk has it. */
bool unsaved_on_tried(struct unsaved *unsaved, enum error error, const struct problem *problem,
                      enum note_kind kind, const char *what, struct event_log *report,
                      uint64_t now_ns);

#endif
