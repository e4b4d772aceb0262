/* What the learner has said of itself: its loss, the last evaluation of the base, and where its
 * time went. The loop's thread keeps it for whoever asks. Held by
 * tests/unit/daemon/test_training_watch.c.
 */
#ifndef HEARSAY_DAEMON_TRAINING_WATCH_H
#define HEARSAY_DAEMON_TRAINING_WATCH_H

#include <jansson.h>

#include "daemon/learner_link.h"

struct training_watch {
    double loss;           /* of the last second with a step; not a number: none yet */
    uint64_t stepped_ns;   /* when it last said that it made steps; 0: none yet */
    double loss_sum;       /* of the samples of this second */
    uint64_t loss_samples; /* how many they are */
    struct time_spent spent;
    struct evaluation evaluation; /* of the base; samples 0: none was made yet */
    uint64_t evaluated_ns;        /* when */
    double best;                  /* accuracy of any evaluation, 0 .. 1 */
    bool is_falling;              /* the last one had less than half of it */
};

void training_watch_init(struct training_watch *watch);
void training_watch_on_step(struct training_watch *watch, uint64_t now_ns,
                            const struct learner_event *event);
/* True: training has come apart since the evaluation before, without any weight that is no number:
 * the accuracy is less than half of the best that there was, which was worth something. */
bool training_watch_on_evaluation(struct training_watch *watch, uint64_t now_ns,
                                  const struct evaluation *evaluation);
/* Once a second. Returns the loss. */
double training_watch_on_second(struct training_watch *watch);

/* "loss", "last_step_age_s", "evaluation", "spent" and "step_seconds", into the page of status. */
void training_watch_put(const struct training_watch *watch, json_t *page, uint64_t now_ns);

#endif
