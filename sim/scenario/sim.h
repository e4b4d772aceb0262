/* hearsay sim: runs a swarm in one thread under virtual time, with any links and faults and the
 * same code as real nodes.
 *
 *   FILE ─► scenario ─► strategy ─► outcome ─► tables, folder, exit code
 *   --faults --seeds A..B ─► storm: each seed its own swarm, links and faults
 */
#ifndef HEARSAY_SIM_SCENARIO_SIM_H
#define HEARSAY_SIM_SCENARIO_SIM_H

#include "config/command.h"

extern const struct command sim_command;

#endif
