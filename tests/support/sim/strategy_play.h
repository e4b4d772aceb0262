/* A strategy played to its end, or interrupted, with all that it leaves to be looked at. */
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

#define PARAMETERS 7850 /* dense 784 to 10, the model of both */

/* Two slow nodes and a fast one behind links of 1 Mbit/s, for 10 s; one node alone, with Adam and a
 * schedule, for as many steps; and three equal nodes without links between them, for three steps of
 * plain SGD. */
extern const char strategy_three[], strategy_one[], strategy_free[];

struct played {
    struct scenario *scenario;
    struct experiment experiment;
    struct outcome outcome;
};

extern int watched;    /* moments of the play */
extern int stop_after; /* moments; 0: never */

/* Ready to be played by that strategy, or by the caller. */
struct played play_open(const char *text, const char *strategy, const char *const *set, int count);

struct played play_text(const char *text, const char *strategy, const char *const *set, int count);

/* strategy_three with some keys set, or with one or none. */
struct played play_with(const char *strategy, const char *const *set, int count);
struct played play(const char *strategy, const char *set);
void play_end(struct played *played);

const struct moment *last_moment(const struct played *played);

/* Learners of the nodes of a play, anew, to make its steps by hand; none has another batch. */
struct by_hand {
    uint32_t count;
    struct learner *learners[3];
    struct arena arenas[3];
};

void by_hand_begin(struct by_hand *hand, struct played *played);
void by_hand_end(struct by_hand *hand);

/* No weight of the first learner differs by more from what the play came to, and it has moved. */
void assert_as_by_hand(const struct by_hand *hand, const struct played *played, float by);

/* No weight differs by more, and they have moved from the start. */
void assert_same_weights(const struct played *a, const struct played *b, float by);

/* How far two plays are from each other, relative to how far the first went from the start. */
double weights_apart(const struct played *a, const struct played *b);

/* Of the weights before the first step, on the whole test set. */
double loss_at_start(struct played *played);

#endif
