/* A conversation between two nodes at the end of a play; a line in the drawing of the swarm. What is
 * not known is not a number. */
#ifndef HEARSAY_SIM_SCENARIO_EDGE_H
#define HEARSAY_SIM_SCENARIO_EDGE_H

#include <stdint.h>

struct edge {
    uint32_t from, to;       /* from < to */
    double rate_bytes_per_s; /* that it carries, at least, as from knows */
    double use;              /* part of it that from used, all the time it was open */
    double trip_s;           /* there and back */
};

#endif
