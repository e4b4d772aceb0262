/* Decides when a failed write to the disk is tried again. Reports the first failed attempt, and
 * the first success after it. Tests: tests/process/test_disk.sh. */
#ifndef HEARSAY_DAEMON_UNSAVED_H
#define HEARSAY_DAEMON_UNSAVED_H

#include "daemon/event_log.h"

struct unsaved {
    bool has_failed;
    uint64_t again_ns; /* earliest time of the next write */
};

static inline bool unsaved_may_try(const struct unsaved *unsaved, uint64_t now_ns)
{
    return now_ns >= unsaved->again_ns;
}

/* Records the result of writing the file called `what`. Returns true if the write has succeeded. */
bool unsaved_on_tried(struct unsaved *unsaved, enum error error, const struct problem *problem,
                      enum note_kind kind, const char *what, struct event_log *report,
                      uint64_t now_ns);

#endif
