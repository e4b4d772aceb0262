/* One node of a world, and one party that is none. */
#ifndef HEARSAY_SIM_WORLD_WORLD_NODE_H
#define HEARSAY_SIM_WORLD_WORLD_NODE_H

#include "node/inspect.h"
#include "training/batch_size.h"
#include "training/guard.h"
#include "world/sim_disk.h"
#include "world/sim_learner.h"

/* Somebody on the network who is no node. */
struct outsider {
    void *self;                                       /* NULL: the place is free */
    uint64_t (*on_accept)(void *self, uint32_t from); /* NULL: does not listen */
    void (*on_connected)(void *self, uint64_t conn);
    void (*on_bytes)(void *self, uint64_t conn, const uint8_t *bytes, size_t count);
    void (*on_sent)(void *self, uint64_t conn);
    void (*on_closed)(void *self, uint64_t conn);
    void (*on_time)(void *self); /* as asked with world_call_outsider */
};

struct poisoner;      /* poisoner.h */
struct waiting_order; /* for the learner (act.c) */

struct watched {
    struct guard guard; /* of training */
    double ruined_rate; /* factor that a fault puts on the learning rate; 1: none does */
};

struct world_node {
    struct node *node;              /* NULL: not running */
    struct arena arena;             /* of the node */
    struct identity identity;       /* who it is */
    struct node_options options;    /* of its next start */
    uint8_t entropy[SEED_BYTES];    /* the same: for its keys */
    struct sim_learner sim_learner; /* stays after the process has ended, until it starts again */
    struct sim_disk sim_disk;       /* what it finds when it starts */
    uint32_t incarnation;           /* counts the starts */
    int64_t clock_ms;               /* its wall clock is wrong by so much */
    uint64_t born_ns;               /* when it was started */
    uint64_t wake_ns;               /* the earliest wake in the event queue */
    uint32_t dies_in;               /* actions until it crashes; 0: it does not */
    bool dies_silently;             /* as when the power fails */
    struct poisoner *poisoner;      /* NULL: it publishes what it learned */
    double claims;                  /* it says it learns so many times as much; 0: as it does */

    uint64_t step_ns;                  /* of one local step; 0: it does not train */
    uint32_t step_samples;             /* samples of one step */
    struct batch_size batch_size;      /* sizes its steps, if one is to take a given time */
    double sample_ns;                  /* how long one sample takes */
    uint64_t step_ns_most;             /* the longest step since it was started */
    bool training;                     /* since ACTION_TRAIN */
    bool stepping;                     /* a step is under way: orders wait */
    bool ended;                        /* it trains no more */
    uint64_t began_ns;                 /* when training began */
    uint64_t published_ns;             /* when it was last asked to publish, and did */
    uint64_t interval_ns;              /* the longest between two publications, as last checked */
    struct waiting_order *orders;      /* for the end of the step, oldest first */
    struct waiting_order **orders_end; /* where the next goes */

    bool has_met;                 /* somebody called it or answered its call since it was started */
    bool starts_again;            /* it has asked to */
    bool finished;                /* it has left, as it was told to */
    uint64_t finished_ns;         /* when */
    struct watched watched;       /* training, since it was started */
    uint64_t steps;               /* since it was started */
    uint64_t applied;             /* updates that its learner has applied since then */
    uint64_t moved_on;            /* of these, those with outer momentum */
    uint32_t notes[NOTE_KINDS];   /* how many of each kind */
    struct note last[NOTE_KINDS]; /* the last of each kind */
    uint32_t dials;               /* calls it has made */
    uint64_t dialled_ns;          /* when it made the last one */
};

#endif
