/* Label fit: how a node's labels agree with what the shared model predicts for the same samples.
 * The learner measures it (model/training/label_fit.h); the node judges it
 * (node/governance/own_labels.h). */
#ifndef HEARSAY_BASE_LABEL_FIT_H
#define HEARSAY_BASE_LABEL_FIT_H

#include <stdint.h>

#define LABEL_FIT_MOVED 4 /* maximum classes that a label fit names */

/* Predictions of one kind: of the most probable class. All values are 0 .. 1. */
struct label_predictions {
    double agreement;  /* part of the samples whose label is the prediction */
    double confidence; /* mean probability of the predictions */
    double variety;    /* 1 - part of the class that is predicted most */
};

/* Parts and means are over classes, so a common class counts no more than others. */
struct label_fit {
    uint32_t samples;               /* number of compared samples; 0 = nothing could be compared */
    struct label_predictions all;   /* predictions among all classes */
    struct label_predictions known; /* predictions among the classes that this node has */
    /* Classes of which most samples are predicted as one other class. */
    uint32_t moved_count;
    struct {
        uint16_t label;
        uint16_t prediction;
    } moved[LABEL_FIT_MOVED];
};

#endif
