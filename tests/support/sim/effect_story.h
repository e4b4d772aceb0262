/* Stories of what one node of a swarm finds in what the others publish: the test says what comes
 * and how far it agrees.
 *
 *   effect_story_begins ─► let_all_publish ─► must_find_who */
#ifndef HEARSAY_TESTS_SUPPORT_SIM_EFFECT_STORY_H
#define HEARSAY_TESTS_SUPPORT_SIM_EFFECT_STORY_H

#include <stdbool.h>
#include <stdint.h>

#include "support/sim/swarm_world.h"

#define NODES 8
#define WHO   5 /* the place of an origin that is none of node 0's own */

extern struct node *node; /* node 0, whose learner finds what the stories say */
extern uint32_t seq;      /* of the next rumor of each */

/* The node has heard nothing of anybody. */
void begin_anew(void);
bool is_own(uint32_t place);

/* A rumor of each origin, that of WHO another one, and a second later what is typical. */
void let_all_publish(double agreement, double of_who, double length, double length_of_who);
/* And nobody else. */
void must_find_who(void);

int effect_story_begins(void **state);
int effect_story_ends(void **state);

#define TOLD(story) cmocka_unit_test_setup_teardown(story, effect_story_begins, effect_story_ends)

#endif
