/* Utilisation of the links of a scenario by a strategy. */
#ifndef HEARSAY_SIM_STRATEGIES_TRAFFIC_H
#define HEARSAY_SIM_STRATEGIES_TRAFFIC_H

#include "network/wire.h"
#include "scenario/outcome.h"

/* Returns the fraction of time since *then_s in which the pipe was busy, and advances *then_s to
 * now; NAN = unlimited, or no time has passed. */
double traffic_use(const struct pipe *pipe, double *then_s, double span_s);

/* Stores the mean utilisation of node i's links over the whole play. */
void traffic_total_node(struct node_total *total, const struct party *party, double span_s);

/* Stores the links between regions that have carried bytes. */
void traffic_total_links(struct outcome *outcome, const struct wire *wire);

#endif
