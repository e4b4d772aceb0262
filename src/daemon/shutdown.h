/* The end of a node: apply what still waits, save everything, report.
 */
#ifndef HEARSAY_DAEMON_SHUTDOWN_H
#define HEARSAY_DAEMON_SHUTDOWN_H

#include "config/config.h"
#include "config/setup.h"
#include "daemon/event_log.h"
#include "daemon/learner_thread.h"
#include "node/inspect.h"
#include "state/saver.h"

struct shutdown {
    const struct config *config;          /* of the node */
    struct setup *setup;                  /* has the learner, which is the caller's thread's now */
    const struct learner_thread *learner; /* has ended */
    struct node *node;                    /* has left */
    struct saver *saver;                  /* of checkpoints */
    uint8_t *history;                     /* [node_history_max], scratch */
    struct event_log *report;             /* where the outcome is written */
};

/* Nothing is saved: its peers have another swarm, model or protocol; the operator has put it out;
 * nobody has it as a member. */
#define SHUTDOWN_SHUT_OUT    3
#define SHUTDOWN_EXPELLED    4
#define SHUTDOWN_TURNED_AWAY 5

/* Says so, and what to do; returns the exit code. */
int shutdown_shut_out(const struct reach *reach);

/* The learner's thread has ended. Returns the exit code: 0 if model and checkpoint are saved, and
 * the base is what it should be. */
int shutdown_run(const struct shutdown *closing);

#endif
