/* When a node tells, and how boldly: what its configuration fixes, and the rest by boldness.h. */
#include <math.h>
#include <stdlib.h>

#include "node/inside.h"

static int compare(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Of the neighbours whose round trip is known, the middle one: half of it. Nobody waits for one who
 * is far away. */
static double delay_s(const struct node *node)
{
    const struct peer *peer;
    uint64_t trips_ns[NODE_PEERS_MAX];
    uint32_t count = 0;
    for (uint32_t i = 0; (peer = node_neighbour(node, &i)); i++)
        if (peer->rtt_ns > 0)
            trips_ns[count++] = peer->rtt_ns;
    qsort(trips_ns, count, sizeof *trips_ns, compare);
    return count > 0 ? (double)trips_ns[count / 2] / 2 * 1e-9 : 0;
}

void publish_schedule_on_step(struct node *node, uint32_t steps)
{
    const double span_s = (double)(node->now_ns - node->stepped_ns) * 1e-9;
    if (node->stepped_ns > 0 && steps > 0) {
        const double each_s = span_s / steps;
        double *smooth = &node->step_s;
        *smooth = *smooth > 0 ? fmin(0.9 * *smooth + 0.1 * each_s, 2 * *smooth) : each_s;
    }
    node->stepped_ns = node->now_ns;
}

void publish_schedule_renew(struct node *node)
{
    const struct node_options *options = &node->options;
    const struct outer_step_measured measured = {
        .learners = members_learners(&node->members, options->weigh_throughput, node->now_ns),
        .delay_s = delay_s(node),
        .hops = outer_step_hops(node->live, MESH_MAX, DEGREE),
        .step_s = node->step_s,
        .bytes_per_s = node->stats.budget,
        .momentum = options->momentum,
        .interval_s = (double)options->interval_ns * 1e-9,
        .gain = options->gain,
        .publications = node->publications,
    };
    node->outer_step = outer_step_of(&measured);
    if (options->beta >= 0)
        node->outer_step.beta = options->beta;
}

/* Drawn anew for each telling, so that nodes which began together do not tell together: what all
 * say at once nobody can answer before it has been said. */
void publish_schedule_wait(struct node *node, double least, double most)
{
    const double drawn = (double)rng_below(&node->waits, 1u << 20) * 0x1p-20;
    node->wait = least + (most - least) * drawn;
}

/* As things are now: where a moment has been bad, its interval is not waited for. */
uint64_t publish_schedule_wait_ns(const struct node *node)
{
    return (uint64_t)(1e9 * node->outer_step.interval_s * node->wait);
}

uint64_t node_interval_ns_max(const struct node *node)
{
    return (uint64_t)(1e9 * node->outer_step.interval_s * PUBLISH_WAIT_MOST);
}

void publish_schedule_consider(struct node *node)
{
    if (!node->options.trains || node->publish != PUBLISH_IDLE)
        return;
    if (node->stage == STAGE_LEAVING ||
        (node->stage == STAGE_RUNNING && node->steps_since >= node->options.steps_min &&
         node->now_ns - node->published_ns >= publish_schedule_wait_ns(node)))
        node->publish = PUBLISH_WANTED;
}
