/* The state of the room; nobody outside this folder includes this. */
#ifndef HEARSAY_NODE_RATE_RATE_PRIVATE_H
#define HEARSAY_NODE_RATE_RATE_PRIVATE_H

#include "node/lifecycle/lifecycle.h"
#include "node/membership/membership.h"
#include "node/rate/outer_step.h"
#include "node/rate/rate.h"

/* A budget to begin with, in bytes per second: many may share a thin line, and begin at once. But
 * where the model is large no line is that thin: its base, four bytes a parameter, could not be
 * given to any joiner. */
#define BUDGET_LEAST 2048.0
#define BUDGET_FIRST 0x1p-10 /* for each parameter */

/* A budget saves up for so long, or until it is time. */
#define PUBLISH_SPAN_NS (10 * SECOND_NS)

/* What this room keeps of a neighbour, by slot. */
struct rate_neighbour {
    struct link link;       /* what the conversation carries, from its first byte on */
    double allowed;         /* bytes per second that it asked us for, at most; 0: any */
    uint64_t own_bytes;     /* rumors of our own queued for it, less what it was sent since */
    uint64_t sent_seen;     /* bytes sent to it, as of the last review */
    uint64_t blocks_seen;   /* bytes of blocks among those sent, as of the last review */
    uint64_t received_seen; /* bytes received from it, as of the last review */
    double other;           /* bytes per second sent to it beside our own rumors and blocks */
    double incoming;        /* bytes per second received from it, lately */
};

/* pacer.c's. */
struct pacer {
    struct slots held_up;    /* slots that may send again when wake_ns has come */
    uint64_t wake_ns;        /* the first such moment; UINT64_MAX: none */
    uint32_t turn;           /* the slot that is served first */
    struct bucket uplink;    /* what uplink_max allows */
    uint64_t ended_sent;     /* bytes sent in conversations that have ended */
    uint64_t ended_received; /* bytes received in them */
};

/* budget.c's. */
struct budget {
    uint64_t reviewed_ns; /* the last review */
    double rate_estimate; /* bytes per second that the links take, as found so far */
    double backoff;       /* factor on it, in (0, 1]: falls while others cannot keep up */
    double bytes_per_s;   /* what may be published: the product, or what is configured */
    uint64_t grew_ns;     /* when the estimate was last let grow */
    double due_bytes;     /* what the publication under way might take */
    bool is_tried;        /* most of what might be published was, since the estimate grew */
    double slowest;       /* bytes per second of the slowest link in good standing */
    double uplink;        /* bytes per second that all links carry together */
    double ingress;       /* bytes per second received, the best of the last seconds */
};

/* publish_schedule.c's. */
struct publish_schedule {
    struct outer_step outer_step; /* interval, gain and momentum, as things are now */
    double share;                 /* the one that the last publication had */
    double held;                  /* part of what it left that it held back */
    double asked_gain;            /* the gain that it was asked to have */
    double rareness;              /* how much more than that and the share it counted */
    bool is_last;                 /* the publication under way ends training */
    uint64_t published_ns;        /* when the last one was asked for */
    uint64_t span_ns;             /* between the one before and that */
    double wait;                  /* intervals after that in which none is due; drawn each time */
    struct rng waits;             /* where they are drawn */
    uint32_t publications;        /* so far */
    uint64_t last_bytes;          /* what the rumors of the last one took */
    uint32_t allowed_bytes;       /* what the last one might take */
    bool is_cut;                  /* the last one took that much: there was more to publish */
    double part;                  /* of all entries, that the last one moved */
    double full_bytes;            /* what one takes that is not cut to that; 0: not known */
    uint64_t steps;               /* local steps, in all */
    uint64_t samples;             /* samples learned here, in all */
    uint32_t steps_since;         /* steps since the last publication */
    uint64_t stepped_ns;          /* when the last step ended; 0: none has */
    double step_s;                /* seconds of a step, lately; 0: not known */
    double publish_s;             /* seconds that a publication took the learner, lately */
    uint64_t measured_ns;         /* when the throughput was last measured */
    uint64_t measured_samples;    /* samples by then */
    double samples_per_s;         /* the throughput; 0: not known yet */
};

struct rate {
    struct rate_neighbour *neighbours; /* [peers_max], by slot */
    struct pacer pacer;                /* when neighbours are sent bytes */
    struct budget budget;              /* how much may be published */
    struct publish_schedule schedule;  /* when the next publication is due */
};

static inline struct rate_neighbour *rate_neighbour(const struct node *node,
                                                    const struct peer *peer)
{
    return &node->rate->neighbours[connection_slot(node, peer)];
}

/* What the last publication counted. */
static inline double publish_gain(const struct publish_schedule *schedule)
{
    return schedule->outer_step.gain * schedule->rareness;
}

/* For how long the last publication may be on its way: as long as it had been saved up for. */
static inline double publish_span_s(const struct node *node)
{
    const uint64_t span_ns = node->rate->schedule.span_ns;
    return (double)(span_ns < PUBLISH_SPAN_NS ? span_ns : PUBLISH_SPAN_NS) * 1e-9;
}

/* The bytes of it that may still wait for a neighbour. */
static inline double publish_left(const struct node *node)
{
    const struct publish_schedule *schedule = &node->rate->schedule;
    const double passed_s = (double)(node->now_ns - schedule->published_ns) * 1e-9;
    const double span_s = publish_span_s(node);
    return passed_s < span_s ? (double)schedule->last_bytes * (1 - passed_s / span_s) : 0;
}

/* The most that a neighbour is sent, in bytes per second: as it and the user allow. */
double line_rate_max(const struct node *node, const struct peer *peer);
/* What its link carries, within that and its part of uplink_max. */
double line_rate(const struct node *node, const struct peer *peer);
/* What this neighbour may send us: half by what it sends now, half the same for all; 0: any. */
uint64_t line_downlink_part(const struct node *node, const struct peer *peer);

/* Did a publication make use of what it might take? Then the estimate may grow. */
void budget_on_published(struct node *node, uint64_t bytes);
/* Between two publications, as drawn. */
uint64_t publish_schedule_wait_ns(const struct node *node);
/* How long the next wait is: at least and at most so many intervals. */
void publish_schedule_draw_wait(struct publish_schedule *schedule, double least, double most);

#endif
