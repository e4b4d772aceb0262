/* The disk of a simulated node: its incarnation and its last two checkpoints.
 *
 *   begin ─► the learner's queue (snapshot.h) ─► write … ─► draft ─► end ─► saved[0]
 *                                                            └► a crash, or abandon: nothing
 *
 * A checkpoint is written in parts over time while the learner continues. A node that crashes
 * meanwhile, or before the last part is durable, finds the previous checkpoint.
 * src/state/checkpoint.h has the file formats and their damage.
 */
#ifndef HEARSAY_SIM_WORLD_SIM_DISK_H
#define HEARSAY_SIM_WORLD_SIM_DISK_H

#include "node/inspect.h"
#include "node/swarm_keys.h"
#include "world/sim_learner.h"

#define SIM_DISK_GENERATIONS 3 /* two checkpoints, and one that is not durable yet */

struct sim_record;

struct saved {
    struct sim_record *records; /* records in order of arrival, oldest first; NULL = none */
    struct learner_state state; /* the learner's state at the end, for comparison */
    void *memory;               /* memory of state */
    size_t last_part;           /* first entry of the last part, which has the final state */
    uint8_t *history;           /* encoded history of the node */
    size_t history_bytes;
    uint8_t model_hash[16]; /* of the swarm whose first weights the base has */
    uint64_t durable_ns;    /* survives crashes from then on */
};

struct sim_disk {
    uint64_t incarnation; /* lower bound of the node's next incarnation; 0 = never started */
    struct saved saved[SIM_DISK_GENERATIONS]; /* checkpoints, newest first */
    uint8_t *orders;                          /* orders of the operator; NULL = none */
    size_t orders_bytes;                      /* size of orders */
    uint32_t orders_count;                    /* number of orders */
    uint8_t *proofs;                          /* proofs against members; NULL = none */
    size_t proofs_bytes;                      /* size of proofs */
    uint8_t *votes;                           /* votes against members; NULL = none */
    size_t votes_bytes;                       /* size of votes */
    uint8_t swarm_keys[NODE_SWARM_KEYS_MAX];  /* swarm keys that orders have brought */
    size_t swarm_keys_bytes;                  /* size of swarm_keys */

    struct saved draft;           /* checkpoint being written */
    struct sim_record **end;      /* where to append the draft's next record */
    struct snapshot_queue *queue; /* queue of the learner; NULL = no checkpoint is being written */
    struct arena arena;           /* memory of the queue */
};

/* Starts a checkpoint in `parts` parts, or fewer if the learner has fewer entries. */
void sim_disk_begin(struct sim_disk *disk, const struct sim_learner *sim_learner, uint32_t parts);
/* Writes the content of the queue. */
void sim_disk_write(struct sim_disk *disk);
/* Returns how many entries are written. */
size_t sim_disk_written(const struct sim_disk *disk);
/* Completes the checkpoint with the node's history and model hash; it is durable at durable_ns. */
void sim_disk_end(struct sim_disk *disk, const struct sim_learner *sim_learner, uint8_t *history,
                  size_t history_bytes, const uint8_t model_hash[static 16], uint64_t durable_ns);
void sim_disk_abandon(struct sim_disk *disk);

/* Returns true if the newest durable checkpoint says for which model hash this node's orders,
 * proofs and votes are signed (saving_knows_model). */
bool sim_disk_knows_model(const struct sim_disk *disk, const struct node *node, uint64_t now_ns);

/* Store the node's current orders, proofs, votes and swarm keys, if they have changed. */
void sim_disk_keep_orders(struct sim_disk *disk, const struct node *node);
void sim_disk_keep_proofs(struct sim_disk *disk, const struct node *node);
void sim_disk_keep_votes(struct sim_disk *disk, const struct node *node);
void sim_disk_keep_swarm_keys(struct sim_disk *disk, const struct node *node);

/* Simulates a crash: drops checkpoints that are not durable yet. */
void sim_disk_settle(struct sim_disk *disk, uint64_t now_ns);

/* Returns the newest checkpoint, or NULL. */
const struct saved *sim_disk_newest(const struct sim_disk *disk);
/* Restores the learner from a checkpoint. */
void sim_disk_restore(const struct saved *saved, struct sim_learner *sim_learner);

/* Drops the newest checkpoint, as if it were corrupt. */
void sim_disk_rot(struct sim_disk *disk);

/* Drops everything, as if the disk were lost. */
void sim_disk_clear(struct sim_disk *disk);

#endif
