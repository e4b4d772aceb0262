/* What a strategy's traffic comes to on the links of a scenario. */
#ifndef HEARSAY_SIM_STRATEGIES_TRAFFIC_H
#define HEARSAY_SIM_STRATEGIES_TRAFFIC_H

#include "network/wire.h"
#include "scenario/outcome.h"

/* Part of the time since then in which the pipe was busy, and *then_s moves to now; NAN: it has no
 * limit, or no time has passed. */
double traffic_use(const struct pipe *pipe, double *then_s, double span_s);

/* Mean utilisation of the links of node i, over all that was played. */
void traffic_total_node(struct node_total *total, const struct party *party, double span_s);

/* The links between regions that carried something. */
void traffic_total_links(struct outcome *outcome, const struct wire *wire);

#endif
