/* A scenario: what `hearsay sim FILE` plays. Nodes, links, faults, settings, and what is expected.
 *
 *   FILE (INI) ─► scenario_load ─► --set … ─► scenario_check ─► struct scenario
 *
 * The sections of a node's configuration ([model] [data] [train] [exchange] [limits], config.h)
 * hold for every node. [scenario] holds single values and four kinds of lines, each as often as
 * needed; a line is a head and clauses, separated by commas:
 *
 *   nodes  = 2 desk, 400 samples/s, up 10 Mbit/s, down 50 Mbit/s, region west, dials only
 *   link   = west east, rtt 80 ms, jitter 5 ms, loss 0.1 %, rate 20 Mbit/s, at 60 s rate 5 Mbit/s
 *   fault  = crash desk/1, at 40 s, back at 60 s
 *   expect = accuracy >= 0.88 by 120 s
 *
 * Rates are decimal (1 Mbit/s = 125,000 bytes/s); `kbit/s Mbit/s Gbit/s B/s kB/s MB/s` are known,
 * and `unlimited`. Times: `us ms s min h`. What every clause means stands with its member below,
 * and with the faults in fault.h. Held by tests/test_scenario*.c.
 */
#ifndef HEARSAY_SIM_SCENARIO_SCENARIO_H
#define HEARSAY_SIM_SCENARIO_SCENARIO_H

#include "config/config.h"
#include "faults/fault.h"

#define SCENARIO_NODES_MAX   FAULT_NODES_MAX
#define SCENARIO_GROUPS_MAX  64
#define SCENARIO_REGIONS_MAX 64
#define SCENARIO_SETS_MAX    8
#define SCENARIO_CHANGES_MAX 16
#define SCENARIO_EXPECTS_MAX 32
#define SCENARIO_FAULTS_MAX  64
#define SCENARIO_NAME_BYTES  32
#define SCENARIO_CURVES_MAX  64 /* with more nodes, what each does is not kept */
#define SCENARIO_TWINS_MAX   8  /* second processes with one identity */

enum strategy_kind { STRATEGY_GOSSIP, STRATEGY_SINGLE, STRATEGY_IDEAL, STRATEGY_LOCALSGD };

/* A rate that changes: bytes per second from a moment on; 0: as fast as you like. */
struct rate {
    uint64_t bytes_per_s;
    struct {
        uint64_t at_ns;
        uint64_t bytes_per_s;
    } change[SCENARIO_CHANGES_MAX]; /* in order of time */
    uint32_t changes;
};

/* nodes = COUNT NAME, clauses */
struct group {
    char name[SCENARIO_NAME_BYTES];
    uint32_t first; /* its nodes are first .. first + count - 1 of the scenario */
    uint32_t count;
    char region[SCENARIO_NAME_BYTES];  /* region NAME (default: the group's name) */
    double samples_per_s;              /* 400 samples/s: trains at this speed; 0 (default): only
                                          passes on */
    struct rate up;                    /* up RATE; at 60 s up RATE */
    struct rate down;                  /* down RATE; at 60 s down RATE */
    uint64_t start_ns;                 /* from 10 s: starts, and joins, then (default: 0) */
    uint64_t stop_ns;                  /* until 90 s: told to leave then; 0: stays */
    uint64_t stall_ns, stall_every_ns; /* stall 3 s every 20 s: up and down stand still */
    uint64_t memory_bytes;             /* memory 2 GB: what model and node take must fit; 0: any */
    double data;                       /* data 2: shards in this proportion (default 1) */
    bool dials_only;                   /* dials only: nobody can call it (NAT) */
    char set[SCENARIO_SETS_MAX][128];  /* set exchange.bytes_per_s=5000: for these nodes alone */
    uint32_t sets;
};

/* link = A B, clauses: both ways between regions A and B (A A: inside); link = A > B: one way;
 * link = all: every pair that no line names, and the inside of regions that none does. */
struct path {
    uint64_t delay_ns;  /* rtt 80 ms: half of it each way; delay 40 ms: this way */
    uint64_t jitter_ns; /* jitter 5 ms: up to so much more, uniform, never out of order */
    double loss;        /* loss 0.1 %: of the segments, sent again one round trip later */
    struct rate rate;   /* rate 20 Mbit/s: shared by all nodes of the two regions, each way;
                           up 20 Mbit/s, down 100 Mbit/s: from the first region to the second, and
                           back; at 60 s rate (or up, or down) 5 Mbit/s */
};

enum metric {
    METRIC_ACCURACY,    /* accuracy >= 0.88 [by 120 s]: of the base; without a time: at the end */
    METRIC_ONE_VERSION, /* one version by 10 s after training: by_ns counts from the end */
    METRIC_COPIES,      /* copies <= 1.1: received per rumor, in the second half */
    METRIC_CONTROL,     /* control <= 2 kB/s: sent per node beside rumors, in the second half */
    METRIC_LINK_USE,    /* link use <= 70 %: of the busiest up or down link, in the second half */
    METRIC_MEMBERS,     /* members >= 1000 by 60 s: known live to the node that knows fewest */
    METRIC_STEPS,       /* steps >= 99 %: local steps made, of those that time allows */

    /* Moments count after from_ns, up to by_ns; "within 10 s of 60 s": 60 s, 70 s. The first two
     * hold when they hold at the last of these moments; since when, is told. */
    METRIC_COMPONENT, /* one component within 10 s of 60 s: over the links that both ends have open,
                         every running node reaches every other */
    METRIC_JOINED,   /* joined by 90 s, joined within 10 s of 60 s: every running node holds a whole
                        base, and trains if it is to */
    METRIC_REMOVED,  /* no healthy node removed: nobody takes for dead, or gives up for its silence,
                        whom no fault explains (fault_injector_explains) */
    METRIC_STEPS_OF, /* steps of core >= 95 % from 60 s to 90 s: of what their own speed allows.
                        A simulated processor does nothing else, so this falls only if a node makes
                        its learner wait; what fetching takes away from links and budgets shows in
                        the next */
    METRIC_TOLD_OF,  /* told of core >= 90 % from 60 s to 90 s: bytes of rumors that they told, of
                        what they told in as long a time before */
    METRIC_ACCURACY_OF_ALL, /* accuracy of all >= 0.8 from 60 s to 90 s: of the worst node, at every
                               moment when that is measured; within 60 s of 90 s: at one of them.
                               Of its base, also while that is part the old one and part the new;
                               of a node that has not begun to train, nothing. The bound may be what
                               the better half of the partition that is over at the first time had
                               just before, by its best node, or the worse half, by its worst:
                               better half - 0.5 points, worse half */
    METRIC_BLOCKS, /* blocks <= 1.1 x base: the most that any node received in blocks for one base,
                      of four bytes per parameter */
    METRIC_JOINING /* joining <= 1.15 x blocks / rate: of every node that starts later behind a
                      down of limited rate, and takes over a base: the time from its first start
                      to its first step, of the time that those bytes take at that rate alone */
};

enum bound { BOUND_NUMBER, BOUND_BETTER_HALF, BOUND_WORSE_HALF };

struct expect {
    enum metric metric;
    bool at_least;    /* >=, else <= */
    double value;     /* fractions as fractions: 70 % is 0.7; of a half: what is added to it */
    uint64_t from_ns; /* 0: from the start */
    uint64_t by_ns;   /* 0: at the end */
    bool once;        /* ACCURACY_OF_ALL: at one moment, not at all of them */
    enum bound bound;
    uint32_t group; /* STEPS_OF, TOLD_OF */
    char text[96];  /* as written */
};

struct scenario {
    char name[64];    /* of the file, without folder and ending */
    char about[256];  /* one sentence */
    char source[512]; /* where its figures come from */
    uint64_t seed;
    uint64_t span_ns;   /* seconds: training ends then */
    uint64_t settle_ns; /* settle_s: and so long it may take until all hold the same */
    enum strategy_kind strategy;
    bool made_up;        /* updates = learned | made up: no data, no gradients, weights wander */
    uint32_t parameters; /* made up: P */
    double skew;         /* 0 (iid), or alpha of Dirichlet label skew */
    uint64_t evaluate_ns;
    uint32_t evaluate_samples; /* of the test set, between; the end is measured on all of it */
    uint32_t local_steps;      /* localsgd: H */
    double outer_rate;         /* localsgd: outer Nesterov */
    double outer_momentum;
    struct config config; /* of every node */
    struct group groups[SCENARIO_GROUPS_MAX];
    uint32_t groups_count;
    uint32_t nodes_count;
    char regions[SCENARIO_REGIONS_MAX][SCENARIO_NAME_BYTES];
    uint32_t regions_count;
    struct path paths[SCENARIO_REGIONS_MAX][SCENARIO_REGIONS_MAX]; /* from, to */
    struct fault faults[SCENARIO_FAULTS_MAX];
    uint32_t faults_count;
    struct expect expects[SCENARIO_EXPECTS_MAX];
    uint32_t expects_count;
};

/* The file, then every assignment in its order, then all that no line can know alone. `sets` are
 * "section.key=value" as for a node, "scenario.seconds=60", or "GROUP.CLAUSE=VALUE" such as
 * "desk.up=5 Mbit/s". MALFORMED, MISSING, FAILED with a sentence that names file, line, key and
 * remedy. */
enum error scenario_load(struct scenario *scenario, const char *path, const char *const *sets,
                         int sets_count, struct problem *problem) MUST_USE;

/* The configuration of node i: what all have, and what its group sets. */
void scenario_node_config(const struct scenario *scenario, uint32_t i, struct config *config);

const struct group *scenario_group(const struct scenario *scenario, uint32_t i);
uint32_t scenario_region(const struct scenario *scenario, uint32_t i);

/* "desk/2" */
void scenario_node_name(const struct scenario *scenario, uint32_t i, char *out, size_t bytes);

/* The partition that is over at that time; NULL: there is none. */
const struct fault *scenario_partition_until(const struct scenario *scenario, uint64_t at_ns);

uint64_t rate_at(const struct rate *rate, uint64_t now_ns);

#endif
