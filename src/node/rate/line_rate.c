/* Usable rates of links: estimated by congestion control, limited by the user and the neighbour. */
#include <math.h>

#include "node/rate/rate_private.h"

double line_rate_max(const struct node *node, const struct peer *peer)
{
    const double asked = rate_neighbour(node, peer)->allowed;
    const double own = (double)node->options.neighbour_max;
    CHECK(asked >= 0);
    return fmin(asked > 0 ? asked : INFINITY, own > 0 ? own : INFINITY);
}

double line_rate(const struct node *node, const struct peer *peer)
{
    const double cap = (double)node->options.uplink_max;
    const double part = cap > 0 ? cap / fmax(connection_neighbours(node), 1) : INFINITY;
    const double carried = rate_neighbour(node, peer)->link.rate;
    CHECK(carried > 0 && part > 0);
    return fmin(fmin(carried, part), line_rate_max(node, peer));
}

uint64_t line_downlink_part(const struct node *node, const struct peer *peer)
{
    const double cap = (double)node->options.downlink_max;
    if (cap <= 0)
        return 0;
    double sum = 0;
    for (uint32_t i = 0; connection_neighbour(node, &i); i++)
        sum += node->rate->neighbours[i].incoming;
    const uint32_t neighbours = connection_neighbours(node);
    const double equal = 1.0 / (neighbours ? neighbours : 1);
    const double used = sum > 0 ? rate_neighbour(node, peer)->incoming / sum : equal;
    CHECK(used >= 0 && used <= 1);
    return (uint64_t)fmax(cap * 0.5 * (equal + used), 1);
}
