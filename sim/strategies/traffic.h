/* Utilisation of the links of a scenario by a strategy. */
#ifndef HEARSAY_SIM_STRATEGIES_TRAFFIC_H
#define HEARSAY_SIM_STRATEGIES_TRAFFIC_H

#include "experiment/outcome.h"
#include "network/wire.h"

/* Returns the fraction of the last span_s seconds in which the pipe was busy; NAN if the pipe is
 * unlimited or span_s is 0. *then_s: the pipe's total busy seconds at the start of the span, which
 * the function replaces by the total now. */
double traffic_use(const struct pipe *pipe, double *then_s, double span_s);

/* Stores the utilisation of a node's uplink and downlink over the whole play of span_s seconds. */
void traffic_total_node(struct node_total *total, const struct party *party, double span_s);

/* Stores in the outcome the totals of all links between regions that have carried bytes. */
void traffic_total_links(struct outcome *outcome, const struct wire *wire);

#endif
