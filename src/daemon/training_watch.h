/* Keeps the reports of the learner: its loss, evaluations of the base, and where its time went.
 *
 *   steps, evaluations, vitals ─► guard (training/guard.h) ─► a note with the remedy, a halved rate
 *   a checkpoint is due ─► evaluation ─► is the saved base the best one? (best_base.h)
 *
 * The struct belongs to the loop's thread. Held by tests/unit/daemon/test_training_watch.c and
 * tests/process/test_guard.sh.
 */
#ifndef HEARSAY_DAEMON_TRAINING_WATCH_H
#define HEARSAY_DAEMON_TRAINING_WATCH_H

#include <jansson.h>

#include "config/setup.h"
#include "daemon/device_watch.h"
#include "daemon/event_log.h"
#include "daemon/learner_link.h"
#include "training/guard.h"

struct training_watch_options {
    struct event_log *report;  /* receives the notes */
    struct learner_link *link; /* link to the thread that makes steps; NULL = it has ended */
    const char *folder;        /* state folder, as the operator named it */
    uint32_t classes;          /* classes of labels or tokens; 0 = unknown, or regression */
    bool steps_here;           /* the learner makes steps by itself; false = a host program does */
    bool evaluates;            /* the learner has a test set, and evaluations are on */
    bool keeps_best;           /* keeps the best base (node.best_base) */
};

struct training_watch {
    struct training_watch_options options;
    double loss;           /* mean loss of the last second with a step; NaN = none yet */
    uint64_t stepped_ns;   /* time of the last report of steps; 0 = none yet */
    double loss_sum;       /* sum of the loss over the samples of this second */
    uint64_t loss_samples; /* number of these samples */
    struct time_spent spent;
    struct guard guard;
    char alarm[GUARD_TEXT_BYTES]; /* last warning of the guard; "" = training is well */
    struct device_watch device;
    bool is_looking;            /* vitals were requested */
    uint64_t evaluated_ns;      /* time of the last evaluation; 0 = none */
    uint64_t evaluation_ns;     /* duration of the last evaluation */
    struct evaluation averaged; /* evaluation of the averaged base at that time; samples 0 = none */
    struct evaluation kept;     /* evaluation of the best base on disk; samples 0 = none */
};

/* Starts the watch, and reads the score of the best base in the folder. */
void training_watch_init(struct training_watch *watch, const struct training_watch_options *options,
                         uint64_t now_ns);
/* Starts the watch of a node with this configuration. */
void training_watch_begin(struct training_watch *watch, const struct config *config,
                          const struct setup *setup, struct event_log *report,
                          struct learner_link *link);
/* Records that the node has ended: the learner gets no more requests. */
void training_watch_end(struct training_watch *watch);

void training_watch_on_step(struct training_watch *watch, uint64_t now_ns,
                            const struct learner_event *event);
void training_watch_on_evaluation(struct training_watch *watch, uint64_t now_ns,
                                  const struct learner_event *event);
void training_watch_on_vitals(struct training_watch *watch, uint64_t now_ns,
                              const struct learner_event *event);
/* Called once a second. Returns the mean loss of the last second. */
double training_watch_on_second(struct training_watch *watch);

/* Called before a checkpoint: requests an evaluation of its base, unless the last one is recent. */
void training_watch_before_save(struct training_watch *watch, uint64_t now_ns);
/* Returns the score of the base that is saved now if it is better than the best base on disk; NULL
 * if it is not, or unknown. */
const struct evaluation *training_watch_best(const struct training_watch *watch, uint64_t now_ns);
/* Records that this base is on disk as the best one. */
void training_watch_on_kept(struct training_watch *watch, const struct evaluation *score);

/* Adds "loss", "last_step_age_s", "evaluation", "training", "spent" and "step_seconds" to the
 * status page. */
void training_watch_put(const struct training_watch *watch, json_t *page, uint64_t now_ns);

#endif
