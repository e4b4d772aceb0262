/* Ends a node: applies the remaining updates, saves everything, and reports the result. */
#ifndef HEARSAY_DAEMON_SHUTDOWN_H
#define HEARSAY_DAEMON_SHUTDOWN_H

#include "config/config.h"
#include "config/setup.h"
#include "daemon/event_log.h"
#include "daemon/learner_thread.h"
#include "daemon/training_watch.h"
#include "node/inspect.h"
#include "state/saver.h"

/* with train.evaluate_part = auto, an evaluation that may take more seconds is left out */
#define SHUTDOWN_EVALUATION_S 5

enum final_evaluation {
    FINAL_NONE,     /* there is no test set, or the configuration wants no evaluations */
    FINAL_TOO_LONG, /* the evaluation may take longer than SHUTDOWN_EVALUATION_S */
    FINAL_PART,
    FINAL_ALL
};

struct shutdown {
    const struct config *config;
    /* no other thread uses its learner any more */
    struct setup *setup;
    const struct learner_thread *learner; /* its thread has ended */
    struct node *node;
    struct saver *saver;
    uint8_t *history; /* [node_history_max] scratch buffer */
    struct event_log *report;
    const struct training_watch *training; /* has the periodic evaluations */
    enum final_evaluation evaluates;       /* test samples for the evaluation of the saved base */
};

/* Exit codes of nodes that end without saving a base. SHUT_OUT: the peers have another swarm, model
 * or protocol. EXPELLED: an order, a proof or votes expelled the node. TURNED_AWAY: no member
 * admits the node. */
#define SHUTDOWN_SHUT_OUT    3
#define SHUTDOWN_EXPELLED    4
#define SHUTDOWN_TURNED_AWAY 5
/* Another process has this node's identity. The base is saved only if it equalled the base of the
 * swarm until then. */
#define SHUTDOWN_CLASH 6

/* Parts of shutdown_run for any owner of a node. Call them when the thread that made steps has
 * ended, or on that thread. shutdown_apply applies the remaining updates, so that the base agrees
 * with the version with which it is saved. */
void shutdown_apply(struct node *node, const struct executor *executor, struct event_log *report);
/* Saves the state from which the node's next start continues. FAILED: something was not saved; the
 * problem says what. */
enum error shutdown_save(struct node *node, struct saver *saver, struct learner *learner,
                         struct problem *problem) MUST_USE;

/* shutdown_shut_out and shutdown_clash print why the node ended and what to do, and return the exit
 * code. is_shared: the base equalled the base of the swarm until now, so it is saved. */
int shutdown_shut_out(const struct reach *reach);
int shutdown_clash(const struct shutdown *closing, bool is_shared);

/* Ends a node whose learner's thread has ended. Returns SHUTDOWN_EXPELLED or SHUTDOWN_TURNED_AWAY,
 * without saving, if the node was refused. Otherwise returns 0 if base and checkpoint are saved and
 * the base is the sum of its rumors, else 1. */
int shutdown_run(const struct shutdown *closing);

#endif
