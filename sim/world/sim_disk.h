/* What a simulated node has on its disk: its incarnation, and its last two checkpoints.
 *
 * A checkpoint takes a while to be written: who dies before has the one before. What the files are
 * and how they break is src/state/checkpoint.h's; here only what comes of it.
 */
#ifndef HEARSAY_SIM_WORLD_SIM_DISK_H
#define HEARSAY_SIM_WORLD_SIM_DISK_H

#include "world/sim_learner.h"
#include "node/inspect.h"

#define SIM_DISK_GENERATIONS 3 /* two, and the one being written */

struct saved {
    void *memory; /* of state; NULL: none */
    struct learner_state state;
    uint8_t *history;
    size_t history_bytes;
    uint64_t durable_ns; /* from then on it is whole */
};

struct sim_disk {
    uint64_t incarnation; /* no later life may have one below this; 0: never started */
    struct saved saved[SIM_DISK_GENERATIONS]; /* the newest first */
};

/* The node has been asked to SAVE, and its mind is at that moment: durable at durable_ns. */
void sim_disk_save(struct sim_disk *sim_disk, struct sim_learner *sim_learner, struct node *node,
                   const struct node_options *options, uint64_t now_ns, uint64_t durable_ns);

/* The power went: what was not durable is gone. */
void sim_disk_settle(struct sim_disk *sim_disk, uint64_t now_ns);

/* The newest checkpoint, or NULL. */
const struct saved *sim_disk_newest(const struct sim_disk *sim_disk);

/* The newest checkpoint turns out to be rotten. */
void sim_disk_rot(struct sim_disk *sim_disk);

/* Everything is gone. */
void sim_disk_clear(struct sim_disk *sim_disk);

#endif
