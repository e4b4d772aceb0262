/* A watch for work that the host only queues: the device's own clock says how long it took.
 *
 *   begin ─► work ─► end ─► … ─► take
 *
 * On the CPU work is done when a call returns, so the caller's clock is right and there are no
 * times. Held by tests/unit/model/test_step_time.c.
 */
#ifndef HEARSAY_MODEL_BACKEND_WATCH_H
#define HEARSAY_MODEL_BACKEND_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#define WATCH_MAX 16 /* times that are kept: a new one drops the oldest */

struct backend;

struct watch_time {
    uint32_t tag; /* as given to begin */
    uint64_t ns;  /* between begin and end, on the device */
};

struct watch_operations {
    bool is_needed; /* the host's clock sees only how long work was queued */
    /* Times the work that is asked for from begin to end. Neither is called between graph_begin and
     * graph_end. */
    void (*begin)(struct backend *, uint32_t tag);
    void (*end)(struct backend *);
    /* Takes the oldest time whose work is done; false: there is none. Does not wait. */
    bool (*take)(struct backend *, struct watch_time *time);
};

#endif
