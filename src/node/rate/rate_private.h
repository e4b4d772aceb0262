#ifndef HEARSAY_NODE_RATE_RATE_PRIVATE_H
#define HEARSAY_NODE_RATE_RATE_PRIVATE_H

#include "node/lifecycle/lifecycle.h"
#include "node/membership/membership.h"
#include "node/rate/outer_step.h"
#include "node/rate/rate.h"

/* Least first budget, bytes per second. It is small, because many members may share a thin link
 * and start together. A large model has a larger first budget: a link too thin for that could not
 * transfer the base to a joiner. Bench: exchange-measured
 * (tests/decisions/017-begin-with-a-small-budget.md). Half: with a sixth of this budget, 64 nodes
 * on thin links reach an accuracy of 57.33 %, not 78.56 %. Double: not measured. */
#define BUDGET_LEAST 2048.0
#define BUDGET_FIRST 0x1p-10 /* first budget in bytes per second and per parameter */

/* Longest time for which a publication may accumulate the budget, unless its wait is longer. */
#define PUBLISH_SPAN_NS (10 * SECOND_NS)

/* The work that one member's messages cause (work.c). */
struct work {
    struct token_bucket bucket; /* work that may be done now, in units of work.c */
    uint64_t full_ns;           /* time when the bucket was last full */
    double done;                /* work done since full_ns */
    uint64_t noted_ns;          /* time of the last note about too much work; 0 = none */
};

/* State per neighbour, by slot. */
struct rate_neighbour {
    struct congestion link;
    double allowed;         /* bytes per second that the neighbour accepts; 0 = unlimited */
    uint64_t own_bytes;     /* bytes of own rumors queued for the neighbour and not yet sent */
    uint64_t sent_seen;     /* value of link.sent in the last budget_review */
    uint64_t blocks_seen;   /* value of peer.blocks_sealed in the last budget_review */
    uint64_t received_seen; /* value of link.received in the last budget_review */
    /* Bytes per second sent to the neighbour except own rumors and blocks, moving average. Blocks
     * do not count, because they give way to rumors. */
    double other;
    double incoming;  /* bytes per second received from the neighbour, moving average */
    struct work work; /* for a peer that is no member or no neighbour yet */
};

struct pacer {
    struct slots held_up;       /* peers that are served again at wake_ns */
    uint64_t wake_ns;           /* time to serve the peers in held_up; UINT64_MAX = no peer waits */
    uint32_t turn;              /* slot of the peer to serve first; rotates */
    struct token_bucket uplink; /* credit of bytes that uplink_max allows to send now */
    uint64_t ended_sent;        /* bytes sent in ended conversations */
    uint64_t ended_received;    /* bytes received in ended conversations */
};

struct budget {
    uint64_t reviewed_ns; /* time of the last call of budget_review */
    double rate_estimate; /* estimated bytes per second that the links allow to publish */
    double backoff;       /* factor in (0, 1]; falls while members or links cannot keep up */
    double bytes_per_s;   /* budget: rate_estimate · backoff, or the configured value */
    uint64_t grew_ns;     /* time when rate_estimate was last allowed to grow */
    double due_bytes;     /* bytes that the budget allowed the last publication */
    bool is_tried;        /* since grew_ns, a publication used at least half of its budget */
    double slowest;       /* bytes per second of the slowest link in good standing */
    double uplink;        /* budget_uplink */
    double ingress;       /* budget_ingress */
};

struct publish_schedule {
    double learners;              /* effective number of live members that train */
    struct outer_step outer_step; /* present interval, gain and momentum */
    double share;                 /* this node's share of the training at the last publication */
    double own_part;              /* part of that share that the last publication used */
    double withheld;        /* part of unpublished progress that the last publication withheld */
    double asked_gain;      /* gain of the last publication, without its novelty weight */
    double novelty;         /* novelty weight of the last publication; >= 1 */
    bool is_held;           /* publications are held (publish_schedule_hold) */
    bool is_last;           /* training had ended when the last publication was requested */
    uint64_t published_ns;  /* time at which the last publication was requested */
    uint64_t span_ns;       /* time between the requests of the last two publications */
    double wait;            /* wait after published_ns, drawn; a multiple of the interval */
    struct rng waits;       /* random numbers for `wait` */
    uint32_t publications;  /* publications since the start */
    uint64_t last_bytes;    /* bytes of the last publication's rumors */
    uint32_t allowed_bytes; /* bytes that the last publication was allowed */
    bool is_cut;            /* the budget cut the last publication */
    double part;            /* part of all entries that the last publication moved */
    double full_bytes;      /* bytes of a publication that the budget does not cut; 0 = unknown */
    uint64_t steps;         /* local steps since the start */
    uint64_t first_step_ns; /* time of the first local step; 0 = none */
    bool training_is_over;  /* the learner makes no more steps */
    bool end_is_published;  /* publish_schedule_end_is_published */
    bool hold_is_over;      /* publish_schedule_hurry has ended the first hold of statistics */
    bool holds_statistics;  /* the last publication held statistics back */
    /* Times at which the last publication began that was made during training, and that carried all
     * movement of statistics; 0 = none. */
    uint64_t running_ns, carried_ns;
    uint64_t samples;     /* samples learned by this node since the start */
    uint32_t steps_since; /* steps since the last publication */
    uint32_t hurries;     /* publications that may still follow without a wait */
    /* Threshold of the first publication in a series without waits; 0 = no publication yet. */
    float hurried_tau;
    uint64_t stepped_ns;  /* time when the last step ended; 0 = no step yet */
    double step_s;        /* seconds of a step, moving average; 0 = unknown */
    double publish_s;     /* learner's seconds to cut a publication, moving average; 0 = unknown */
    uint64_t measured_ns; /* time when samples_per_s was last measured */
    uint64_t measured_samples; /* value of `samples` at measured_ns */
    double samples_per_s;      /* samples learned per second, moving average; 0 = unknown */
};

struct rate {
    struct rate_neighbour *neighbours; /* [peers_max] by slot */
    struct work *works;                /* [members_max] by the number of the member */
    struct pacer pacer;
    struct budget budget;
    struct publish_schedule schedule;
};

static inline struct rate_neighbour *rate_neighbour(const struct node *node,
                                                    const struct peer *peer)
{
    return &node->rate->neighbours[connection_slot(node, peer)];
}

/* Returns the present gain times the last publication's novelty weight. */
static inline double publish_gain(const struct publish_schedule *schedule)
{
    return schedule->outer_step.gain * schedule->novelty;
}

/* Returns the time within which the last publication should be sent: the time for which the budget
 * accumulated before that publication, at most PUBLISH_SPAN_NS. */
static inline double publish_span_s(const struct node *node)
{
    const uint64_t span_ns = node->rate->schedule.span_ns;
    return (double)u64_min(span_ns, PUBLISH_SPAN_NS) * 1e-9;
}

/* Returns the bytes of the last publication that may still be queued for a neighbour, if they are
 * sent evenly over publish_span_s. */
static inline double publish_left(const struct node *node)
{
    const struct publish_schedule *schedule = &node->rate->schedule;
    const double passed_s = (double)(node->now_ns - schedule->published_ns) * 1e-9;
    const double span_s = publish_span_s(node);
    return passed_s < span_s ? (double)schedule->last_bytes * (1 - passed_s / span_s) : 0;
}

/* Returns the limit of the bytes per second to this neighbour: the smaller of the neighbour's own
 * limit and the option neighbour_max; INFINITY = no limit. */
double line_rate_max(const struct node *node, const struct peer *peer);
/* Returns the usable bytes per second of this neighbour's link: its estimated rate, at most
 * line_rate_max and the link's part of uplink_max. */
double line_rate(const struct node *node, const struct peer *peer);
/* Returns this neighbour's part of downlink_max in bytes per second; 0 = unlimited. Half of
 * downlink_max is divided in proportion to the neighbours' present rates, half equally. */
uint64_t line_downlink_part(const struct node *node, const struct peer *peer);

/* Starts an account with a full bucket. */
void work_init(const struct node *node, struct work *work);

/* Sets is_tried if a publication of `bytes` bytes used at least half of its budget. */
void budget_on_published(struct node *node, uint64_t bytes);
/* Returns the wait between two publications: the drawn multiple of the present interval. */
uint64_t publish_schedule_wait_ns(const struct node *node);
/* Draws the next wait uniformly between `least` and `most`, as a multiple of the interval. */
void publish_schedule_draw_wait(struct publish_schedule *schedule, double least, double most);

#endif
