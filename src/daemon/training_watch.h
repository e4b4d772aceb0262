/* Keeps the reports of the learner: its loss, evaluations of the base, and where its time went.
 *
 *   steps, evaluations, vitals ─► guard (training/guard.h) ─► a note with the remedy, a halved rate
 *   a checkpoint is due ─► evaluation ─► is the base that is saved the best one? (best_base.h)
 *
 * It belongs to the loop's thread. Held by tests/unit/daemon/test_training_watch.c and
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
    struct event_log *report;  /* where events are noted */
    struct learner_link *link; /* to the thread that steps; NULL: it has ended */
    const char *folder;        /* the state folder, as the operator names it */
    uint32_t classes;          /* of the labels or tokens; 0: not known, or numbers are predicted */
    bool steps_here;           /* the learner steps by itself: no script does */
    bool evaluates;            /* it has a test set, and evaluations are on */
    bool keeps_best;           /* the best base is kept (node.best_base) */
};

struct training_watch {
    struct training_watch_options options;
    double loss;           /* of the last second with a step; not a number: none yet */
    uint64_t stepped_ns;   /* when it last said that it made steps; 0: none yet */
    double loss_sum;       /* of the samples of this second */
    uint64_t loss_samples; /* how many they are */
    struct time_spent spent;
    struct guard guard;
    char alarm[GUARD_TEXT_BYTES]; /* the last warning of the guard; "": training is well */
    struct device_watch device;
    bool is_looking;            /* vitals were asked for */
    uint64_t evaluated_ns;      /* when the base was last evaluated; 0: it was not */
    uint64_t evaluation_ns;     /* how long that took */
    struct evaluation averaged; /* of the averaged base, then; samples 0: there was none */
    struct evaluation kept;     /* of the best base on disk; samples 0: there is none */
};

/* Reads the score of the best base that is in the folder. */
void training_watch_init(struct training_watch *watch, const struct training_watch_options *options,
                         uint64_t now_ns);
/* The same for a node of this configuration. */
void training_watch_begin(struct training_watch *watch, const struct config *config,
                          const struct setup *setup, struct event_log *report,
                          struct learner_link *link);
/* The node has ended: the learner is asked for nothing more. */
void training_watch_end(struct training_watch *watch);

void training_watch_on_step(struct training_watch *watch, uint64_t now_ns,
                            const struct learner_event *event);
void training_watch_on_evaluation(struct training_watch *watch, uint64_t now_ns,
                                  const struct learner_event *event);
void training_watch_on_vitals(struct training_watch *watch, uint64_t now_ns,
                              const struct learner_event *event);
/* Once a second. Returns the loss. */
double training_watch_on_second(struct training_watch *watch);

/* A checkpoint begins: asks for an evaluation of the base that it has, unless the last one was a
 * moment ago. */
void training_watch_before_save(struct training_watch *watch, uint64_t now_ns);
/* The score of the base that is saved now, if it is better than that of the best base on disk;
 * NULL: it is not, or is not known. */
const struct evaluation *training_watch_best(const struct training_watch *watch, uint64_t now_ns);
/* That base is on disk as the best one. */
void training_watch_on_kept(struct training_watch *watch, const struct evaluation *score);

/* "loss", "last_step_age_s", "evaluation", "training", "spent" and "step_seconds", into the page of
 * status. */
void training_watch_put(const struct training_watch *watch, json_t *page, uint64_t now_ns);

#endif
