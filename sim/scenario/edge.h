/* A connection between two nodes at the end of a play, a line in the drawing of the swarm. Unknown
 * values are NAN. */
#ifndef HEARSAY_SIM_SCENARIO_EDGE_H
#define HEARSAY_SIM_SCENARIO_EDGE_H

#include <stdint.h>

struct edge {
    uint32_t from, to;       /* from < to */
    double rate_bytes_per_s; /* least capacity, as known to `from` */
    double use;              /* fraction of it used by `from` while it was open */
    double trip_s;           /* round trip time */
};

#endif
