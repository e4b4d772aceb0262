/* Measures the duration of work that the host only queues, by the device's own clock.
 *
 *   begin ─► work ─► end ─► … ─► take
 *
 * On the CPU work is complete when a call returns. The caller uses its own clock, and `take` has no
 * results. Tests: tests/unit/model/test_step_time.c.
 */
#ifndef HEARSAY_MODEL_BACKEND_WATCH_H
#define HEARSAY_MODEL_BACKEND_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#define WATCH_MAX 16 /* largest number of results that are kept; a new one drops the oldest */

struct backend;

struct watch_time {
    uint32_t tag; /* tag passed to begin */
    uint64_t ns;  /* device time between begin and end */
};

struct watch_operations {
    bool is_needed; /* true if the host's own clock would only measure the queueing */
    /* Times the work that is queued between begin and end. Neither may be called between
     * graph->begin and graph->end (backend.h). */
    void (*begin)(struct backend *, uint32_t tag);
    void (*end)(struct backend *);
    /* Sets *time to the oldest result whose work is complete. Returns false if there is none.
     * Does not wait. */
    bool (*take)(struct backend *, struct watch_time *time);
};

#endif
