/* Expulsions by a swarm's operator. The test signs the operator's orders and gives them to any
 * node.
 *
 *   expulsion_begins ─► start_four ─► expel, order_expulsion ─► run ─► must_agree, must_be_out
 */
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

/* Starts a world whose operator has given no order. */
int expulsion_begins(void **state);

struct node_options obedient(struct node_options options);

/* Makes expulsion order `number`, which keeps no rumor of the subject. */
struct order order_of(uint32_t number, const uint8_t subject[static ID_BYTES]);
size_t sign(const struct order *order, uint8_t out[static ORDER_BYTES_MAX]);

/* Sets the order's number to the next one, signs the order, and gives it to node i. */
void order_expulsion(uint32_t i, struct order order);
void expel(uint32_t i, uint32_t villain);
void expel_id(uint32_t i, const uint8_t id[static ID_BYTES]);
/* Gives node i an order like `hearsay expel` without --all: it spares rumors that node i's log has
 * lost or is about to lose. */
void expel_within_reach(uint32_t i, uint32_t villain);

/* Gives node i an order like `hearsay expel --since`. The order keeps the rumors that node i had
 * received by moment_ns. Node i's list of arrivals (node_arrivals) must reach back that far. */
void expel_since(uint32_t i, uint32_t villain, uint64_t moment_ns);

/* Give node i orders: admit_nodes admits these nodes, admit_after admits one node again after order
 * `after`. */
void admit_nodes(uint32_t i, const uint32_t *members, uint32_t count);
void admit_after(uint32_t i, const uint8_t id[static ID_BYTES], uint64_t after);

/* Return how many rumors node i knows from all incarnations of a member. */
uint32_t known_of_id(uint32_t i, const uint8_t id[static ID_BYTES]);
uint32_t known_of_node(uint32_t i, uint32_t villain);

/* Checks that all running nodes have expelled the villain and have one base: b0 plus everything
 * published, except the villain's updates. */
void must_be_out(uint32_t villain);

/* Starts four nodes and lets them publish for ten seconds. The last node is the villain. */
void start_four(struct node_options options);

#define EXPULSION(name) cmocka_unit_test_setup_teardown(name, expulsion_begins, world_ends)

#endif
