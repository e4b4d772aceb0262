/* Runs a strategy to its end, or to an interruption, and keeps all its state for inspection. */
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

#define PARAMETERS 7850 /* dense 784 to 10, the model of these scenarios */

/* Scenarios: two slow nodes and a fast one behind links of 1 Mbit/s, for 10 s; one node with Adam
 * and a schedule, for as many steps; three equal nodes without links between them, for three steps
 * of plain SGD. */
extern const char strategy_three[], strategy_one[], strategy_free[];

struct played {
    struct scenario *scenario;
    struct experiment experiment;
    struct outcome outcome;
};

extern int watched;    /* number of moments seen */
extern int stop_after; /* number of moments after which to stop; 0 = never */

/* Opens an experiment for the strategy. played_with runs it, or the caller does. */
struct played play_open(const char *text, const char *strategy, const char *const *set, int count);

struct played play_text(const char *text, const char *strategy, const char *const *set, int count);

/* Play strategy_three with some keys set, or with one or none. */
struct played play_with(const char *strategy, const char *const *set, int count);
struct played play(const char *strategy, const char *set);
void play_end(struct played *played);

const struct moment *last_moment(const struct played *played);

/* New learners of the nodes of a play, for making its steps by hand. Batches must be unchanged. */
struct by_hand {
    uint32_t count;
    struct learner *learners[3];
    struct arena arenas[3];
};

void by_hand_begin(struct by_hand *hand, struct played *played);
void by_hand_end(struct by_hand *hand);

/* The weights of the first learner must match the play within `by`, and have moved. */
void assert_as_by_hand(const struct by_hand *hand, const struct played *played, float by);

/* The weights of two plays must match within `by`, and have moved from the start. */
void assert_same_weights(const struct played *a, const struct played *b, float by);

/* Returns the distance between two plays, relative to the first one's distance from the start. */
double weights_apart(const struct played *a, const struct played *b);

/* Returns the loss of the initial weights on the whole test set. */
double loss_at_start(struct played *played);

#endif
