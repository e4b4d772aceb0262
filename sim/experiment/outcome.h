/* The outcome of a scenario: filled in by a strategy during the play, read by the report.
 *
 *   strategy (gossip | single | ideal | …) ─► outcome ─► report (tables, JSON, CSV, plots)
 *
 * Times are virtual seconds from the start. NAN: does not exist, or was not measured.
 */
#ifndef HEARSAY_SIM_EXPERIMENT_OUTCOME_H
#define HEARSAY_SIM_EXPERIMENT_OUTCOME_H

#include "experiment/edge.h"
#include "scenario/scenario.h"
#include "training/evaluator.h"

/* The swarm at one moment. Counters run from the start and cover all nodes. */
struct moment {
    double at_s;
    double accuracy; /* accuracy of the base; NAN = not measured now */
    double loss;     /* loss of the base; NAN = not measured now */
    double distance; /* consensus distance (consensus.h); NAN = not measured now */
    /* samples on which the nodes have trained, summed over all nodes */
    uint64_t samples;
    uint64_t rumor_bytes_published; /* bytes of published rumors, each rumor counted once */
    uint64_t sent_bytes;            /* bytes sent, rumors included */
    uint64_t control_bytes;         /* bytes sent besides rumors */
    uint64_t rumors;                /* number of published rumors */
    uint64_t behind;    /* largest minus smallest number of rumors that a running node has */
    uint64_t in_flight; /* bytes in flight on all links */
    uint32_t running;
    uint32_t members;    /* live members that a running node knows of; minimum over nodes */
    uint32_t components; /* number of connected components of the overlay of running nodes */
    /* Number of running nodes that have a complete base and have begun to train. A node that only
     * forwards rumors need not train. */
    uint32_t joined;
};

struct node_moment {
    float samples_per_s; /* samples per second, mean since the previous moment */
    float share;         /* the node's share of the swarm's training, 0 .. 1 */
    float lag_s;         /* longest time for which the node has missed a rumor; 0 = misses none */
    float behind;        /* number of rumors that the node lacks */
    float up_use;        /* utilisation of the uplink since the previous moment; NAN = unlimited */
    float down_use; /* utilisation of the downlink since the previous moment; NAN = unlimited */
    float rumor_bytes_published; /* bytes published since the previous moment */
    /* accuracy of the node's own base (METRIC_ACCURACY_OF_ALL); NAN = not measured */
    float accuracy;
};

/* A node over the whole run. */
struct node_total {
    char name[SCENARIO_NAME_BYTES + 8]; /* such as "desk/2" */
    bool running;                       /* the node runs at the end */
    uint64_t steps;
    uint64_t samples;        /* number of samples on which the node has trained */
    uint64_t steps_possible; /* steps that its speed allows in the time in which it should train */
    double share;            /* the node's share of the swarm's training at the end, 0 .. 1 */
    uint64_t warnings;       /* bit set of note kinds: warnings of other nodes about this node */
    uint64_t rumors_published;
    uint64_t rumors_received;
    uint64_t duplicates; /* number of receptions of rumors that the node already had */
    uint64_t rumor_bytes_published;
    uint64_t rumor_bytes_received;
    uint64_t sent_bytes;
    uint64_t received_bytes;
    uint32_t neighbours; /* number of neighbours at the end */
    double up_use;       /* mean utilisation of the node's uplink; NAN = unlimited */
    double down_use;     /* mean utilisation of the node's downlink; NAN = unlimited */
    double accuracy; /* accuracy of the node's own model; NAN = the node has the swarm's model */
    uint64_t block_bytes; /* most bytes that the node received in blocks to fetch one base */
    /* seconds from the first start until training began; NAN = it has not begun, or the node
     * restarted before */
    double joining_s;
};

struct link_total { /* traffic from one region to another */
    char from[SCENARIO_NAME_BYTES];
    char to[SCENARIO_NAME_BYTES];
    uint64_t bytes;
    double rate_bytes_per_s; /* rate of the route at the end of training; 0 = unlimited */
    double use;              /* mean utilisation; NAN = unlimited */
    double delay_s;          /* mean delay over all bytes, including queueing */
    uint64_t resent;         /* number of lost segments that were sent again */
};

struct verdict {
    bool met;
    double value;   /* measured value; NAN = none */
    char text[192]; /* "accuracy >= 0.88 by 120 s: 0.8912 at 95 s, after 12.3 MB" */
};

/* Mean utilisation of a limited link over the whole run; of a node's uplink or downlink over the
 * second half of training, if nodes are recorded. */
struct link_use {
    char name[2 * SCENARIO_NAME_BYTES + 16]; /* such as "desk/1 up", "west > east" */
    double use;
    double rate_bytes_per_s; /* rate at the end of training */
};

struct outcome {
    const struct scenario *scenario;
    const char *command;    /* command that repeats the run; NULL = unknown */
    struct moment *moments; /* [moments_count] one per virtual second, and one at the end */
    uint32_t moments_count;
    uint32_t moments_max;             /* number of moments for which `moments` has space */
    struct node_moment *node_moments; /* [moments_count][nodes]; NULL = too many nodes */
    struct node_total *nodes;         /* [scenario->nodes_count] */
    struct link_total *links;         /* [links_count] from malloc; NULL = no network */
    uint32_t links_count;
    struct edge *edges; /* [edges_count] from malloc; NULL = not gossip, or too many nodes */
    uint32_t edges_count;
    struct verdict verdicts[SCENARIO_EXPECTS_MAX]; /* verdicts on the scenario's expectations */
    double stopped_s; /* virtual time of the interruption; NAN = played to the end */
    /* Accuracy and loss of the base on the whole test set; NAN = not measured. */
    double accuracy, loss;
    /* Accuracy of the base on the whole test set after training, before the last exchange. */
    double trained_accuracy;
    double trained_loss;        /* loss of the same evaluation */
    uint32_t tested;            /* number of evaluated test samples; 0 = not measured */
    struct evaluation averaged; /* evaluation of the first node's averaged base; samples 0 = none */
    double one_version_s; /* seconds from the end of training to one version on all nodes; NAN =
                             never */
    double copies; /* times that a node receives one rumor, mean over the second half of training */
    /* Bytes per second that a node sends besides rumors, mean over the nodes and the second half of
     * training. */
    double control_bytes_per_s;
    double origins;        /* number of starts of all nodes */
    uint64_t base_bytes;   /* size of one base; 0 = unknown */
    uint32_t removed;      /* times that a healthy node was declared dead or dropped as silent */
    char removed_text[96]; /* first such removal, such as "west/3 by east/1 at 31.2 s" */
    uint32_t alarms;       /* number of warnings by training guards */
    double alarm_s;        /* first warning of a training guard; NAN = none */
    char alarm_text[400]; /* first warning, such as "gpu/1 at 31.2 s: the training loss here …" */
    uint64_t trace;       /* hash of the actions of all nodes */
    uint64_t events;
    double cpu_s;           /* processor time of the whole run */
    double gradient_cpu_s;  /* part of cpu_s spent in steps, including the strategy's work */
    double evaluate_cpu_s;  /* part of cpu_s spent in evaluations */
    uint64_t rss_bytes_max; /* peak memory of this process */
    char violation[256];    /* the violated invariant; "" = none */
};

/* Sets counters to 0 and measurements to NAN. The scenario must outlive the outcome. */
void outcome_init(struct outcome *outcome, const struct scenario *scenario);
/* Appends a moment with counters 0 and measurements NAN. Moments must come in order of time. */
struct moment *outcome_add(struct outcome *outcome, double at_s);
/* Returns the nodes [nodes_count] at the last moment, or NULL if nodes are not recorded. */
struct node_moment *outcome_nodes(struct outcome *outcome);
/* Returns all limited links, busiest first; the caller frees them. */
struct link_use *outcome_uses(const struct outcome *outcome, uint32_t *count);
void outcome_judge(struct outcome *outcome);

/* Records the warning of a training guard. who: name of the node, or "the base". */
void outcome_alarm(struct outcome *outcome, double at_s, const char *who, const char *text);

/* Returns true if METRIC_ACCURACY_OF_ALL needs the accuracy of every node at that time. */
bool outcome_wants_nodes(const struct scenario *scenario, uint64_t at_ns);

/* outcome_is_stopped returns true if the play was interrupted; then no expectation is met.
 * outcome_span_s returns the virtual seconds of training played. outcome_is_met returns false if
 * the play was interrupted, an expectation fails or an invariant is violated. */
bool outcome_is_stopped(const struct outcome *outcome);
double outcome_span_s(const struct outcome *outcome);
bool outcome_is_met(const struct outcome *outcome);

void outcome_free(struct outcome *outcome);

#endif
