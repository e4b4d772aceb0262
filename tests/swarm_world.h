/* A swarm in a world (world.h): what the stories of test_node.c, test_spread.c and test_leave.c
 * have in common. After every event the node's digest is compared with its learner's base. */
#ifndef HEARSAY_SWARM_WORLD_H
#define HEARSAY_SWARM_WORLD_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>

#include <cmocka.h>

#include "world.h"

static struct world world;

static inline int world_begins(void **state)
{
    (void)state;
    world_init(&world, 1);
    return 0;
}

static inline int world_ends(void **state)
{
    (void)state;
    world_free(&world);
    return 0;
}

/* n nodes; each knows where the first is. */
static inline void start_swarm(int n, const struct node_options *options)
{
    for (int i = 0; i < n; i++) {
        (void)world_add_node(&world, options);
        if (i > 0)
            world_seed(&world, i, 0);
    }
    for (int i = 0; i < n; i++)
        world_start_node(&world, i);
}

static inline void start_usual_swarm(int n)
{
    const struct node_options options = world_options();
    start_swarm(n, &options);
}

static inline uint32_t neighbours(int i)
{
    return world_stats(&world, i).neighbours;
}

static inline bool meshed(void)
{
    for (int i = 0; i < world.count; i++)
        if (world.nodes[i].node && neighbours(i) != (uint32_t)world.count - 1)
            return false;
    return true;
}

/* Training pauses; soon everybody holds the same. */
static inline void must_agree(uint64_t within_ns)
{
    world_rest(&world);
    world_run(&world, within_ns);
    assert_true(world_all_equal(&world));
}

static inline uint64_t rumors_told(void)
{
    uint64_t told = 0;
    for (int i = 0; i < world.count; i++)
        told += world.nodes[i].node ? world_stats(&world, i).rumors_told : 0;
    return told;
}

static inline void assert_near(double got, double want, double apart)
{
    if (!(got >= want - apart && got <= want + apart))
        fail_msg("%g is not near %g", got, want);
}

#define STORY(name) cmocka_unit_test_setup_teardown(name, world_begins, world_ends)

#endif
