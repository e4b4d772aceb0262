/* The world: nodes, their learners and the network between them, one event after the other.
 *
 *   event queue ─► wake, step, network event, fault ─► node_on_… ─► node_next ─► network, learner
 *        ▲                                                 └► check: invariants      │
 *        └───────────────────────────────────────────────────────────────────────────┘
 *
 * The nodes are those of the daemon (src/node/node.h), and so are the learners
 * (model/training/learner.h); virtual time, links and faults are all that is not real. A local step
 * takes batch / (samples per second of its node); what a node asks of its learner is done between
 * steps. One seed, one run: the trace is a hash over everything any node asked for. Node i listens
 * at 10.(i / 256).(i % 256).1:7000. Held by tests/world/test_node.c and tests/unit/sim.
 */
#ifndef HEARSAY_SIM_WORLD_WORLD_H
#define HEARSAY_SIM_WORLD_WORLD_H

#include <stdio.h>

#include "checks/check.h"
#include "faults/fault.h"
#include "network/wire.h"
#include "world/event_queue.h"
#include "world/sim_learner.h"
#include "world/world_node.h"

#define WORLD_PORT     7000
#define WORLD_BEGIN_NS (5 * SECOND_NS) /* clocks do not start at 0 */

enum world_event { WORLD_WAKE, WORLD_STEP, WORLD_SAVE, WORLD_OUTSIDER, WORLD_USER, WORLD_EVENTS };

struct world {
    struct event_queue event_queue; /* what happens next; virtual time */
    struct wire wire;               /* the network */
    struct check check;             /* invariants */
    struct world_node *nodes;       /* [nodes_max] */
    uint32_t nodes_count;           /* how many there are */
    uint32_t nodes_max;             /* room for so many */
    struct outsider *outsiders;     /* [outsiders_max], parties nodes_max and up */
    uint32_t outsiders_max;         /* room for so many */
    struct sim_learner_maker maker; /* makes learners */
    bool has_list;                  /* every node that starts lists all of the world as members */
    bool is_resting;                /* a node that starts now does not train either */
    uint64_t learned;               /* samples: by all nodes, in all their incarnations */
    uint64_t seed;                  /* of everything that is drawn */
    uint64_t trace;                 /* hash of the run so far */
    FILE *trace_file;               /* a line for each action; or NULL */
    void *user;                     /* passed to the two functions below */
    void (*on_user)(void *user, uint64_t subject, uint64_t amount);   /* WORLD_USER came */
    void (*on_note)(void *user, uint32_t i, const struct note *note); /* a note; or NULL */
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
/* The operator gives node i an order; anything but OK: it is not obeyed. */
enum error world_order(struct world *world, uint32_t i, const uint8_t *order, size_t bytes);
/* Node i is given a vote (harm.h), as if a neighbour said it. */
void world_vote(struct world *world, uint32_t i, const uint8_t *vote);
/* Its owner gives node i the swarm key that was ordered; anything but OK: it is another. */
enum error world_swarm_key(struct world *world, uint32_t i, const uint8_t key[static KEY_BYTES]);
/* What a wall clock shows that is right, in milliseconds since 1970. */
uint64_t world_wall_ms(const struct world *world);
/* Node i's list of members becomes that of these nodes. */
void world_list(struct world *world, uint32_t i, const uint32_t *members, uint32_t count);
/* The process ends at once; silently: as when the power fails. */
void world_kill(struct world *world, uint32_t i, bool silently);
/* Its disk is gone, too: it will start from nothing. */
void world_wipe(struct world *world, uint32_t i);
/* It ends with its so-manieth action from now on (0: it does not after all). */
void world_kill_in(struct world *world, uint32_t i, uint32_t actions, bool silently);
/* From now on it poisons the swarm, or no longer does so in that way; both last over its starts. */
void world_poison(struct world *world, uint32_t i, enum poison poison, double value,
                  uint64_t common);
void world_cure(struct world *world, uint32_t i, enum poison poison);
/* Its training is ruined in this way, until it is started again. */
void world_ruin(struct world *world, uint32_t i, enum ruin ruin, double value, uint64_t seed);
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
