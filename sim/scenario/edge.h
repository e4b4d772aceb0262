/* A connection between two nodes at the end of a play, drawn as a line between them. Unknown values
 * are NAN. */
#ifndef HEARSAY_SIM_SCENARIO_EDGE_H
#define HEARSAY_SIM_SCENARIO_EDGE_H

#include <stdint.h>

struct edge {
    uint32_t from, to; /* indices of the two nodes; from < to */
    /* Lower bound of the connection's capacity in bytes per second, as measured by `from`. */
    double rate_bytes_per_s;
    /* Fraction of rate_bytes_per_s that `from` used while the connection was open. */
    double use;
    double trip_s; /* round-trip time in seconds */
};

#endif
