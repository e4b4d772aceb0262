/* Health of a world: which nodes have joined, how the overlay is connected, and false positives of
 * the failure detectors (fault_injector_explains).
 *
 * Only the first `nodes` nodes of the world count; later nodes are duplicates of these.
 */
#ifndef HEARSAY_SIM_FAULTS_HEALTH_H
#define HEARSAY_SIM_FAULTS_HEALTH_H

#include "faults/fault_injector.h"

struct health {
    const struct world *world;
    const struct fault_injector *injector;
    uint32_t nodes;     /* number of nodes that count */
    struct u64_set ids; /* hash of a node's id ─► 1 + index of the node */
    /* Number of times that a node declared a healthy node dead or dropped it as silent. */
    uint32_t removed;
    uint32_t removed_node; /* healthy node of the first such removal */
    uint32_t removed_by;
    uint64_t removed_ns;
    /* [nodes] bit set of note kinds: warnings that other nodes gave about the node */
    uint64_t *warnings;
};

void health_init(struct health *health, const struct world *world,
                 const struct fault_injector *injector, uint32_t nodes);
void health_free(struct health *health);

/* Returns the number of connected components of the overlay of running nodes. Two nodes are
 * adjacent if both have an open connection to the other. */
uint32_t health_components(const struct health *health);

/* Returns true if node i runs, has a complete base, and has begun to train unless it only
 * forwards rumors. */
bool health_has_joined(const struct health *health, uint32_t i);

void health_on_note(struct health *health, uint32_t i, const struct note *note);

#endif
