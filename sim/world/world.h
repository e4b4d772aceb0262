/* The world: nodes, their minds and the wires between them, one event after the other.
 *
 *   agenda ─► wake, step, wire event, fault ─► node_on_… ─► node_next ─► wire, mind ─► agenda
 *                                                  └► check: invariants after every event
 *
 * The nodes are those of the daemon (src/node/node.h), the minds train with the learner of the
 * daemon (model/training/learner.h); virtual time, links and faults are all that is not real. A
 * local step takes batch / (samples per second of its node); what a node asks of its mind is done
 * between steps. One seed, one run: the trace is a hash over everything any node asked for. Node i
 * lives at 10.(i / 256).(i % 256).1:7000. Held by tests/world/test_node.c, test_trouble.c,
 * test_baselines.c.
 */
#ifndef HEARSAY_SIM_WORLD_WORLD_H
#define HEARSAY_SIM_WORLD_WORLD_H

#include <stdio.h>

#include "world/event_queue.h"
#include "checks/check.h"
#include "world/sim_disk.h"
#include "faults/fault.h"
#include "world/sim_learner.h"
#include "node/inspect.h"
#include "training/batch_size.h"
#include "network/wire.h"

#define WORLD_PORT     7000
#define WORLD_BEGIN_NS (5 * SECOND_NS) /* clocks do not start at 0 */

/* Somebody on the wires who is no node. */
struct outsider {
    void *self;                                       /* NULL: the place is free */
    uint64_t (*on_accept)(void *self, uint32_t from); /* NULL: does not listen */
    void (*on_connected)(void *self, uint64_t conn);
    void (*on_bytes)(void *self, uint64_t conn, const uint8_t *bytes, size_t count);
    void (*on_sent)(void *self, uint64_t conn);
    void (*on_closed)(void *self, uint64_t conn);
    void (*on_time)(void *self); /* as asked with world_call_outsider */
};

struct waiting_order; /* for the learner */

struct world_node {
    struct node *node; /* NULL: not running */
    struct arena arena;
    struct identity identity;
    struct node_options options;
    struct sim_learner sim_learner; /* stays after the process has ended, until it starts again */
    struct sim_disk sim_disk;
    uint32_t incarnation; /* counts the starts */
    int64_t clock_ms;     /* its wall clock is wrong by so much */
    uint64_t born_ns;     /* this life */
    uint64_t wake_ns;     /* the earliest wake in the agenda */
    uint32_t dies_in; /* actions until it crashes in the midst of what it does; 0: it does not */
    bool dies_silently;

    uint64_t step_ns; /* of one local step; 0: does not train */
    uint32_t step_samples;
    struct batch_size
        batch_size;   /* of its learner: sizes its steps, if there is a time that one is to take */
    double sample_ns; /* ... by how long a sample takes */
    uint64_t step_ns_most;             /* ... and the longest that one was, in this life */
    bool training;                     /* since ACTION_TRAIN */
    bool stepping;                     /* a step is under way: the mind hears nothing */
    bool ended;                        /* trains no more */
    uint64_t began_ns;                 /* when training began */
    uint64_t published_ns;             /* when it was last asked to tell, and did */
    uint64_t interval_ns;              /* the longest between two publications, as last checked */
    struct waiting_order *orders;      /* waiting for the end of the step, oldest first */
    struct waiting_order **orders_end; /* where the next goes */

    bool has_met;      /* somebody called it or answered its call, in this life */
    bool starts_again; /* it has asked to */
    bool finished;     /* left, as it was told to */
    uint64_t finished_ns;
    uint64_t steps; /* of this life */
    uint64_t heard; /* updates that the mind of this life has heard */
    uint32_t notes[NOTE_KINDS];
    struct note last[NOTE_KINDS];
    uint32_t dials;
    uint64_t dialled_ns;
};

enum world_event { WORLD_WAKE, WORLD_STEP, WORLD_OUTSIDER, WORLD_USER, WORLD_EVENTS };

struct world {
    struct event_queue event_queue;
    struct wire wire;
    struct check check;
    struct world_node *nodes; /* [nodes_max] */
    uint32_t nodes_count, nodes_max;
    struct outsider *outsiders; /* [outsiders_max], parties nodes_max and up */
    uint32_t outsiders_max;
    struct sim_learner_maker maker;
    bool is_resting; /* who starts now does not train either */
    uint64_t seed;
    uint64_t trace;   /* hash so far */
    FILE *trace_file; /* NULL: none */
    void *user;       /* of WORLD_USER events, and of notes */
    void (*on_user)(void *user, uint64_t subject, uint64_t amount);
    void (*on_note)(void *user, uint32_t i, const struct note *note); /* or NULL */
};

struct world_options {
    uint64_t seed;
    uint32_t nodes_max;
    uint32_t outsiders_max;
    struct path (*paths)[SCENARIO_REGIONS_MAX];
    uint32_t regions;
    struct sim_learner_maker maker;
};

void world_init(struct world *world, const struct world_options *options);
void world_free(struct world *world);

/* A node, not running yet. Its identity comes from `identity` (two nodes with one number are one
 * to the others); identity, entropy, digest, incarnation and advertise of the options are the
 * world's. */
uint32_t world_add(struct world *world, const struct node_options *options, uint64_t identity,
                   uint32_t region);
struct address world_address(uint32_t i);
/* Node i knows where node j is, from its next start on. */
void world_introduce(struct world *world, uint32_t i, uint32_t j);

void world_start(struct world *world, uint32_t i);
void world_leave(struct world *world, uint32_t i); /* told to leave the swarm, as by SIGTERM */
/* The process ends at once; silently: as when the power fails. */
void world_kill(struct world *world, uint32_t i, bool silently);
/* Its disk is gone, too: it will start from nothing. */
void world_wipe(struct world *world, uint32_t i);
/* It ends with its so-manieth action from now on (0: it does not after all). */
void world_kill_in(struct world *world, uint32_t i, uint32_t actions, bool silently);
void world_pause(struct world *world, uint32_t i, uint64_t until_ns);
/* Training ends everywhere; nobody leaves. */
void world_rest(struct world *world);

/* Outsiders: begin in a free place (its party, or WIRE_NOBODY), act through wire_dial and
 * wire_send under that party. */
uint32_t world_enter(struct world *world, const struct outsider *outsider);
void world_call_outsider(struct world *world, uint32_t party, uint64_t at_ns);
void world_exit(struct world *world, uint32_t party);

void world_put(struct world *world, uint64_t at_ns, uint64_t subject, uint64_t amount);

/* Until that time, or until an invariant breaks (check.violation). */
void world_run_until(struct world *world, uint64_t until_ns);

static inline uint64_t world_now_ns(const struct world *world)
{
    return world->event_queue.now_ns;
}

static inline bool world_is_running(const struct world *world, uint32_t i)
{
    return world->nodes[i].node != NULL;
}

/* Do all running nodes have the same version, with nothing waiting to be applied? */
bool world_is_one_version(const struct world *world);

uint32_t world_running(const struct world *world); /* how many nodes */

/* Does every running node take for alive as many members as there are running nodes? */
bool world_is_known(const struct world *world);

#endif
