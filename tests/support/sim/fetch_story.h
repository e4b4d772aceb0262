/* State transfers in a busy swarm, whose logs soon lose old rumors. A node that lacks too many
 * rumors takes over the swarm's base. swarm_world.h has the basic functions.
 *
 *   start_swarm(busy_options) ─► join ─► until_blocks ─► faults ─► until(is_training, …)
 */
#ifndef HEARSAY_TESTS_SUPPORT_SIM_FETCH_STORY_H
#define HEARSAY_TESTS_SUPPORT_SIM_FETCH_STORY_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "node/broadcast/version.h"
#include "support/sim/swarm_world.h"

#define SMALL_BLOCK  10
#define SMALL_BLOCKS (PARAMETERS / SMALL_BLOCK)

/* Returns options with small blocks, and with logs of 64 KiB, which hold three nodes' rumors for
 * only a few seconds. */
struct node_options busy_options(void);

/* Adds and starts a node that knows the addresses of nodes 0 .. swarm - 1. Returns its number. */
uint32_t join(const struct node_options *options, uint32_t swarm);

/* As join, but the node cannot reach the swarm until join_reach. */
uint32_t join_cut_off(const struct node_options *options, uint32_t swarm);
void join_reach(uint32_t joiner, uint32_t swarm);

/* Conditions for until(). */

bool is_training(uint32_t i);
bool is_catching_up(uint32_t i);
bool has_base(uint32_t i);
bool is_finished(uint32_t i);

/* Runs until the condition holds for node i, checked every millisecond. Fails the test if that
 * takes longer than within_ns. */
void until(bool (*holds)(uint32_t i), uint32_t i, uint64_t within_ns);

/* Runs until node i has received `blocks` blocks of the base that it takes over. */
void until_blocks(uint32_t i, uint32_t blocks, uint64_t within_ns);

/* Returns how many rumors node i knows from the current incarnation of node `of`. */
uint32_t known_of(uint32_t i, uint32_t of);
uint64_t incarnation_of(uint32_t i);
uint32_t bases_of(uint32_t i);

void weights_of(uint32_t i, float out[static PARAMETERS]);
void residual_of(uint32_t i, double out[static PARAMETERS]);
double sum_of_sizes(const double residual[static PARAMETERS]);

#endif
