/* Stories of members that the operator puts out: a swarm with an operator, whose orders the test
 * signs and gives to any node.
 *
 *   story_begins ─► start_four ─► expel, order_expulsion ─► run ─► must_agree, must_be_out */
#ifndef HEARSAY_TESTS_SUPPORT_SIM_EXPULSION_STORY_H
#define HEARSAY_TESTS_SUPPORT_SIM_EXPULSION_STORY_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/sim/fetch_story.h"
#include "wire/order.h"

#define REASON "publishes noise"

extern struct operator_key operator_key;

/* A new world, whose operator has ordered nothing yet. */
int expulsion_begins(void **state);

struct node_options obedient(struct node_options options);

/* An order of this number that leaves nothing of the subject. */
struct order order_of(uint32_t number, const uint8_t subject[static ID_BYTES]);
size_t sign(const struct order *order, uint8_t out[static ORDER_BYTES_MAX]);

/* The next order, given to node i; its number is set. */
void order_expulsion(uint32_t i, struct order order);
void expel(uint32_t i, uint32_t villain);
void expel_id(uint32_t i, const uint8_t id[static ID_BYTES]);
/* As `hearsay expel` without --all: what node i's log will not have for long stays. */
void expel_within_reach(uint32_t i, uint32_t villain);

/* As `hearsay expel --since`: of each incarnation of the villain stays what had come to node i by
 * then, as far as its marks tell. Its log reaches back so far. */
void expel_since(uint32_t i, uint32_t villain, uint64_t moment_ns);

/* Orders, given to node i all at once, that admit these; and one that does after an expulsion. */
void admit_nodes(uint32_t i, const uint32_t *members, uint32_t count);
void admit_after(uint32_t i, const uint8_t id[static ID_BYTES], uint64_t after);

/* How many rumors of all incarnations of a member node i knows. */
uint32_t known_of_id(uint32_t i, const uint8_t id[static ID_BYTES]);
uint32_t known_of_node(uint32_t i, uint32_t villain);

/* The villain is out, everywhere, and the others hold one base: b0 and the sum of all that was
 * published but what the villain did. */
void must_be_out(uint32_t villain);

/* Four nodes, of which the last is the villain, that have published for ten seconds. */
void start_four(struct node_options options);

#define EXPULSION(name) cmocka_unit_test_setup_teardown(name, expulsion_begins, world_ends)

#endif
