/* What came out of a scenario: filled by a strategy while it plays, read by the report.
 *
 *   strategy (gossip | single | ideal | localsgd) ─► outcome ─► report (table, JSON, CSV, plots)
 *
 * Times are virtual seconds from the start. What does not exist (a link of the ideal cluster, an
 * accuracy between two evaluations) is not a number (NAN).
 */
#ifndef HEARSAY_SIM_SCENARIO_OUTCOME_H
#define HEARSAY_SIM_SCENARIO_OUTCOME_H

#include "scenario/scenario.h"

#define OUTCOME_CURVES_MAX SCENARIO_CURVES_MAX

/* The swarm at one moment. Counters count from the start, over all nodes. */
struct moment {
    double at_s;
    double accuracy; /* of the base; NAN: not measured now */
    double loss;
    uint64_t samples;
    uint64_t rumor_bytes_published; /* rumors, each once */
    uint64_t sent_bytes;            /* everything, on the wires */
    uint64_t control_bytes;         /* of them, all but rumors */
    uint64_t rumors;                /* told */
    uint64_t behind;                /* rumors that the node that knows fewest lacks */
    uint64_t in_flight;             /* bytes on the wires */
    uint32_t running;               /* nodes */
    uint32_t members;               /* known live to the running node that knows fewest */
    uint32_t components;            /* that the links between running nodes make of them */
    uint32_t joined; /* of the running nodes: hold a whole base, and train if they are to */
};

/* One node at that moment. */
struct node_moment {
    float samples_per_s; /* since the last moment */
    float share;
    float lag_s;  /* age of the oldest rumor known to exist and not held */
    float behind; /* rumors */
    float up_use; /* of its rate, since the last moment; NAN: no limit */
    float down_use;
    float rumor_bytes_published; /* rumors, since the last moment */
    float accuracy;              /* of its own base (METRIC_ACCURACY_OF_ALL); NAN: not measured */
};

/* A node at the end. */
struct node_total {
    char name[SCENARIO_NAME_BYTES + 8];
    bool running;
    uint64_t steps, samples;
    uint64_t steps_possible; /* what its speed allows in the time it was to train */
    double share;
    uint64_t rumors_published, rumors_received, duplicates;
    uint64_t rumor_bytes_published, rumor_bytes_received, sent_bytes, received_bytes;
    uint32_t neighbours;
    double up_use, down_use; /* mean over its life; NAN: no limit */
    double accuracy;         /* of its own model; NAN: it is the swarm's */
    uint64_t block_bytes;    /* the most that it received in blocks for one base */
    double joining_s;        /* from its first start to its first step; NAN: it made none */
};

/* The wires between two regions, one way. */
struct link_total {
    char from[SCENARIO_NAME_BYTES], to[SCENARIO_NAME_BYTES];
    uint64_t bytes;
    double rate_bytes_per_s; /* at the end; 0: no limit */
    double use;              /* mean; NAN: no limit */
    double delay_s;          /* mean, over bytes: waiting and travelling */
    uint64_t resent;         /* segments sent again */
};

struct verdict {
    bool met;
    double value;   /* what was found; NAN: nothing was */
    char text[192]; /* "accuracy >= 0.88 by 120 s: 0.8912 at 95 s, after 12.3 MB" */
};

/* How busy a link with a limited rate was in the second half of training: a node's up or down, or
 * the wires between two regions (these: over all of it). */
struct link_use {
    char name[2 * SCENARIO_NAME_BYTES + 16]; /* "desk/1 up", "west > east" */
    double use;
    double rate_bytes_per_s; /* at the end of training */
};

struct outcome {
    const struct scenario *scenario;
    const char *command;    /* what was typed, to repeat it; NULL: not known */
    struct moment *moments; /* [moments_count], one each virtual second and one at the end */
    uint32_t moments_count, moments_max;
    struct node_moment *node_moments; /* [moments_count][nodes]; NULL: too many nodes */
    struct node_total *nodes;         /* [scenario->nodes_count] */
    struct link_total *links;         /* [links_count], from malloc; NULL: no wires */
    uint32_t links_count;
    struct verdict verdicts[SCENARIO_EXPECTS_MAX];
    double stopped_s;      /* Virtual time at which the play was interrupted; NAN: it was not. */
    double accuracy, loss; /* of the base on the whole test set; NAN: no training */
    uint32_t tested;
    double one_version_s;       /* after training ended, when all held the same; NAN: never */
    double copies;              /* received per rumor, in the second half; NAN */
    double control_bytes_per_s; /* per node, in the second half */
    double origins;             /* how many lives told something */
    uint64_t base_bytes;        /* of one base; 0: not known */
    uint32_t removed;           /* healthy nodes taken for dead, or given up for their silence */
    char removed_text[96];      /* the first: "west/3 by east/1 at 31.2 s" */
    uint64_t trace;             /* hash of everything that happened */
    uint64_t events;
    double cpu_s;          /* of this process, for all of it */
    double gradient_cpu_s; /* of it, forward and backward of training */
    double evaluate_cpu_s;
    uint64_t rss_bytes_max; /* most memory of this process so far */
    char violation[256];    /* an invariant that broke; "" none */
};

/* Counters 0, what nobody has measured NAN, nodes named. The scenario must outlive the outcome. */
void outcome_init(struct outcome *outcome, const struct scenario *scenario);

/* At at_s, not before the last one. Counters 0, accuracy and loss NAN, each node's figures NAN. */
struct moment *outcome_add(struct outcome *outcome, double at_s);

/* Of the last moment: [nodes], or NULL. */
struct node_moment *outcome_nodes(struct outcome *outcome);

/* All links with a limit, the busiest first; the caller frees them. */
struct link_use *outcome_uses(const struct outcome *outcome, uint32_t *count);

/* Fills verdicts. "by" a time: the first moment that meets it counts. "steps" is that of the node
 * that made the smallest part of its steps. */
void outcome_judge(struct outcome *outcome);

/* Is every node to be measured at that time (METRIC_ACCURACY_OF_ALL)? */
bool outcome_wants_nodes(const struct scenario *scenario, uint64_t at_ns);

/* The play was interrupted: no expectation is judged, and none counts as met. */
bool outcome_is_stopped(const struct outcome *outcome);

/* Virtual seconds of training that were played. */
double outcome_span_s(const struct outcome *outcome);

/* Every expectation holds and no invariant broke. */
bool outcome_is_met(const struct outcome *outcome);

void outcome_free(struct outcome *outcome);

#endif
