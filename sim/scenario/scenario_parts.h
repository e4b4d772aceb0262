/* The parts of reading a scenario: single values, groups, links, faults, expectations, agreement.
 *
 *   scenario.c ─┬─► scenario_keys.c    seconds = 60
 *    (files,    ├─► scenario_group.c   nodes  = 2 desk, 400 samples/s
 *     --set)    ├─► scenario_link.c    link   = west east, rtt 80 ms       ─► clause.h
 *               ├─► scenario_fault.c   fault  = crash desk/1, at 40 s
 *               ├─► scenario_expect.c  expect = accuracy >= 0.88 by 120 s
 *               └─► scenario_check.c   what no line can know alone
 *
 * A line's `text` is what stands right of the equals sign. All of them answer OK or MALFORMED with
 * a sentence that the caller puts behind file, line and key. Held by tests/test_scenario*.c.
 */
#ifndef HEARSAY_SIM_SCENARIO_SCENARIO_PARTS_H
#define HEARSAY_SIM_SCENARIO_SCENARIO_PARTS_H

#include "scenario/scenario.h"

#define SCENARIO_KEYS_MAX 16

/* The single values of [scenario], as its table of keys knows them. */
struct scenario_keys {
    double seconds;
    uint64_t seed;
    unsigned int strategy; /* enum strategy_kind */
    unsigned int updates;  /* 1: made up */
    uint32_t parameters;
    double skew;
    double evaluate_s;
    uint32_t evaluate_samples;
    double settle_s;
    uint32_t local_steps;
    double outer_rate;
    double outer_momentum;
    char about[256];
    char source[512];
    int line_of[SCENARIO_KEYS_MAX]; /* where a file set it; 0: nowhere */
};

void scenario_keys_defaults(struct scenario_keys *keys);

/* line > 0: of a file, where each key stands once; 0: an assignment, which may come again. */
enum error scenario_keys_set(struct scenario_keys *keys, const char *name, const char *value,
                             int line, struct problem *problem) MUST_USE;
void scenario_keys_apply(const struct scenario_keys *keys, struct scenario *scenario);

/* MALFORMED for a key of a node that a scenario does not leave to its file, and who gives it. */
enum error scenario_keys_allowed(const char *section, const char *name, const char *value,
                                 struct problem *problem) MUST_USE;

/* Append the group of a nodes line. */
enum error scenario_group_add(struct scenario *scenario, const char *text,
                              struct problem *problem) MUST_USE;

/* "up" and "5 Mbit/s": what a clause said before is replaced. */
enum error scenario_group_set(struct group *group, const char *name, const char *value,
                              struct problem *problem) MUST_USE;

/* Number the nodes and collect the regions, once all groups are as they will be. */
enum error scenario_group_place(struct scenario *scenario, struct problem *problem) MUST_USE;

/* Its times against those of the scenario. */
enum error scenario_group_check(const struct scenario *scenario, const struct group *group,
                                struct problem *problem) MUST_USE;

/* Which pairs of regions a line has named, and what holds for the others. */
struct scenario_links {
    int line_of[SCENARIO_REGIONS_MAX][SCENARIO_REGIONS_MAX]; /* 0: none */
    int line_of_all;
    struct path all;
};
enum error scenario_link_add(struct scenario *scenario, struct scenario_links *links,
                             const char *text, int line, struct problem *problem) MUST_USE;
void scenario_link_fill(struct scenario *scenario, const struct scenario_links *links);

enum error scenario_fault_add(struct scenario *scenario, const char *text,
                              struct problem *problem) MUST_USE;

enum error scenario_expect_add(struct scenario *scenario, const char *text,
                               struct problem *problem) MUST_USE;

enum error scenario_check(const struct scenario *scenario, struct problem *problem) MUST_USE;

#endif
