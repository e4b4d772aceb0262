/* How a world is: who has joined, how it hangs together, and who is removed without a reason.
 *
 * Looked at from outside, with what no node knows: which of them really run, and what befell them
 * (fault_injector_explains). Of the first `nodes` of the world; the others are doubles of some of
 * them.
 */
#ifndef HEARSAY_SIM_CHECKS_HEALTH_H
#define HEARSAY_SIM_CHECKS_HEALTH_H

#include "faults/fault_injector.h"

struct health {
    const struct world *world;
    const struct fault_injector *injector;
    uint32_t nodes;
    struct u64_set ids; /* of a node ─► its number + 1 */
    uint32_t removed;   /* times that a healthy node was taken for dead, or given up for silence */
    uint32_t whom, by;
    uint64_t at_ns; /* the first of them */
};

void health_init(struct health *health, const struct world *world,
                 const struct fault_injector *injector, uint32_t nodes);
void health_free(struct health *health);

/* Components of the graph of the running nodes; two are next to each other when both have a
 * conversation with the other open. */
uint32_t health_components(const struct health *health);

/* Node i runs, holds a whole base, and trains if it is to. */
bool health_has_joined(const struct health *health, uint32_t i);

/* Node i has made this note. */
void health_on_note(struct health *health, uint32_t i, const struct note *note);

#endif
