/* An expectation: a condition that a scenario's expect line states.
 *
 *   expect = accuracy >= 0.88 by 120 s      expect = no healthy node removed
 *
 * Moments, one each virtual second, count if they are after from_ns and not after by_ns; "within 10
 * s of 60 s" is 60 s to 70 s. The manual is sim/README.md. Tests: tests/unit/sim/test_scenario.c
 * and test_outcome*.c.
 */
#ifndef HEARSAY_SIM_SCENARIO_EXPECTATION_H
#define HEARSAY_SIM_SCENARIO_EXPECTATION_H

#include <stdbool.h>
#include <stdint.h>

enum metric {
    /* accuracy >= 0.88 [by 120 s]: accuracy of the base at any moment up to this time; without a
     * time, at the end. */
    METRIC_ACCURACY,
    /* one version by 10 s after training: all nodes have the same version; by_ns counts from the
     * end of training. */
    METRIC_ONE_VERSION,
    /* copies <= 1.1: number of times that a node receives one rumor, mean over the second half of
     * training. */
    METRIC_COPIES,
    /* control <= 2 kB/s: bytes per second that a node sends besides rumors, mean over the second
     * half of training. */
    METRIC_CONTROL,
    /* link use <= 70 %: utilisation of the busiest limited link (struct link_use). */
    METRIC_LINK_USE,
    /* members >= 1000 by 60 s: number of live members that a node knows of, minimum over nodes. */
    METRIC_MEMBERS,
    /* steps >= 99 %: local steps of the slowest node in the whole run, as a fraction of the steps
     * that its speed allows. */
    METRIC_STEPS,
    METRIC_COMPONENT, /* one component within 10 s of 60 s: at the end of this period every running
                         node reaches every other over connections open at both ends */
    /* joined by 90 s; joined within 10 s of 60 s: at the end of this period every running node has
     * a complete base, and has begun to train unless it only forwards rumors. */
    METRIC_JOINED,
    METRIC_REMOVED,  /* no healthy node removed: no node is declared dead, or given up as silent,
                        without a fault that explains it (fault_injector_explains) */
    METRIC_NO_ALARM, /* no alarm: no guard of a node or of the base warns */
    METRIC_ALARM,    /* alarm by 40 s; alarm within 25 s of 60 s: the first warning of any guard
                        comes in this period */
    /* last tenth >= best tenth - 0.3 points: mean accuracy of the base over the last tenth of the
     * evaluations before the end of training, minus the mean of the best consecutive tenth */
    METRIC_LAST_TENTH,
    /* steps of core >= 95 % from 60 s to 90 s: local steps of the group's slowest node, as a
     * fraction of the steps that its speed allows. The value falls if a node pauses, has not begun
     * to train, or makes its learner wait. */
    METRIC_STEPS_OF,
    /* published by core >= 90 % from 60 s to 90 s: rumor bytes that the group publishes,
     * relative to the period of equal length before. The value falls if transfers of bases take
     * link capacity or budget from rumors. */
    METRIC_PUBLISHED_BY,
    /* accuracy of all >= 0.8 from 60 s to 90 s: accuracy of the worst node's own base at every
     * measured moment; within 60 s of 90 s: at one measured moment. A base that is being replaced
     * counts as it is. Nodes that do not train, or not yet, do not count. The bound may be relative
     * (enum bound) */
    METRIC_ACCURACY_OF_ALL,
    /* blocks <= 1.1 x base: largest number of bytes that a node received in blocks to fetch one
     * base, relative to four bytes per parameter. */
    METRIC_BLOCKS,
    METRIC_JOINING /* joining <= 1.15 x blocks / rate: time from a late node's first start to its
                      first step, relative to the time that its blocks take on its downlink */
};

/* Reference of an accuracy bound: a plain number, or the last measurement until the end of the
 * partition that ends at from_ns. */
enum bound {
    BOUND_NUMBER,
    BOUND_BETTER_HALF, /* better half - 0.5 points: accuracy of the best node of the two sides */
    BOUND_WORSE_HALF   /* worse half: accuracy of the worst node of the two sides */
};

struct expect {
    enum metric metric;
    bool at_least; /* true for >=, false for <= */
    /* Bound, where 70 % is 0.7; for a relative bound, the offset from its reference. */
    double value;
    uint64_t from_ns; /* start of the period; 0 = start of the run */
    uint64_t by_ns;   /* end of the period; 0 = end of the run */
    /* ACCURACY_OF_ALL: the condition need hold at only one moment of the period */
    bool once;
    enum bound bound; /* ACCURACY_OF_ALL */
    uint32_t group;   /* STEPS_OF, PUBLISHED_BY: index of the group */
    char text[96];    /* the condition as written in the scenario */
};

#endif
