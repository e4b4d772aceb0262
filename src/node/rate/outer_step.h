/* The outer step: how often to publish, with what gain, and with how much outer momentum.
 *
 *   members that train ─┐
 *   round trips ────────┤
 *   time of a step ─────┼──► outer_step_of ──► interval, gain, beta
 *   bytes per second ───┤
 *   local momentum ─────┘
 *
 * A pure function of what a node measures. n is the number of members that train, as if all learned
 * equally much (shares.h, shares_learners). The rule:
 *
 *   reaction  = how long it takes until the others work with what was published: the one-way delay,
 *               times the hops to most of them, and OUTER_STEP_STEPS steps, in which they react.
 *   interval  = reaction, times half the square root of n if that is more than 1; and times the
 *               root of that, where the last publication was not cut by its budget. It is at least
 *               so long that a rumor's head is a twentieth of what is published and that cutting it
 *               takes the learner an eightieth of its time, and at least OUTER_STEP_S, below which
 *               nothing is gained. A node that makes thousands of steps a second takes less
 *               where its last publication moved less than a quarter of the entries:
 *               OUTER_STEP_MANY steps, and OUTER_STEP_MANY_S. Else its base stays far behind.
 *               The first six intervals are shorter, the first of them one reaction, and none is
 *               longer than a second or OUTER_STEP_MANY steps: then all learn the same, applying
 *               it is worth more than averaging noise, and each publication finds out more of
 *               what the lines carry.
 *   gain      = interval / reaction, between 1 and the square root of n. OUTER_STEP_S buys none;
 *               during the first six publications it is already what it will be.
 *   beta      = (0.6 - a third of the local momentum) / gain; less where a shorter interval was
 *               configured.
 *
 * Why: what is published gain times over in an interval is answered only after the reaction. A loop
 * with a delay oscillates where gain · reaction / interval comes near pi/2; at 1 it settles
 * quickly. The more nodes are averaged, the less noise there is to fear, and the further the swarm
 * may go on. But the gain acts as a larger rate, and a long interval as a large batch: both help
 * while learning has just begun or where budgets cut publications, and both cost several points
 * where the rate is already the largest that goes. So where lines have room half of it (in
 * logarithms) is given up, which costs the beginning two tenths of a point. gain · beta is the
 * swarm's momentum (heavy ball: Polyak 1964), what DiLoCo calls the outer momentum: where learners
 * have 0.9 of their own, a half diverged nowhere, and in long runs of a convolutional network 0.3
 * was better; where they have none, 0.6 was. So it was with Adam, whose momentum does not lengthen
 * its steps. There it acts as a larger rate does: Adam divided by the noise of the whole swarm's
 * batch gains no more.
 *
 * Measured in tests/README.md, by tests/bench/bench_exchange.py. Held by
 * tests/unit/node/test_outer_step.c.
 */
#ifndef HEARSAY_NODE_RATE_OUTER_STEP_H
#define HEARSAY_NODE_RATE_OUTER_STEP_H

#include <stdbool.h>
#include <stdint.h>

#define OUTER_STEP_STEPS     8.0    /* local steps in which a node reacts to what it applied */
#define OUTER_STEP_S         0.25   /* the shortest interval, in seconds */
#define OUTER_STEP_MANY      256.0  /* local steps that are worth a publication before that */
#define OUTER_STEP_MANY_S    0.0625 /* the shortest interval of such a node, in seconds */
#define OUTER_STEP_BEGINNING 6      /* publications that come sooner */
#define OUTER_STEP_FIRST_S   1.0    /* the longest interval between those, in seconds */

struct outer_step_measured {
    double learners;       /* live members that train, as if all learned equally much; >= 1 */
    double delay_s;        /* one way to a neighbour; 0: not measured yet */
    double hops;           /* to most members; >= 1 */
    double step_s;         /* seconds of one local step; 0: not measured yet */
    double bytes_per_s;    /* that may be published; > 0 */
    double publish_s;      /* that a publication takes the learner; 0: not measured yet */
    double part;           /* of the entries that the last publication moved, in [0, 1] */
    double momentum;       /* that lengthens local steps (optimizer_carries), in [0, 1) */
    double interval_s;     /* a configured interval; 0: to be chosen */
    double gain;           /* a configured gain; 0: to be chosen */
    uint32_t publications; /* so far */
    bool is_cut;           /* the last one took what its budget allowed: there was more */
};

struct outer_step {
    double interval_s; /* seconds between two publications, in the mean */
    double gain;       /* weight of everybody's progress together: 1 averages */
    double beta;       /* outer momentum, before the gain */
};

struct outer_step outer_step_of(const struct outer_step_measured *measured);

/* Hops to most of so many members, where each has `degree` neighbours and up to `mesh` all talk to
 * all. */
double outer_step_hops(uint32_t live, uint32_t mesh, uint32_t degree);

#endif
