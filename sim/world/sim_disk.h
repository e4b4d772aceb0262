/* The disk of a simulated node: its incarnation and its last two checkpoints.
 *
 * A checkpoint takes time to become durable; a node that crashes before finds the previous one. The
 * file formats and how they break belong to src/state/checkpoint.h.
 */
#ifndef HEARSAY_SIM_WORLD_SIM_DISK_H
#define HEARSAY_SIM_WORLD_SIM_DISK_H

#include "node/inspect.h"
#include "world/sim_learner.h"

#define SIM_DISK_GENERATIONS 3 /* two, and the one being written */

struct saved {
    void *memory; /* of state; NULL: none */
    struct learner_state state;
    uint8_t *history; /* the node's, encoded */
    size_t history_bytes;
    uint64_t durable_ns; /* from then on it survives a crash */
};

struct sim_disk {
    uint64_t incarnation; /* lower bound for the next incarnation; 0: never started */
    struct saved saved[SIM_DISK_GENERATIONS]; /* the newest first */
};

/* Save node and learner as they are now; the checkpoint is durable at durable_ns. */
void sim_disk_save(struct sim_disk *disk, struct sim_learner *sim_learner, struct node *node,
                   const struct node_options *options, uint64_t now_ns, uint64_t durable_ns);

/* A crash: checkpoints that are not durable yet are lost. */
void sim_disk_settle(struct sim_disk *disk, uint64_t now_ns);

/* The newest checkpoint, or NULL. */
const struct saved *sim_disk_newest(const struct sim_disk *disk);

/* The newest checkpoint is corrupt: drop it. */
void sim_disk_rot(struct sim_disk *disk);

/* The disk is lost: drop everything. */
void sim_disk_clear(struct sim_disk *disk);

#endif
