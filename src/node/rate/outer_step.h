/* How boldly to tell: how often, how much at once, and with what weight.
 *
 *   members that train ─┐
 *   round trips ────────┼──► outer_step_of ──► interval, gain, beta
 *   time of a step ─────┤
 *   bytes per second ───┤
 *   local momentum ─────┘
 *
 * A pure function of what a node measures. The rule for n members that train (where some learn more
 * than others, n is as many as would leave as much noise in the mean: members.h):
 *
 *   news      = how long it takes until the others work with what was told: the one-way delay,
 *               times the hops to most of them, and OUTER_STEP_STEPS steps, in which they react.
 *   interval  = news, times half the square root of n if that is more than 1; at least so long that
 *               a rumor's head is a twentieth of what is told, and OUTER_STEP_S, below which
 * nothing is gained. The first six are shorter, the first of them news: then all learn the same,
 * and hearing of it is worth more than averaging noise. gain      = interval / news, between 1 and
 * the square root of n (but OUTER_STEP_S buys none; with the first six publications it is what it
 * will be). beta      = 0.6, less a third of the momentum that a learner has itself, of the gain's
 * inverse; less where the interval was fixed to be shorter.
 *
 * Why: what is told gain times over in an interval is answered only after the news has come. A
 * loop with a delay swings where gain · news / interval comes near pi/2; at 1 it settles quickly.
 * The more nodes are averaged, the less noise there is to fear, and the further the swarm may go
 * on. gain·beta is the swarm's momentum (heavy ball: Polyak 1964): where learners have 0.9 of their
 * own, a half diverged nowhere, and in long runs of a convolutional network 0.3 was better; where
 * they have none, 0.6 was.
 *
 * What is measured of it: README, "How boldly", by tests/bench/bench_exchange.py.
 */
#ifndef HEARSAY_NODE_RATE_OUTER_STEP_H
#define HEARSAY_NODE_RATE_OUTER_STEP_H

#include <stdint.h>

#define OUTER_STEP_STEPS 8.0
#define OUTER_STEP_S     0.25

struct outer_step_measured {
    double learners;    /* live members that train, as if all learned equally much; >= 1 */
    double delay_s;     /* one way to a neighbour; 0: not measured yet */
    double hops;        /* to most members; >= 1 */
    double step_s;      /* of one local step; 0: not measured yet */
    double bytes_per_s; /* that may be told; > 0 */
    double momentum;    /* of a learner itself, in [0, 1) */
    double interval_s;  /* these two may be fixed; 0: to be chosen */
    double gain;
    uint32_t publications; /* so far */
};

struct outer_step {
    double interval_s;
    double gain;
    double beta;
};

struct outer_step outer_step_of(const struct outer_step_measured *measured);

/* Hops to most of so many members, where each has `degree` neighbours and up to `mesh` all talk to
 * all. */
double outer_step_hops(uint32_t live, uint32_t mesh, uint32_t degree);

#endif
