/* The checks: what must hold in every world, whatever goes wrong in it.
 *
 *    1 base = b0 + the sum of exactly the rumors in its version   digest at every event, in full
 *                                                                 at the end
 *    2 each rumor heard at most once by each replica              every hearing
 *    3 equal versions, equal digests, equal bytes                 every second; bytes at the end
 *    4 told + residual = produced, in each mind; weights that     every second; every hearing,
 *      have seen it told hear it as their own; what is told in    every write
 *      vain stays in them, and only then
 *    5 after faults and training end, all reach one version, and  the end
 *      know who is there
 *    6 queues, logs, conversations, memory within their bounds;   every second
 *      who is gone without a word is noticed in time
 *    7 no (key, nonce) twice; nothing is heard that no node told  every seal; every hearing
 *    8 training and telling never wait for the network            every second
 *    9 a restart continues from checkpoint k or k+1, never a mix  every start: b0 + the sum of
 *                                                                 exactly what it says it has heard
 *   10 same seed, same trace                                      two runs (storm.h)
 *
 * The first thing that does not hold is kept as a sentence; the world stops there.
 * Held by tests/planted/test_planted.sh: for each a defect is planted, and must be found.
 */
#ifndef HEARSAY_SIM_CHECKS_CHECK_H
#define HEARSAY_SIM_CHECKS_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "world/u64_set.h"
#include "node/inspect.h"
#include "crypto/secret.h"
#include "base/update.h"

struct world;

/* An update as it was told, in the order of telling. */
struct told {
    uint32_t node;
    uint64_t incarnation;
    uint32_t first_seq; /* its rumors are first_seq .. next_seq - 1 */
    uint32_t next_seq;
    struct update update; /* own memory */
};

struct check {
    bool enabled;
    char violation[256]; /* "": all holds */
    struct told *told;
    uint32_t told_count, density_max;
    bool outsiders_tell;         /* rumors of somebody who is no node may be heard, too */
    struct u64_set told_marks;   /* a rumor ─► the number + 1 of its update */
    struct u64_set heard_marks;  /* (node, life, base, rumor) ─► 1 */
    struct u64_set nonces;       /* key ─► the next counter */
    struct u64_set held;         /* signatures that held */
    struct u64_set incarnations; /* (node, life, base) ─► the incarnation it had then */
    int32_t *born;               /* b0: what the first node began with; NULL: none has */
    struct secret_watch watch;
};

/* From now on secrets are watched; one world at a time does. */
void check_init(struct check *check);
void check_free(struct check *check);

/* The first one stays. */
void check_fail(struct check *check, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Node i has told: its rumors are those from first_seq on, up to where its origin stands now. */
void check_told(struct world *world, uint32_t i, uint32_t first_seq,
                const struct node_origin *origin, const struct update *update);
/* Its mind has heard, as it was asked when the node had taken over so many bases. */
void check_heard(struct world *world, uint32_t i, const struct action *heard, uint32_t bases);

/* It begins, with nothing or with what it has saved. */
void check_started(struct world *world, uint32_t i);
/* A block of the base taken over so-manieth is written. */
void check_written(struct world *world, uint32_t i, const struct action *write, uint32_t bases);

void check_event(struct world *world, uint32_t i); /* after each event of node i */
void check_second(struct world *world);            /* over the whole world */
void check_end(struct world *world); /* all live nodes hold one version: compare all */

#endif
