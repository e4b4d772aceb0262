/* A storm: a randomised fault-injection test. Swarm, links and faults are drawn from one seed.
 *
 *   seed ─► swarm, links, faults ─► faulty phase ─► faults end ─► training ends ─► one version?
 *
 * Each kind of fault (fault.h) is present with probability one half. A storm fails if an invariant
 * breaks (check.h), or if the nodes do not reach one version within STORM_HEAL_NS after faults and
 * training have ended, or do not count the same members within STORM_FORGET_NS. A seed plays the
 * same storm every time, bit for bit; any text is a seed. Held by tests/unit/sim/test_storm.c.
 */
#ifndef HEARSAY_SIM_STORM_STORM_H
#define HEARSAY_SIM_STORM_STORM_H

#include <stdio.h>

#include "base/error.h"
#include "faults/fault.h"

#define STORM_HEAL_NS (120 * SECOND_NS)
/* A hostile member that has said its last may have promised the longest silence that is believed,
 * 4 * (15 + members) seconds (members.c); a node that hears of it late counts anew. */
#define STORM_FORGET_NS (600 * SECOND_NS)

struct storm {
    uint64_t seed;
    char why[300];    /* why it failed; "": it did not */
    uint64_t trace;   /* hash of everything that happened */
    uint64_t events;  /* events taken */
    double cpu_s;     /* processor time */
    double virtual_s; /* virtual time played */
    double heal_s;    /* from the end of faults and training to one version; NAN: never */
    uint32_t nodes;   /* size of the swarm */
    uint32_t faults[FAULT_KINDS]; /* number of faults of each kind */
};

/* trace: what was drawn, and one line for every action of a node; NULL: none. */
void storm_play(uint64_t seed, FILE *trace, struct storm *storm);

/* A decimal number, a hexadecimal one after 0x, or the hash of any other text, such as a commit's
 * name. False: no text. */
bool storm_seed_of(const char *text, uint64_t *seed) MUST_USE;

/* `hearsay sim --faults`: plays seeds from .. to, both included, in `jobs` processes. Prints a line
 * and the replay command for each failure, and a summary. A process that dies (a CHECK) fails its
 * seed; the others go on. A single seed is played in this process, where a debugger sees it.
 * Returns the exit code: 0 only if all were played and none failed. */
struct storm_options {
    uint64_t from;     /* first seed */
    uint64_t to;       /* last seed */
    uint32_t jobs;     /* processes; 0: one per processor */
    const char *trace; /* file, with a single seed only; NULL: none */
    bool twice;        /* play each seed twice and compare the traces */
    bool stop;         /* start no seed after the first failure; those started are finished */
};
int storm_command(const struct storm_options *options);

#endif
