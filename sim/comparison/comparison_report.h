/* The report of a comparison.
 *
 *   plan ─┬─► comparison_print: who wins, how soon each is where, what it took
 *         └─► comparison_write: DIR/compare.json, curves.csv, report.html
 *
 * Held by tests/unit/sim/test_comparison.c, tests/process/test_compare.sh.
 */
#ifndef HEARSAY_SIM_COMPARISON_COMPARISON_REPORT_H
#define HEARSAY_SIM_COMPARISON_COMPARISON_REPORT_H

#include <stdio.h>

#include "comparison/score.h"

struct comparison {
    const struct plan *plan;
    double targets[TARGETS_MAX];
    uint32_t targets_count;
    bool is_tuned;
    const char *command; /* that repeats it */
};

/* "0.85: gossip first, after 12.3 s (11.9 to 12.8), 1.8 times as soon as dlion (1.6 to 2.1)." */
void comparison_sentence(const struct comparison *comparison, uint32_t target, char *out,
                         size_t bytes);

void comparison_print(FILE *out, const struct comparison *comparison);
/* As compare.json has it. */
void comparison_json(FILE *out, const struct comparison *comparison);

/* FAILED with a sentence: something cannot be written. */
enum error comparison_write(const struct comparison *comparison, struct problem *problem) MUST_USE;

#endif
