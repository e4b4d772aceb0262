/* Watches the device that the learner computes on: its memory, the rate of the model's arithmetic,
 * and a step that does not end, as with a driver that hangs.
 *
 *   steps with their times ─► usual time of a step ─► ten times as long: a note, and is_hung
 *
 * It belongs to the loop's thread. Held by tests/unit/daemon/test_device_watch.c.
 */
#ifndef HEARSAY_DAEMON_DEVICE_WATCH_H
#define HEARSAY_DAEMON_DEVICE_WATCH_H

#include <jansson.h>

#include "daemon/event_log.h"
#include "daemon/learner_link.h"

struct device_watch_options {
    struct event_log *report; /* where events are noted */
    double sample_flops;      /* floating-point operations of a training step, per sample */
    double peak_flops;        /* per second, at most; 0 = unknown */
};

struct device_watch {
    struct device_watch_options options;
    struct device_memory memory; /* as of the last report; total 0 = no GPU */
    uint64_t steps;              /* with a time */
    uint64_t steps_ns;           /* length of those steps */
    double flops_per_s;          /* exponential moving average over seconds with steps; 0: none */
    uint64_t samples;            /* of this second */
    bool is_hung;                /* the step that was noted has not ended */
};

void device_watch_init(struct device_watch *watch, const struct device_watch_options *options);
void device_watch_on_step(struct device_watch *watch, const struct learner_event *event);
/* Once a second. working_ns: when the step or order began on which the learner works; 0 = none. */
void device_watch_on_second(struct device_watch *watch, uint64_t now_ns, uint64_t working_ns);

/* An object for the page of status; memory and peak are null where they are unknown. */
json_t *device_watch_json(const struct device_watch *watch);

#endif
