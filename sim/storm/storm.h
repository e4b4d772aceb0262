/* A storm: a swarm, links and faults drawn from one number, played until all is well again.
 *
 *   seed ─► swarm, links, faults ─► faulty phase ─► faults end ─► training ends ─► one version?
 *
 * Each class of fault (fault.h) is present with probability one half. A storm fails when an
 * invariant breaks (check.h) or the nodes do not come to one version within STORM_HEAL_NS. The same
 * seed plays the same storm, bit for bit; any text is a seed. Held by tests/unit/sim/test_storm.c.
 */
#ifndef HEARSAY_SIM_STORM_STORM_H
#define HEARSAY_SIM_STORM_STORM_H

#include <stdio.h>

#include "faults/fault.h"
#include "base/error.h"

#define STORM_HEAL_NS (120 * SECOND_NS)

struct storm {
    uint64_t seed;
    char why[300]; /* it failed; "": it did not */
    uint64_t trace;
    uint64_t events;
    double cpu_s;
    double virtual_s;
    double heal_s; /* from the end of faults and training to one version; NAN: never */
    uint32_t nodes;
    uint32_t faults[FAULT_KINDS]; /* how many of each */
};

/* trace: what was drawn, and one line for everything any node asks for; NULL: none. */
void storm_play(uint64_t seed, FILE *trace, struct storm *storm);

/* Digits are a decimal number, 0x and up to 16 digits a hexadecimal one, any other text, such as a
 * commit's name, stands for its hash. False: no text. */
bool storm_seed_of(const char *text, uint64_t *seed) MUST_USE;

/* `hearsay sim --faults`: seeds from .. to (both included) in `jobs` processes; a line for each
 * that fails, with the command that plays it again, a summary at the end. A process that dies (a
 * CHECK) is a failure of its seed, the others go on. One seed alone is played in this process, as a
 * debugger likes it. Returns the exit code: 0 only if all were played and none failed. */
struct storm_options {
    uint64_t from, to;
    uint32_t jobs;     /* 0: as many as there are processors */
    const char *trace; /* file; only with one seed; NULL: none */
    bool twice;        /* play each seed twice and compare the traces */
    bool stop;         /* begin no seed after the first that fails; those begun are played */
};
int storm_command(const struct storm_options *options);

#endif
