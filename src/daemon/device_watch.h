/* Watches the computing device: its memory, its rate of arithmetic, and a step that does not end
 * because the driver hangs.
 *
 *   steps with their times ─► usual time of a step ─► a step ten times as long: a note, and is_hung
 *
 * The struct belongs to the loop's thread. Held by tests/unit/daemon/test_device_watch.c.
 */
#ifndef HEARSAY_DAEMON_DEVICE_WATCH_H
#define HEARSAY_DAEMON_DEVICE_WATCH_H

#include <jansson.h>

#include "daemon/event_log.h"
#include "daemon/learner_link.h"

struct device_watch_options {
    struct event_log *report; /* receives the notes */
    double sample_flops;      /* floating-point operations per sample of a training step */
    double peak_flops;        /* peak floating-point operations per second; 0 = unknown */
};

struct device_watch {
    struct device_watch_options options;
    struct device_memory memory; /* as of the last report; total 0 = no GPU */
    uint64_t steps;              /* steps with a known time */
    uint64_t steps_ns;           /* total time of those steps */
    double flops_per_s;          /* moving average over seconds with steps; 0 = unknown */
    uint64_t samples;            /* samples of this second */
    bool is_hung;                /* the step that was reported has not ended */
};

void device_watch_init(struct device_watch *watch, const struct device_watch_options *options);
void device_watch_on_step(struct device_watch *watch, const struct learner_event *event);
/* Called once a second. working_ns: start of the step or order on which the learner works; 0 =
 * none. */
void device_watch_on_second(struct device_watch *watch, uint64_t now_ns, uint64_t working_ns);

/* Returns an object for the status page; unknown memory and peak are null. */
json_t *device_watch_json(const struct device_watch *watch);

#endif
