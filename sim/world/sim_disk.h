/* The disk of a simulated node: its incarnation, checkpoints, orders, proofs, votes and swarm keys.
 *
 *   begin ─► the learner's queue (snapshot.h) ─► write … ─► draft ─► end ─► saved[0]
 *                                                            └► a crash, or abandon: nothing
 *
 * A checkpoint is written in parts over time while the learner continues. A node that crashes
 * meanwhile, or before the last part is durable, finds the previous checkpoint.
 * src/state/checkpoint.h describes the files of a real node, and how it treats damaged ones.
 */
#ifndef HEARSAY_SIM_WORLD_SIM_DISK_H
#define HEARSAY_SIM_WORLD_SIM_DISK_H

#include "node/inspect.h"
#include "node/swarm_keys.h"
#include "world/sim_learner.h"

/* Two stored checkpoints, and one that is not durable yet. */
#define SIM_DISK_GENERATIONS 3

struct sim_record;

struct saved {
    struct sim_record *records; /* oldest first; NULL = none */
    struct learner_state state; /* the learner's state when the checkpoint was completed */
    void *memory;               /* holds `state` */
    size_t last_part; /* index of the last part's first entry; only this part has final weights */
    uint8_t *history; /* encoded history of the node */
    size_t history_bytes;
    uint8_t model_hash[16]; /* model hash of the swarm whose first weights the base contains */
    uint64_t durable_ns;    /* virtual time from which on the checkpoint survives crashes */
};

struct sim_disk {
    uint64_t incarnation; /* least number of the node's next incarnation; 0 = none is stored */
    struct saved saved[SIM_DISK_GENERATIONS]; /* checkpoints, newest first */
    uint8_t *orders; /* orders of the operator, in the node's encoding; NULL = none */
    size_t orders_bytes;
    uint32_t orders_count;
    uint8_t *proofs; /* proofs against members; NULL = none */
    size_t proofs_bytes;
    uint8_t *votes; /* votes against members; NULL = none */
    size_t votes_bytes;
    /* swarm keys that came with the operator's orders, in the node's encoding */
    uint8_t swarm_keys[NODE_SWARM_KEYS_MAX];
    size_t swarm_keys_bytes;

    struct saved draft;           /* checkpoint being written */
    struct sim_record **end;      /* where to append the next record of the draft */
    struct snapshot_queue *queue; /* filled by the learner; NULL = no checkpoint is being written */
    struct arena arena;           /* memory of the queue */
};

/* Starts a checkpoint in at most `parts` parts. */
void sim_disk_begin(struct sim_disk *disk, const struct sim_learner *sim_learner, uint32_t parts);
/* Copies all records from the snapshot queue to the draft. */
void sim_disk_write(struct sim_disk *disk);
/* Returns how many entries of the learner's vectors are in the draft or in the queue. */
size_t sim_disk_written(const struct sim_disk *disk);
/* Completes the checkpoint. Takes over `history`, the node's encoded history. durable_ns: virtual
 * time from which on the checkpoint survives crashes. */
void sim_disk_end(struct sim_disk *disk, const struct sim_learner *sim_learner, uint8_t *history,
                  size_t history_bytes, const uint8_t model_hash[static 16], uint64_t durable_ns);
void sim_disk_abandon(struct sim_disk *disk);

/* Returns true if the node may store its orders, proofs, votes and swarm keys, which are bound to
 * its model hash. The hash must be of its own model description, or of its newest, durable
 * checkpoint. */
bool sim_disk_knows_model(const struct sim_disk *disk, const struct node *node, uint64_t now_ns);

/* Store the node's orders, proofs, votes and swarm keys, if they have changed. */
void sim_disk_keep_orders(struct sim_disk *disk, const struct node *node);
void sim_disk_keep_proofs(struct sim_disk *disk, const struct node *node);
void sim_disk_keep_votes(struct sim_disk *disk, const struct node *node);
void sim_disk_keep_swarm_keys(struct sim_disk *disk, const struct node *node);

/* Simulates a crash: drops the draft and the checkpoints that are not durable at now_ns. */
void sim_disk_settle(struct sim_disk *disk, uint64_t now_ns);

/* Returns the newest checkpoint, durable or not, or NULL. */
const struct saved *sim_disk_newest(const struct sim_disk *disk);
void sim_disk_restore(const struct saved *saved, struct sim_learner *sim_learner);

/* Drops the newest checkpoint, as if it were corrupt. */
void sim_disk_rot(struct sim_disk *disk);

/* Drops everything, as if the disk were replaced. */
void sim_disk_clear(struct sim_disk *disk);

#endif
