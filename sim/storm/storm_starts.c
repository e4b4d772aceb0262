#include "storm/storm_starts.h"

#include "storm/draw.h"

static const char *const MODELS[STORM_STARTS_MAX] = {
    "numbers that wander; start 0", "numbers that wander; start 1", "numbers that wander; start 2",
    "numbers that wander; start 3", "numbers that wander; start 4"};

/* The previous release does not take over the first weights of other nodes. A swarm with an
 * operator or with votes never changes its first weights. */
static bool may_differ(const struct storm_plan *plan)
{
    bool has_older = false;
    for (uint32_t i = 0; i < plan->nodes; i++)
        has_older |= plan->node[i].is_older;
    return !has_older && !plan->options.has_operator && !plan->options.limits.quarantines;
}

void storm_starts_draw(struct storm_plan *plan, struct rng rng)
{
    const uint32_t starts = (uint32_t)between(&rng, 2, STORM_STARTS_MAX);
    if (!may_differ(plan) || one_in(&rng, 4))
        return;
    for (uint32_t i = 0; i < plan->nodes; i++)
        plan->node[i].start = rng_below(&rng, starts);
}

void storm_starts_describe(const struct storm_node *node, FILE *out)
{
    if (node->start > 0)
        (void)fprintf(out, "first weights %u, ", (unsigned)node->start);
}

void storm_starts_set(struct node_options *options, uint32_t start)
{
    CHECK(start < STORM_STARTS_MAX);
    options->model = MODELS[start];
}
