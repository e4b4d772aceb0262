/* Watches the computing device: its memory, its floating-point rate, and whether a step hangs in
 * the driver.
 *
 *   times of steps ─► usual time of a step ─► a step takes ten times that (10 s or more): a note
 *
 * Only the event loop's thread uses the struct. Tests: tests/unit/daemon/test_device_watch.c.
 */
#ifndef HEARSAY_DAEMON_DEVICE_WATCH_H
#define HEARSAY_DAEMON_DEVICE_WATCH_H

#include <jansson.h>

#include "daemon/event_log.h"
#include "daemon/learner_link.h"

struct device_watch_options {
    struct event_log *report;
    /* floating-point operations per training sample; 0 = unknown */
    double sample_flops;
    double peak_flops; /* the device's peak rate; 0 = unknown */
};

struct device_watch {
    struct device_watch_options options;
    struct device_memory memory; /* memory of the device as last reported; total 0 = no GPU */
    uint64_t steps;              /* number of steps with a known time */
    uint64_t steps_ns;
    /* moving average over the seconds with steps; 0 = unknown */
    double flops_per_s;
    uint64_t samples; /* since the last call of device_watch_on_second */
    bool is_hung;     /* a hanging step or order was reported and has not ended yet */
};

void device_watch_init(struct device_watch *watch, const struct device_watch_options *options);
void device_watch_on_step(struct device_watch *watch, const struct learner_event *event);
/* Reports when a step or order of the learner begins to hang on a GPU, and when it ends. Called
 * once a second. working_ns: time at which the present step or order began; 0 = neither. */
void device_watch_on_second(struct device_watch *watch, uint64_t now_ns, uint64_t working_ns);

/* For the status page; unknown values are null. */
json_t *device_watch_json(const struct device_watch *watch);

#endif
