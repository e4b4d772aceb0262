/* Runs a strategy to its end, or to an interruption. Keeps the final weights and the outcome for
 * inspection until play_end. */
#ifndef HEARSAY_TESTS_SUPPORT_SIM_STRATEGY_PLAY_H
#define HEARSAY_TESTS_SUPPORT_SIM_STRATEGY_PLAY_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "strategies/strategy.h"

#define PARAMETERS 7850 /* parameters of the scenarios' model, "dense 10" for 784 inputs */

/* strategy_three: two slow nodes and a fast one on uplinks of 1 Mbit/s, for 10 s. strategy_one: one
 * node with Adam and a rate schedule, for 10 s. strategy_free: three equal nodes without links, for
 * three steps of plain SGD. */
extern const char strategy_three[], strategy_one[], strategy_free[];

struct played {
    struct scenario *scenario;
    struct experiment experiment;
    struct outcome outcome;
};

extern int watched;
extern int stop_after; /* number of moments after which the play stops; 0 = never */

struct played play_open(const char *text, const char *strategy, const char *const *set, int count);

struct played play_text(const char *text, const char *strategy, const char *const *set, int count);

/* Play strategy_three with some keys set: play_with sets `count` keys, play one or none. */
struct played play_with(const char *strategy, const char *const *set, int count);
struct played play(const char *strategy, const char *set);
void play_end(struct played *played);

const struct moment *last_moment(const struct played *played);

/* Learners equal to those of a play before its first step, for repeating its steps by hand. All
 * nodes must have the configured batch. */
struct by_hand {
    uint32_t count;
    struct learner *learners[3];
    struct arena arenas[3];
};

void by_hand_begin(struct by_hand *hand, struct played *played);
void by_hand_end(struct by_hand *hand);

/* Checks that the first learner's weights equal the play's within `by`, and have moved from the
 * start. */
void assert_as_by_hand(const struct by_hand *hand, const struct played *played, float by);

/* Checks that the weights of the two plays are equal within `by`, and have moved from the start. */
void assert_same_weights(const struct played *a, const struct played *b, float by);

/* Returns the distance between the weights of two plays, relative to a's distance from the start.
 */
double weights_apart(const struct played *a, const struct played *b);

/* Returns the loss of the initial weights on the whole test set. */
double loss_at_start(struct played *played);

#endif
