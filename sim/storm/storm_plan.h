/* The plan of a storm: swarm, links and faults, drawn from a seed.
 *
 *   storm_command.c ─► job_pool.h ─► storm.c ─► storm_draw.c
 *   (progress,         (worker         (plays     (draws
 *    summary)           processes)      it)        the plan)
 *
 * Tests: tests/unit/sim/test_storm.c.
 */
#ifndef HEARSAY_SIM_STORM_STORM_PLAN_H
#define HEARSAY_SIM_STORM_STORM_PLAN_H

#include "storm/storm.h"
#include "storm/storm_rekey.h"
#include "world/world.h"

#define STORM_NODES_MAX   24
#define STORM_REGIONS_MAX 6
/* Number of nodes up to which every node connects to every other (dialer.c). */
#define STORM_MESH_MAX   10
#define STORM_STARTS_MAX 5 /* maximum number of different initial weights */
#define STORM_EACH_MAX   3 /* maximum number of faults of a kind; crashes may be one more */
#define STORM_FAULTS_MAX (STORM_EACH_MAX * FAULT_KINDS + 1)

/* Times count from WORLD_BEGIN_NS. */
struct storm_node {
    uint64_t start_ns;
    uint64_t leave_ns; /* time at which the node is told to leave; 0 = it stays */
    uint64_t step_ns;
    uint32_t step_samples;
    uint32_t region;
    /* Index of the initial weights that the node begins with, below STORM_STARTS_MAX
     * (storm_starts.h). */
    uint32_t start;
    uint32_t knows;  /* bit j is set if the node knows the address of node j */
    bool trains;     /* false: the node only forwards rumors */
    bool dials_only; /* the node accepts no connections */
    bool is_older;   /* the node starts as the previous release */
    /* time from which an older node starts as the present release; 0 = never */
    uint64_t upgrade_ns;
    struct rate up;          /* rate of the node's uplink */
    struct rate down;        /* rate of the node's downlink */
    uint64_t stall_ns;       /* duration of a stall of the node's links */
    uint64_t stall_every_ns; /* period of the stalls; 0 = none */
};

struct storm_plan {
    uint64_t seed;
    uint32_t nodes;
    uint32_t regions;
    bool learns_text; /* nodes train a small GPT on text; otherwise their weights walk at random */
    uint32_t parameters;
    uint32_t density_max;        /* maximum number of entries of one update */
    struct node_options options; /* options of every node, except those that storm_node sets */
    struct storm_node node[STORM_NODES_MAX];                    /* [nodes] */
    struct path paths[STORM_REGIONS_MAX][SCENARIO_REGIONS_MAX]; /* [from][to] */
    struct fault faults[STORM_FAULTS_MAX];
    uint32_t faults_count;
    uint32_t twins;                   /* number of spare nodes, which only DUPLICATE faults start */
    uint32_t twin_of[STORM_EACH_MAX]; /* [twins] node whose identity each spare node has */
    struct storm_expulsion expulsion;
    struct storm_rekey rekey; /* rotation of the swarm key */
    uint64_t faulty_ns;
    uint64_t calm_ns; /* length of the fault-free training after the faulty phase */
    bool all_leave;   /* all nodes are told to leave at the end */
};

void storm_draw(struct storm_plan *plan, uint64_t seed);
/* Writes the plan as comment lines of a trace. */
void storm_describe(const struct storm_plan *plan, FILE *out);

#endif
