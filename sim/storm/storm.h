/* A storm: a randomised fault-injection test. One seed determines swarm, links and faults.
 *
 *   seed ─► swarm, links, faults ─► faulty phase ─► faults end ─► training ends ─► one version?
 *
 * Each kind of fault (fault.h) is present with probability one half. A storm fails if an invariant
 * is violated (check.h), if the nodes do not reach one version within STORM_HEAL_NS after faults
 * and training, or do not count the same members within STORM_FORGET_NS. A seed always plays the
 * same storm, bit for bit; any text is a seed. Tests: tests/unit/sim/test_storm.c.
 */
#ifndef HEARSAY_SIM_STORM_STORM_H
#define HEARSAY_SIM_STORM_STORM_H

#include <stdio.h>

#include "base/error.h"
#include "faults/fault.h"

#define STORM_HEAL_NS (120 * SECOND_NS)
/* Time in which nodes must forget a hostile member. Its last record may announce the longest
 * silence that nodes accept, 4 * (15 + members) seconds (members.c). A node that receives this
 * record late counts the silence from then on. */
#define STORM_FORGET_NS (600 * SECOND_NS)

struct storm {
    uint64_t seed;
    char why[300];    /* reason why the storm failed; "" = it passed */
    uint64_t trace;   /* hash of the actions of all nodes */
    uint64_t events;  /* number of events of the simulation */
    double cpu_s;     /* processor time of the storm, seconds */
    double virtual_s; /* virtual seconds that the storm played */
    /* Seconds from the end of training to one version on all nodes; NAN = never. */
    double heal_s;
    uint32_t nodes;               /* number of nodes */
    uint32_t faults[FAULT_KINDS]; /* number of faults of each kind */
};

/* Plays one storm. trace: file that gets the plan and a line for every action of a node; NULL =
 * none. */
void storm_play(uint64_t seed, FILE *trace, struct storm *storm);

/* Parses a decimal number, or a hexadecimal one after 0x. Hashes any other text, such as the name
 * of a commit. Returns false for an empty text. */
bool storm_seed_of(const char *text, uint64_t *seed) MUST_USE;

/* Options of `hearsay sim --faults`, which plays the seeds from `from` to `to`, both included, in
 * `jobs` processes. The command prints a line and the replay command for each failure, and a
 * summary. If a process dies (a CHECK), its seed fails and the other seeds continue. A single seed
 * is played in the calling process, for debuggers. */
struct storm_options {
    uint64_t from;     /* first seed */
    uint64_t to;       /* last seed */
    uint32_t jobs;     /* number of processes; 0 = one for each processor */
    const char *trace; /* trace file, only with a single seed; NULL = none */
    bool twice;        /* play each seed twice and compare the traces */
    /* Start no seed after the first failure, but finish the seeds that are being played. */
    bool stop;
};
int storm_command(const struct storm_options *options);

#endif
