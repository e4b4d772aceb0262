/* Byzantine detection at one node of a swarm: the test sets what others publish and how far it
 * agrees with local training.
 *
 *   byzantine_story_begins ─► let_all_publish ─► must_find_who
 */
#ifndef HEARSAY_TESTS_SUPPORT_SIM_BYZANTINE_STORY_H
#define HEARSAY_TESTS_SUPPORT_SIM_BYZANTINE_STORY_H

#include <stdbool.h>
#include <stdint.h>

#include "support/sim/swarm_world.h"

#define NODES 8
#define WHO   5 /* index of an origin of another node */

extern struct node *node; /* node 0, whose learner reports the agreement that the test sets */
extern uint32_t seq;      /* number of the next rumor of each origin */

/* Starts with a node that has received nothing. */
void begin_anew(void);
bool is_own(uint32_t origin_index);

/* Publishes a rumor of each origin with this agreement and length, and with other values for WHO. A
 * second later updates the typical values. */
void let_all_publish(double agreement, double of_who, double length, double length_of_who);
/* WHO must be found, and no other origin. */
void must_find_who(void);

int byzantine_story_begins(void **state);
int byzantine_story_ends(void **state);

#define TOLD(story)                                                                                \
    cmocka_unit_test_setup_teardown(story, byzantine_story_begins, byzantine_story_ends)

#endif
