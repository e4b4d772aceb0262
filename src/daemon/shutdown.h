/* The end of a node: everything heard, everything saved, the last word said.
 */
#ifndef HEARSAY_ENDING_H
#define HEARSAY_ENDING_H

#include "config/config.h"
#include "daemon/learner_thread.h"
#include "node/node.h"
#include "daemon/event_log.h"
#include "state/saver.h"
#include "config/setup.h"

struct ending {
    const struct config *config;
    struct setup *setup;
    const struct hatch *hatch; /* stopped */
    struct node *node;
    struct saver *saver;
    uint8_t *history; /* [node_history_max], scratch */
    struct report *report;
};

/* The learner's thread has ended. Returns the exit code: 0 if model and checkpoint are saved, and
 * the base is what it should be. */
int ending_run(const struct ending *ending);

#endif
