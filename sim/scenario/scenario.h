/* A scenario: the input of `hearsay sim FILE`. sim/README.md describes the language.
 *
 *   FILE (INI) ─► config_read ─► --set ─► scenario_check ─► struct scenario     (scenario_load)
 *
 * The sections of a node's configuration (config.h) apply to every node. [scenario] has single
 * values and four kinds of lines, each a head and comma-separated clauses:
 *
 *   nodes  = 2 desk, 400 samples/s, up 10 Mbit/s, down 50 Mbit/s, region west, dials only
 *   link   = west east, rtt 80 ms, jitter 5 ms, loss 0.1 %, up 5 Mbit/s, down 20 Mbit/s
 *   fault  = crash desk/1, at 40 s, back at 60 s                (fault.h)
 *   expect = accuracy >= 0.88 by 120 s                          (expectation.h)
 *
 * Tests: tests/unit/sim/test_scenario*.c.
 */
#ifndef HEARSAY_SIM_SCENARIO_SCENARIO_H
#define HEARSAY_SIM_SCENARIO_SCENARIO_H

#include "base/min_max.h"
#include "config/config.h"
#include "scenario/expectation.h"
#include "scenario/fault.h"
#include "scenario/strategy_kind.h"

#define SCENARIO_NODES_MAX   FAULT_NODES_MAX
#define SCENARIO_GROUPS_MAX  64
#define SCENARIO_REGIONS_MAX 64
#define SCENARIO_SETS_MAX    8
#define SCENARIO_CHANGES_MAX 16
#define SCENARIO_EXPECTS_MAX 32
#define SCENARIO_FAULTS_MAX  64
#define SCENARIO_NAME_BYTES  32
#define SCENARIO_WORKERS_MAX 128 /* most nodes of a strategy from ako on (strategy_kind.h) */
#define SCENARIO_CURVES_MAX  64  /* with more nodes, a play keeps no curve of each node */
#define SCENARIO_TWINS_MAX   8   /* most duplicate processes in a scenario */

/* A rate over time, in bytes per second; 0 = unlimited. */
struct rate {
    uint64_t bytes_per_s; /* rate before the first change */
    struct {
        uint64_t at_ns;
        uint64_t bytes_per_s;
    } change[SCENARIO_CHANGES_MAX]; /* the changes, in order of time */
    uint32_t changes;
};

/* A group of nodes: a line `nodes = COUNT NAME, clauses`. */
struct group {
    char name[SCENARIO_NAME_BYTES];
    uint32_t first;                   /* index of the first node */
    uint32_t count;                   /* number of nodes */
    char region[SCENARIO_NAME_BYTES]; /* region west; default: the group's name */
    double samples_per_s;    /* 400 samples/s: speed of each node; 0 = the nodes only forward */
    struct rate up;          /* up 10 Mbit/s; at 60 s up 5 Mbit/s: each node's uplink */
    struct rate down;        /* down 50 Mbit/s; at 60 s down 5 Mbit/s: each node's downlink */
    uint64_t start_ns;       /* time at which the nodes start and join ("from 10 s") */
    uint64_t stop_ns;        /* time at which the nodes leave ("until 90 s"); 0 = they stay */
    uint64_t stall_ns;       /* stall 3 s every 20 s: length of each stall of the nodes' links */
    uint64_t stall_every_ns; /* stall 3 s every 20 s: period of the stalls; 0 = none */
    uint64_t memory_bytes;   /* memory 2 GB: only shown in the report; 0 = none */
    double data;             /* data 2: relative size of the nodes' shards (default 1) */
    bool dials_only;         /* dials only: the nodes are behind a NAT and accept no connections */
    /* set exchange.bytes_per_s=5000: a key for the nodes of this group only */
    char set[SCENARIO_SETS_MAX][128];
    uint32_t sets;
};

/* Properties of the path from one region to another.
 *   link = west east     both directions (west west: within the region)
 *   link = west > east   one direction
 *   link = all           every pair and region without a line of its own */
struct path {
    uint64_t delay_ns; /* delay 40 ms, or twice the delay: rtt 80 ms */
    /* jitter 5 ms: maximum of a uniform additional delay, which does not reorder segments. */
    uint64_t jitter_ns;
    /* loss 0.1 %: fraction of segments that are lost and sent again (wire.h). */
    double loss;
    /* Shared by all nodes of the two regions. `rate 20 Mbit/s` sets it for both directions, `up`
     * from the first region to the second, `down` from the second to the first. `at 60 s rate 5
     * Mbit/s` (or up, or down) changes it. */
    struct rate rate;
};

struct scenario {
    char name[64];    /* file name without folder and extension */
    char about[256];  /* the scenario in one sentence */
    char source[512]; /* source of the numbers in the scenario */
    uint64_t seed;
    uint64_t span_ns;   /* seconds: time at which training ends */
    uint64_t settle_ns; /* settle_s: time after training in which nodes may reach one version */
    enum strategy_kind strategy;
    bool made_up;              /* updates = made up: no data, weights walk at random */
    uint32_t parameters;       /* number of parameters of a made up model */
    double skew;               /* alpha of the Dirichlet label skew; 0 = iid shards */
    uint64_t evaluate_ns;      /* evaluate_s: period of evaluations; 0 = only at the end */
    uint32_t evaluate_samples; /* number of test samples of each evaluation before the end */
    bool quarantines;          /* quarantine: the nodes may expel harmful members by votes */
    struct strategy_settings settings;
    struct config config; /* configuration of every node, without the set clauses of its group */
    struct group groups[SCENARIO_GROUPS_MAX];
    uint32_t groups_count;
    uint32_t nodes_count;
    char regions[SCENARIO_REGIONS_MAX][SCENARIO_NAME_BYTES];
    uint32_t regions_count;
    struct path paths[SCENARIO_REGIONS_MAX][SCENARIO_REGIONS_MAX]; /* [from][to] */
    char unlinked[256]; /* pairs of different regions to which no link line applies; "" = none */
    struct fault faults[SCENARIO_FAULTS_MAX];
    uint32_t faults_count;
    struct expect expects[SCENARIO_EXPECTS_MAX];
    uint32_t expects_count;
};

/* Reads the file, applies the assignments in order and checks the result. An assignment is
 * "section.key=value" as for a node, "scenario.seconds=60", or "GROUP.CLAUSE=VALUE" such as
 * "desk.up=5 Mbit/s". Returns MALFORMED, MISSING or FAILED with a sentence that names the place of
 * the mistake and the remedy. */
enum error scenario_load(struct scenario *scenario, const char *path, const char *const *sets,
                         int sets_count, struct problem *problem) MUST_USE;

/* Prints a warning to stderr if pairs of regions have no link line, except for strategy ideal. */
void scenario_warn(const struct scenario *scenario);

/* Sets *config to the common configuration, changed by the set clauses of node i's group. */
void scenario_node_config(const struct scenario *scenario, uint32_t i, struct config *config);

/* Removes faults, late starts and leaves from the scenario, because only the strategy gossip can
 * play them. Returns true if there were any. */
bool scenario_leave_out(struct scenario *scenario);

const struct group *scenario_group(const struct scenario *scenario, uint32_t i);
uint32_t scenario_region(const struct scenario *scenario, uint32_t i);

/* Writes a name such as "desk/2". */
void scenario_node_name(const struct scenario *scenario, uint32_t i, char *out, size_t bytes);

/* Returns the partition fault that ends at this time, or NULL. */
const struct fault *scenario_partition_until(const struct scenario *scenario, uint64_t at_ns);

static inline double seconds_of(uint64_t ns)
{
    return (double)ns * 1e-9;
}

/* Returns bytes per second; 0 = unlimited. */
uint64_t rate_at(const struct rate *rate, uint64_t now_ns);

#endif
