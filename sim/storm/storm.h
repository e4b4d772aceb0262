/* A storm: a randomised fault-injection test. One seed determines swarm, links and faults.
 *
 *   seed ─► swarm, links, faults ─► faulty phase ─► faults end ─► training ends ─► one version?
 *
 * Each kind of fault (fault.h) except RUIN is present with probability one half. A storm fails if
 * an invariant is violated (check.h). It also fails if the nodes do not reach one version and key
 * within STORM_HEAL_NS after training, or do not count the same members within STORM_FORGET_NS; or
 * if a node does not leave in time when told, or is down after the faults. A seed always plays the
 * same storm, bit for bit. Tests: tests/unit/sim/test_storm.c.
 */
#ifndef HEARSAY_SIM_STORM_STORM_H
#define HEARSAY_SIM_STORM_STORM_H

#include <stdio.h>

#include "base/error.h"
#include "scenario/fault.h"

#define STORM_HEAL_NS (120 * SECOND_NS)
/* Time in which nodes must forget a hostile member. Its last record may announce the longest
 * silence that nodes accept: 4 * (15 + members) seconds from its arrival (members.c). */
#define STORM_FORGET_NS (600 * SECOND_NS)

struct storm {
    uint64_t seed;
    char why[300];  /* reason why the storm failed; "" = it passed */
    uint64_t trace; /* hash of the actions of all nodes */
    uint64_t events;
    double cpu_s;     /* processor time of the storm */
    double virtual_s; /* virtual seconds that the storm played */
    double heal_s;    /* seconds from the end of training to one version; NAN = never */
    uint32_t nodes;
    uint32_t faults[FAULT_KINDS]; /* number of faults of each kind */
};

/* trace: gets the plan and a line for every action of a node; NULL = no trace. */
void storm_play(uint64_t seed, FILE *trace, struct storm *storm);

/* Parses a decimal number of at most 19 digits, or a hexadecimal one of at most 16 digits after 0x.
 * Hashes any other text. Returns false for an empty text. */
bool storm_seed_of(const char *text, uint64_t *seed) MUST_USE;

/* Options of `hearsay sim --faults`. */
struct storm_options {
    uint64_t from;
    uint64_t to;       /* last seed, included */
    uint32_t jobs;     /* number of processes; 0 = one for each processor */
    const char *trace; /* trace file, only for a single seed; NULL = none */
    bool twice;        /* play each seed twice and compare the two runs */
    bool stop;         /* start no seed after the first failure */
};
/* Prints a line and the replay command for each failure, and a summary. If a process dies (a
 * CHECK), its seed fails and the other seeds continue. Plays a single seed in the calling process,
 * for debuggers. Returns the exit code. */
int storm_command(const struct storm_options *options);

#endif
