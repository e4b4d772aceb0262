/* A node of a world, and an outsider. */
#ifndef HEARSAY_SIM_WORLD_WORLD_NODE_H
#define HEARSAY_SIM_WORLD_WORLD_NODE_H

#include "node/inspect.h"
#include "training/batch_size.h"
#include "training/guard.h"
#include "world/sim_disk.h"
#include "world/sim_learner.h"

/* A party on the network that is no node. */
struct outsider {
    void *self;                                       /* NULL = the slot is free */
    uint64_t (*on_accept)(void *self, uint32_t from); /* NULL = does not listen */
    void (*on_connected)(void *self, uint64_t conn);
    void (*on_bytes)(void *self, uint64_t conn, const uint8_t *bytes, size_t count);
    void (*on_sent)(void *self, uint64_t conn);
    void (*on_closed)(void *self, uint64_t conn);
    void (*on_time)(void *self); /* called at the time of world_call_outsider */
};

struct poisoner;      /* poisoner.h */
struct waiting_order; /* waits for the learner (act.c) */

struct watched {
    struct guard guard; /* of training */
    double ruined_rate; /* factor of a fault on the learning rate; 1 = none */
};

struct world_node {
    struct node *node;  /* NULL = not running */
    struct arena arena; /* of the node */
    struct identity identity;
    struct node_options options;    /* for its next start */
    uint8_t entropy[SEED_BYTES];    /* seed of its keys for its next start */
    struct sim_learner sim_learner; /* outlives the process until the next start */
    struct sim_disk sim_disk;       /* its disk */
    uint32_t incarnation;           /* number of starts */
    int64_t clock_ms;               /* error of its wall clock */
    uint64_t born_ns;               /* time of its start */
    uint64_t wake_ns;               /* earliest wake-up in the event queue */
    uint32_t dies_in;               /* actions until it crashes; 0 = never */
    bool dies_silently;             /* as in a power cut */
    struct poisoner *poisoner;      /* NULL = it publishes what it learned */
    double claims;                  /* factor by which it exaggerates its samples; 0 = honest */

    uint64_t step_ns;                  /* duration of a local step; 0 = it does not train */
    uint32_t step_samples;             /* samples of one step */
    struct batch_size batch_size;      /* sizes its steps, if a step should take a given time */
    double sample_ns;                  /* duration of one sample */
    uint64_t step_ns_most;             /* longest step since its start */
    bool training;                     /* since ACTION_TRAIN */
    bool stepping;                     /* a step is running: orders wait */
    bool ended;                        /* it trains no more */
    uint64_t began_ns;                 /* when training began */
    uint64_t published_ns;             /* last publication */
    uint64_t interval_ns;              /* longest interval between publications, as last checked */
    struct waiting_order *orders;      /* waiting for the end of the step, oldest first */
    struct waiting_order **orders_end; /* where the next goes */

    bool has_met;                 /* it had a connection since its start */
    bool starts_again;            /* it has asked for a restart */
    bool finished;                /* it has left as told */
    uint64_t finished_ns;         /* time of leaving */
    struct watched watched;       /* training since its start */
    uint64_t steps;               /* since its start */
    uint64_t applied;             /* updates that its learner has applied since its start */
    uint64_t moved_on;            /* number of these with outer momentum */
    uint32_t notes[NOTE_KINDS];   /* number of notes of each kind */
    struct note last[NOTE_KINDS]; /* last note of each kind */
    uint32_t dials;               /* calls that it has made */
    uint64_t dialled_ns;          /* time of the last call */
};

#endif
