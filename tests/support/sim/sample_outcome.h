/* Outcomes made by hand, for tests of reports: a short one with literal values, and long ones with
 * curves like those of a swarm. The short one has the nodes desk/1 and desk/2 (400 samples/s, up 1
 * Mbit/s) and box (100 samples/s, no limit), and one crash. */
#ifndef HEARSAY_TESTS_SUPPORT_SIM_SAMPLE_OUTCOME_H
#define HEARSAY_TESTS_SUPPORT_SIM_SAMPLE_OUTCOME_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "experiment/outcome.h"

extern struct scenario story_scenario; /* global, because it is too large for a stack */

void story_group(const char *name, uint32_t count, uint64_t up_bytes_per_s);
void story_expect(enum metric metric, bool at_least, double value, double by_s, const char *text);
void story_fault(enum fault_kind kind, double from_s, double to_s, uint32_t node);
void story_begin(double span_s);
void story_moment(struct outcome *outcome, double at_s, double accuracy,
                  uint64_t rumor_bytes_published, uint64_t sent_bytes, uint64_t control_bytes);
void story_total(struct node_total *node, uint64_t samples, double share);
void story_end(struct outcome *outcome);

/* An outcome of four seconds. desk/2 is absent at second 3. */
void story_short(struct outcome *outcome);

/* An outcome of two minutes, with faults, and at least three nodes in three groups. */
void story_long(struct outcome *outcome, uint32_t nodes);

#endif
