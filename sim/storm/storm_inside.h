/* The inside of the storm: storm_draw.c (what will be), storm.c (plays it), storm_jobs.c (many, in
 * processes), storm_command.c (what a person sees of it). Nobody else includes this but its test.
 */
#ifndef HEARSAY_SIM_STORM_STORM_INSIDE_H
#define HEARSAY_SIM_STORM_STORM_INSIDE_H

#include "storm/storm.h"
#include "world/world.h"

#define STORM_NODES_MAX   24
#define STORM_REGIONS_MAX 6
#define STORM_MESH_MAX                                                                             \
    10                     /* up to so many nodes talk each to each (src/node/membership/dialer.c) \
                            */
#define STORM_EACH_MAX   3 /* faults of a class */
#define STORM_FAULTS_MAX (STORM_EACH_MAX * FAULT_KINDS + 1)

/* Times count from WORLD_BEGIN_NS. */
struct storm_node {
    uint64_t start_ns;
    uint64_t leave_ns; /* it is told to leave; 0: it stays */
    uint64_t step_ns;
    uint32_t step_samples;
    uint32_t region;
    uint32_t knows; /* bit j: it is given the address of node j */
    bool trains;
    bool dials_only;
    struct rate up, down;
    uint64_t stall_ns, stall_every_ns;
};

struct storm_plan {
    uint64_t seed;
    uint32_t nodes;
    uint32_t regions;
    uint32_t parameters;
    uint32_t density_max;
    struct node_options options; /* of every node, but for what storm_node says */
    struct storm_node node[STORM_NODES_MAX];
    struct path paths[STORM_REGIONS_MAX][SCENARIO_REGIONS_MAX];
    struct fault faults[STORM_FAULTS_MAX];
    uint32_t faults_count;
    uint32_t twins; /* nodes beyond the others that are not started but by a DUPLICATE ... */
    uint32_t twin_of[STORM_EACH_MAX]; /* ... of this one */
    uint64_t faulty_ns;               /* how long faults happen */
    uint64_t calm_ns;                 /* how long training goes on after them */
    bool all_leave;                   /* at the end everybody is told to leave */
};

/* storm_draw.c */
void storm_draw(struct storm_plan *plan, uint64_t seed);
void storm_describe(const struct storm_plan *plan, FILE *out);

/* storm_jobs.c: seeds from .. to, each played by one of `jobs` processes; what comes out of each is
 * applied to `done` here, in no order. A process that dies fails its seed. Returns false when it
 * was stopped by Ctrl+C before all were played. */
struct storm_jobs {
    uint64_t from, to;
    uint32_t jobs;
    bool stop; /* no seed is begun after one has failed: those before it have been by then */
    void *self;
    void (*play)(void *self, uint64_t seed, struct storm *storm);
    void (*done)(void *self, const struct storm *storm);
    void (*tick)(void *self); /* about ten times a second */
};
bool storm_jobs_run(const struct storm_jobs *jobs);

#endif
