/* A node of a world, and an outsider. */
#ifndef HEARSAY_SIM_WORLD_WORLD_NODE_H
#define HEARSAY_SIM_WORLD_WORLD_NODE_H

#include "node/inspect.h"
#include "training/batch_size.h"
#include "training/guard.h"
#include "world/sim_disk.h"
#include "world/sim_learner.h"

/* A party on the network that is not a node. */
struct outsider {
    void *self; /* first argument of the functions below; NULL = the slot is free */
    /* Returns an id for an incoming connection from party `from`, or 0 to refuse it. NULL = the
     * outsider does not listen. */
    uint64_t (*on_accept)(void *self, uint32_t from);
    void (*on_connected)(void *self, uint64_t conn);
    void (*on_bytes)(void *self, uint64_t conn, const uint8_t *bytes, size_t count);
    void (*on_sent)(void *self, uint64_t conn);
    void (*on_closed)(void *self, uint64_t conn);
    void (*on_time)(void *self); /* called at the time that world_call_outsider has requested */
};

struct poisoner;
struct waiting_order; /* defined in act.c */

struct watched {
    struct guard guard;
    double ruined_rate; /* factor of a FAULT_RUIN on the learning rate; 1 = none */
};

struct world_node {
    struct node *node; /* NULL = not running */
    struct arena arena;
    struct identity identity;
    struct node_options options;    /* options of the next start */
    uint8_t entropy[SEED_BYTES];    /* seed of the keys of the last start */
    struct sim_learner sim_learner; /* exists from a start to the next one, even without `node` */
    struct sim_disk sim_disk;
    uint32_t incarnation;      /* number of starts */
    int64_t clock_ms;          /* error of the node's wall clock */
    uint64_t born_ns;          /* virtual time of the last start */
    uint64_t wake_ns;          /* virtual time of the earliest wake-up in the event queue */
    uint32_t dies_in;          /* number of further actions before a crash; 0 = none is planned */
    bool dies_silently;        /* a planned crash leaves connections open, as a power cut does */
    struct poisoner *poisoner; /* NULL = the node publishes what it learned */
    double claims;             /* factor by which the node exaggerates its samples; 0 = honest */

    uint64_t step_ns; /* duration of a local step; 0 = the node does not train */
    uint32_t step_samples;
    struct batch_size batch_size; /* chooses step_samples if a step should take a given time */
    double sample_ns;
    uint64_t step_ns_most; /* automatic batch: duration of the longest step since the start */
    bool training;         /* the node's ACTION_TRAIN has been performed */
    bool stepping;         /* a step is running; orders that arrive meanwhile wait */
    bool ended;            /* training has ended permanently */
    uint64_t began_ns;     /* virtual time at which training began */
    uint64_t published_ns;
    struct publish_terms terms; /* of the last publication */
    uint64_t interval_ns; /* longest time between publications, as reported at the last check */
    struct waiting_order *orders;      /* orders that wait for the end of the step, oldest first */
    struct waiting_order **orders_end; /* where to append the next order */

    bool has_met;      /* the node has had a connection since the start */
    bool starts_again; /* the node has asked for a restart */
    bool finished;     /* the node has left the swarm as it was told */
    uint64_t finished_ns;
    struct watched watched;
    uint64_t steps;             /* local steps since the start */
    uint64_t applied;           /* updates that the learner has applied since the start */
    uint64_t moved_on;          /* number of the `applied` updates with outer momentum */
    uint32_t notes[NOTE_KINDS]; /* number of notes of each kind */
    struct note last[NOTE_KINDS];
    uint32_t dials; /* number of connections that the node has dialled */
    uint64_t dialled_ns;
};

#endif
