/* The world: nodes, their learners and the network between them, one event after the other.
 *
 *   event queue ─► wake, step, network event, fault ─► node_on_… ─► node_next ─► network, learner
 *        ▲                                                 └► check: invariants      │
 *        └───────────────────────────────────────────────────────────────────────────┘
 *
 * Nodes (src/node/node.h) and learners (model/training/learner.h) are those of the daemon. Only
 * time, links, disks and faults are simulated. A local step takes batch / (samples per second of
 * its node). Orders to a learner are performed between steps, except most READs. One seed gives one
 * run: the trace is a hash over every action of every node. Node i listens at 10.(i / 256).(i %
 * 256).1:7000. Tests: tests/world/test_node.c and tests/unit/sim.
 */
#ifndef HEARSAY_SIM_WORLD_WORLD_H
#define HEARSAY_SIM_WORLD_WORLD_H

#include <stdio.h>

#include "events/event_queue.h"
#include "network/wire.h"
#include "scenario/fault.h"
#include "world/check.h"
#include "world/sim_learner.h"
#include "world/world_node.h"

#define WORLD_PORT     7000
#define WORLD_BEGIN_NS (5 * SECOND_NS) /* virtual time of the start; clocks do not start at 0 */

enum world_event { WORLD_WAKE, WORLD_STEP, WORLD_SAVE, WORLD_OUTSIDER, WORLD_USER, WORLD_EVENTS };

struct world {
    struct event_queue event_queue;
    struct wire wire;
    struct check check;
    struct world_node *nodes; /* [nodes_max] nodes, running or not */
    uint32_t nodes_count;
    uint32_t nodes_max;
    struct outsider *outsiders; /* [outsiders_max] their party numbers begin at nodes_max */
    uint32_t outsiders_max;
    struct sim_learner_maker maker;
    bool has_list;    /* every node starts with a member list of all nodes */
    bool is_resting;  /* nodes that start now do not train */
    uint64_t learned; /* samples learned by all nodes in all incarnations */
    uint64_t seed;
    uint64_t trace;   /* hash of all actions so far */
    FILE *trace_file; /* gets a line for each action; NULL = none */
    void *user;       /* first argument of on_user and on_note */
    /* Called for each world_put event. */
    void (*on_user)(void *user, uint64_t subject, uint64_t amount);
    /* Called for each note of a node; NULL = notes are ignored. */
    void (*on_note)(void *user, uint32_t i, const struct note *note);
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

/* Adds a node without starting it and returns its index. Nodes of equal `identity` have equal keys.
 * At each start the world sets the options that depend on identity, clock, disk and learner. */
uint32_t world_add(struct world *world, const struct node_options *options, uint64_t identity,
                   uint32_t region);
struct address world_address(uint32_t i);
/* Gives node i the address of node j as a seed, from its next start on. */
void world_introduce(struct world *world, uint32_t i, uint32_t j);

void world_start(struct world *world, uint32_t i);
/* Makes node i leave the swarm, as SIGTERM does. */
void world_leave(struct world *world, uint32_t i);
/* Ends node i's training permanently; the node stays in the swarm. */
void world_finish(struct world *world, uint32_t i);
/* Hands an order of the operator to node i. Returns OK if the node accepts it. */
enum error world_order(struct world *world, uint32_t i, const uint8_t *order, size_t bytes);
/* Hands a vote against a member (quarantine_api.h) to node i, as if a neighbour had sent it. */
void world_vote(struct world *world, uint32_t i, const uint8_t *vote);
/* Hands a swarm key to node i, as the node's owner does. Returns OK if the key is that of the
 * operator's latest rekey order. */
enum error world_swarm_key(struct world *world, uint32_t i, const uint8_t key[static KEY_BYTES]);
/* Returns the correct wall-clock time, in milliseconds since 1970. */
uint64_t world_wall_ms(const struct world *world);
/* Gives node i a new list of admitted members (node.members). members[count]: indices of the listed
 * nodes. */
void world_list(struct world *world, uint32_t i, const uint32_t *members, uint32_t count);
/* Ends the process of node i at once. silently: its connections stay open for the peers, as in a
 * power cut. */
void world_kill(struct world *world, uint32_t i, bool silently);
/* Erases the disk of node i, which must not be running. */
void world_wipe(struct world *world, uint32_t i);
/* Kills node i after its `actions`-th action from now on; 0 cancels a planned kill. */
void world_kill_in(struct world *world, uint32_t i, uint32_t actions, bool silently);
/* Start and end a kind of poisoning of node i, which continues across restarts. POISON_LABELS has
 * no effect here: experiment.c flips labels. */
void world_poison(struct world *world, uint32_t i, enum poison poison, double value,
                  uint64_t common);
void world_cure(struct world *world, uint32_t i, enum poison poison);
/* Ruins the training of node i, if it runs a real learner. A restart restores its rate and
 * labels. */
void world_ruin(struct world *world, uint32_t i, enum ruin ruin, double value, uint64_t seed);
void world_pause(struct world *world, uint32_t i, uint64_t until_ns);
/* Ends training on all nodes. The nodes stay in the swarm. */
void world_rest(struct world *world);

/* Adds an outsider and returns its party, with which it may call wire_dial and wire_send, or
 * WIRE_NOBODY if there are outsiders_max outsiders. */
uint32_t world_enter(struct world *world, const struct outsider *outsider);
void world_call_outsider(struct world *world, uint32_t party, uint64_t at_ns);
void world_exit(struct world *world, uint32_t party);

void world_put(struct world *world, uint64_t at_ns, uint64_t subject, uint64_t amount);

/* Runs until this time, or until an invariant is violated (check.violation). */
void world_run_until(struct world *world, uint64_t until_ns);

static inline uint64_t world_now_ns(const struct world *world)
{
    return world->event_queue.now_ns;
}

static inline bool world_is_running(const struct world *world, uint32_t i)
{
    return world->nodes[i].node != NULL;
}

/* Returns true if all running nodes have the same version, and no node has updates that wait to be
 * applied or is catching up. */
bool world_is_one_version(const struct world *world);

uint32_t world_running(const struct world *world);

/* Returns true if every running node counts as many live members as there are running nodes. */
bool world_is_known(const struct world *world);

#endif
