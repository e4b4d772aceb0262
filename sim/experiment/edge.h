/* A connection between two nodes at the end of a play, drawn as a line between them. Unknown values
 * are NAN. */
#ifndef HEARSAY_SIM_EXPERIMENT_EDGE_H
#define HEARSAY_SIM_EXPERIMENT_EDGE_H

#include <stdint.h>

struct edge {
    uint32_t from, to;       /* indices of the two nodes; from < to */
    double rate_bytes_per_s; /* lower bound of the connection's capacity, as measured by `from` */
    double use;    /* fraction of rate_bytes_per_s that `from` used while the connection was open */
    double trip_s; /* round-trip time */
};

#endif
