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
#include "training/guard.h"

enum final_evaluation { FINAL_NONE, FINAL_PART, FINAL_ALL };

struct shutdown {
    const struct config *config;          /* of the node */
    struct setup *setup;                  /* has the learner, which is the caller's thread's now */
    const struct learner_thread *learner; /* has ended */
    struct node *node;                    /* has left */
    struct saver *saver;                  /* of checkpoints */
    uint8_t *history;                     /* [node_history_max], scratch */
    struct event_log *report;             /* where the outcome is written */
    const struct evaluation *score;       /* of this base, if it is the best one; or NULL */
    const struct guard *guard;            /* has the last evaluation before this one */
    enum final_evaluation evaluates;      /* the part of the test set that scores the saved base */
};

/* Nothing is saved: its peers have another swarm, model or protocol; the operator has put it out;
 * nobody has it as a member. */
#define SHUTDOWN_SHUT_OUT    3
#define SHUTDOWN_EXPELLED    4
#define SHUTDOWN_TURNED_AWAY 5
/* Another process has this node's identity. The base is saved if it was the swarm's until then. */
#define SHUTDOWN_CLASH 6

/* The parts of shutdown_run that any owner of a node needs. The thread that stepped has ended, or
 * is this one, and the learner is ours: what still waits is applied now, so that the base is the
 * one of the version it is saved with. */
void shutdown_apply(struct node *node, const struct executor *executor, struct event_log *report);
/* Saves what the next incarnation goes on from. FAILED: nothing new is saved. */
enum error shutdown_save(struct node *node, struct saver *saver, struct learner *learner,
                         const struct evaluation *score, struct problem *problem) MUST_USE;

/* Says so, and what to do; returns the exit code. */
int shutdown_shut_out(const struct reach *reach);

/* The same of a node whose identity another process has. is_shared: its base was the swarm's until
 * now, and is saved. */
int shutdown_clash(const struct shutdown *closing, bool is_shared);

/* The learner's thread has ended. Returns the exit code: 0 if model and checkpoint are saved, and
 * the base is what it should be. */
int shutdown_run(const struct shutdown *closing);

#endif
