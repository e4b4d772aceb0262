/* The outer step: how often to publish, with what gain, and with how much outer momentum.
 *
 *   members that train ─┐
 *   round trips ────────┤
 *   time of a step ─────┼──► outer_step_of ──► interval, gain, beta
 *   bytes per second ───┤
 *   local momentum ─────┘
 *
 * A pure function of a node's measurements. n is the effective number of training members
 * (shares.h, shares_learners). The rule:
 *
 *   reaction  = the time until the other nodes train on a publication: the one-way delay, times the
 *               hops to most members, plus OUTER_STEP_STEPS steps.
 *   interval  = reaction times max(√n / 2, 1). Where the budget did not cut the last publication,
 *               reaction times the square root of that factor.
 *   gain      = interval / reaction, between 1 and √n. An interval that is only raised to
 *               OUTER_STEP_S earns no gain. The first six publications already have the full gain.
 *   beta      = (0.6 - a third of the local momentum) / gain; less with a shorter configured
 *               interval.
 *
 * The interval is at least OUTER_STEP_S. It is long enough that rumor heads take at most a
 * twentieth of a publication, and cutting a publication an eightieth of the learner's time. A node
 * that makes thousands of steps a second publishes sooner while its publications move less than a
 * quarter of the entries: after OUTER_STEP_MANY steps, at least OUTER_STEP_MANY_S. Otherwise its
 * base would stay far behind its weights. The first six intervals grow from one reaction to the
 * full interval. None of the six is longer than OUTER_STEP_MANY steps, nor than a second unless
 * rumor heads need more. At that time
 * all nodes learn the same, early application is worth more than averaging noise, and each
 * publication tests the rate of the links.
 *
 * Why: the other nodes answer a publication only after the reaction time. A loop with a delay
 * oscillates where gain · reaction / interval approaches pi/2, and settles quickly at 1. Averaging
 * over more nodes leaves less noise, so the swarm may take larger steps. But a gain acts as a
 * larger learning rate, and a long interval as a larger batch. Both help early in training and
 * where budgets cut publications. Both cost several points of accuracy where the learning rate is
 * already the largest stable one. So nodes whose budget cuts nothing use the root of the factor,
 * which costs two tenths of a point in the beginning. gain · beta is the swarm's momentum (heavy
 * ball: Polyak 1964), the outer momentum of DiLoCo. With a local momentum of 0.9, a product gain ·
 * beta of 0.5 never diverged, and 0.3 was better in long runs of a convolutional network. Without
 * local momentum, and with Adam, whose momentum does not lengthen its steps, 0.6 was better. With
 * Adam the outer momentum acts as a larger learning rate: dividing Adam by the batch noise of the
 * whole swarm gains no more.
 *
 * Measured (tests/RESULTS.md, exchange.rule) by tests/bench/bench_exchange.py. Tests:
 * tests/unit/node/test_outer_step.c.
 */
#ifndef HEARSAY_NODE_RATE_OUTER_STEP_H
#define HEARSAY_NODE_RATE_OUTER_STEP_H

#include <stdbool.h>
#include <stdint.h>

/* Local steps from the arrival of an update until a node has reacted to it. Bench: exchange
 * (tests/decisions/004-gain-as-a-root.md). Half: training oscillates where members are far apart,
 * and accuracy is 76.8 %. Double: not measured; 10 steps in place of 8 gain nothing. */
#define OUTER_STEP_STEPS 8.0
#define OUTER_STEP_S     0.25 /* shortest interval between publications, seconds */
/* Local steps after which a publication may follow sooner than OUTER_STEP_S. */
#define OUTER_STEP_MANY      256.0
#define OUTER_STEP_MANY_S    0.0625 /* shortest interval of OUTER_STEP_MANY steps, seconds */
#define OUTER_STEP_BEGINNING 6      /* number of a node's first, shorter publication intervals */
/* Longest interval before one of a node's first publications, seconds; rumor heads may need more.
 */
#define OUTER_STEP_FIRST_S 1.0

struct outer_step_measured {
    double learners;       /* effective number of live members that train; >= 1 */
    double delay_s;        /* one-way delay to a neighbour, seconds; 0 = unknown */
    double hops;           /* network hops to most members; >= 1 */
    double step_s;         /* seconds that one local step takes; 0 = unknown */
    double bytes_per_s;    /* bytes per second that may be published; > 0 */
    double publish_s;      /* seconds that cutting a publication takes the learner; 0 = unknown */
    double part;           /* part of the entries that the last publication moved, in [0, 1] */
    double momentum;       /* local momentum that lengthens steps (optimizers.h), in [0, 1) */
    double interval_s;     /* configured interval between publications, seconds; 0 = auto */
    double gain;           /* configured gain; 0 = auto */
    uint32_t publications; /* publications of this node so far */
    bool is_cut;           /* the budget cut the last publication */
};

struct outer_step {
    double interval_s; /* mean seconds between two publications */
    /* Factor on the swarm's average progress; 1 = the plain average is applied. */
    double gain;
    double beta; /* outer momentum; the novelty weight has not divided it yet */
};

struct outer_step outer_step_of(const struct outer_step_measured *measured);

/* Returns the network hops after which a rumor has reached most of `live` members. Up to `mesh`
 * members are fully connected; in a larger swarm each has `degree` neighbours. */
double outer_step_hops(uint32_t live, uint32_t mesh, uint32_t degree);

#endif
