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

extern struct node *node; /* node 0, which receives the rumors and agreements that the test sets */
extern uint32_t seq;

/* Replaces the node's Byzantine detection by a new one, and sets `seq` to 0. */
void reset_detection(void);
bool is_own(uint32_t origin_index);

/* Gives the node a rumor of each other origin, with this agreement and length. WHO's rumor has
 * agreement of_who and length_of_who. A second later the node updates its medians
 * (byzantine_review). */
void let_all_publish(double agreement, double of_who, double length, double length_of_who);
/* Checks that the node finds WHO and no other origin. */
void must_find_who(void);

int byzantine_story_begins(void **state);
int byzantine_story_ends(void **state);

#define TOLD(story)                                                                                \
    cmocka_unit_test_setup_teardown(story, byzantine_story_begins, byzantine_story_ends)

#endif
