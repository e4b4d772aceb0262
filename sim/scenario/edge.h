/* A connection between two nodes at the end of a play, drawn as a line between them. Unknown values
 * are NAN. */
#ifndef HEARSAY_SIM_SCENARIO_EDGE_H
#define HEARSAY_SIM_SCENARIO_EDGE_H

#include <stdint.h>

struct edge {
    uint32_t from, to;       /* indices of the two nodes; from < to */
    double rate_bytes_per_s; /* least capacity in bytes per second, as known to `from` */
    /* Fraction of this capacity that `from` used while the connection was open. */
    double use;
    double trip_s; /* round trip time, seconds */
};

#endif
