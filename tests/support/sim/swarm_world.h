/* A simulated swarm (sim/world/world.h) for tests: nodes 20 ms apart, each with a random walk as
 * learner. Outsiders, such as puppets (puppet.h), are hosts 0.1 ms from every node.
 *
 *   begin_world ─► start_swarm, or add, world_introduce, world_start ─► run, cut … ─► must_agree
 *
 * A violated invariant (sim/world/check.h) fails the test at once.
 */
#ifndef HEARSAY_TESTS_SUPPORT_SIM_SWARM_WORLD_H
#define HEARSAY_TESTS_SUPPORT_SIM_SWARM_WORLD_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "backend/backend.h"
#include "world/world.h"

#define NODES_MAX      40
#define OUTSIDERS_MAX  8
#define PARAMETERS_MAX 20000
#ifndef PARAMETERS
#define PARAMETERS 600
#endif
#define DELAY_NS  (20 * MS_NS)
#define NEARBY_NS (MS_NS / 10)

enum region { HERE, NEARBY, REGIONS }; /* region of the nodes, and of the outsiders */

extern struct backend *backend;
extern uint32_t parameters; /* parameters of every model; tests with larger models change it */
extern struct world world;
extern struct path paths[SCENARIO_REGIONS_MAX][SCENARIO_REGIONS_MAX];
extern uint32_t
    density_max; /* maximum entries per publication of learners that are created later */
/* Seed of each node's first weights (random_walk_begin); usually 0. */
extern uint64_t first_weights[NODES_MAX];
extern bool is_alike; /* makes all learners that are created later walk alike */

void begin_world(uint64_t seed);
int world_begins(void **state);
int world_ends(void **state);
int open_all(void **state);
int close_all(void **state);

struct node_options usual_options(void);

/* Adds a node that does not run yet. Nodes with equal `identity` are one member to other nodes. */
uint32_t add_as(const struct node_options *options, uint64_t identity);
uint32_t add(const struct node_options *options);
void start_all(void);

/* Add n nodes, which know the address of the first. The start_ functions also start them. */
void add_swarm(uint32_t n, const struct node_options *options);
void start_swarm(uint32_t n, const struct node_options *options);
void start_usual_swarm(uint32_t n);

void run(uint64_t span_ns);

/* Stops all bytes between nodes a and b, without ending their connections. */
void cut(uint32_t a, uint32_t b);
void heal_cut(uint32_t a, uint32_t b);

/* Limits node i's uplink; 0 = no limit. */
void limit_up(uint32_t i, uint64_t bytes_per_s);

struct node_stats stats_of(uint32_t i);
uint32_t neighbours(uint32_t i);
bool meshed(void);
uint64_t rumors_published(void);

/* Returns true if the two learners' bases are equal, byte for byte. Also works for stopped nodes.
 */
bool same_base(uint32_t a, uint32_t b);
void assert_one_version(void);

/* Ends training, runs for within_ns, and checks that all nodes have one base. */
void must_agree(uint64_t within_ns);
void assert_near(double got, double want, double apart);

#define STORY(name) cmocka_unit_test_setup_teardown(name, world_begins, world_ends)

bool is_rolling(uint32_t i);

#endif
