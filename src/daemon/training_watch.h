/* Watches training by the learner's reports: loss, evaluations of the base, and use of time.
 *
 *   time, or a checkpoint ─► evaluation is due ─► learner
 *   steps, evaluations, vitals ─► guard (training/guard.h) ─► a note, perhaps a halved rate
 *   evaluation at a checkpoint ─► the saved base may become the best one (best_base.h)
 *
 * Only the event loop's thread uses the struct. Tests: tests/unit/daemon/test_training_watch.c and
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
    struct event_log *report;
    struct learner_link *link; /* NULL = the event loop has ended */
    const char *folder;        /* state folder, as the configuration names it */
    uint32_t classes;          /* classes or tokens; 0 = unknown, or a regression */
    bool steps_here;           /* false = a host program makes the steps */
    /* Least time between two evaluations; 0 = no evaluations, for example without a test set. */
    uint64_t evaluate_every_ns;
    bool evaluates_little;  /* evaluations may take only a small part of the time */
    uint64_t save_every_ns; /* time between two checkpoints; 0 = only at the end */
    bool keeps_best;        /* the best base is saved (node.best_base) */
};

struct training_watch {
    struct training_watch_options options;
    double loss;         /* mean loss of the last second with steps; NAN = none yet */
    uint64_t stepped_ns; /* time at which steps were last reported; 0 = never */
    /* a note has named a step with a loss of NaN or infinity; no finite loss came since */
    bool loss_is_broken;
    double loss_sum; /* over the samples of the present second */
    uint64_t loss_samples;
    struct time_spent spent;
    struct guard guard;
    bool labels_contradict; /* labels here contradict the shared model (own_labels.h) */
    char alarm[GUARD_TEXT_BYTES]; /* last warning of `guard`; "" = training goes well */
    struct device_watch device;
    /* vitals of the learner were requested and have not arrived yet */
    bool is_looking;
    /* Time of the next evaluation; UINT64_MAX = never, or an evaluation is under way. */
    uint64_t evaluate_ns;
    bool has_said_rare;         /* a note has said that evaluations are rarer than configured */
    bool waits_for_base;        /* an evaluation is due, and the base lacks blocks */
    uint64_t due_ns;            /* value of evaluate_ns when the last evaluation was requested */
    uint64_t evaluated_ns;      /* time of the last evaluation; 0 = none yet */
    uint64_t took_ns[2];        /* durations of the last two evaluations; 0 = none yet */
    uint64_t saving_ns;         /* time at which the last checkpoint began */
    struct evaluation averaged; /* last evaluation of the averaged base; samples 0 = none */
    struct evaluation kept;     /* evaluation of the best base on the disk; samples 0 = none */
};

/* Initializes *watch. Reads the score of the best base in the state folder. */
void training_watch_init(struct training_watch *watch, const struct training_watch_options *options,
                         uint64_t now_ns);
/* Calls training_watch_init with the options for this configuration. */
void training_watch_begin(struct training_watch *watch, const struct config *config,
                          const struct setup *setup, struct event_log *report,
                          struct learner_link *link);
/* Called when the event loop has ended: the stepping thread gets no more requests. */
void training_watch_end(struct training_watch *watch);

void training_watch_on_step(struct training_watch *watch, uint64_t now_ns,
                            const struct learner_event *event);
void training_watch_on_evaluation(struct training_watch *watch, uint64_t now_ns,
                                  const struct learner_event *event);
void training_watch_on_vitals(struct training_watch *watch, uint64_t now_ns,
                              const struct learner_event *event);
/* Returns the time that one of `tests` samples of an evaluation takes; 0 = unknown. It is the least
 * of the last two evaluations and of the mean training step, which takes longer: a busy or
 * suspended machine prolongs single evaluations. samples: samples trained so far. */
uint64_t training_watch_sample_ns(const struct training_watch *watch, uint64_t tests,
                                  uint64_t samples);
/* Compares the base that a leaving node has saved with the best evaluation and with the last one.
 * Returns false if it is clearly below neither. Otherwise writes the warning, which names known
 * wrong labels, else the averaged base or the best base on the disk if it is better, else older
 * bases. saved, averaged:
 * evaluations on the samples of the periodic ones. is_kept: the saved base has just become the best
 * base. */
bool training_watch_final_warning(const struct training_watch *watch,
                                  const struct evaluation *saved, const struct evaluation *averaged,
                                  bool is_kept, char text[static GUARD_TEXT_BYTES]);

/* Called once a second. Returns the mean loss of the last second with steps; NAN = none yet. */
double training_watch_on_second(struct training_watch *watch);

/* Requests an evaluation of the base if one is due. Called repeatedly. has_base: the node holds the
 * swarm's base; otherwise the evaluation waits, as a note says. */
void training_watch_on_time(struct training_watch *watch, uint64_t now_ns, bool has_base);
/* Called before a checkpoint. If the best base is kept, requests the evaluation that would be due
 * before the next checkpoint; the one after it then comes later. */
void training_watch_before_save(struct training_watch *watch, uint64_t now_ns);
/* Returns the score of the base that is being saved if it is better than the score of the best base
 * on the disk. Otherwise, or without an evaluation since this checkpoint began, returns NULL. An
 * earlier score is of an older base. */
const struct evaluation *training_watch_best(const struct training_watch *watch);
/* Returns true if the best base is kept, and this score is better than its score on the disk. */
bool training_watch_is_best(const struct training_watch *watch, const struct evaluation *score);
/* Records that a base with this score was saved as the best one. */
void training_watch_on_kept(struct training_watch *watch, const struct evaluation *score);

/* Adds these keys to the status page: "loss", "last_step_age_s", "evaluation", "averaged",
 * "training", "spent", "step_seconds", "device". */
void training_watch_put(const struct training_watch *watch, json_t *page, uint64_t now_ns);

#endif
