/* Invariants: what must hold in every world, whatever faults strike it.
 *
 *    1  base = b0 + the sum of exactly the rumors in its version    every event; in full at the end
 *    2  each replica applies each rumor at most once                every apply
 *    3  equal versions, equal digests, equal bytes                  every second; bytes at the end
 *    4  published + residual = produced in each learner; an own     every second; every apply
 *       rumor that comes back is applied as own; what was           and block written
 *       published in vain stays in the weights, and nothing else
 *    5  after faults and training end, all reach one version and    the end
 *       know the same members
 *    6  queues, logs, connections and memory keep their bounds; a   every second
 *       neighbour gone silently is noticed in time
 *    7  no (key, nonce) twice; nothing is applied, or counted in    every seal; every apply
 *       a base that is taken over, that no node published           and takeover
 *    8  training and publishing never wait for the network          every second
 *    9  a restart continues from checkpoint k or k+1, never a mix:  every start
 *       b0 + the sum of exactly the rumors it claims
 *   10  same seed, same trace                                       two runs (storm.h)
 *   11  no node counts many more samples than all have learned,    every second
 *       or say that they have
 *   12  no guard of training warns where nothing ruins training    every step
 *
 * The first violation is kept as a sentence, and the world stops there.
 * Held by tests/planted/test_planted.sh: a defect is planted against each but 12, which
 * tests/unit/sim/test_ruin.c holds, and must be found.
 */
#ifndef HEARSAY_SIM_CHECKS_CHECK_H
#define HEARSAY_SIM_CHECKS_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/update.h"
#include "crypto/secret.h"
#include "node/inspect.h"
#include "world/u64_set.h"

struct world;

/* An update as a node published it. */
struct published {
    uint32_t node;        /* index of the node; WIRE_NOBODY: an outsider */
    uint8_t id[ID_BYTES]; /* who that is */
    uint64_t incarnation; /* of its origin */
    uint32_t first_seq;   /* number of its first rumor */
    uint32_t next_seq;    /* number after its last rumor */
    struct update update; /* a copy */
};

struct check {
    bool enabled;
    char violation[256];         /* the first; "": all invariants hold */
    struct published *published; /* [published_count], in order of publishing */
    uint32_t published_count;
    uint32_t published_max;          /* room */
    bool outsiders_publish;          /* rumors of outsiders may be applied, too */
    bool outsiders_lie;              /* and an honest node may be taken for one that lies */
    bool trains_well;                /* nothing ruins training: no guard may warn */
    double claimed;                  /* samples: the most that a node ever knew claims of */
    struct u64_set rumors_published; /* rumor ─► index + 1 of its update */
    struct u64_set rumors_applied;   /* (node, incarnation, base, rumor) ─► 1 */
    struct u64_set nonces;           /* key ─► next counter */
    struct u64_set verified;         /* signatures that were found valid, so as to skip them */
    struct u64_set incarnations;     /* (node, base) ─► incarnation that it had then */
    int32_t *initial;                /* b0, the base of the first node that started; NULL: none */
    struct secret_watch watch;       /* sees every seal */
};

/* Watches secrets from now on, which one world of a process can at a time. */
void check_init(struct check *check);
void check_free(struct check *check);

/* Keep a violation; only the first stays. */
void check_fail(struct check *check, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Node i has published: rumors from first_seq up to where its origin stands now. */
void check_published(struct world *world, uint32_t i, uint32_t first_seq,
                     const struct node_origin *origin, const struct update *update);
/* An outsider has published a rumor that is valid: nodes may take it. */
void check_outsider_published(struct check *check, const uint8_t id[static ID_BYTES],
                              uint64_t incarnation, uint32_t seq, const struct update *update);
/* The learner of node i applies an update; bases: how many the node had taken over by then. */
void check_applied(struct world *world, uint32_t i, const struct action *heard, uint32_t bases);

/* Node i starts, from nothing or from its checkpoint. */
void check_started(struct world *world, uint32_t i);
/* A block of the base that node i takes over, its bases-th, is written. */
void check_block_written(struct world *world, uint32_t i, const struct action *write,
                         uint32_t bases);

void check_event(struct world *world, uint32_t i); /* after each event of node i */
void check_second(struct world *world);            /* every virtual second, over the whole world */
void check_end(struct world *world); /* all live nodes hold one version: compare bytes */

#endif
