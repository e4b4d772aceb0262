#include "storm/storm_releases.h"

#include "storm/draw.h"

void storm_releases_draw(struct storm_plan *plan, struct rng rng)
{
    const bool has_older = one_in(&rng, 2);
    CHECK(plan->faulty_ns > SECOND_NS);
    for (uint32_t i = 0; i < plan->nodes && has_older; i++) {
        struct storm_node *node = &plan->node[i];
        node->is_older = one_in(&rng, 2);
        if (node->is_older && one_in(&rng, 2))
            node->upgrade_ns = between(&rng, 1000, plan->faulty_ns / MS_NS) * MS_NS;
    }
}

void storm_releases_describe(const struct storm_node *node, FILE *out)
{
    if (node->upgrade_ns)
        (void)fprintf(out, "older until it starts after %.3f s, ", (double)node->upgrade_ns * 1e-9);
    else if (node->is_older)
        (void)fprintf(out, "older, ");
}
