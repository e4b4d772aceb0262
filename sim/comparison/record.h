/* What is kept of a play for a comparison: one JSON file a play.
 *
 *   outcome ─► record_of ─► record_write ─► DIR/plays/NAME.json ─► record_read
 *
 * A file has the fingerprint of what was played: program, scenario, settings. One that has another,
 * or is not whole, is not read, and its play is played again. Held by
 * tests/unit/sim/test_comparison.c.
 */
#ifndef HEARSAY_SIM_COMPARISON_RECORD_H
#define HEARSAY_SIM_COMPARISON_RECORD_H

#include "scenario/outcome.h"

/* The model at an evaluation. */
struct record_point {
    double at_s;
    double accuracy;
    double loss;
    double sent_bytes; /* of a node so far, on average */
    double distance;   /* consensus distance; NAN: not measured */
};

struct record {
    struct record_point *points; /* [count], in order of time */
    uint32_t count;
    double accuracy;    /* at the end of training, on the whole test set; NAN: none */
    double loss;        /* at that time, on the whole test set */
    double sent_bytes;  /* of a node, on average */
    double computing;   /* part of the time in which machines computed, on average */
    double link_use;    /* mean over the links that have a limit; NAN: there are none */
    double busiest_use; /* of the busiest link; NAN: none has a limit */
};

/* Of an outcome that was played to its end. */
void record_of(const struct outcome *outcome, struct record *record);
void record_free(struct record *record);

/* FAILED with a sentence: the file cannot be written. */
enum error record_write(const struct record *record, const char *path, const char *fingerprint,
                        struct problem *problem) MUST_USE;

/* False: there is no such file, or it is of something else. */
bool record_read(struct record *record, const char *path, const char *fingerprint);

#endif
