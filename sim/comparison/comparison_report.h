/* The report of a comparison.
 *
 *   plan ─┬─► comparison_print: the winner, the time to each target, the costs
 *         └─► comparison_write: DIR/compare.json, curves.csv, report.html
 *
 * Tests: tests/unit/sim/test_comparison.c, tests/process/test_comparison_command.sh.
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
    const char *command; /* command line that repeats the comparison */
};

/* Writes a sentence that names the strategies that finished no round. Returns false, and writes an
 * empty text, if every strategy finished a round. */
bool comparison_idle_sentence(const struct comparison *comparison, char *out, size_t bytes);
/* Writes a sentence about one target, such as "85 %: gossip first, after 12.3 s (11.9 to 12.8);
 * 1.80 times faster than dlion (1.60 to 2.10)." */
void comparison_sentence(const struct comparison *comparison, uint32_t target, char *out,
                         size_t bytes);

void comparison_print(FILE *out, const struct comparison *comparison);
void comparison_json(FILE *out, const struct comparison *comparison);

/* Writes the files to the folder of the comparison. Returns FAILED if a file cannot be written. */
enum error comparison_write(const struct comparison *comparison, struct problem *problem) MUST_USE;

#endif
