/* The record of a play in a comparison: one JSON file for each play.
 *
 *   outcome ─► record_of ─► record_write ─► DIR/plays/NAME.json ─► record_read
 *
 * A file contains the fingerprint of its play: program, scenario, settings. A file with another
 * fingerprint, or an incomplete one, is ignored and the play repeated. Tests:
 * tests/unit/sim/test_comparison.c.
 */
#ifndef HEARSAY_SIM_COMPARISON_RECORD_H
#define HEARSAY_SIM_COMPARISON_RECORD_H

#include "scenario/outcome.h"

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
    /* Accuracy of the base at the end of training, on the whole test set; NAN = not measured. */
    double accuracy;
    double loss;       /* loss of the base at the end of training, on the whole test set; NAN = not
                          measured */
    double sent_bytes; /* bytes sent, mean over the nodes */
    /* Fraction of the training time in which a machine computes, mean over the machines. */
    double computing;
    double link_use;    /* mean utilisation of the limited links; NAN = no link is limited */
    double busiest_use; /* utilisation of the busiest limited link; NAN = no link is limited */
};

/* Extracts the record of a completed outcome. */
void record_of(const struct outcome *outcome, struct record *record);
void record_free(struct record *record);

/* Writes the record. Returns FAILED with a sentence if the file cannot be written. */
enum error record_write(const struct record *record, const char *path, const char *fingerprint,
                        struct problem *problem) MUST_USE;

/* Reads a record. Returns false if there is no such file, or it has another fingerprint. */
bool record_read(struct record *record, const char *path, const char *fingerprint);

#endif
