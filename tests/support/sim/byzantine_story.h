/* Byzantine detection at one node of a swarm. The test sets what other members publish and how far
 * that agrees with local training.
 *
 *   byzantine_story_begins ─► let_all_publish ─► must_find_who
 */
#ifndef HEARSAY_TESTS_SUPPORT_SIM_BYZANTINE_STORY_H
#define HEARSAY_TESTS_SUPPORT_SIM_BYZANTINE_STORY_H

#include <stdbool.h>
#include <stdint.h>

#include "support/sim/swarm_world.h"

#define NODES 8
#define WHO   5 /* index of the origin that misbehaves */

extern struct node *node; /* node 0, whose learner reports the agreement that the test sets */
extern uint32_t seq;

/* Resets the node's Byzantine detection. */
void reset_detection(void);
bool is_own(uint32_t origin_index);

/* Publishes a rumor of each origin, except the node's own, with this agreement and length. WHO's
 * rumor has of_who and length_of_who instead. A second later the node updates the typical values.
 */
void let_all_publish(double agreement, double of_who, double length, double length_of_who);
/* Checks that the node finds WHO and no other origin. */
void must_find_who(void);

int byzantine_story_begins(void **state);
int byzantine_story_ends(void **state);

#define TOLD(story)                                                                                \
    cmocka_unit_test_setup_teardown(story, byzantine_story_begins, byzantine_story_ends)

#endif
