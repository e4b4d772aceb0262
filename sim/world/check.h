/* Invariants that hold in every world, whatever faults strike it.
 *
 *    1  base = b0 + the sum of exactly the rumors in its version    every event (real learners:
 *                                                                   every second); full at the end
 *    2  each replica applies each rumor at most once, except after  every apply
 *       a revert of the rumor
 *    3  equal versions, equal digests, equal bytes                  versions that nodes exchange;
 *                                                                   bytes at the end
 *    4  published + residual = produced, where a random walk keeps  every second; every apply
 *       account; an own rumor that comes back is applied as own;    and block written
 *       a node that takes over a base keeps its lost publications
 *       in its weights, and keeps no weights that learned nothing
 *    5  after faults and training end, all reach one version and    the end
 *       know the same members
 *    6  queues, logs, connections and memory keep their bounds; a   every second
 *       vanished neighbour is noticed in time
 *    7  no (key, nonce) twice; every applied rumor, and every       every seal; every apply
 *       rumor counted in a base taken over, was published           and takeover
 *    8  training and publishing never wait for the network          every second
 *    9  a restart continues from checkpoint k or k+1, never a mix:  every start
 *       b0 + the sum of exactly the rumors it claims
 *   10  same seed, same trace                                       two runs (storm.h)
 *   11  no node counts many more samples than all have learned,     every second
 *       or claim to have learned
 *   12  in a storm without poison, no training guard warns          every step
 *
 * The first violation is kept as a sentence, and the world stops there. Tests:
 * tests/planted/test_planted.sh plants a mistake against each invariant except 12, which
 * tests/unit/sim/test_ruin.c covers.
 */
#ifndef HEARSAY_SIM_WORLD_CHECK_H
#define HEARSAY_SIM_WORLD_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/update.h"
#include "crypto/secret.h"
#include "events/u64_set.h"
#include "node/inspect.h"

struct world;

struct published {
    uint32_t node;        /* index of the publishing node; WIRE_NOBODY = an outsider */
    uint8_t id[ID_BYTES]; /* id of the node or outsider that published the update */
    uint64_t incarnation; /* incarnation of the publisher at that time */
    uint32_t first_seq;   /* number of the update's first rumor */
    uint32_t next_seq;    /* number after the update's last rumor */
    struct update update;
};

/* The first weights (b0) for a model hash, copied from the first node that started with them. */
struct first_weights {
    uint8_t model_hash[16];
    int32_t *units;
};

struct check {
    bool enabled;
    char violation[256];         /* the first violation; "" = none */
    struct published *published; /* [published_count] updates in order of publishing */
    uint32_t published_count;
    uint32_t published_max;
    bool outsiders_publish; /* nodes may apply rumors that no node published */
    bool outsiders_lie; /* nodes may report false bases and digests, because outsiders send them */
    bool trains_well;   /* no training guard may warn */
    double claimed;     /* most claimed samples that any node has counted so far */
    /* Hash of a rumor ─► 1 + index of the rumor's update in `published`. */
    struct u64_set rumors_published;
    /* Hash of (node, start of the node, bases fetched since, rumor) ─► 1 = the rumor is applied. */
    struct u64_set rumors_applied;
    /* Hash of a key ─► lowest counter that the next record sealed with the key may use. */
    struct u64_set nonces;
    struct u64_set verified; /* hashes of the signatures that were made or verified so far */
    /* Hash of (node, start of the node, bases fetched since) ─► incarnation of the node then. */
    struct u64_set incarnations;
    struct first_weights *starts; /* [starts_count] first weights (b0) of each model hash */
    uint32_t starts_count;
    struct secret_watch watch;
};

/* Starts to observe seals and signatures. Only one world per process can observe them at a time. */
void check_init(struct check *check);
void check_free(struct check *check);

/* Records a violation of an invariant. Only the first violation is kept. */
void check_fail(struct check *check, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Records that node i has published the rumors from number first_seq to its newest rumor, which
 * carry `update`. */
void check_published(struct world *world, uint32_t i, uint32_t first_seq,
                     const struct node_origin *origin, const struct update *update);
/* Records that an outsider has published a valid rumor, which nodes may accept. */
void check_outsider_published(struct check *check, const uint8_t id[static ID_BYTES],
                              uint64_t incarnation, uint32_t seq, const struct update *update);
/* Checks an update that the learner of node i applies. bases: number of times that the node has
 * begun to fetch a base. */
void check_applied(struct world *world, uint32_t i, const struct action *applied, uint32_t bases);

/* Checks node i after each start, with or without a checkpoint. */
void check_started(struct world *world, uint32_t i);
/* Checks a block that node i writes while it takes over a base. bases: number of times that the
 * node has begun to fetch a base, this one included. */
void check_block_written(struct world *world, uint32_t i, const struct action *write,
                         uint32_t bases);

/* Checks node i after each of its events. */
void check_event(struct world *world, uint32_t i);
/* Checks all nodes; call it once every virtual second. */
void check_second(struct world *world);
/* Compares the bases of all running nodes byte by byte, and the first of these bases with b0 plus
 * its rumors. Call it once all running nodes have the same version. */
void check_end(struct world *world);

#endif
