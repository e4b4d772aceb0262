/* The parsers of a scenario's lines, which only scenario_load.c calls.
 *
 *   scenario_load.c ─┬─► scenario_keys.c    seconds = 60
 *    (file, --set)   ├─► scenario_group.c   nodes  = 2 desk, 400 samples/s
 *                    ├─► scenario_link.c    link   = west east, rtt 80 ms       ─► clause.h
 *                    ├─► scenario_fault.c   fault  = crash desk/1, at 40 s
 *                    ├─► scenario_expectation.c  expect = accuracy >= 0.88 by 120 s
 *                    └─► scenario_check.c   conditions on several lines
 *
 * `text` is the part of a line after the equals sign. Each parser returns OK, or MALFORMED with a
 * sentence that the caller prefixes with file, line and key. Tests:
 * tests/unit/sim/test_scenario*.c.
 */
#ifndef HEARSAY_SIM_SCENARIO_SCENARIO_PARTS_H
#define HEARSAY_SIM_SCENARIO_SCENARIO_PARTS_H

#include "scenario/scenario.h"

#define SCENARIO_KEYS_MAX 24

/* The single values of [scenario], in the units of the file. */
struct scenario_keys {
    double seconds;
    uint64_t seed;
    unsigned int strategy; /* enum strategy_kind */
    unsigned int updates;  /* 1 = the updates are made up */
    uint32_t parameters;
    double skew;
    double evaluate_s;
    uint32_t evaluate_samples;
    double settle_s;
    bool quarantine;
    char about[256];
    char source[512];
    int line_of[SCENARIO_KEYS_MAX]; /* [key] line of the file that sets the key; 0 = none */
};

void scenario_keys_defaults(struct scenario_keys *keys);

/* line: number of the line in the file, which may set each key only once; 0 = --set, which may set
 * a key again. */
enum error scenario_keys_set(struct scenario_keys *keys, const char *name, const char *value,
                             int line, struct problem *problem) MUST_USE;
void scenario_keys_apply(const struct scenario_keys *keys, struct scenario *scenario);

/* Returns MALFORMED for a key of a node's configuration that the simulator sets itself, unless a
 * scenario may give this value. */
enum error scenario_keys_allowed(const char *section, const char *name, const char *value,
                                 struct problem *problem) MUST_USE;

enum error scenario_group_add(struct scenario *scenario, const char *text,
                              struct problem *problem) MUST_USE;

/* Replaces one clause of a group, or adds it if the group lacks it. An "at" clause is always added.
 * name and value: such as "up" and "5 Mbit/s". */
enum error scenario_group_set(struct group *group, const char *name, const char *value,
                              struct problem *problem) MUST_USE;

/* Numbers the nodes and collects the regions. Call it when all groups are complete. */
enum error scenario_group_place(struct scenario *scenario, struct problem *problem) MUST_USE;

/* Checks that the group's times lie within the scenario, and that it starts before it leaves. */
enum error scenario_group_check(const struct scenario *scenario, const struct group *group,
                                struct problem *problem) MUST_USE;

/* Link lines read so far. Lines are numbers in the file; 0 = none. */
struct scenario_links {
    int line_of[SCENARIO_REGIONS_MAX][SCENARIO_REGIONS_MAX]; /* [from][to] */
    int line_of_all;                                         /* `link = all` */
    struct path all; /* path of pairs without a line, from `link = all` */
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
