/* hearsay sim: runs a swarm in one thread under virtual time, with any links and faults and the
 * same code as real nodes.
 *
 *   FILE ─► scenario ─► strategy ─► outcome ─► tables, folder, exit code
 *   --faults --seeds A..B ─► storm: each seed its own swarm, links and faults
 *
 * The table of options is in both programs. `hearsay` starts `hearsay-sim`, which has the simulator
 * (src/commands/simulator.c).
 */
#ifndef HEARSAY_SIM_OPTIONS_SIM_COMMAND_H
#define HEARSAY_SIM_OPTIONS_SIM_COMMAND_H

#include "options/assignments.h"

struct sim_options {
    const char *file;
    struct assignments sets;
    const char *out;
    bool no_report;
    bool only;
    bool as_json;
    const char *trace;
    bool faults;
    const char *seeds;
    uint32_t jobs;
    bool twice;
    bool stop;
};

extern const struct command sim_command;

#endif
