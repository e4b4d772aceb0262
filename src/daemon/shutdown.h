/* The end of a node: everything heard, everything saved, the last word said.
 */
#ifndef HEARSAY_DAEMON_SHUTDOWN_H
#define HEARSAY_DAEMON_SHUTDOWN_H

#include "config/config.h"
#include "daemon/learner_thread.h"
#include "node/inspect.h"
#include "daemon/event_log.h"
#include "state/saver.h"
#include "config/setup.h"

struct shutdown {
    const struct config *config;
    struct setup *setup;
    const struct learner_thread *learner; /* stopped */
    struct node *node;
    struct saver *saver;
    uint8_t *history; /* [node_history_max], scratch */
    struct event_log *report;
};

/* The learner's thread has ended. Returns the exit code: 0 if model and checkpoint are saved, and
 * the base is what it should be. */
int shutdown_run(const struct shutdown *closing);

#endif
