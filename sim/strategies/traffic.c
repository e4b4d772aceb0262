#include "strategies/traffic.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"

double traffic_use(const struct pipe *pipe, double *then_s, double span_s)
{
    const double busy_s = pipe->busy_s - *then_s;
    *then_s = pipe->busy_s;
    return pipe_is_limited(pipe) && span_s > 0 ? fmin(busy_s / span_s, 1) : NAN;
}

void traffic_total_node(struct node_total *total, const struct party *party, double span_s)
{
    total->up_use = traffic_use(&party->up, &(double){0}, span_s);
    total->down_use = traffic_use(&party->down, &(double){0}, span_s);
}

void traffic_total_links(struct outcome *outcome, const struct wire *wire)
{
    const struct scenario *scenario = outcome->scenario;
    const uint32_t regions = scenario->regions_count;
    outcome->links = memory_new((size_t)regions * regions, sizeof *outcome->links);
    for (uint32_t k = 0; k < regions * regions; k++) {
        const struct crossing *crossing = &wire->crossings[k];
        const struct pipe *pipe = &wire->region_pipes[k];
        if (crossing->bytes == 0)
            continue;
        struct link_total *link = &outcome->links[outcome->links_count++];
        *link = (struct link_total){
            .bytes = crossing->bytes,
            .rate_bytes_per_s = (double)rate_at(pipe->rate, scenario->span_ns),
            .use = traffic_use(pipe, &(double){0}, outcome_span_s(outcome)),
            .delay_s = crossing->delay_s / (double)crossing->bytes,
            .resent = crossing->resent,
        };
        memcpy(link->from, scenario->regions[k / regions], sizeof link->from);
        memcpy(link->to, scenario->regions[k % regions], sizeof link->to);
    }
}
