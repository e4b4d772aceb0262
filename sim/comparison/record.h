/* The record of a play in a comparison: one JSON file for each play.
 *
 *   outcome ─► record_of ─► record_write ─► DIR/plays/NAME.json ─► record_read
 *
 * A file contains the fingerprint of its play. A file with another fingerprint, or an incomplete
 * one, is ignored and the play repeated. Tests: tests/unit/sim/test_comparison.c.
 */
#ifndef HEARSAY_SIM_COMPARISON_RECORD_H
#define HEARSAY_SIM_COMPARISON_RECORD_H

#include "experiment/outcome.h"

/* Measurements at one evaluation. */
struct record_point {
    double at_s;
    double accuracy;
    double loss;
    double sent_bytes; /* bytes sent so far, mean over the nodes */
    double distance;   /* consensus distance; NAN = not measured */
};

struct record {
    struct record_point *points; /* [count] evaluations in order of time */
    uint32_t count;
    /* Final accuracy and loss of the base on the whole test set; NAN = not measured. */
    double accuracy;
    double loss;
    double sent_bytes; /* bytes sent until the end of training, mean over the nodes */
    /* local steps of all nodes, as a fraction of the steps that their speeds allow */
    double computing;
    double link_use;    /* mean utilisation of the limited links; NAN = no link is limited */
    double busiest_use; /* utilisation of the busiest limited link; NAN = no link is limited */
};

void record_of(const struct outcome *outcome, struct record *record);
void record_free(struct record *record);

/* Returns FAILED if the file cannot be written. */
enum error record_write(const struct record *record, const char *path, const char *fingerprint,
                        struct problem *problem) MUST_USE;

/* Returns false if the file is missing, incomplete or has another fingerprint. */
bool record_read(struct record *record, const char *path, const char *fingerprint);

#endif
