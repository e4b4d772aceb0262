/* The disk of a simulated node: its incarnation and its last two checkpoints.
 *
 *   begin ─► the learner's queue (snapshot.h) ─► write … ─► draft ─► end ─► saved[0]
 *                                                            └► a crash, or abandon: nothing
 *
 * A checkpoint is written in parts, some time after each other, while the learner goes on; a node
 * that crashes meanwhile, or before the last is durable, finds the previous one. The file formats
 * and how they break belong to src/state/checkpoint.h.
 */
#ifndef HEARSAY_SIM_WORLD_SIM_DISK_H
#define HEARSAY_SIM_WORLD_SIM_DISK_H

#include "node/inspect.h"
#include "node/swarm_keys.h"
#include "world/sim_learner.h"

#define SIM_DISK_GENERATIONS 3 /* two, and the one that is not durable yet */

struct sim_record;

struct saved {
    struct sim_record *records; /* as they came, the oldest first; NULL: none */
    struct learner_state state; /* what the learner was at the end, to be compared with */
    void *memory;               /* of state */
    size_t last_part; /* the first entry of the last part: from there on all is of the end */
    uint8_t *history; /* the node's, encoded */
    size_t history_bytes;
    uint64_t durable_ns; /* from then on it survives a crash */
};

struct sim_disk {
    uint64_t incarnation; /* lower bound for the next incarnation; 0: never started */
    struct saved saved[SIM_DISK_GENERATIONS]; /* the newest first */
    uint8_t *orders;                          /* of the operator; NULL: none */
    size_t orders_bytes;                      /* of them */
    uint32_t orders_count;                    /* how many */
    uint8_t *proofs;                          /* against members; NULL: none */
    size_t proofs_bytes;                      /* of them */
    uint8_t *votes;                           /* likewise; NULL: none */
    size_t votes_bytes;                       /* of them */
    uint8_t swarm_keys[NODE_SWARM_KEYS_MAX];  /* that orders have brought */
    size_t swarm_keys_bytes;                  /* of them */

    struct saved draft;           /* what is being written */
    struct sim_record **end;      /* where its next record goes */
    struct snapshot_queue *queue; /* from the learner; NULL: nothing is being written */
    struct arena arena;           /* of the queue */
};

/* Begin a checkpoint in so many parts, if the learner has as many entries. */
void sim_disk_begin(struct sim_disk *disk, const struct sim_learner *sim_learner, uint32_t parts);
/* Write what is in the queue. */
void sim_disk_write(struct sim_disk *disk);
/* How many entries are written. */
size_t sim_disk_written(const struct sim_disk *disk);
/* All parts are written: now with the node's history, durable at durable_ns. */
void sim_disk_end(struct sim_disk *disk, const struct sim_learner *sim_learner, uint8_t *history,
                  size_t history_bytes, uint64_t durable_ns);
void sim_disk_abandon(struct sim_disk *disk);

/* The operator's orders as the node knows them now, if there are new ones; proofs; votes; swarm
 * keys. */
void sim_disk_keep_orders(struct sim_disk *disk, const struct node *node);
void sim_disk_keep_proofs(struct sim_disk *disk, const struct node *node);
void sim_disk_keep_votes(struct sim_disk *disk, const struct node *node);
void sim_disk_keep_swarm_keys(struct sim_disk *disk, const struct node *node);

/* A crash: checkpoints that are not durable yet are lost. */
void sim_disk_settle(struct sim_disk *disk, uint64_t now_ns);

/* The newest checkpoint, or NULL. */
const struct saved *sim_disk_newest(const struct sim_disk *disk);
/* Makes the learner what it was. */
void sim_disk_restore(const struct saved *saved, struct sim_learner *sim_learner);

/* The newest checkpoint is corrupt: drop it. */
void sim_disk_rot(struct sim_disk *disk);

/* The disk is lost: drop everything. */
void sim_disk_clear(struct sim_disk *disk);

#endif
